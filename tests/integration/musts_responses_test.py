"""How an answer of the upstream is read and passed on: its framing (P1 to P8) and its fields (F1 to
F3). RFC 9112 sections 4 to 8, RFC 9110 section 6.5.

Every test sends raw bytes and looks at the bytes on both sides.
"""

import threading

from harness.waiting import eventually
from harness.wire import FINE, OK, WireCase, get, post, without_ids

CHUNKED = OK + b"Transfer-Encoding: chunked\r\n"
STRAY = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nstray"


class ResponseCase(WireCase):
    def assert_502(self, answer, method=b"GET"):
        """The answer cannot be forwarded; its connection is closed, the client's stays open."""
        seen = self.through(get(method=method), answer=answer)
        self.assertEqual(seen.status, 502, seen.down)
        eventually(lambda: not self.up.open_connections, "the upstream connection is closed")
        after = self.through(get(), answer=FINE, client=seen.client)
        self.assertEqual((after.status, after.down), (200, FINE))
        return seen


class Framing(ResponseCase):
    def test_P1_answers_without_a_body_have_none_whatever_they_declare(self):
        lengths = [b"", b"Content-Length: 5\r\n", b"Transfer-Encoding: chunked\r\n"]
        for method, status in [(b"HEAD", b"200 OK"), (b"GET", b"204 No"), (b"GET", b"304 Not"),
                               (b"HEAD", b"404 No"), (b"POST", b"204 No")]:
            for length in lengths:
                with self.subTest(method=method, status=status, length=length):
                    head = b"HTTP/1.1 " + status + b"\r\nDate: x\r\n" + length + b"\r\n"
                    seen = self.through(get(method=method), answer=head)
                    passes = length.startswith(b"C") and not status.startswith(b"204")
                    self.assertEqual(seen.down, head if passes else head.replace(length, b""))
                    after = self.through(get(), answer=FINE, client=seen.client)
                    self.assertEqual(after.down, FINE)

    def test_P1_a_body_that_comes_all_the_same_is_not_passed_on(self):
        for method, status in [(b"HEAD", b"200 OK"), (b"GET", b"204 No"), (b"GET", b"304 Not")]:
            with self.subTest(method=method, status=status):
                head = b"HTTP/1.1 " + status + b"\r\nDate: x\r\n\r\n"
                seen = self.through(get(method=method), answer=head + STRAY)
                self.assertEqual(seen.down, head)
                after = self.through(get(), answer=FINE, client=seen.client)
                self.assertEqual(after.down, FINE)

    def test_P1_interim_answers_have_neither_length_nor_coding(self):
        interim = (b"HTTP/1.1 103 Hints\r\nContent-Length: 5\r\nX: y\r\n\r\n"
                   b"HTTP/1.1 100 Go\r\nTransfer-Encoding: chunked\r\n\r\n")
        seen = self.assert_passed(get(), answer=interim + FINE)
        self.assertEqual(seen.down, b"HTTP/1.1 103 Hints\r\nX: y\r\n\r\nHTTP/1.1 100 Go\r\n\r\n"
                         + FINE)

    def test_P2_an_invalid_length_is_502_and_ends_the_upstream_connection(self):
        self.assert_502(OK + b"Content-Length: +2\r\n\r\nok")
        self.assert_502(OK + b"Content-Length: 2\r\nContent-Length: 2\r\n\r\nok")
        self.assert_502(OK + b"Content-Length: x\r\n\r\n", method=b"HEAD")

    def test_P3_both_framings_are_502_and_end_the_upstream_connection(self):
        chunked = b"2\r\nok\r\n0\r\n\r\n"
        for lines in (b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n", b"Transfer-Encoding: gzip\r\n"):
            with self.subTest(lines=lines):
                self.assert_502(OK + lines + b"\r\n" + chunked)
        self.assert_502(CHUNKED.replace(b"1.1", b"1.0") + b"\r\n" + chunked)

    def test_P4_bytes_after_an_answer_are_discarded(self):
        for answer, whole in [(FINE + STRAY, FINE), (FINE + b"x", FINE),
                              (CHUNKED + b"\r\n2\r\nok\r\n0\r\n\r\n" + STRAY, None)]:
            with self.subTest(answer=answer):
                for _ in range(3):
                    seen = self.through(get(), answer=answer)
                    if whole:
                        self.assertEqual(seen.down, whole)
                    self.assertEqual((seen.status, seen.response.body), (200, b"ok"))
                    after = self.through(get(), answer=FINE, client=seen.client)
                    self.assertEqual(after.down, FINE)

    def test_P4_data_on_an_idle_upstream_connection_ends_it(self):
        socks = []

        def behaviour(exchange):
            socks.append(exchange.sock)
            exchange.send(FINE)

        self.up.behaviour = behaviour
        client = self.recorded(self.weir)
        for count in (1, 2):
            client.send(get())
            self.assertEqual(client.read().body, b"ok")
            self.assertEqual(self.up.connections, count)
            socks[-1].sendall(STRAY)
        self.assertEqual(without_ids(client.reader.record), FINE + FINE)

    def test_P5_a_client_of_http_1_0_gets_no_coding(self):
        for connection in ((), (b"Connection: keep-alive",)):
            seen = self.through(get(*connection, version=b"1.0"),
                                answer=CHUNKED + b"\r\n2;a\r\nok\r\n3\r\nay!\r\n0\r\nX: y\r\n\r\n")
            self.assertEqual(seen.down, OK + b"Connection: close\r\n\r\nokay!")
            self.assertTrue(seen.client.is_ended())

    def test_P6_a_truncated_answer_can_be_told_from_a_whole_one(self):
        for answer in (OK + b"Content-Length: 10\r\n\r\nhello", OK + b"Content-Length: 10\r\n\r\n",
                       CHUNKED + b"\r\n5\r\nhello\r\n", CHUNKED + b"\r\n5\r\nhel",
                       CHUNKED + b"\r\n5\r\nhello\r\n0\r\n",
                       CHUNKED + b"\r\n5\r\nhello\r\n0\r\nX: y\r\n"):
            with self.subTest(answer=answer):
                down = self.assert_cut(get(b"TE: trailers"), answer)
                self.assertNotIn(b"\r\n0\r\n", down)
        self.assertIn(b"HTTP/1.1 502 ", self.through(get(), answer=OK, closes=True).down)
        for wrong in (b"\r\n5\r\nhelloX", b"\r\n5\r\nhello\r\n-1\r\n"):
            with self.subTest(wrong=wrong):
                self.assert_502(CHUNKED + wrong)

    def test_P8_the_status_line_keeps_its_space_when_the_reason_is_empty(self):
        for line in (b"HTTP/1.1 200 \r\n", b"HTTP/1.1 299 \r\n", b"HTTP/1.1 404 \xe9 x  y\r\n"):
            answer = line + b"Date: x\r\nContent-Length: 0\r\n\r\n"
            self.assertEqual(self.through(get(), answer=answer).down, answer)
        # Some servers leave it out.
        bare = b"HTTP/1.1 200\r\nDate: x\r\nContent-Length: 0\r\n\r\n"
        self.assertEqual(self.through(get(), answer=bare).down, bare.replace(b"200", b"200 "))
        interim = b"HTTP/1.1 103 \r\n\r\n"
        self.assertEqual(self.through(get(), answer=interim + FINE).down, interim + FINE)


class Trailers(ResponseCase):
    BODY = b"\r\n2\r\nok\r\n0\r\nX-Sum: 1\r\nX-Sum:  2 \r\nX-Other: 3\r\n\r\n"

    def test_P7_trailers_are_passed_on_to_a_client_that_wants_them(self):
        for te in (b"TE: trailers", b"te: deflate;q=0.5, Trailers"):
            seen = self.through(get(te), answer=CHUNKED + b"Trailer: X-Sum,x-other\r\n" + self.BODY)
            self.assertEqual(seen.down, OK + b"Trailer: X-Sum, x-other\r\n"
                             b"Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n"
                             b"X-Sum: 1\r\nX-Sum: 2\r\nX-Other: 3\r\n\r\n")
        seen = self.through(get(b"TE: trailers"), answer=CHUNKED + self.BODY)
        self.assertTrue(seen.down.endswith(b"\r\n0\r\nX-Sum: 1\r\nX-Sum: 2\r\nX-Other: 3\r\n\r\n"))

    def test_P7_they_are_dropped_for_a_client_that_does_not(self):
        for lines in ((), (b"TE: gzip",), (b"TE: trailers-not",)):
            seen = self.through(get(*lines),
                                answer=CHUNKED + b"Trailer: X-Sum, X-Other\r\n" + self.BODY)
            self.assertEqual(seen.down, CHUNKED + b"\r\n2\r\nok\r\n0\r\n\r\n")
        seen = self.through(get(b"TE: trailers", version=b"1.0"), answer=CHUNKED + self.BODY)
        self.assertEqual(seen.down, OK + b"Connection: close\r\n\r\nok")

    def test_P7_framing_routing_and_authentication_are_dropped_from_trailers(self):
        bad = [b"Content-Length: 50", b"Transfer-Encoding: chunked", b"Host: evil", b"Trailer: x",
               b"Authorization: x", b"Cookie: x", b"Set-Cookie: a=b", b"Content-Type: text/evil",
               b"Content-Encoding: gzip", b"Content-Range: bytes 0-1/2", b"Connection: close",
               b"Cache-Control: no-store", b"WWW-Authenticate: Basic", b"Location: /", b"Via: x",
               b"RateLimit: \"p\";r=9", b"X-Forwarded-For: 192.0.2.1", b"Content_Length: 50",
               b"X_Forwarded-Host: evil", b"Expect: 100-continue", b"Max-Forwards: 1",
               b"Forwarded: for=x", b"If-Match: *", b"Range: bytes=0-1", b"TE: x", b"Upgrade: x"]
        section = b"".join(line + b"\r\n" for line in bad)
        names = b", ".join(line.partition(b":")[0] for line in bad)
        body = b"\r\n2\r\nok\r\n0\r\n" + section + b"X-Good: 1\r\n\r\n"
        seen = self.through(get(b"TE: trailers"),
                            answer=CHUNKED + b"Trailer: " + names + b", X-Good\r\n" + body)
        self.assertEqual(seen.down, OK + b"Trailer: X-Good\r\nTransfer-Encoding: chunked\r\n"
                         b"\r\n2\r\nok\r\n0\r\nX-Good: 1\r\n\r\n")
        seen = self.assert_passed(post(b"Transfer-Encoding: chunked",
                                       b"Trailer: " + names + b", X-Good", body=body[2:]))
        self.assertEqual((seen.up_values(b"Trailer"), seen.up_body),
                         ([b"X-Good"], b"2\r\nok\r\n0\r\nX-Good: 1\r\n\r\n"))

    def test_P7_those_of_a_request_are_passed_on_if_announced(self):
        seen = self.assert_passed(post(b"Transfer-Encoding: chunked", b"Trailer: x-sum",
                                       body=self.BODY[2:]))
        self.assertEqual((seen.up_values(b"Trailer"), seen.up_body),
                         ([b"x-sum"], b"2\r\nok\r\n0\r\nX-Sum: 1\r\nX-Sum: 2\r\n\r\n"))
        seen = self.assert_passed(post(b"Transfer-Encoding: chunked", body=self.BODY[2:]))
        self.assertEqual((seen.up_values(b"Trailer"), seen.up_body),
                         ([], b"2\r\nok\r\n0\r\n\r\n"))
        seen = self.assert_passed(post(b"Content-Length: 2", b"Trailer: X-Sum", body=b"hi"))
        self.assertEqual((seen.up_values(b"Trailer"), seen.up_body), ([], b"hi"))

    def test_P7_they_are_passed_on_when_they_come_late_and_in_pieces(self):
        for cut in range(1, len(self.BODY) - 2, 3):
            whole = post(b"Transfer-Encoding: chunked", b"Trailer: X-Sum", body=self.BODY[2:])
            before = len(self.up_wire)
            head_came = len(self.up.requests)
            client = self.recorded(self.weir)
            at = len(whole) - len(self.BODY) + 2 + cut
            client.send(whole[:at])
            self.up.await_requests(head_came + 1)
            client.send(whole[at:])
            self.assertEqual(client.read().status, 200)
            section = b"\r\n0\r\nX-Sum: 1\r\nX-Sum: 2\r\n\r\n"
            self.assertTrue(self.up_wire[before:].endswith(section))

    def test_P7_those_of_an_answer_that_comes_in_pieces(self):
        go_on = threading.Event()

        def behaviour(exchange):
            exchange.send(CHUNKED + b"Connection: x-other\r\n\r\n2\r\nok\r\n0\r\nX-S")
            go_on.wait()
            exchange.send(b"um: 1\r\nX-Other: 2\r\n\r\n")

        self.up.behaviour = behaviour
        client = self.recorded(self.weir)
        client.send(get(b"TE: trailers"))
        head = client.read_head()
        client.reader.body(head, "close", lambda piece: go_on.set())
        self.assertTrue(client.reader.record.endswith(b"\r\n2\r\nok\r\n0\r\nX-Sum: 1\r\n\r\n"))


class IdentityInTrailers(WireCase):
    sections = {"identities": {"key": {"header": "X-Api-Key"}}}

    def test_P7_who_is_asking_is_not_said_in_trailers(self):
        seen = self.assert_passed(post(
            b"Transfer-Encoding: chunked", b"Trailer: X-Api-Key, X_Api_Key",
            body=b"2\r\nok\r\n0\r\nX-Api-Key: evil\r\nX_Api_Key: evil\r\n\r\n"))
        self.assertEqual((seen.up_values(b"Trailer"), seen.up_body),
                         ([], b"2\r\nok\r\n0\r\n\r\n"))


class Fields(ResponseCase):
    def test_F1_white_space_before_a_colon_is_taken_out_of_an_answer(self):
        seen = self.assert_passed(get(), answer=OK + b"Content-Length\t : 2\r\nX : a b : c\r\n"
                                  b"Y: :z\r\nSet-Cookie : a=b\r\nset-cookie  :c=d\r\n\r\nok")
        self.assertEqual(seen.down, OK + b"Content-Length: 2\r\nX: a b : c\r\nY: :z\r\n"
                         b"Set-Cookie: a=b\r\nset-cookie: c=d\r\n\r\nok")
        self.assert_502(OK + b"Content-Length : 2\r\nTransfer-Encoding : chunked\r\n\r\nok")
        self.assert_502(OK + b"Content-Length: 2\r\n : x\r\n\r\nok")

    def test_F2_a_folded_line_in_an_answer_is_502(self):
        self.assert_502(OK + b"X: y\r\n z\r\nContent-Length: 2\r\n\r\nok")

    def test_F3_control_characters_and_broken_lines_in_an_answer_are_502(self):
        self.assert_502(OK + b"X: a\rb\r\nContent-Length: 2\r\n\r\nok")
        for line in (b"HTTP/1.1 20 OK", b"HTTP/2 200 OK", b"HTTP/1.1 099 No", b"HTTP/1.1 600 No"):
            with self.subTest(line=line):
                self.assert_502(line + b"\r\nContent-Length: 2\r\n\r\nok")

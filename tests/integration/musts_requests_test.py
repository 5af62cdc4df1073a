"""How a request is read: its line and host (R1 to R10), its fields (F1 to F7), where its body ends
(B1 to B13), and what it expects (E1, E5; E2 to E4 are upgrades). RFC 9112 sections 2 to 7, RFC 9110
sections 5 to 10.

Every test sends raw bytes and looks at the bytes on both sides.
"""

import socket

from harness.case import limited
from harness.wire import FINE, HOST, OK, WireCase, get, post, values
from harness.waiting import eventually

LINE = b"GET / HTTP/1.1\r\n"
HIDDEN = b"0\r\n\r\n" + get(target=b"/smuggled")  # a body, or a body and another request
ONE_AN_HOUR = {"p": {"algorithm": "fixed_window", "rate": "1/1h"}}
CLIENT = [{"policy": "p", "key": "client"}]


class Refused(WireCase):
    """A request of each rule that is answered here, and closes the connection; the unit tests of src/http have all the
    spellings."""

    CHUNKED = b"Transfer-Encoding: chunked"
    ROWS = {
        "R1 no host": (400, LINE + b"\r\n"),
        "R1 two hosts": (400, LINE + b"Host: a\r\nhost: a\r\n\r\n"),
        "R1 no valid host": (400, LINE + b"Host: user@a\r\n\r\n"),
        "R2 another host in the target": (400, get(target=b"http://b/")),
        "R3 two spaces": (400, b"GET  / HTTP/1.1\r\n" + HOST + b"\r\n"),
        "R3 a target in no form": (400, get(target=b"a")),
        "R3 TLS": (400, b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n"),
        "R4 a long target": (414, get(target=b"/" + b"a" * 8192)),
        "R4 a target longer than a head": (414, get(target=b"/" + b"a" * 40_000)),
        "R5 the asterisk": (400, get(target=b"*")),
        "R6 CONNECT": (405, get(method=b"CONNECT", target=b"weir.test:443")),
        "R8 white space before the first field": (400, LINE + b" " + HOST + b"\r\n"),
        "R9 a line that ends in LF": (400, b"GET / HTTP/1.1\n" + HOST + b"\r\n"),
        "R9 a CR before the end of a line": (400, get(b"X: y\r")),
        "R9 CR within a value": (400, get(b"X: a\rb")),
        "R10 no version": (400, b"GET / http/1.1\r\n" + HOST + b"\r\n"),
        "R10 another version": (505, get(version=b"2.0")),
        "F1 white space before the colon": (400, get(b"X : y")),
        "F2 a folded line": (400, get(b"X: y", b" z")),
        "F3 a control character": (400, get(b"X: a\x00b")),
        "F4 a name that is no token": (400, get(b"X[: y")),
        "F6 a long line": (431, get(b"X: " + b"a" * 40_000)),
        "F6 many lines": (431, get(*[b"X%d: a" % i for i in range(300)])),
        "B1 two framings": (400, post(CHUNKED, b"Content-Length: 5", body=HIDDEN)),
        "B2 another coding at the end": (400, post(b"Transfer-Encoding: chunked, gzip", body=HIDDEN)),
        "B2 a coding that is not known": (501, post(b"Transfer-Encoding: gzip, chunked", body=HIDDEN)),
        "B3 a coding in HTTP/1.0": (400, post(CHUNKED, body=HIDDEN, version=b"1.0")),
        "B4 chunked twice": (400, post(CHUNKED, CHUNKED, body=HIDDEN)),
        "B5 no plain number": (400, post(b"Content-Length: +5", body=HIDDEN)),
        "B5 two lengths": (400, post(b"Content-Length: 5", b"Content-Length: 5", body=HIDDEN)),
        "B6 a length that wraps": (400, post(b"Content-Length: %d" % ((1 << 64) + 5), body=HIDDEN)),
        "B8 no size": (400, post(CHUNKED, body=b"0x5\r\nhello\r\n0\r\n\r\n")),
        "B8 a size that wraps": (400, post(CHUNKED, body=b"FFFFFFFFFFFFFFFF0\r\nhello")),
        "B8 more data than its size": (400, post(CHUNKED, body=b"5\r\nhello!\r\n0\r\n\r\n")),
        "B8 no extension": (400, post(CHUNKED, body=b"5;\r\nhello\r\n0\r\n\r\n")),
        "B8 no trailer field": (400, post(CHUNKED, body=b"0\r\nX : y\r\n\r\n")),
    }

    def test_nothing_of_it_reaches_the_upstream(self):
        for rule, (status, request) in self.ROWS.items():
            with self.subTest(rule):
                self.assert_refused(request, status)

    def test_B8_too_many_extensions(self):
        # Too much of it to have come with the head, which may have gone on.
        seen = self.through(post(self.CHUNKED, body=b"5;" + b"a" * 5000))
        self.assertEqual((seen.status, seen.down_values(b"Connection")), (400, [b"close"]))
        self.assertTrue(seen.client.is_gone())


class RequestLine(WireCase):
    def test_R1_the_host_is_passed_on_as_it_was_written(self):
        for host in (b"A.example.:8080", b"[::1]:65535", b"a:", b"x_y"):
            with self.subTest(host=host):
                seen = self.assert_passed(LINE + b"Host: " + host + b"\r\n\r\n")
                self.assertEqual(seen.up_values(b"Host"), [host])

    def test_R2_the_absolute_form_is_reduced(self):
        for target, host in [(b"http://a:81/x?y", b"a:81"), (b"HTTP://A/", b"a"), (b"https://a:443/", b"a")]:
            with self.subTest(target=target):
                seen = self.assert_passed(b"GET " + target + b" HTTP/1.1\r\nHost: " + host + b"\r\n\r\n")
                self.assertEqual(seen.up_values(b"Host"), [host])
                self.assertTrue(seen.line.startswith(b"GET /"))

    def test_R2_the_authority_is_the_host_of_a_request_without_one(self):
        seen = self.through(b"GET http://a:81/x HTTP/1.0\r\n\r\n")
        self.assertEqual((seen.line, seen.up_values(b"Host")), (b"GET /x HTTP/1.1", [b"a:81"]))

    def test_R4_long_targets_and_methods_of_others(self):
        self.assert_passed(get(target=b"/" + b"a" * 7999))
        for method in (b"X" * 300, b"PROPFIND", b"GETS", b"PRI", b"M-SEARCH", b"!"):
            with self.subTest(method=method):
                self.assertEqual(self.assert_passed(get(method=method)).line,
                                 method + b" / HTTP/1.1")
        for method in (b"get", b"Get", b"PROPFINd"):
            self.assert_refused(get(method=method))

    def test_R5_asterisk_is_for_options(self):
        for target in (b"*", b"http://weir.test"):
            seen = self.assert_passed(get(method=b"OPTIONS", target=target))
            self.assertEqual(seen.line, b"OPTIONS * HTTP/1.1")

    def test_R7_empty_lines_before_a_request_are_ignored(self):
        for lines in (b"\r\n", b"\r\n\r\n"):
            self.assertEqual(self.assert_passed(lines + get()).line, b"GET / HTTP/1.1")


class Fields(WireCase):
    sections = {"identities": {"key": {"header": "X-Api-Key"}, "odd": {"header": "X_Odd"}},
                "client_address": {"header": "cf-connecting-ip", "trusted_proxies": ["192.0.2.1"]}}

    def test_F3_obs_text_is_passed_on(self):
        seen = self.assert_passed(get(b"X: a\tb\x80\xff"))
        self.assertEqual(seen.up_values(b"X"), [b"a\tb\x80\xff"])

    def test_F5_empty_list_elements_are_ignored(self):
        seen = self.assert_passed(post(b"Connection: ,x-a,, ,", b"X-A: 1",
                                       b"Transfer-Encoding: ,, chunked ,",
                                       body=b"2\r\nhi\r\n0\r\n\r\n"))
        self.assertEqual(seen.up_values(b"X-A"), [])
        self.assertEqual(seen.up_values(b"Transfer-Encoding"), [b"chunked"])

    def test_F7_look_alikes_of_framing_fields_delimit_nothing_and_are_refused(self):
        self.assert_passed(get(b"X_Other: 1", b"X.Other: 1"))
        for lines in ([b"Content_Length: 5"], [b"Transfer_Encoding: chunked"],
                      [b"CONTENT_length: 5", b"transfer_ENCODING: chunked"], [b"Content.Length: 5"]):
            with self.subTest(lines=lines):
                seen = self.assert_refused(get(*lines, b"X_Other: 1"), closes=False)
                self.assert_passed(get(), client=seen.client)
                seen = self.assert_refused(post(*lines, b"Content-Length: 2", body=b"hi"),
                                           closes=False)
                self.assert_passed(get(), client=seen.client)

    def test_F7_look_alikes_of_fields_that_say_who_is_asking_are_refused(self):
        names = [b"X_Forwarded_For", b"x_forwarded-proto", b"X-Forwarded_Host", b"X_Real_IP",
                 b"X_Api_Key", b"X-api_key", b"X-Odd", b"CF_Connecting_IP", b"X_Original-URI"]
        for name in names:
            with self.subTest(name):
                self.assert_refused(get(b"X-Api-Key: k", b"X_Odd: o", name + b": evil"),
                                    closes=False)
        seen = self.assert_passed(get(b"X-Api-Key: k", b"X_Odd: o"))
        self.assertEqual((seen.up_values(b"X-Api-Key"), seen.up_values(b"X_Odd")), ([b"k"], [b"o"]))


class Framing(WireCase):
    def test_B5_white_space_around_a_length_is_none(self):
        seen = self.assert_passed(post(b"Content-Length: \t 2 \t", body=b"hi"))
        self.assertEqual((seen.up_values(b"Content-Length"), seen.up_body), ([b"2"], b"hi"))

    def test_B7_a_body_that_ends_early_is_not_passed_on_as_whole(self):
        for lines, body in [([b"Content-Length: 10"], b"hello"),
                            ([b"Transfer-Encoding: chunked"], b"5\r\nhello\r\n"),
                            ([b"Transfer-Encoding: chunked"], b"5\r\nhel"),
                            ([b"Transfer-Encoding: chunked"], b"5\r\nhello\r\n0\r\n")]:
            with self.subTest(body=body):
                before = len(self.up_wire)
                client = self.recorded(self.weir)
                client.send(post(*lines, body=body))
                client.sock.shutdown(socket.SHUT_WR)
                self.assertTrue(client.is_gone())
                eventually(lambda: not self.up.open_connections, "the upstream's is closed")
                self.assertNotIn(b"\r\n0\r\n", bytes(self.up_wire[before:]))
                self.assertNotIn(b" 200 ", bytes(client.reader.record))

    def test_B8_unknown_extensions_are_ignored(self):
        seen = self.assert_passed(post(b"Transfer-Encoding: chunked",
                                       body=b"05;a;b=c ; d = \"e;\\\"\r\"".replace(b"\r", b"")
                                       + b"\r\nhello\r\nA\r\n0123456789\r\n000;x\r\n\r\n"))
        self.assertEqual(seen.up_body, b"5\r\nhello\r\na\r\n0123456789\r\n0\r\n\r\n")

    def test_B10_nothing_is_answered_after_close(self):
        for first in (get(b"Connection: close"), get(version=b"1.0"),
                      post(b"Connection: Close", b"Content-Length: 2", body=b"hi")):
            before = len(self.up_wire)
            seen = self.through(first + get(target=b"/second"))
            self.assertEqual((seen.status, seen.down_values(b"Connection")), (200, [b"close"]))
            self.assertTrue(seen.client.is_gone())
            self.assertEqual(bytes(seen.client.reader.record).count(b"HTTP/1.1 "), 1)
            self.assertNotIn(b"/second", bytes(self.up_wire[before:]))

    def test_B11_pipelined_requests_are_answered_in_order(self):
        def behaviour(exchange):
            exchange.answer(exchange.target.encode() + exchange.read_body())

        self.up.behaviour = behaviour
        client = self.recorded(self.weir)
        client.send(get(target=b"/1") + post(b"Content-Length: 5", target=b"/2", body=b"GET /")
                    + post(b"Transfer-Encoding: chunked", target=b"/3", body=b"1\r\n!\r\n0\r\n\r\n")
                    + get(target=b"/4", method=b"HEAD") + get(target=b"/5"))
        bodies = [client.read(method).body for method in ("GET", "POST", "POST", "HEAD", "GET")]
        self.assertEqual(bodies, [b"/1", b"/2GET /", b"/3!", b"", b"/5"])
        self.assertEqual(bytes(client.reader.buffer), b"")

    def test_B12_a_client_of_http_1_0_is_kept_only_if_it_asks(self):
        seen = self.through(get(version=b"1.0"))
        self.assertEqual(seen.down_values(b"Connection"), [b"close"])
        self.assertTrue(seen.client.is_ended())
        seen = self.through(get(b"Connection: Keep-Alive", version=b"1.0"))
        self.assertEqual(seen.down_values(b"Connection"), [b"keep-alive"])
        again = self.through(get(b"Connection: keep-alive, close", version=b"1.0"),
                             client=seen.client)
        self.assertEqual(again.down_values(b"Connection"), [b"close"])
        self.assertTrue(again.client.is_ended())

    def test_B13_a_body_is_part_of_its_request_whatever_the_method(self):
        for method in (b"GET", b"HEAD", b"OPTIONS", b"DELETE", b"QUERY"):
            for lines, body in [([b"Content-Length: 24"], b"GET /in-a-body HTTP/1.1\n"),
                                ([b"Transfer-Encoding: chunked"], b"2\r\nhi\r\n0\r\n\r\n"),
                                ([b"Content-Length: 0"], b"")]:
                with self.subTest(method=method, lines=lines):
                    answer = FINE[:-2] if method == b"HEAD" else FINE
                    before = len(self.up_wire)
                    seen = self.through(post(*lines, body=body, method=method), answer=answer)
                    self.assertEqual((seen.status, seen.up_body), (200, body))
                    after = self.through(get(), answer=FINE, client=seen.client)
                    self.assertEqual((after.status, after.line), (200, b"GET / HTTP/1.1"))
                    self.assertEqual(bytes(self.up_wire[before:]), seen.up + after.up)


class Denied(WireCase):
    """Answered before, and instead of, being read."""

    def setUp(self):
        self.weir = self.start(limited(ONE_AN_HOUR, CLIENT, downstream={"max_drain": "1KiB"}))
        self.client = self.recorded(self.weir)
        self.client.send(get())
        self.assertEqual(self.client.read().status, 200)

    def test_B9_an_unread_body_is_read_away_or_ends_the_connection(self):
        smuggled = get(target=b"/smuggled")
        for lines, body in [([b"Content-Length: %d" % len(smuggled)], smuggled),
                            ([b"Content-Length: 1024"], smuggled.ljust(1024))]:
            self.client.send(post(*lines, body=body) + get(method=b"HEAD"))
            self.assertEqual((self.client.read().status, self.client.read("HEAD").body), (429, b""))
            self.assertEqual(bytes(self.client.reader.buffer), b"")
        for lines, body in [([b"Content-Length: 1025"], smuggled.ljust(1025)),
                            ([b"Transfer-Encoding: chunked"],
                             b"%x\r\n%s\r\n0\r\n\r\n" % (len(smuggled), smuggled))]:
            client = self.recorded(self.weir)
            client.send(post(*lines, body=body) + get())
            response = client.read()
            self.assertEqual((response.status, response["Connection"]), (429, "close"))
            self.assertTrue(client.is_gone())
            self.assertEqual(bytes(client.reader.record).count(b"HTTP/1.1 "), 1)

    def test_E1_a_denied_request_is_told_so_before_its_body_and_without_100(self):
        self.client.send(get(b"Expect: 100-continue", b"Content-Length: 5", method=b"POST"))
        response = self.client.read()
        self.assertEqual((response.status, response["Connection"], response.interim),
                         (429, "close", []))
        self.assertTrue(self.client.is_gone())

    def test_E5_a_denied_upgrade_is_a_429_and_the_connection_stays_http(self):
        self.client.send(get(b"Connection: Upgrade", b"Upgrade: websocket",
                             b"Sec-WebSocket-Version: 13",
                             b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="))
        response = self.client.read()
        self.assertEqual(response.status, 429)
        self.assertNotIn("Upgrade", response.fields)
        self.client.send(get(method=b"HEAD"))
        self.assertEqual(self.client.read("HEAD").status, 429)


class Expectations(WireCase):
    def test_E1_the_head_is_passed_on_without_waiting_for_the_body(self):
        def behaviour(exchange):
            exchange.send(b"HTTP/1.1 100 Continue\r\n\r\n")
            exchange.read_body()
            exchange.send(FINE)

        self.up.behaviour = behaviour
        client = self.recorded(self.weir)
        client.send(get(b"Expect: 100-continue", b"Content-Length: 2", method=b"POST"))
        self.assertEqual(client.read_head().status, 100)
        self.assertEqual(values(bytes(self.up_wire), b"Expect"), [b"100-continue"])
        self.assertTrue(self.up_wire.endswith(b"\r\n\r\n"))
        client.send(b"hi" + get())
        self.assertEqual((client.read().status, client.read_head().status), (200, 100))
        self.assertIn(b"\r\n\r\nhiGET / HTTP/1.1\r\n", bytes(self.up_wire))

    def test_E1_a_final_answer_comes_instead_of_100(self):
        final = b"HTTP/1.1 417 No\r\nDate: x\r\nContent-Length: 0\r\n\r\n"
        self.up.behaviour = lambda exchange: exchange.send(final)
        client = self.recorded(self.weir)
        client.send(get(b"Expect: 100-continue", b"Content-Length: 2", method=b"POST"))
        response = client.read()
        self.assertEqual((response.status, response.interim), (417, []))
        self.assertTrue(client.is_gone())  # whether the body still comes is not known
        self.assertTrue(self.up_wire.endswith(b"\r\n\r\n"))

    def test_E1_the_expectation_of_an_http_1_0_client_is_ignored(self):
        interim = b"HTTP/1.1 100 Continue\r\n\r\n"
        seen = self.through(post(b"Expect: 100-continue", b"Content-Length: 2", version=b"1.0",
                                 body=b"hi"), answer=interim + FINE)
        self.assertEqual((seen.up_values(b"Expect"), seen.up_body), ([], b"hi"))
        self.assertTrue(seen.down.startswith(OK))

    def test_E1_other_expectations_are_the_upstreams_to_judge(self):
        seen = self.assert_passed(get(b"Expect: 200-ok"))
        self.assertEqual(seen.up_values(b"Expect"), [b"200-ok"])

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
ONE_AN_HOUR = {"p": {"algorithm": "fixed_window", "rate": "1/1h"}}
CLIENT = [{"policy": "p", "key": "client"}]


class RequestLine(WireCase):
    def assert_all_refused(self, requests, status=400):
        for request in requests:
            with self.subTest(request=request[:200]):
                self.assert_refused(request, status)

    def test_R1_one_host_that_is_one(self):
        self.assert_all_refused([
            LINE + b"\r\n", LINE + b"X-Host: a\r\n\r\n", LINE + b"Host: a\r\nhost: a\r\n\r\n",
            LINE + b"Host: a\r\nHost: b\r\n\r\n", LINE + b"Host:\r\n\r\n",
            LINE + b"Host:  \r\n\r\n", b"GET / HTTP/1.0\r\nHost: a\r\nHost: a\r\n\r\n"])
        for host in (b"a b", b"a, b", b"user@a", b"a/b", b"a?b", b"a#b", b"a:b", b"a:65536",
                     b"a:-1",
                     b"a:1:2", b"[::1", b"::1", b"[::1]a", b"[1.2.3.4]", b"[]", b"a\\b",
                     b"http://a",
                     b"%61", b"a\x00", b"\xc3\xa4"):
            with self.subTest(host=host):
                self.assert_refused(LINE + b"Host: " + host + b"\r\n\r\n")
        for host in (b"a", b"A.example.:8080", b"127.0.0.1:1", b"[::1]:65535", b"a:", b"x_y"):
            with self.subTest(host=host):
                seen = self.assert_passed(LINE + b"Host: " + host + b"\r\n\r\n")
                self.assertEqual(seen.up_values(b"Host"), [host])

    def test_R2_absolute_form_must_agree_with_host(self):
        for target, host in [(b"http://a:81/x?y", b"a:81"), (b"HTTP://A/", b"a"),
                             (b"http://a/", b"a:80"), (b"https://a:443/", b"a"),
                             (b"http://[::1]:8/", b"[::1]:8")]:
            with self.subTest(target=target):
                seen = self.assert_passed(b"GET " + target + b" HTTP/1.1\r\nHost: " + host
                                          + b"\r\n\r\n")
                self.assertEqual(seen.up_values(b"Host"), [host])
                self.assertTrue(seen.line.startswith(b"GET /"))
        for target in (b"http://b/", b"http://a:81/", b"https://a:80/", b"http://u@a/", b"http:///",
                       b"http://", b"http:/a", b"ftp://a/", b"a/b", b"http://a,b/", b"a:80"):
            with self.subTest(target=target):
                self.assert_refused(b"GET " + target + b" HTTP/1.1\r\nHost: a\r\n\r\n")

    def test_R2_the_authority_is_the_host_of_a_request_without_one(self):
        seen = self.through(b"GET http://a:81/x HTTP/1.0\r\n\r\n")
        self.assertEqual((seen.line, seen.up_values(b"Host")), (b"GET /x HTTP/1.1", [b"a:81"]))

    def test_R3_an_invalid_request_line_is_not_mended(self):
        self.assert_all_refused([line + b"\r\n" + HOST + b"\r\n" for line in [
            b"GET  / HTTP/1.1", b"GET /  HTTP/1.1", b"GET\t/ HTTP/1.1", b"GET /\tHTTP/1.1",
            b"GET /a b HTTP/1.1", b"GET /a\tb HTTP/1.1", b"GET /#a HTTP/1.1", b"GET /\x0b HTTP/1.1",
            b"GET /\x00 HTTP/1.1", b"GET /\x7f HTTP/1.1", b"GET / HTTP/1.1 ", b"GET / HTTP/1.1\t",
            b" GET / HTTP/1.1", b"GET HTTP/1.1", b"GET /", b"GET", b"/ HTTP/1.1", b"GET a HTTP/1.1",
            b"G(T / HTTP/1.1", b"G\x80T / HTTP/1.1", b"GET / HTTP/1.1 x", b"GET /\xa0/ HTTP/1.1 "]])

    def test_R4_long_targets_and_methods_of_others(self):
        self.assert_passed(get(target=b"/" + b"a" * 7999))
        self.assert_all_refused([get(target=b"/" + b"a" * size) for size in (8192, 40_000)], 414)
        for method in (b"X" * 300, b"PROPFIND", b"GETS", b"PRI", b"M-SEARCH", b"!"):
            with self.subTest(method=method):
                self.assertEqual(self.assert_passed(get(method=method)).line,
                                 method + b" / HTTP/1.1")
        self.assert_all_refused([get(method=method) for method in (b"get", b"Get", b"PROPFINd")])

    def test_R5_asterisk_is_for_options(self):
        for target in (b"*", b"http://weir.test"):
            seen = self.assert_passed(get(method=b"OPTIONS", target=target))
            self.assertEqual(seen.line, b"OPTIONS * HTTP/1.1")
        self.assert_all_refused([get(method=method, target=b"*")
                                 for method in (b"GET", b"POST", b"options")])

    def test_R6_connect_is_not_served(self):
        for target in (b"weir.test:443", b"weir.test", b"weir.test:", b"weir.test:x", b"/", b"*"):
            with self.subTest(target=target):
                self.assert_refused(get(method=b"CONNECT", target=target), 405)

    def test_R7_empty_lines_before_a_request_are_ignored(self):
        for lines in (b"\r\n", b"\r\n\r\n"):
            self.assertEqual(self.assert_passed(lines + get()).line, b"GET / HTTP/1.1")

    def test_R8_white_space_before_the_first_field_is_refused(self):
        self.assert_all_refused([LINE + space + HOST + b"\r\n" for space in (
            b" ", b"\t", b" \r\n", b"\t\r\n", b" X: y\r\n", b"\v\r\n")])

    def test_R9_bare_cr_and_bare_lf_are_refused(self):
        whole = get(b"X: y")
        for bare in (b"\n", b"\r", b"\n\r", b"\r\r\n", b"\r\n\r"):
            for at in range(3):  # the request line's end, Host's and X's
                ends = whole.split(b"\r\n")
                lines = ends[at + 1 :]
                request = b"\r\n".join(ends[: at + 1]) + bare + b"\r\n".join(lines) + b"\r\n"
                with self.subTest(request=request):
                    self.assert_refused(request)
        self.assert_all_refused([get(b"X: a\rb"), get(b"X: a\nb"), get(target=b"/\r"),
                                 b"\n" + get(), b"\r" + get()])

    def test_R10_the_version_is_spelt_exactly(self):
        for version in (b"HTTP/1", b"HTTP/01.1", b"HTTP/1.01", b"http/1.1", b"Http/1.1",
                        b"HTTP/1.1.",
                        b"HTTP/1,1", b"HTTP/1. 1", b"HTTP /1.1", b"HTTP/", b"HTTP/a.b",
                        b"HTTPS/1.1",
                        b"HTTP/11", b"HTTP/10.1", b"HTTP/-1.1"):
            with self.subTest(version=version):
                self.assert_refused(b"GET / " + version + b"\r\n" + HOST + b"\r\n")
        for version in (b"2.0", b"1.2", b"0.9", b"3.0", b"9.9"):
            with self.subTest(version=version):
                self.assert_refused(get(version=version), 505)
        self.assert_refused(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505)


class Fields(WireCase):
    sections = {"identities": {"key": {"header": "X-Api-Key"}, "odd": {"header": "X_Odd"}},
                "client_address": {"header": "cf-connecting-ip", "trusted_proxies": ["192.0.2.1"]}}

    def test_F1_white_space_before_the_colon_is_refused(self):
        for line in (b"X : y", b"X\t: y", b"Content-Length : 2", b"Host : a"):
            with self.subTest(line=line):
                self.assert_refused(get(line))

    def test_F2_folded_lines_are_refused(self):
        for lines in ([b"X: y", b" z"], [b"X: y", b"\tz"], [b"X:", b" y"], [b"X: y", b" "],
                      [b"Transfer-Encoding:", b" chunked"], [b"X: y", b" Content-Length: 5"]):
            with self.subTest(lines=lines):
                self.assert_refused(get(*lines))

    def test_F3_control_characters_in_a_value_are_refused(self):
        for code in [*range(9), *range(10, 32), 127]:
            with self.subTest(code=code):
                self.assert_refused(get(b"X: a" + bytes([code]) + b"b"))
        seen = self.assert_passed(get(b"X: a\tb\x80\xff"))
        self.assertEqual(seen.up_values(b"X"), [b"a\tb\x80\xff"])

    def test_F4_a_field_name_is_a_token(self):
        for code in [*range(33), *b"\"(),/;<=>?@[\\]{}", *range(127, 256)]:
            with self.subTest(code=code):
                self.assert_refused(get(b"X" + bytes([code]) + b"Y: z"))
        for line in (b": z", b"X", b":", b"X Y: z"):
            with self.subTest(line=line):
                self.assert_refused(get(line))

    def test_F5_empty_list_elements_are_ignored(self):
        seen = self.assert_passed(post(b"Connection: ,x-a,, ,", b"X-A: 1",
                                       b"Transfer-Encoding: ,, chunked ,",
                                       body=b"2\r\nhi\r\n0\r\n\r\n"))
        self.assertEqual(seen.up_values(b"X-A"), [])
        self.assertEqual(seen.up_values(b"Transfer-Encoding"), [b"chunked"])

    def test_F6_too_large_heads_are_431(self):
        for lines in ([b"X: " + b"a" * 40_000], [b"X%d: a" % i for i in range(300)],
                      [b"X" * 40_000 + b": a"]):
            self.assert_refused(get(*lines), 431)

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
    def assert_all_refused(self, head_lines, status=400, version=b"1.1"):
        for lines in head_lines:
            with self.subTest(lines=lines):
                hidden = b"0\r\n\r\n" + get(target=b"/smuggled")
                self.assert_refused(post(*lines, body=hidden, version=version), status)

    def test_B1_both_framings_are_refused_and_the_connection_closed(self):
        self.assert_all_refused([[b"Transfer-Encoding: chunked", b"Content-Length: 5"],
                                 [b"Content-Length: 0", b"transfer-encoding: chunked"],
                                 [b"Content-Length: 5", b"X: y", b"Transfer-Encoding: CHUNKED"],
                                 [b"Content-Length: 5", b"Transfer-Encoding: identity"]])

    def test_B2_chunked_must_be_the_last_coding_and_others_are_unknown(self):
        self.assert_all_refused([[b"Transfer-Encoding: chunked, gzip"],
                                 [b"Transfer-Encoding: identity"], [b"Transfer-Encoding: xchunked"],
                                 [b"Transfer-Encoding: gzip"], [b"Transfer-Encoding:"],
                                 [b"Transfer-Encoding: chunked", b"Transfer-Encoding: identity"],
                                 [b"Transfer-Encoding: chunked;a=b"],
                                 [b"Transfer-Encoding: \"chunked\""],
                                 [b"Transfer-Encoding: chunked\x0b"]])
        self.assert_all_refused([[b"Transfer-Encoding: gzip, chunked"],
                                 [b"Transfer-Encoding: xchunked, chunked"],
                                 [b"Transfer-Encoding: gzip", b"Transfer-Encoding: chunked"]], 501)

    def test_B3_a_coding_in_http_1_0_is_refused(self):
        self.assert_all_refused([[b"Transfer-Encoding: chunked"],
                                 [b"Transfer-Encoding: chunked", b"Connection: keep-alive"]],
                                version=b"1.0")

    def test_B4_chunked_twice_is_refused(self):
        self.assert_all_refused([[b"Transfer-Encoding: chunked, chunked"],
                                 [b"Transfer-Encoding: chunked", b"Transfer-Encoding: chunked"],
                                 [b"Transfer-Encoding: chunked, gzip, chunked"]])

    def test_B5_a_length_is_one_plain_number(self):
        bad = [b"", b"a", b"+5", b"-5", b"-0", b"0x5", b"0o5", b"5x", b"x5", b"5 5", b"5,5",
               b"5, 5",
               b"5, 6", b"5;", b"5.0", b"5e0", b"1_0", b"\"5\"", b"\xb2"]
        self.assert_all_refused([[b"Content-Length: " + value] for value in bad])
        self.assert_all_refused([[b"Content-Length: 5", b"Content-Length: 6"],
                                 [b"Content-Length: 5", b"content-length: 5"],
                                 [b"Content-Length: 0", b"Content-Length:"]])
        seen = self.assert_passed(post(b"Content-Length: \t 2 \t", body=b"hi"))
        self.assertEqual((seen.up_values(b"Content-Length"), seen.up_body), ([b"2"], b"hi"))

    def test_B6_a_length_does_not_wrap(self):
        self.assert_all_refused([[b"Content-Length: %d" % length] for length in (
            1 << 63, (1 << 64) - 1, 1 << 64, (1 << 64) + 5, (1 << 128) + 5)])

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

    def test_B8_chunks_are_read_strictly(self):
        for body in (b"0x5\r\nhello\r\n0\r\n\r\n", b"+5\r\nhello\r\n0\r\n\r\n", b"-1\r\n\r\n",
                     b" 5\r\nhello\r\n0\r\n\r\n", b"5 \r\nhello\r\n0\r\n\r\n",
                     b"1_0\r\nhello\r\n0\r\n\r\n", b"\r\n0\r\n\r\n", b"g\r\n\r\n",
                     b"FFFFFFFFFFFFFFFF0\r\nhello", b"10000000000000005\r\nhello\r\n0\r\n\r\n",
                     b"8000000000000000\r\nhello", b"5\r\nhello0\r\n\r\n",
                     b"5\r\nhello!\r\n0\r\n\r\n",
                     b"5\r\nhello\n0\r\n\r\n", b"5\nhello\r\n0\r\n\r\n", b"5\r\nhello\r0\r\n\r\n",
                     b"5;\r\nhello\r\n0\r\n\r\n", b"5;a[=b\r\nhello\r\n0\r\n\r\n",
                     b"5;;a\r\nhello\r\n",
                     b"5;a=\r\nhello\r\n0\r\n\r\n", b"5;a=\"b\r\nhello\r\n0\r\n\r\n",
                     b"5;a\x00\r\nhello\r\n0\r\n\r\n", b"5;a=\"\n\"\r\nhello\r\n0\r\n\r\n",
                     b"0\r\nX : y\r\n\r\n",
                     b"0\r\nX: y\r\n z\r\n\r\n", b"0\r\nX: y\n\r\n", b"0\r\n: y\r\n\r\n"):
            with self.subTest(body=body[:60]):
                self.assert_refused(post(b"Transfer-Encoding: chunked", body=body))
        # Too much of it to have come with the head, which may have gone on.
        seen = self.through(post(b"Transfer-Encoding: chunked", body=b"5;" + b"a" * 5000))
        self.assertEqual((seen.status, seen.down_values(b"Connection")), (400, [b"close"]))
        self.assertTrue(seen.client.is_gone())

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

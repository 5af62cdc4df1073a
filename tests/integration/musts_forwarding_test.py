"""What an intermediary must do with a message it passes on (RFC 9110 sections 7 and 9, H1 to H20).

Every test sends raw bytes and looks at the bytes on both sides.
"""

from harness.case import configuration, limited
from harness.services import free_port
from harness.wire import FINE, OK, WireCase, get, post, values

EMPTY = OK + b"Content-Length: 0\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n"


class HopByHop(WireCase):
    sections = {"identities": {"key": {"header": "X-Api-Key"}}}

    def test_H1_what_connection_names_does_not_reach_the_upstream(self):
        for lines in [[b"Connection: x-a, close", b"X-A: 1"],
                      [b"connection: CLOSE,X-a", b"x-A: 1", b"X-A: 2"],
                      [b"Connection: close", b"X-A: 1", b"Connection: other , x-a"],
                      [b"X-A: 1", b"Connection: ,, x-a ,,close,"]]:
            with self.subTest(lines=lines):
                seen = self.through(get(b"X-B: 2", *lines))
                self.assertEqual((seen.up_values(b"X-A"), seen.up_values(b"Connection")), ([], []))
                self.assertEqual(seen.up_values(b"X-B"), [b"2"])
                self.assertTrue(seen.client.is_gone())

    def test_H1_a_trailer_field_that_connection_names_does_not_reach_the_upstream(self):
        seen = self.assert_passed(post(
            b"Connection: x-a", b"Trailer: X-A, X-B", b"Transfer-Encoding: chunked",
            body=b"2\r\nhi\r\n0\r\nX-A: 1\r\nX-B: 2\r\n\r\n"))
        self.assertEqual(seen.up_values(b"Trailer"), [b"X-B"])
        self.assertEqual(seen.up_body, b"2\r\nhi\r\n0\r\nX-B: 2\r\n\r\n")

    def test_H2_what_connection_names_does_not_reach_the_client(self):
        for lines in [b"Connection: x-a\r\nX-A: 1\r\n",
                      b"X-A: 1\r\nCONNECTION: keep-alive, X-a\r\n",
                      b"Connection: x-b\r\nX-A: 1\r\nConnection: ,x-a\r\n"]:
            with self.subTest(lines=lines):
                seen = self.assert_passed(get(), answer=EMPTY + lines + b"X-C: 3\r\n\r\n")
                for name in (b"X-A", b"Connection"):
                    self.assertEqual(seen.down_values(name), [])
                self.assertEqual(seen.down_values(b"X-C"), [b"3"])

    def test_H2_a_trailer_field_that_connection_names_does_not_reach_the_client(self):
        seen = self.through(get(b"TE: trailers"), answer=CHUNKED + b"Connection: x-a\r\n"
                            b"Trailer: x-a, x-b\r\n\r\n2\r\nhi\r\n0\r\nX-A: 1\r\nX-B: 2\r\n\r\n")
        self.assertTrue(seen.down.endswith(b"\r\n\r\n2\r\nhi\r\n0\r\nX-B: 2\r\n\r\n"), seen.down)
        self.assertEqual(seen.down_values(b"Trailer"), [b"x-b"])

    def test_H3_fields_of_the_hop_end_here_though_not_listed(self):
        seen = self.assert_passed(get(b"Proxy-Connection: keep-alive", b"Keep-Alive: timeout=9",
                                      b"TE: trailers, deflate;q=0.5", b"Upgrade: h2c"))
        for name in (b"Proxy-Connection", b"Keep-Alive", b"TE", b"Upgrade", b"Connection"):
            self.assertEqual(seen.up_values(name), [], name)
        seen = self.assert_passed(get(), answer=EMPTY + b"Proxy-Connection: keep-alive\r\n"
                                  b"Keep-Alive: timeout=9\r\nTE: x\r\nUpgrade: h2c\r\n\r\n")
        for name in (b"Proxy-Connection", b"Keep-Alive", b"TE", b"Upgrade", b"Connection"):
            self.assertEqual(seen.down_values(name), [], name)

    def test_H3_transfer_encoding_is_written_anew(self):
        seen = self.assert_passed(post(b"transfer-encoding: Chunked", body=b"2\r\nhi\r\n0\r\n\r\n"))
        self.assertEqual(seen.up_values(b"Transfer-Encoding"), [b"chunked"])
        self.assertEqual(seen.up_body, b"2\r\nhi\r\n0\r\n\r\n")

    def test_H3_te_trailers_that_is_said_to_us_is_said_anew(self):
        seen = self.assert_passed(get(b"Connection: te", b"TE: deflate;q=0.5, trailers"))
        self.assertEqual(seen.up_values(b"TE"), [b"trailers"])
        self.assertEqual(seen.up_values(b"Connection"), [b"TE"])

    def test_H4_connection_strips_neither_identity_nor_framing(self):
        seen = self.assert_passed(post(
            b"Connection: x-forwarded-for, authorization, host, content-length, x-api-key, cookie",
            b"Authorization: Basic eA==", b"X-Api-Key: k", b"Cookie: a=b", b"Content-Length: 2",
            body=b"hi"))
        for name, value in [(b"X-Forwarded-For", b"127.0.0.1"), (b"Host", b"weir.test"),
                            (b"Authorization", b"Basic eA=="), (b"Content-Length", b"2"),
                            (b"X-Api-Key", b"k"), (b"Cookie", b"a=b")]:
            self.assertEqual(seen.up_values(name), [value])
        self.assertEqual(seen.up_body, b"hi")

    def test_H5_unknown_fields_are_passed_on(self):
        seen = self.assert_passed(get(b"X-Unknown: 1", b"!#$%&'*+.^_`|~09: 2"),
                                  answer=EMPTY + b"X-Unheard-Of: 1\r\n\r\n")
        self.assertIn(b"\r\nX-Unknown: 1\r\n!#$%&'*+.^_`|~09: 2\r\n", seen.up)
        self.assertEqual(seen.down_values(b"X-Unheard-Of"), [b"1"])

    def test_H6_lines_of_one_name_keep_their_order_and_are_not_merged(self):
        seen = self.assert_passed(get(b"X-A: 1", b"X-B: b", b"x-a: 2", b"X-A: 1"),
                                  answer=EMPTY + b"Set-Cookie: a=1, x\r\nX: y\r\n"
                                  b"Set-Cookie: b=2\r\nset-cookie: a=3\r\n\r\n")
        self.assertIn(b"\r\nX-A: 1\r\nX-B: b\r\nx-a: 2\r\nX-A: 1\r\n", seen.up)
        self.assertIn(b"\r\nSet-Cookie: a=1, x\r\nX: y\r\nSet-Cookie: b=2\r\nset-cookie: a=3\r\n",
                      seen.down)


class Way(WireCase):
    """Where a message has been and how far it goes."""

    sections = {"routes": [{"upstream": "main", "encoded_slashes": "match_both"}]}

    def test_H7_a_request_that_was_here_before_goes_no_further(self):
        via = self.through(get()).up_values(b"Via")[0]
        for lines in [[b"Via: " + via], [b"Via: 1.0 a, " + via + b" (a comment), 1.1 b"],
                      [b"Via: 1.1 a", b"via: HTTP/" + via.upper()]]:
            with self.subTest(lines=lines):
                self.assert_refused(get(*lines), 508, closes=False)
        for other in (b"1.1 weir", via + b"0", b"1.1 a (" + via + b")"):
            self.assert_passed(get(b"Via: " + other))

    def test_H7_a_proxy_before_itself_answers(self):
        port = free_port()
        weir = self.start(configuration(f"http://127.0.0.1:{port}",
                                        listen=[{"address": f"127.0.0.1:{port}"}]))
        client = self.connect(weir)
        client.send(get())
        self.assert_problem(client.read(), 508)

    def test_H8_via_is_appended_with_the_version_received(self):
        seen = self.through(get())
        self.assertRegex(seen.up_values(b"Via")[0], rb"^1\.1 weir-[0-9a-f]+$")
        own = seen.up_values(b"Via")[0][4:]
        seen = self.through(get(b"Via: 1.0 a, HTTP/1.1 b", b"Via: 1.1 c (d)", version=b"1.0"))
        self.assertEqual(seen.up_values(b"Via"),
                         [b"1.0 a, HTTP/1.1 b", b"1.1 c (d)", b"1.0 " + own])

    def test_H9_path_and_query_are_passed_on_byte_for_byte(self):
        for target in [b"/", b"//", b"/a/../b//c/./", b"/%7Euser/%2f%2F", b"/?", b"/??a#"[:-1],
                       b"/a;b=c,d!$&'()*+:@", b"/?|\"<>^`{}", b"/%zz%"]:
            with self.subTest(target=target):
                seen = self.assert_passed(get(target=target))
                self.assertEqual(seen.line, b"GET " + target + b" HTTP/1.1")
        for target, path in [(b"http://weir.test", b"/"), (b"http://weir.test?a", b"/?a"),
                             (b"HTTP://WEIR.test:80/a/../b", b"/a/../b")]:
            seen = self.assert_passed(get(target=target))
            self.assertEqual(seen.line, b"GET " + path + b" HTTP/1.1")

    def test_H10_an_answer_is_not_transformed(self):
        body = b"\x1f\x8b\x08 not really gzip \r\n\0"
        lines = (b"Cache-Control: no-transform\r\nContent-Encoding: gzip\r\nETag: \"x\"\r\n"
                 b"Content-Type: text/html\r\n")
        answer = OK + b"Content-Length: %d\r\n" % len(body) + lines + b"\r\n" + body
        seen = self.assert_passed(get(), answer=answer)
        self.assertEqual(seen.down, answer)

    def test_H11_allow_and_authentication_are_not_modified(self):
        lines = (b"Allow: GET,, lock\r\nWWW-Authenticate: Basic realm=\"a, b\", Other x=y\r\n"
                 b"WWW-Authenticate: Third\r\nAuthentication-Info: x\r\n")
        answer = b"HTTP/1.1 401 No\r\nDate: x\r\nContent-Length: 0\r\n" + lines + b"\r\n"
        seen = self.through(get(b"Authorization:  Digest a=\"b, c\" , d"), answer=answer)
        self.assertEqual(seen.down, answer)
        self.assertIn(b"\r\nAuthorization: Digest a=\"b, c\" , d\r\n", seen.up)

    def test_H12_neither_421_nor_vary_asterisk_is_made_up(self):
        seen = self.through(get().replace(b"weir.test", b"unheard.test"))
        self.assertEqual((seen.status, seen.down_values(b"Vary")), (200, []))
        weir = self.start(configuration(routes=[
            {"match": {"host": "weir.test"}, "respond": {"status": 200}}]))
        client = self.recorded(weir)
        for host in (b"weir.test", b"unheard.test"):
            client.send(get().replace(b"weir.test", host))
            self.assertEqual(client.read().status, 200 if host == b"weir.test" else 404)
        self.assertNotIn(b"\r\nvary:", bytes(client.reader.record).lower())

    def test_H13_conditions_are_passed_on_and_not_evaluated(self):
        lines = [b"If-None-Match: *", b"If-Match: \"y\"", b"If-Range: \"x\"", b"Range: bytes=0-0",
                 b"If-Modified-Since: Sun, 06 Nov 2044 08:49:37 GMT",
                 b"If-Unmodified-Since: Sun, 06 Nov 1994 08:49:37 GMT"]
        answer = OK + b"ETag: \"x\"\r\nContent-Length: 2\r\n\r\nok"
        seen = self.assert_passed(get(*lines), answer=answer)
        self.assertEqual(seen.down, answer)
        self.assertIn(b"\r\n" + b"\r\n".join(lines) + b"\r\n", seen.up)


class Retries(WireCase):
    def behave(self, exchange):
        """Ends a connection that is used again, after the part of an answer that the test specifies."""
        exchange.read_body()
        self.seen.append(exchange.method)
        if exchange.connection == 1 and len(self.seen) == 2:
            if self.answer:
                exchange.send(self.answer)
            exchange.close()
        else:
            exchange.send(FINE)

    def attempts(self, method, answer=b"", body=None):
        self.seen = []
        self.up = self.upstream(self.behave)
        self.weir = self.start(configuration(self.up.url))
        self.answer = answer
        client = self.connect(self.weir)
        self.assertEqual(client.get("/").status, 200)
        status = client.request(method, "/", body=body).status
        return status, len(self.seen) - 1

    def test_H14_only_idempotent_requests_are_sent_again(self):
        for method in ("GET", "HEAD", "OPTIONS", "PUT", "DELETE"):
            with self.subTest(method=method):
                self.assertEqual(self.attempts(method), (200, 2))
        for method in ("POST", "PATCH", "LOCK", "GETS"):
            with self.subTest(method=method):
                self.assertEqual(self.attempts(method), (502, 1))
        self.assertEqual(self.attempts("get"), (400, 0))
        self.assertEqual(self.attempts("POST", body=b"pay"), (502, 1))

    def test_H14_nothing_is_sent_again_once_a_byte_was_answered(self):
        self.assertEqual(self.attempts("GET", answer=b"H"), (502, 1))


class Answers(WireCase):
    def test_H15_date_is_added_if_there_is_none(self):
        date = rb"^(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$"
        seen = self.through(get(), answer=b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        self.assertRegex(seen.down_values(b"Date")[0], date)
        seen = self.through(get(), answer=EMPTY + b"\r\n")
        self.assertEqual(seen.down_values(b"Date"), [b"Sun, 06 Nov 1994 08:49:37 GMT"])
        weir = self.start(limited({"p": {"algorithm": "fixed_window", "rate": "1/1h"}},
                                  [{"policy": "p", "key": "client"}]))
        client = self.recorded(weir)
        client.send(get() + get())
        self.assertEqual((client.read().status, client.read().status), (200, 429))
        for head in bytes(client.reader.record).split(b"HTTP/1.1 ")[1:]:
            self.assertRegex(values(head, b"Date")[0], date)

    def test_H16_our_own_version_goes_out(self):
        seen = self.through(get(version=b"1.0"), answer=FINE.replace(b"1.1", b"1.0"))
        self.assertEqual(seen.line, b"GET / HTTP/1.1")
        self.assertTrue(seen.down.startswith(b"HTTP/1.1 200 OK\r\n"))

    def test_H17_interim_answers_are_passed_on_but_not_to_http_1_0(self):
        interim = (b"HTTP/1.1 100 Continue\r\n\r\n"
                   b"HTTP/1.1 102 Processing\r\nX: y\r\nConnection: z\r\nZ: 1\r\n\r\n"
                   b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\nLink: </b>\r\n\r\n")
        seen = self.assert_passed(get(), answer=interim + FINE)
        without_hop = interim.replace(b"Connection: z\r\nZ: 1\r\n", b"")
        self.assertEqual(seen.down, without_hop + FINE)
        seen = self.through(get(version=b"1.0"))
        self.assertEqual(seen.down, FINE[:-4] + b"Connection: close\r\n\r\nok")

    def test_H18_max_forwards_of_options_counts_down(self):
        seen = self.through(get(b"Max-Forwards: 0", method=b"OPTIONS", target=b"*"))
        self.assertEqual((seen.up, seen.status), (b"", 204))
        self.assertIn(b"OPTIONS", seen.down_values(b"Allow")[0])
        for received, sent in [(b"1", b"0"), (b"10", b"9"), (b"007", b"6"),
                               (b"99999999999999999999", b"18446744073709551614")]:
            seen = self.assert_passed(get(b"Max-Forwards: " + received, method=b"OPTIONS"))
            self.assertEqual(seen.up_values(b"Max-Forwards"), [sent])
        for lines in [[b"Max-Forwards: x"], [b"Max-Forwards: -1"], [b"Max-Forwards:"],
                      [b"Max-Forwards: 1, 1"], [b"Max-Forwards: 1", b"Max-Forwards: 1"]]:
            with self.subTest(lines=lines):
                self.assert_refused(get(*lines, method=b"OPTIONS"), closes=False)
        for method in (b"GET", b"OPTIONS"):
            self.assertEqual(self.assert_passed(get(method=method)).up_values(b"Max-Forwards"), [])
        seen = self.assert_passed(get(b"Max-Forwards: 0"))
        self.assertEqual(seen.up_values(b"Max-Forwards"), [b"0"])

    def test_H19_trace_is_not_served_and_shows_no_secret(self):
        seen = self.assert_refused(get(b"Authorization: s3cret", b"Cookie: s3cret",
                                       b"Max-Forwards: 0", method=b"TRACE"), 405)
        self.assertNotIn(b"s3cret", seen.down)
        self.assertEqual(len(seen.down_values(b"Allow")), 1)

    def test_H20_407_is_passed_on_with_its_challenge_and_never_made_up(self):
        answer = (b"HTTP/1.1 407 Proxy\r\nDate: x\r\nProxy-Authenticate: Basic realm=\"a\"\r\n"
                  b"Content-Length: 0\r\n\r\n")
        self.assertEqual(self.through(get(), answer=answer).down, answer)

"""What of a message is passed on, what is added, and what ends at this hop."""

import contextlib
import threading

from harness.case import Case, configuration
from harness.client import request_bytes
from harness.upstream import answer, echo, raw
from harness.waiting import eventually

IMF_FIXDATE = r"^(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$"
OK = b"HTTP/1.1 200 OK\r\n"
EMPTY = OK + b"Content-Length: 0\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n"
TRUSTED = {"client_address": {"trusted_proxies": ["127.0.0.0/8"]}}


class Requests(Case):
    def setUp(self):
        self.up, self.weir, self.client = self.proxy(
            answer(b"fine"), routes=[{"upstream": "main", "encoded_slashes": "match_both"}])

    def seen(self, *arguments, **options):
        response = self.client.request(*arguments, **options)
        self.assertEqual(response.status, 200, response)
        return self.up.requests[-1]

    def test_method_target_and_host_arrive_byte_for_byte(self):
        targets = ["/", "/a/../b//c/./", "/%7Euser/%2f%2F", "/?", "/?a=b&a=b&&=;x=%zz",
                   "/q?a/b?c=/d",
                   "/a;b=c,d!$&'()*+:@", "//double", "/caf%C3%A9?%fc=%DF"]
        for target in targets:
            with self.subTest(target=target):
                request = self.seen("GET", target, {"Host": "Example.TEST:8080"})
                self.assertEqual(request.target, target)
                self.assertEqual(request["Host"], "Example.TEST:8080")
        for method in ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND", "X-OWN"]:
            self.assertEqual(self.seen(method, "/").method, method)

    def test_end_to_end_fields_arrive_in_their_order_and_with_their_spelling(self):
        sent = [("X-One", "1"), ("aCCept", "text/*"), ("X-Two", ""), ("x-one", "2"),
                ("Cookie", "a=b; c=d"),
                ("User-Agent", "t"), ("X-Bytes", "\u00e9\u00ff")]
        request = self.seen("GET", "/", sent)
        names = {name for name, _ in sent}
        self.assertEqual([line for line in request.fields.lines if line[0] in names], sent)

    def test_hop_by_hop_fields_end_here(self):
        request = self.seen("GET", "/", {
            "Connection": "keep-alive, X-Drop", "Keep-Alive": "timeout=5", "X-Drop": "1",
            "Proxy-Connection": "keep-alive", "TE": "trailers", "Upgrade": "h2c", "X-Keep": "1"})
        for name in ["Keep-Alive", "X-Drop", "Proxy-Connection", "TE", "Upgrade",
                     "Transfer-Encoding"]:
            self.assertNotIn(name, request.fields)
        self.assertFalse(request.fields.has_token("Connection", "x-drop"))
        self.assertEqual(request["X-Keep"], "1")

    def test_connection_cannot_strip_what_is_for_everyone_pitfall_20(self):
        request = self.seen("POST", "/", {
            "Connection": "host, content-length, authorization, cookie",
            "Authorization": "Basic eA==",
            "Cookie": "a=b"}, b"body")
        self.assertEqual(request["Host"], "weir.test")
        self.assertEqual(request["Content-Length"], "4")
        self.assertEqual(request["Authorization"], "Basic eA==")
        self.assertEqual(request["Cookie"], "a=b")

    def test_via_names_the_version_received_and_follows_what_was_there(self):
        via = self.seen("GET", "/")["Via"]
        self.assertRegex(via, "^1.1 weir-[0-9a-f]+$")
        request = self.seen("GET", "/", {"Via": "1.1 before"})
        self.assertEqual(", ".join(request.fields.all("Via")), f"1.1 before, {via}")
        request = self.seen("GET", "/", {"Host": "weir.test"}, version="1.0")
        self.assertEqual(request["Via"], via.replace("1.1", "1.0"))

    def test_an_untrusted_peer_does_not_speak_for_others_pitfall_19(self):
        request = self.seen("GET", "/", {
            "X-Forwarded-For": "198.51.100.7", "X-Forwarded-Proto": "https",
            "X-Forwarded-Host": "evil.test", "Forwarded": "for=198.51.100.7"})
        self.assertEqual(request["X-Forwarded-For"], "127.0.0.1")
        self.assertEqual(request["X-Forwarded-Proto"], "http")
        self.assertEqual(request["X-Forwarded-Host"], "weir.test")
        self.assertNotIn("198.51.100.7", str(request.fields.lines))

    def test_expect_and_the_body_arrive(self):
        request = self.seen("POST", "/", {"Expect": "100-continue"}, b"body")
        self.assertEqual(request.body, b"body")

    def test_an_absolute_target_is_passed_in_origin_form_with_its_host(self):
        request = self.seen("GET", "http://weir.test/a?b=c")
        self.assertEqual((request.target, request["Host"]), ("/a?b=c", "weir.test"))

    def test_options_asterisk_is_passed_on(self):
        self.assertEqual(self.seen("OPTIONS", "*").target, "*")


class TrustedPeer(Case):
    def test_its_word_is_kept_and_its_address_appended(self):
        upstream, _, client = self.proxy(answer(), **TRUSTED)
        client.get("/", [("X-Forwarded-For", "198.51.100.7"), ("X-Forwarded-For", "203.0.113.9"),
                         ("X-Forwarded-Proto", "https"), ("X-Forwarded-Host", "public.test")])
        request = upstream.requests[-1]
        chain = ", ".join(request.fields.all("X-Forwarded-For"))
        self.assertEqual(chain, "198.51.100.7, 203.0.113.9, 127.0.0.1")
        self.assertEqual(request["X-Forwarded-Proto"], "https")
        self.assertEqual(request["X-Forwarded-Host"], "public.test")


class Responses(Case):
    def answered(self, data, method="GET", version="1.1", close=False):
        _, _, client = self.proxy(raw(data, close))
        fields = {"Host": "weir.test"}
        return client.request(method, "/", fields, version=version), client

    def test_status_and_reason_are_kept(self):
        for line in ["200 OK", "201 Made It", "299 ", "404 Not Found", "418 I'm a teapot",
                     "503 Later"]:
            with self.subTest(line=line):
                head = f"HTTP/1.1 {line}\r\nContent-Length: 2\r\n\r\n"
                response, _ = self.answered(head.encode() + b"hi")
                self.assertEqual((response.start, response.body), (f"HTTP/1.1 {line}", b"hi"))

    def test_hop_by_hop_fields_end_here(self):
        response, _ = self.answered(EMPTY + b"Connection: X-Drop\r\nX-Drop: 1\r\n"
                                    b"Keep-Alive: timeout=9\r\nProxy-Connection: x\r\n"
                                    b"Upgrade: h2c\r\nX-Keep: 1\r\n\r\n")
        for name in ["X-Drop", "Keep-Alive", "Proxy-Connection", "Upgrade", "Connection"]:
            self.assertNotIn(name, response.fields)
        self.assertEqual(response["X-Keep"], "1")

    def test_set_cookie_lines_are_never_merged(self):
        response, _ = self.answered(EMPTY + b"Set-Cookie: a=1; Expires=Thu, 01 Jan\r\n"
                                    b"X: y\r\nSet-Cookie: b=2\r\nset-cookie: c=3\r\n\r\n")
        self.assertEqual(response.fields.all("Set-Cookie"),
                         ["a=1; Expires=Thu, 01 Jan", "b=2", "c=3"])

    def test_date_is_added_when_missing_and_kept_when_there(self):
        response, _ = self.answered(EMPTY + b"\r\n")
        self.assertRegex(response["Date"], IMF_FIXDATE)
        date = "Sun, 06 Nov 1994 08:49:37 GMT"
        response, _ = self.answered(EMPTY + f"Date: {date}\r\n\r\n".encode())
        self.assertEqual(response["Date"], date)

    def test_head_keeps_the_length_and_has_no_body(self):
        response, client = self.answered(OK + b"Content-Length: 1234\r\n\r\n", "HEAD")
        self.assertEqual((response.status, response["Content-Length"]), (200, "1234"))
        self.assertEqual(client.request("HEAD", "/").status, 200)

    def test_304_keeps_the_length_and_has_no_body(self):
        response, client = self.answered(
            b"HTTP/1.1 304 Not Modified\r\nContent-Length: 1234\r\nETag: \"x\"\r\n\r\n")
        self.assertEqual((response.status, response["Content-Length"], response["ETag"]),
                         (304, "1234", '"x"'))
        self.assertEqual(client.get("/").status, 304)

    def test_204_has_neither_length_nor_body(self):
        response, client = self.answered(b"HTTP/1.1 204 No Content\r\nX: y\r\n\r\n")
        self.assertEqual((response.status, response["X"]), (204, "y"))
        self.assertNotIn("Content-Length", response.fields)
        self.assertNotIn("Transfer-Encoding", response.fields)
        self.assertEqual(client.get("/").status, 204)

    def test_an_upstream_of_http_1_0_is_understood(self):
        response, client = self.answered(b"HTTP/1.0 200 OK\r\n\r\nold but good", close=True)
        self.assertEqual((response.version, response.body), ("HTTP/1.1", b"old but good"))

    def test_an_upstream_that_says_close_is_not_reused_and_the_client_stays(self):
        closing = OK + b"Content-Length: 1\r\nConnection: close\r\n\r\nx"
        upstream, _, client = self.proxy(raw(closing))
        for _ in range(3):
            response = client.get("/")
            self.assertEqual((response.status, response.body), (200, b"x"))
            self.assertFalse(response.fields.has_token("Connection", "close"))
        self.assertEqual(upstream.connections, 3)

    def test_an_upstream_connection_is_reused(self):
        upstream, weir, client = self.proxy()
        for _ in range(5):
            client.get("/")
        with weir.connect() as other:
            other.get("/")
        self.assertEqual(upstream.connections, 1)

    def test_chunk_extensions_and_trailers_do_not_reach_the_head_nor_the_body(self):
        response, client = self.answered(CHUNKED + b"Trailer: X-Sum\r\n\r\n"
                                         b"5;a=\"b\"\r\nhello\r\n0\r\n"
                                         b"X-Sum: 1\r\nContent-Length: 9\r\n"
                                         b"Set-Cookie: a=b\r\n\r\n")
        self.assertEqual((response.body, response.framing), (b"hello", "chunked"))
        for name in ("Set-Cookie", "X-Sum", "Content-Length"):
            self.assertNotIn(name, response.fields)
        for name in ("Set-Cookie", "Content-Length"):
            self.assertNotIn(name, response.trailers)
        self.assertEqual(client.get("/").body, b"hello")

    def test_a_head_of_many_and_of_long_fields_passes(self):
        fields = [(f"X-{i}", "v" * 300) for i in range(90)]
        _, _, client = self.proxy(answer(b"fine", fields=fields))
        response = client.get("/", fields[:80])
        self.assertEqual([line for line in response.fields.lines if line in fields], fields)

    def test_an_answer_that_comes_byte_by_byte(self):
        def behaviour(exchange):
            exchange.read_body()
            for byte in (CHUNKED + b"\r\n"
                         b"3\r\nabc\r\nA\r\n0123456789\r\n0\r\n\r\n"):
                exchange.send(bytes([byte]))

        _, _, client = self.proxy(behaviour)
        for _ in range(5):
            self.assertEqual(client.get("/").body, b"abc0123456789")

    def test_each_piece_of_an_answer_is_passed_on_at_once(self):
        may_go_on = threading.Event()
        self.addCleanup(may_go_on.set)

        def behaviour(exchange):
            exchange.read_body()
            exchange.send(CHUNKED + b"Content-Type: text/event-stream\r\n\r\n"
                          b"6\r\nevent1\r\n")
            may_go_on.wait()
            exchange.send(b"6\r\nevent2\r\n0\r\n\r\n")

        _, _, client = self.proxy(behaviour)
        client.send(request_bytes("GET", "/"))
        head = client.read_head()
        pieces = []
        client.reader.body(head, "close", lambda piece: (pieces.append(piece), may_go_on.set()))
        self.assertEqual(b"".join(pieces), b"event1event2")


class Upstreams(Case):
    def test_a_host_name(self):
        upstream = self.upstream(answer(b"fine"))
        client = self.connect(self.start(configuration(f"http://localhost:{upstream.port}")))
        self.assertEqual(client.get("/").body, b"fine")


class Versions(Case):
    def setUp(self):
        self.up, self.weir, self.client = self.proxy(answer(b"fine"))

    def test_a_client_of_http_1_0_is_closed_after_its_answer(self):
        response = self.client.request("GET", "/", version="1.0")
        self.assertEqual((response.status, response.body), (200, b"fine"))
        self.assertTrue(self.client.is_ended())

    def test_a_client_of_http_1_0_stays_if_it_asks_to(self):
        for _ in range(3):
            response = self.client.request("GET", "/", {"Connection": "keep-alive"}, version="1.0")
            self.assertEqual((response.status, response.body), (200, b"fine"))
            self.assertTrue(response.fields.has_token("Connection", "keep-alive"))

    def test_a_client_that_says_close_is_told_so_and_closed(self):
        response = self.client.get("/", {"Connection": "close"})
        self.assertTrue(response.fields.has_token("Connection", "close"))
        self.assertTrue(self.client.is_ended())

    def test_a_request_of_http_1_0_without_host_reaches_the_upstream_with_one(self):
        self.client.request("GET", "/", version="1.0")
        self.assertIn("Host", self.up.requests[-1].fields)


class Interim(Case):
    def test_100_continue_comes_from_the_upstream_before_the_body_is_sent(self):
        def behaviour(exchange):
            exchange.send(b"HTTP/1.1 100 Continue\r\n\r\n")
            echo(exchange)

        upstream, _, client = self.proxy(behaviour)
        head = request_bytes("POST", "/", {"Expect": "100-continue", "Content-Length": "5"})
        client.send(head)
        self.assertEqual(client.read_head().status, 100)
        client.send(b"hello")
        response = client.read()
        self.assertEqual((response.status, response.body), (200, b"hello"))

    def test_a_final_answer_instead_of_100_reaches_the_client_without_its_body(self):
        refusal = b"HTTP/1.1 417 Expectation Failed\r\nContent-Length: 0\r\n\r\n"
        _, _, client = self.proxy(lambda exchange: exchange.send(refusal))
        client.send(request_bytes("POST", "/", {"Expect": "100-continue", "Content-Length": "5"}))
        response = client.read()
        self.assertEqual((response.status, response.interim), (417, []))

    def test_interim_answers_do_not_put_off_the_end_of_response_timeout(self):
        def hints_for_long(exchange):
            pause = threading.Event()
            with contextlib.suppress(OSError):
                for _ in range(50):
                    exchange.send(b"HTTP/1.1 103 Early Hints\r\n\r\n")
                    pause.wait(0.1)
                exchange.answer(b"too late")

        upstream, _, client = self.proxy(hints_for_long, main={"response_timeout": "1s"})
        response = client.get("/")
        self.assertEqual(response.status, 504)
        self.assertGreater(len(response.interim), 0)
        eventually(lambda: not upstream.open_connections, "the upstream connection is closed")

    def test_103_reaches_clients_of_http_1_1_only(self):
        hints = b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n"
        _, weir, client = self.proxy(raw(hints + hints
                                         + OK + b"Content-Length: 2\r\n\r\nhi",
                                         False))
        response = client.get("/")
        self.assertEqual([head.status for head in response.interim], [103, 103])
        self.assertEqual(response.interim[0]["Link"], "</a.css>; rel=preload")
        self.assertEqual((response.status, response.body), (200, b"hi"))
        old = self.connect(weir).request("GET", "/", {"Host": "weir.test"}, version="1.0")
        self.assertEqual((list(old.interim), old.status, old.body), ([], 200, b"hi"))


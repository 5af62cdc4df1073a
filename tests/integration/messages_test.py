"""What reaches the other side besides what musts_*_test.py require: where a request came from, each piece of an answer at
once, and connections that are used again."""

import contextlib
import threading

from harness.case import Case, configuration
from harness.upstream import answer, raw
from harness.waiting import eventually

OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n"


class Origin(Case):
    SENT = [("X-Forwarded-For", "198.51.100.7"), ("X-Forwarded-For", "203.0.113.9"), ("X-Forwarded-Proto", "https"),
            ("X-Forwarded-Host", "public.test"), ("Forwarded", "for=198.51.100.7")]

    def forwarded(self, **sections):
        """What the upstream reads of where the request came from."""
        upstream, _, client = self.proxy(answer(), **sections)
        client.get("/", self.SENT)
        fields = upstream.requests[-1].fields
        return [", ".join(fields.all(name)) for name in ("X-Forwarded-For", "X-Forwarded-Proto", "X-Forwarded-Host",
                                                         "Forwarded")]

    def test_an_untrusted_peer_does_not_speak_for_others_pitfall_19(self):
        self.assertEqual(self.forwarded(), ["127.0.0.1", "http", "weir.test", ""])

    def test_the_word_of_a_trusted_peer_is_kept_and_its_address_appended(self):
        self.assertEqual(self.forwarded(client_address={"trusted_proxies": ["127.0.0.0/8"]})[:3],
                         ["198.51.100.7, 203.0.113.9, 127.0.0.1", "https", "public.test"])

    def test_a_request_of_http_1_0_without_host_reaches_the_upstream_with_one(self):
        upstream, _, client = self.proxy(answer(b"fine"))
        client.request("GET", "/", version="1.0")
        self.assertIn("Host", upstream.requests[-1].fields)


class Responses(Case):
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
        client.send(b"GET / HTTP/1.1\r\nHost: weir.test\r\n\r\n")
        head = client.read_head()
        pieces = []
        client.reader.body(head, "close", lambda piece: (pieces.append(piece), may_go_on.set()))
        self.assertEqual(b"".join(pieces), b"event1event2")

    def test_a_host_name(self):
        upstream = self.upstream(answer(b"fine"))
        client = self.connect(self.start(configuration(f"http://localhost:{upstream.port}")))
        self.assertEqual(client.get("/").body, b"fine")

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

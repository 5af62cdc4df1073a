"""Several requests on one connection: each is answered, in order, by its own answer."""

import contextlib
import socket
import threading

from harness.message import Truncated
from harness.case import Case, configuration, limited
from harness.client import chunked, request_bytes
from harness.payload import digest, payload
from harness.preload import fast_clock
from harness.upstream import echo
from harness.waiting import eventually

ONE_AN_HOUR = {"p": {"algorithm": "fixed_window", "rate": "1/1h"}}
CLIENT = [{"policy": "p", "key": "client"}]


def echo_target(exchange):
    exchange.read_body()
    exchange.answer(exchange.target.encode() + b" " + exchange.body)


class Pipelining(Case):
    def setUp(self):
        self.up, self.weir, self.client = self.proxy(echo_target)

    def test_a_long_body_and_the_request_behind_it_are_told_apart(self):
        body = payload(300_000)
        for fields, coded in [({}, body),
                              ({"Transfer-Encoding": "chunked"}, chunked(body, [65536, 11]))]:
            self.client.send(request_bytes("POST", "/post", fields, coded)
                             + request_bytes("GET", "/get"))
            self.assertEqual(digest(self.client.read().body), digest(b"/post " + body))
            self.assertEqual(self.client.read().body, b"/get ")

    def test_empty_lines_between_requests_are_ignored(self):
        self.client.send(b"\r\n\r\n" + request_bytes("GET", "/a") + b"\r\n"
                         + request_bytes("GET", "/b"))
        self.assertEqual(self.client.read().body, b"/a ")
        self.assertEqual(self.client.read().body, b"/b ")

    def test_a_client_that_ends_its_side_still_gets_its_answers(self):
        self.client.send(request_bytes("GET", "/a") + request_bytes("GET", "/b"))
        self.client.sock.shutdown(socket.SHUT_WR)
        self.assertEqual(self.client.read().body, b"/a ")
        self.assertEqual(self.client.read().body, b"/b ")
        self.assertTrue(self.client.is_ended())


class DeniedWithBody(Case):
    """A 429 is sent before the request's body has been read."""

    def setUp(self):
        self.weir = self.start(limited(ONE_AN_HOUR, CLIENT, downstream={"max_drain": "64KiB"}))
        self.client = self.connect(self.weir)
        self.assertEqual(self.client.get("/").status, 200)

    def test_a_body_that_comes_late_is_still_read_away_pitfall_38(self):
        self.client.send(request_bytes("POST", "/", {"Content-Length": "10"}))
        self.assertEqual(self.client.read().status, 429)
        self.client.send(b"0123456789" + request_bytes("HEAD", "/"))
        self.assertEqual(self.client.read("HEAD").status, 429)

    def test_a_huge_body_costs_the_connection_but_not_the_answer_pitfall_38(self):
        size = 1 << 30
        self.client.send(request_bytes("POST", "/", {"Content-Length": str(size)}))
        block = payload(65536)
        sent = 0
        try:
            while sent < 8 << 20:
                self.client.send(block)
                sent += len(block)
        except OSError:
            pass  # Weir may stop reading at any time; the answer must be there all the same
        response = self.client.read()
        self.assert_problem(response, 429)
        self.assertTrue(response.fields.has_token("Connection", "close"))
        self.assertTrue(self.client.is_gone())


def send_until_it_ends(client, data, is_sent):
    try:
        client.send(data)
        is_sent.set()
    except OSError:
        pass


class UpstreamConnections(Case):
    """Bytes left on an upstream connection never reach another request."""

    def test_a_connection_with_half_a_request_on_it_reaches_nobody_pitfall_39(self):
        for size in range(2_400_000, 3_600_000, 30_000):  # the last piece is stuck in some
            is_sent, next_is_sent = threading.Event(), threading.Event()

            def behaviour(exchange, is_sent=is_sent, next_is_sent=next_is_sent):
                if exchange.method == "POST":
                    is_sent.wait(0.25)  # or is stuck on the way
                exchange.answer(b"early")
                if exchange.method == "POST":
                    next_is_sent.wait(20)
                try:
                    exchange.read_body()  # what comes within its length is taken for the body
                except Truncated:
                    exchange.close()

            upstream = self.upstream(behaviour, receive_buffer=4096)
            weir = self.start(configuration(upstream.url))
            client = self.connect(weir)
            head = request_bytes("POST", "/upload", {"Content-Length": str(size)})
            sender = threading.Thread(target=send_until_it_ends,
                                      args=(client, head + b"x" * size, is_sent))
            sender.start()
            self.assertEqual(client.read().body, b"early")
            with weir.connect() as other:
                other.send(request_bytes("GET", "/next"))
                next_is_sent.set()
                self.assertEqual(other.read().body, b"early")
            sender.join()
            self.assertEqual([(r.method, r.target) for r in upstream.requests],
                             [("POST", "/upload"), ("GET", "/next")])

    def test_after_one_stale_connection_no_other_is_tried(self):
        together = threading.Barrier(4, timeout=10)

        def behaviour(exchange):
            if exchange.target == "/first":
                together.wait()  # so that each has a connection of its own
                exchange.answer()
            elif exchange.connection <= 4:
                exchange.close()
            else:
                exchange.answer()

        upstream, weir, client = self.proxy(behaviour, main={"retries": 1})
        with contextlib.ExitStack() as stack:
            others = [stack.enter_context(weir.connect()) for _ in range(4)]
            for other in others:
                other.send(request_bytes("GET", "/first"))
            for other in others:
                self.assertEqual(other.read().status, 200)
        self.assertEqual(client.get("/second").status, 200)
        self.assertEqual(upstream.connections, 5)

    def test_a_connection_the_upstream_closed_while_idle_is_not_used(self):
        upstream, _, client = self.proxy(echo)
        for i in range(5):
            self.assertEqual(client.request("POST", f"/{i}", body=b"pay").body, b"pay")
            upstream.close_connections()
            eventually(lambda: not upstream.open_connections, "the upstream has closed")
        self.assertEqual(len(upstream.requests), 5)

    def test_an_answer_before_the_body_was_read_reaches_the_client(self):
        def behaviour(exchange):
            exchange.answer(b"enough", "413 Content Too Large", [("Connection", "close")])
            exchange.close()

        _, _, client = self.proxy(behaviour)
        client.send(request_bytes("POST", "/", {"Content-Length": str(1 << 30)}) + payload(1000))
        response = client.read()
        self.assertEqual((response.status, response.body), (413, b"enough"))
        self.assertTrue(client.is_gone())

    def test_an_answer_before_the_body_was_read_on_a_connection_that_stays(self):
        def behaviour(exchange):
            exchange.answer(b"early")
            exchange.read_body()

        _, weir, client = self.proxy(behaviour)
        for _ in range(5):
            with weir.connect() as early:
                early.send(request_bytes("POST", "/", {"Content-Length": "100000"}))
                self.assertEqual(early.read().body, b"early")
            self.assertEqual(client.get("/").body, b"early")

    def test_a_client_that_resets_ends_its_upstream_request(self):
        upstream, weir, client = self.proxy(lambda exchange: exchange.reader.fill(),
                                            main={"response_timeout": "10m"})
        client.send(request_bytes("GET", "/"))
        upstream.await_requests(1)
        client.reset()
        eventually(lambda: not upstream.open_connections, "the upstream connection is closed",
                   patience_s=20)

    def test_a_client_that_leaves_within_an_answer_ends_its_upstream_request(self):
        def behaviour(exchange):
            exchange.send(b"HTTP/1.1 200 OK\r\n" + exchange.words[1][1:].encode() + b"\r\n\r\n5\r\nfirst\r\n")
            exchange.reader.fill()

        # Weir looks every second whether the clients have left.
        upstream, weir, _ = self.proxy(behaviour, fast_clock(10), downstream={"body_timeout": "10m"})
        for framing in "Content-Length:1000", "Transfer-Encoding:chunked", "Connection:close":
            for leave in (lambda client: client.close(), lambda client: client.reset(),
                          lambda client: client.sock.shutdown(socket.SHUT_WR)):
                client = self.connect(weir)
                client.send(request_bytes("GET", "/" + framing))
                self.assertEqual(client.read_head().status, 200)
                leave(client)
                eventually(lambda: not upstream.open_connections, f"{framing}: the upstream connection is closed",
                           patience_s=20)
        # The same once an upload that the answer did not wait for is through.
        client = self.connect(weir)
        client.send(request_bytes("POST", "/Content-Length:1000", {"Content-Length": "10"}) + b"hello")
        self.assertEqual(client.read_head().status, 200)
        client.send(b"world")
        upstream.await_requests(10)
        client.close()
        eventually(lambda: not upstream.open_connections, "the upstream connection is closed", patience_s=20)


class MaxAge(Case):
    """downstream.max_age, and a time that passes ten times as fast."""
    AGED = {"downstream": {"max_age": "5s"}, "environment": fast_clock(10)}

    def test_a_response_after_the_age_closes_the_connection(self):
        _, _, client = self.proxy(echo_target, **self.AGED)

        def last():
            response = client.get("/x")
            self.assertEqual((response.status, response.body), (200, b"/x "))
            return response.fields.has_token("Connection", "close")

        eventually(last, "a response with Connection: close")
        self.assertTrue(client.is_ended())

    def test_an_idle_connection_is_closed(self):
        _, weir, client = self.proxy(echo_target, **self.AGED)
        self.assertEqual(client.get("/x").status, 200)
        self.assertTrue(client.is_ended())
        self.assertTrue(self.connect(weir).is_ended())

    def test_a_request_in_progress_is_finished(self):
        late, may_answer = self.late_upstream()
        weir = self.start(configuration(late.url, downstream=self.AGED["downstream"]),
                          environment=self.AGED["environment"])
        client, idle = self.connect(weir), self.connect(weir)
        client.send(request_bytes("GET", "/"))
        late.await_requests(1)
        self.assertTrue(idle.is_ended())
        self.assertTrue(self.connect(weir).is_ended())  # it is younger than the first by its age
        may_answer.set()
        response = client.read()
        self.assertEqual(response.body, b"late")
        self.assertTrue(response.fields.has_token("Connection", "close"))
        self.assertTrue(client.is_ended())

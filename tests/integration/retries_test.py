"""Requests that are sent again when a server goes away: bodies that come after their head, servers that are killed."""

import hashlib
import os
import random
import signal
import socket
import tempfile
import unittest

from harness.case import scaled
from harness.certificates import Authority, SecureConnection
from harness.client import chunked, request_bytes
from harness.group import Group
from harness.load import Load
from harness.payload import digest, payload
from harness.services import DigestServer
from harness.upstream import echo
from harness.waiting import eventually


def hang_up(exchange):
    exchange.read_body()
    exchange.reset()


class LateBodies(Group):
    """The first server behaves as the test specifies and ends the connection; the second one echoes."""

    def late(self, body, framing=None, one=hang_up, method="PUT", **main):
        """The answer to a body that is sent when its head has reached the first server."""
        self.one, self.two, self.weir = self.pair(one, echo, main=main)
        self.client = self.connect(self.weir)
        self.client.send(request_bytes(method, "/file", framing or {"Content-Length": str(len(body))}))
        self.one.await_requests(1)
        self.client.send(body if framing is None else chunked(body, [7, 100]))
        return self.client.read(method)

    def assert_repeated(self, response, body):
        self.assertEqual((response.status, response.body), (200, body))
        self.assertEqual([r.body for r in self.two.requests], [body])
        # The connection goes on with the next request, and the server with the first.
        self.assertEqual(self.client.request("PUT", "/next", body=b"next").body, b"next")

    def test_a_put_whose_body_came_later_goes_to_the_other_server_whole(self):
        for size in (1, 5000, 16 * 1024):
            for framing in (None, {"Transfer-Encoding": "chunked"}):
                with self.subTest(size=size, framing=framing):
                    body = payload(size if framing is None else max(1, size * 3 // 4))
                    self.assert_repeated(self.late(body, framing), body)

    def test_what_follows_the_body_is_the_next_request(self):
        one, two, weir = self.pair(hang_up, echo)
        client = self.connect(weir)
        for framing in (None, {"Transfer-Encoding": "chunked"}):
            client.send(request_bytes("PUT", "/file", framing or {"Content-Length": "4"}))
            eventually(lambda: len(one.requests) + len(two.requests) > 0, "the head has arrived")
            client.send((b"body" if framing is None else chunked(b"body", [3]))
                        + request_bytes("PUT", "/next", body=b"next"))
            self.assertEqual([client.read().body, client.read().body], [b"body", b"next"])
            one.requests.clear()
            two.requests.clear()

    def test_a_post_whose_body_came_later_is_not_repeated(self):
        self.assert_problem(self.late(b"pay", method="POST"), 502)
        self.assertEqual((len(self.one.requests), self.two.requests), (1, []))

    def test_a_body_above_the_bound_streams_on_and_is_not_repeated(self):
        for framing in (None, {"Transfer-Encoding": "chunked"}):
            for size in (16 * 1024 + 1, 300_000):
                with self.subTest(framing=framing, size=size):
                    body = payload(size)
                    self.assert_problem(self.late(body, framing), 502)
                    self.assertEqual(digest(self.one.requests[0].body), digest(body))
                    self.assertEqual(self.two.requests, [])

    def test_the_bound_can_be_moved(self):
        body = payload(200_000)
        for framing in (None, {"Transfer-Encoding": "chunked"}):
            self.assert_repeated(self.late(body, framing, retry_body="1MiB"), body)
        self.assert_problem(self.late(payload(1025), retry_body="1KiB"), 502)
        self.assertEqual(self.two.requests, [])

    def test_a_client_that_is_still_sending_goes_on_with_the_second_server(self):
        for framing in (None, {"Transfer-Encoding": "chunked"}):
            with self.subTest(framing=framing):
                body = payload(15_000)
                sent = body if framing is None else chunked(body, [1000, 13])
                one, two, weir = self.pair(lambda e: (e.reader.exactly(4000, lambda _: None), e.reset()),
                                           echo)
                client = self.connect(weir)
                client.send(request_bytes("PUT", "/", framing or {"Content-Length": str(len(body))})
                            + sent[:10])
                one.await_requests(1)
                client.send(sent[10:5000])
                two.await_requests(1)
                for at in range(5000, len(sent), 3000):
                    client.send(sent[at:at + 3000])
                self.assertEqual(client.read().body, body)
                self.assertEqual(client.request("PUT", "/next", body=b"next").body, b"next")

    def test_over_tls_a_client_that_is_still_sending_goes_on_with_the_second_server(self):
        ca = Authority()
        self.addCleanup(ca.cleanup)
        listen = [{"address": "127.0.0.1:0", "tls": ca.issue("own", "DNS:weir.test").files}]
        body = payload(15_000)
        one, two, weir = self.pair(lambda e: (e.reader.exactly(4000, lambda _: None), e.reset()), echo,
                                   listen=listen)
        client = SecureConnection(weir.address, ca.client_context())
        self.addCleanup(client.close)
        client.send(request_bytes("PUT", "/", {"Content-Length": str(len(body))}) + body[:10])
        one.await_requests(1)
        client.send(body[10:5000])
        two.await_requests(1)
        client.send(body[5000:])
        self.assertEqual(client.read().body, body)
        self.assertEqual(client.request("PUT", "/next", body=b"next").body, b"next")

    def test_a_body_that_outgrows_the_bound_at_the_second_server_arrives_whole(self):
        body = payload(400_000)
        one, two, weir = self.pair(lambda e: (e.reader.exactly(4000, lambda _: None), e.reset()), echo)
        client = self.connect(weir)
        client.send(request_bytes("PUT", "/", {"Transfer-Encoding": "chunked"}))
        one.await_requests(1)
        coded = chunked(body, [5000])
        client.send(coded[:6000])
        two.await_requests(1)
        client.send(coded[6000:])
        self.assertEqual(digest(client.read().body), digest(body))

    def test_a_client_that_leaves_is_not_repeated_for(self):
        one, two, weir = self.pair(lambda e: (e.reader.exactly(1, lambda _: None), e.reader.fill()), echo,
                                   access_log={"path": "-"})
        client = self.connect(weir)
        client.send(request_bytes("PUT", "/", {"Content-Length": "10"}) + b"1")
        one.await_requests(1)
        client.close()
        eventually(lambda: '"status":499' in weir.stdout, "its request has ended")
        self.assertEqual(two.requests, [])

    def next_server_refuses(self, *more):
        """The answer and its body: the first server closes, and the second refuses connections."""
        body = payload(3000)
        one = self.upstream(hang_up)
        refusing = socket.socket()
        self.addCleanup(refusing.close)
        refusing.bind(("127.0.0.1", 0))
        weir = self.group(one, f"http://127.0.0.1:{refusing.getsockname()[1]}", *more, main={"retries": 2})
        self.client = self.connect(weir)
        self.client.send(request_bytes("PUT", "/file", {"Content-Length": str(len(body))}))
        one.await_requests(1)
        self.client.send(body)
        return self.client.read(), body

    def test_a_body_survives_a_server_that_refuses_the_connection(self):
        last = self.upstream(echo)
        response, body = self.next_server_refuses(last)
        self.assertEqual((response.status, response.body), (200, body))
        self.assertEqual([r.body for r in last.requests], [body])
        self.assertEqual(self.client.request("PUT", "/next", body=b"next").body, b"next")

    def test_without_a_server_that_accepts_the_answer_is_502(self):
        response, _ = self.next_server_refuses()
        self.assert_problem(response, 502)
        self.assertTrue(self.client.is_ended())


class Expectations(Group):
    def expect(self, one):
        one, two, weir = self.pair(one, self.continues)
        client = self.connect(weir)
        client.send(request_bytes("PUT", "/", {"Expect": "100-continue", "Content-Length": "4"}))
        return one, two, client

    @staticmethod
    def continues(exchange):
        exchange.send(b"HTTP/1.1 100 Continue\r\n\r\n")
        echo(exchange)

    def test_a_server_that_ends_before_it_said_continue(self):
        one, two, client = self.expect(lambda e: e.reset())
        self.assertEqual(client.read_head().status, 100)
        client.send(b"body")
        self.assertEqual(client.read().body, b"body")
        self.assertEqual([r["Expect"] for r in two.requests], ["100-continue"])

    def test_a_server_that_ends_after_it_said_continue(self):
        one, two, client = self.expect(
            lambda e: (e.send(b"HTTP/1.1 100 Continue\r\n\r\n"), e.read_body(), e.reset()))
        self.assertEqual(client.read_head().status, 100)
        client.send(b"body")
        response = client.read()
        self.assertEqual((response.status, response.body), (200, b"body"))
        self.assertEqual([r.body for r in one.requests + two.requests], [b"body", b"body"])

    def test_an_answer_that_has_begun_after_continue_is_not_repeated(self):
        one, two, client = self.expect(
            lambda e: (e.send(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 2"), e.read_body(), e.reset()))
        self.assertEqual(client.read_head().status, 100)
        client.send(b"body")
        self.assert_problem(client.read(), 502)
        self.assertEqual(two.requests, [])

    def test_an_early_answer_is_the_answer(self):
        def refuses(exchange):
            exchange.answer(b"no", "413 Content Too Large", [("Connection", "close")])
            exchange.close()

        one, two, client = self.expect(refuses)
        response = client.read()
        self.assertEqual((response.status, response.body), (413, b"no"))
        self.assertEqual(two.requests, [])


class Killed(Group):
    """gunicorn, killed with SIGKILL while it has a request."""

    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="weir-killed-")
        self.addCleanup(directory.cleanup)
        self.log = os.path.join(directory.name, "log")

    def servers(self, **main):
        self.one, self.two = [self.server(name) for name in ("one", "two")]
        self.weir = self.group(self.one, self.two, main=main)
        self.client = self.connect(self.weir)

    def server(self, name):
        server = DigestServer(name, self.log)
        self.addCleanup(server.stop)
        return server

    def send_head(self, method, framing, after, expect=False):
        """Until it has reached the server that it will kill."""
        fields = {**framing, "X-Kill": "one", "X-Kill-After": str(after)}
        if expect:
            fields["Expect"] = "100-continue"
        self.client.send(request_bytes(method, "/file", fields))
        eventually(lambda: self.one.arrived(), "the head has arrived")

    def assert_whole(self, response, body):
        self.assertEqual((response.status, response["X-Server"], response["X-Digest"]),
                         (200, "two", digest(body)))
        self.assertEqual(self.one.arrived(), ["one PUT /file", "two PUT /file"])

    def test_a_put_is_not_lost(self):
        body = payload(9000)
        for framing, sent in [({"Content-Length": "9000"}, body),
                              ({"Transfer-Encoding": "chunked"}, chunked(body, [1000, 7]))]:
            with self.subTest(framing=framing):
                self.servers()
                self.send_head("PUT", framing, len(body))
                self.client.send(sent)
                self.assert_whole(self.client.read(), body)
                os.unlink(self.log)

    def test_a_put_that_is_still_coming_is_not_lost(self):
        body = payload(15_000)
        for framing, sent in [({"Content-Length": "15000"}, body),
                              ({"Transfer-Encoding": "chunked"}, chunked(body, [1000, 7]))]:
            with self.subTest(framing=framing):
                self.servers()
                self.send_head("PUT", framing, 3000)
                self.client.send(sent[:4000])
                self.one.await_end()
                self.client.send(sent[4000:])
                self.assert_whole(self.client.read(), body)
                os.unlink(self.log)

    def test_a_post_is_not_sent_twice(self):
        self.servers()
        self.send_head("POST", {"Content-Length": "4"}, 4)
        self.client.send(b"body")
        self.assert_problem(self.client.read(), 502)
        self.assertEqual(self.one.arrived(), ["one POST /file"])

    def test_servers_killed_under_load_lose_no_put_and_get_no_post_twice(self):
        self.servers()
        load = Uploads(self.weir, 6)
        try:
            for turn in range(scaled(6)):
                server = (self.one, self.two)[turn % 2]
                load.await_answers(60)
                server.end(signal.SIGKILL)
                load.await_answers(60)
                server.launch()
        finally:
            load.end()
        self.assertEqual(load.failures, [])
        posts = [line.partition(" ")[2] for line in self.one.arrived() if " POST " in line]
        self.assertEqual(len(posts), len(set(posts)))
        self.assertGreater(load.posts, 0)


class Uploads(Load):
    """Sends bodies, each after its head; a PUT must be answered with its digest, a POST may fail."""

    def __init__(self, weir, clients):
        self.posts = 0
        super().__init__(weir, clients)

    def ask(self, number):
        source = random.Random(number)
        count = 0
        client = self.weir.connect()
        try:
            while not self.is_over:
                count += 1
                body = source.randbytes(source.randint(1, 14_000))
                method = "POST" if count % 4 == 0 else "PUT"
                response = self._send(client, method, f"/{number}/{count}", body, source)
                if method == "POST":
                    self.posts += 1
                elif (response.status, response["X-Digest"]) != (200, hashlib.sha256(body).hexdigest()):
                    return self.failures.append((response.status, response.body))
                if response.fields.has_token("Connection", "close"):
                    client.close()
                    client = self.weir.connect()
                self.answered += 1
        finally:
            client.close()

    @staticmethod
    def _send(client, method, target, body, source):
        framing = ({"Content-Length": str(len(body))}, {"Transfer-Encoding": "chunked"})[source.randint(0, 1)]
        sent = chunked(body, [source.randint(1, 9000)]) if "Transfer-Encoding" in framing else body
        cut = source.randint(0, len(sent))
        client.send(request_bytes(method, target, framing))
        client.send(sent[:cut])
        client.send(sent[cut:])
        return client.read(method)


if __name__ == "__main__":
    unittest.main()

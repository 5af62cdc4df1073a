"""Idle upstream connections: unexpected bytes before the next request, and reuse by other clients."""

import functools
import socket
import threading
import unittest

from harness.case import configuration
from harness.certificates import Authority
from harness.group import Group, named
from harness.preload import fast_clock
from harness.waiting import eventually

STRAY = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nstray"


def whole(exchange):
    """The answer. What is sent after it leaves at once, instead of with the next acknowledgement (Nagle)."""
    exchange.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    target = exchange.target.encode()
    return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(target), target)


class Servers(Group):
    @classmethod
    def setUpClass(cls):
        cls.ca = Authority()
        cls.addClassCleanup(cls.ca.cleanup)
        cls.own = cls.ca.issue("own", "IP:127.0.0.1")

    def modes(self):
        """Every mode, plain and over TLS, each in a subtest: starts an upstream with a behaviour, and Weir before it."""
        return [functools.partial(self.before, reuse=reuse, tls=tls)
                for reuse in ("always", "safe") for tls in (False, True)]

    def before(self, behaviour, reuse, tls=False):
        upstream = self.upstream(behaviour, tls=self.ca.server_context(self.own) if tls else None)
        main = {"reuse": reuse, "idle_timeout": "1h", "connect_timeout": "20s",
                **({"tls": {"ca": self.ca.file}} if tls else {})}
        # Idle connections are looked at once a second.
        return upstream, self.start(configuration(upstream.url, main=main), environment=fast_clock(5))


class StrayAnswers(Servers):
    """A second answer, by its time of arrival. No client gets it unless it looks like the next answer."""

    def test_together_with_the_answer(self):
        for start in self.modes():
            with self.subTest(**start.keywords):
                upstream, weir = start(lambda e: (e.read_body(), e.send(whole(e) + STRAY)))
                client = self.connect(weir)
                for i in range(5):
                    self.assertEqual(client.get(f"/{i}").body, b"/%d" % i)
                    self.assertEqual(self.connect(weir).get(f"/other{i}").body, b"/other%d" % i)

    def test_while_the_connection_is_idle(self):
        for start in self.modes():
            with self.subTest(**start.keywords):
                is_read, is_sent = threading.Semaphore(0), threading.Semaphore(0)

                def behaviour(exchange):
                    exchange.send(whole(exchange))
                    is_read.acquire(timeout=60)
                    exchange.send(STRAY)
                    is_sent.release()

                upstream, weir = start(behaviour)
                client = self.connect(weir)
                for i in range(5):
                    for each in (client, self.connect(weir)):
                        self.assertEqual(each.get(f"/{i}").body, b"/%d" % i)
                        is_read.release()
                        is_sent.acquire(timeout=60)

    def test_an_idle_connection_on_which_something_arrives_is_closed_without_another_request(self):
        for start in self.modes():
            with self.subTest(**start.keywords):
                upstream, weir = start(lambda e: e.send(whole(e)))
                client = self.connect(weir)
                self.assertEqual(client.get("/").body, b"/")
                upstream.requests[0].send(STRAY)
                eventually(lambda: upstream.open_connections == 0, "the connection is closed")
                self.assertEqual(client.get("/next").body, b"/next")

    def test_a_part_of_a_tls_record_is_a_part_of_a_stray_answer(self):
        for start in self.modes():
            with self.subTest(**start.keywords):
                upstream, weir = start(lambda e: e.send(whole(e)))
                if upstream.tls is None:
                    continue
                client = self.connect(weir)
                for i, part in enumerate([b"\x17", b"\x17\x03\x03", b"\x17\x03\x03\x00\x40",
                                          b"\x17\x03\x03\x00\x40stray"]):
                    self.assertEqual(client.get(f"/{i}").body, b"/%d" % i)
                    socket.socket.send(upstream.requests[i].sock, part)
                self.assertEqual(client.get("/last").body, b"/last")
                self.assertEqual(upstream.connections, 5)

    def two_clients(self, reuse):
        """What each of two clients gets where every second answer of a connection is a stray one."""

        def behaviour(exchange):
            is_first = len([r for r in upstream.requests if r.connection == exchange.connection]) == 1
            exchange.send(whole(exchange) if is_first else STRAY)

        upstream, weir = self.before(behaviour, reuse)
        one, two = self.connect(weir), self.connect(weir)
        return [client.get(f"/{name}").body for client, name in
                [(one, "one"), (two, "two"), (one, "one/again")]]

    def test_when_the_next_request_has_been_sent_it_is_the_answer(self):
        self.assertEqual(self.two_clients("always")[:2], [b"/one", b"stray"])

    def test_safe_gives_it_to_the_client_connection_that_caused_it(self):
        self.assertEqual(self.two_clients("safe"), [b"/one", b"/two", b"stray"])


class Safe(Servers):
    def test_a_client_connection_uses_its_upstream_connection_again(self):
        for start in self.modes():
            with self.subTest(**start.keywords):
                upstream, weir = start(lambda e: e.answer(b"%d" % e.connection))
                one, two = self.connect(weir), self.connect(weir)
                seen = [(one.get("/").body, two.get("/").body) for _ in range(5)]
                shared = weir.configuration["upstreams"]["main"]["reuse"] == "always"
                self.assertEqual(seen, [(b"1", b"1") if shared else (b"1", b"2")] * 5)

    def test_always_is_shared_by_clients_that_come_and_go_and_safe_is_not(self):
        for reuse, count in [("always", 1), ("safe", 5)]:
            upstream, weir = self.before(named("one"), reuse)
            for _ in range(5):
                with weir.connect() as client:
                    self.assertEqual(client.get("/").body, b"one")
            self.assertEqual(upstream.connections, count)

    def test_its_upstream_connections_end_with_the_client_connection(self):
        one, two, weir = self.pair(main={"reuse": "safe"})
        first, second = self.connect(weir), self.connect(weir)
        for client in (first, second):
            self.assertEqual(self.answers(client, 10), {"one": 5, "two": 5})
        self.assertEqual((one.connections, two.connections), (2, 2))
        first.close()
        eventually(lambda: one.open_connections + two.open_connections == 2, "two are closed")
        self.assertEqual(self.answers(second, 10), {"one": 5, "two": 5})
        self.assertEqual((one.connections, two.connections), (2, 2))

    def test_a_connection_that_the_server_has_closed_is_replaced(self):
        upstream, weir = self.before(named("one"), "safe")
        client = self.connect(weir)
        for count in range(1, 4):
            self.assertEqual(client.get("/").body, b"one")
            self.assertEqual(upstream.connections, count)
            upstream.close_connections()


if __name__ == "__main__":
    unittest.main()

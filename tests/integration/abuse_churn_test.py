"""Connections that come and go in the middle of everything: nothing of them stays."""

import random
import socket
import threading
import time

from harness.abuse import MIB_IN_KIB, AbuseCase, answer_target, descriptors_of
from harness.case import scaled
from harness.client import request_bytes
from harness.waiting import eventually

LARGE = b"x" * (1 << 20)
UPGRADE = request_bytes("GET", "/tunnel", {"Connection": "Upgrade", "Upgrade": "x"})
UNANSWERED = [
    b"\r\n\r\n\0\xff",
    b"",
    b"G",
    b"GET / HTTP/1.1\r\nHost: a",
    request_bytes("POST", "/", {"Content-Length": "1000"}),
    request_bytes("POST", "/", {"Content-Length": "100000"}, b"x" * 30_000),
    request_bytes("POST", "/", {"Transfer-Encoding": "chunked"}, b"5\r\nhel"),
    request_bytes("POST", "/", {"Transfer-Encoding": "chunked"}, b"5\r\nhello\r\n0\r\n"),
]
ANSWERED = [
    request_bytes("GET", "/"),
    request_bytes("GET", "/large"),
    request_bytes("GET", "/half"),
    request_bytes("GET", "/early"),
    request_bytes("POST", "/early", {"Content-Length": "1000"}),
    request_bytes("GET", "/") * 20,
    UPGRADE,
    UPGRADE + b"some bytes",
]


def behaviour(exchange):
    """As told by the target; each way to end a connection is among them."""
    if exchange.target.startswith("/beside"):
        return answer_target(exchange)
    if exchange.target == "/tunnel":
        exchange.send(b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\n"
                      b"Upgrade: x\r\n\r\nbytes")
        while exchange.reader.fill():
            exchange.reader.buffer.clear()
        return exchange.close()
    if exchange.target == "/half":
        exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
        return exchange.reset()
    if exchange.target == "/early":
        exchange.answer(b"early")
        return exchange.close()
    exchange.read_body()
    exchange.answer(LARGE if exchange.target == "/large" else b"fine")


class Churn(AbuseCase):
    def churn(self, weir, seed, turns):
        chance = random.Random(seed)
        for _ in range(turns):
            sock = socket.socket()
            sock.settimeout(60)
            try:
                sock.connect(weir.address)
                is_answered = chance.random() < 0.6
                sock.sendall(chance.choice(ANSWERED if is_answered else UNANSWERED))
                if is_answered and chance.random() < 0.6:
                    sock.recv(1)
                if chance.random() < 0.2:
                    sock.shutdown(socket.SHUT_WR)
                if chance.random() < 0.5:  # a reset
                    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            except OSError:
                pass  # hung up on
            finally:
                sock.close()

    def test_connections_that_break_off_anywhere_leave_nothing_behind(self):
        seed = time.time_ns()
        print("seed", seed)
        turns = scaled(1500)
        upstream, weir = self.guarded(behaviour, workers=2, main={"idle_timeout": "1s"},
                                      downstream={"head_timeout": "2s", "body_timeout": "2s",
                                                  "idle_timeout": "2s"})

        def at_rest():
            return not upstream.open_connections and not self.metric(weir, "weir_connections")

        eventually(at_rest, "the first connections are gone")
        descriptors = descriptors_of(weir)
        self.churn(weir, seed, scaled(200))  # memory as it is in use
        before = weir.memory_kib()
        with self.bystander(weir) as bystander:
            threads = [threading.Thread(target=self.churn, args=(weir, seed + i, turns))
                       for i in range(1, 4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            bystander.await_answers()
        self.assertGreaterEqual(self.metric(weir, "weir_connections_accepted_total"), 3 * turns)
        eventually(at_rest, f"every connection is gone, seed {seed}")
        eventually(lambda: descriptors_of(weir) <= descriptors,
                   f"the descriptors are given back, seed {seed}")
        self.assert_growth_below(weir, before, 12 * MIB_IN_KIB)

    def test_pooled_connections_that_the_upstream_resets_leave_nothing_behind(self):
        def resets(exchange):
            answer_target(exchange)
            if not exchange.target.startswith("/beside") and len(upstream.requests) % 3 == 0:
                exchange.reset()

        upstream, weir = self.guarded(resets, main={"idle_timeout": "1s"})
        with self.bystander(weir) as bystander:
            for i in range(scaled(2000)):
                with weir.connect() as client:
                    self.assertIn(client.get(f"/{i}").body, [f"/{i}".encode()])
            bystander.await_answers()
        eventually(lambda: not self.metric(weir, "weir_connections")
                   and not upstream.open_connections, "every connection is gone")

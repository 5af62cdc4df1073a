"""Hundreds of slow clients: they are closed after their timeout, use few resources until then, and
delay no other client."""

import itertools
import threading

from harness.abuse import MIB_IN_KIB, AbuseCase, Crowd, answer_target, raise_descriptor_limit
from harness.case import scaled
from harness.client import request_bytes
from harness.waiting import eventually

CROWD = 300
HEAD = b"GET /slow HTTP/1.1\r\nHost: weir.test\r\n"


class Slow(AbuseCase):
    def crowd(self, weir, count, **options):
        raise_descriptor_limit()
        crowd = Crowd(weir, count, **options)
        self.addCleanup(crowd.close)
        return crowd

    def assert_all_told(self, crowd, status):
        self.assertEqual(crowd.open, {})
        for received in crowd.received:
            self.assertEqual(received[:13], b"HTTP/1.1 %d " % status)
            self.assertEqual(received.count(b"HTTP/1.1"), 1)
            self.assertIn(b"application/problem+json", received)

    def test_slow_heads_are_408(self):
        upstream, weir = self.guarded(downstream={"head_timeout": "1s"})
        before = weir.memory_kib()
        with self.bystander(weir) as bystander:
            crowd = self.crowd(weir, CROWD)
            crowd.send(HEAD)
            bystander.await_answers()
            self.assert_growth_below(weir, before, CROWD * 16 + MIB_IN_KIB)
            field = itertools.cycle([b"A", b":", b"b", b"\r", b"\n"])
            crowd.send_until_ended(field)
            self.assert_all_told(crowd, 408)
            bystander.await_answers()
            self.await_connections(weir, 1)
        self.assertNotIn("/slow", [request.target for request in upstream.requests])

    def test_first_bytes_of_heads_that_never_go_on_are_408(self):
        _, weir = self.guarded(downstream={"head_timeout": "1s"})
        with self.bystander(weir) as bystander:
            crowd = self.crowd(weir, CROWD)
            crowd.send(b"G")
            crowd.send_until_ended(itertools.repeat(b""))
            self.assert_all_told(crowd, 408)
            bystander.await_answers()

    def test_slow_bodies_go_on_while_bytes_come_and_are_408_when_none_do(self):
        upstream, weir = self.guarded(downstream={"body_timeout": "1s"})
        before = weir.memory_kib()
        with self.bystander(weir) as bystander:
            crowd = self.crowd(weir, CROWD)
            crowd.send(request_bytes("POST", "/slow", {"Content-Length": "1000000"}))
            for _ in range(20):
                crowd.send(b"x")
                crowd.collect()
            bystander.await_answers()
            self.assert_growth_below(weir, before, CROWD * 96 + MIB_IN_KIB)
            crowd.send_until_ended(itertools.repeat(b""))
            self.assert_all_told(crowd, 408)
            bystander.await_answers()
            eventually(lambda: upstream.open_connections <= 1, "the upstream is let go of")
            self.await_connections(weir, 1)

    def test_slow_readers_of_large_answers_are_held_back_and_then_cut(self):
        size = 64 << 20
        block = b"x" * (1 << 16)
        sent = [0]
        lock = threading.Lock()

        def behaviour(exchange):
            if exchange.target != "/slow":
                return answer_target(exchange)
            exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % size)
            for _ in range(size // len(block)):
                exchange.send(block)
                with lock:
                    sent[0] += len(block)

        count = 100
        upstream, weir = self.guarded(behaviour, {"send_buffer": 65536},
                                      downstream={"body_timeout": "3s"})
        before = weir.memory_kib()
        with self.bystander(weir) as bystander:
            crowd = self.crowd(weir, count, receive_buffer=4096)
            crowd.send(request_bytes("GET", "/slow"))
            upstream.await_requests(count)
            bystander.await_answers()
            self.assert_growth_below(weir, before, count * 256 + MIB_IN_KIB)
            eventually(lambda: upstream.open_connections <= 1, "the upstream is let go of")
            self.await_connections(weir, 1)
            bystander.await_answers()
        self.assertLess(sent[0], count * size // 4, "the upstream was not held back")
        self.assert_growth_below(weir, before, 8 * MIB_IN_KIB)

    def test_connections_that_never_say_a_word_cost_little_and_go(self):
        count = min(scaled(6000), raise_descriptor_limit() // 3)
        # However long a busy machine takes to open them all, the first one is still there.
        _, weir = self.guarded(downstream={"idle_timeout": "10m"})
        before = weir.memory_kib()
        with self.bystander(weir) as bystander:
            crowd = self.crowd(weir, count)
            self.await_connections(weir, count + 1)
            bystander.await_answers()
            self.assert_growth_below(weir, before, count * 8)
            crowd.close()
            self.await_connections(weir, 1)
            bystander.await_answers()

"""Requests by the thousand on one connection: answered in order, no faster than they are read."""

import threading

from harness.abuse import MIB_IN_KIB, AbuseCase, Crowd, raise_descriptor_limit
from harness.case import scaled
from harness.client import request_bytes
from harness.waiting import settled


class Pipelines(AbuseCase):
    COUNT = 10_000

    def requests(self, count):
        return b"".join(request_bytes("GET", f"/{i}") for i in range(count))

    def assert_answered_in_order(self, client, count):
        for i in range(count):
            response = client.read()
            self.assertEqual((response.status, response.body), (200, f"/{i}".encode()))

    def test_ten_thousand_requests_are_answered_in_order(self):
        count = scaled(self.COUNT)
        _, weir = self.guarded()
        before = weir.memory_kib()
        with self.bystander(weir) as bystander, weir.connect() as client:
            sender = threading.Thread(target=client.send, args=(self.requests(count),))
            sender.start()
            self.assert_answered_in_order(client, count)
            sender.join()
            bystander.await_answers()
        self.assert_growth_below(weir, before, 4 * MIB_IN_KIB)

    def test_who_does_not_read_is_held_back_and_gets_all_answers_later(self):
        filler = b"x" * 4000

        def behaviour(exchange):
            exchange.read_body()
            exchange.answer(exchange.target.encode(), fields=[("X-Filler", filler.decode())])

        count = scaled(self.COUNT)
        upstream, weir = self.guarded(behaviour)
        before = weir.memory_kib()
        with self.bystander(weir) as bystander:
            client = self.connect(weir, receive_buffer=16384)
            sender = threading.Thread(target=client.send, args=(self.requests(count),))
            sender.start()
            asked = [0]

            def answered():
                asked[0] = sum(not request.target.startswith("/beside")
                               for request in list(upstream.requests))
                return asked[0]

            settled(answered, "the answers come to a halt")
            self.assertLess(asked[0], count, "the client was not held back")
            bystander.await_answers()
            self.assert_growth_below(weir, before, 2 * MIB_IN_KIB)
            self.assert_answered_in_order(client, count)
            sender.join()
        self.assert_growth_below(weir, before, 4 * MIB_IN_KIB)

    def test_many_who_do_not_read_the_answers_of_weir_itself(self):
        raise_descriptor_limit()
        routes = [{"match": {"path": "/beside/**"}, "upstream": "main"},
                  {"name": "own", "respond": {"status": 200, "body": "x" * 10_000}}]
        _, weir = self.guarded(routes=routes, downstream={"body_timeout": "3s"})
        before = weir.memory_kib()
        count = 50
        with self.bystander(weir) as bystander:
            crowd = Crowd(weir, count, receive_buffer=4096)
            self.addCleanup(crowd.close)
            crowd.send(self.requests(self.COUNT))  # as many of them as go into the buffers between
            bystander.await_answers()
            self.assert_growth_below(weir, before, count * 256)
            # Who takes nothing for body_timeout is let go of.
            self.await_connections(weir, 1)
            bystander.await_answers()
        answered = self.metric(weir, "weir_requests_total", route="own", code="200")
        self.assertGreater(answered, 0)
        self.assertLess(answered, count * 1000, "they were not held back")

"""Floods of one kind: each is bounded, answered or refused as documented, and delays no other
client."""

import itertools
import random
import time

from harness.abuse import MIB_IN_KIB, AbuseCase, Crowd, answer_target, raise_descriptor_limit
from harness.case import scaled
from harness.client import chunked, request_bytes
from harness.message import Truncated
from harness.payload import digest, payload
from harness.waiting import eventually

HEAD = b"GET /flood HTTP/1.1\r\nHost: weir.test\r\n"
POST = request_bytes("POST", "/flood", {"Transfer-Encoding": "chunked"})
KIB_64 = 64 * 1024


class Heads(AbuseCase):
    """Each client sends without end, until it gets an error and its connection is closed."""

    def assert_refused(self, pieces, statuses, count=100):
        raise_descriptor_limit()
        upstream, weir = self.guarded()
        before = weir.memory_kib()
        with self.bystander(weir) as bystander:
            crowd = Crowd(weir, count)
            self.addCleanup(crowd.close)
            crowd.send_until_ended(pieces)
            self.assertEqual(len(crowd.received), count)
            answers = [received for received in crowd.received if received]
            for received in answers:
                self.assertIn(received[:13], [b"HTTP/1.1 %d " % status for status in statuses])
                self.assertIn(b"\r\nConnection: close\r\n", received)
            # A reset can overtake the answer to a client that does not stop sending.
            self.assertTrue(answers)
            bystander.await_answers()
            self.await_connections(weir, 1)
            self.assert_growth_below(weir, before, count * 64 + 4 * MIB_IN_KIB)
        self.assertNotIn("/flood", [request.target for request in upstream.requests])

    def test_heads_of_short_fields_without_end_are_431(self):
        self.assert_refused(itertools.chain([HEAD], itertools.repeat(b"A: b\r\n" * 100)), [431])

    def test_heads_with_a_field_without_end_are_431(self):
        self.assert_refused(itertools.chain([HEAD + b"A: "], itertools.repeat(b"b" * 1000)), [431])

    def test_heads_with_a_field_name_without_end_are_431(self):
        self.assert_refused(itertools.chain([HEAD], itertools.repeat(b"b" * 1000)), [431])

    def test_targets_without_end_are_414(self):
        self.assert_refused(itertools.chain([b"GET /"], itertools.repeat(b"b" * 1000)), [414])

    def test_whole_heads_that_are_too_large_are_431(self):
        for fields in (b"A: b\r\n" * 300, b"A: " + b"b" * 33_000 + b"\r\n"):
            with self.subTest(size=len(fields)):
                self.assert_refused(itertools.chain([HEAD + fields + b"\r\n"],
                                                    itertools.repeat(b"")), [431])


class ChunkedBodies(AbuseCase):
    def assert_bounded(self, prefix, endless):
        """A body that consists of framing only is answered 400, and the connection is closed."""
        upstream, weir = self.guarded()
        before = weir.memory_kib()
        sent = 0
        with self.bystander(weir) as bystander, weir.connect() as client:
            try:
                client.send(POST + prefix)
                while sent < 64 << 20:
                    client.send(endless)
                    sent += len(endless)
                self.fail("64 MiB of it are taken")
            except OSError:
                pass  # hung up on
            bystander.await_answers()
            eventually(lambda: upstream.open_connections <= 1, "the upstream is let go of")
            self.assert_growth_below(weir, before, 2 * MIB_IN_KIB)

    def test_an_extension_without_end(self):
        self.assert_bounded(b"5;a=", b"b" * KIB_64)

    def test_a_quoted_extension_without_end(self):
        self.assert_bounded(b"5;a=\"", b"b" * KIB_64)

    def test_extensions_without_end(self):
        self.assert_bounded(b"5", b";a=b" * (KIB_64 // 4))

    def test_small_chunks_with_extensions_of_64_kib(self):
        self.assert_bounded(b"", b"1;a=" + b"b" * KIB_64 + b"\r\nx\r\n")

    def test_a_chunk_size_of_zeros_without_end(self):
        self.assert_bounded(b"", b"0" * KIB_64)

    def test_a_trailer_field_without_end(self):
        self.assert_bounded(b"0\r\nA: ", b"b" * KIB_64)

    def test_trailer_fields_without_end(self):
        self.assert_bounded(b"0\r\n", b"A: b\r\n" * (KIB_64 // 6))

    def test_a_hundred_thousand_chunks_of_one_byte_arrive_unchanged_both_ways(self):
        body = payload(scaled(100_000))

        def behaviour(exchange):
            if exchange.target != "/flood":
                return answer_target(exchange)
            exchange.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                          + chunked(exchange.read_body(), [1]))

        _, weir = self.guarded(behaviour)
        before = weir.memory_kib()
        coded = chunked(body, [1])
        with self.bystander(weir) as bystander, weir.connect() as client:
            client.send(POST)
            for at in range(0, len(coded), 1000):
                client.send(coded[at : at + 1000])
            self.assertEqual(digest(client.read().body), digest(body))
            self.assertEqual(client.get("/after").body, b"/after")
            bystander.await_answers()
        self.assert_growth_below(weir, before, 4 * MIB_IN_KIB)


class Garbage(AbuseCase):
    BEGINNINGS = [b"", b"GET / HTTP/1.1\r\n", POST,
                  request_bytes("POST", "/flood", {"Content-Length": "99"}),
                  b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",  # TLS
                  b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"]
    SIZES = [1, 10, 100, 10_000, 100_000]

    def test_random_bytes(self):
        seed = time.time_ns()
        chance = random.Random(seed)
        _, weir = self.guarded()
        before = weir.memory_kib()
        with self.bystander(weir) as bystander:
            for turn in range(scaled(1500)):
                with self.subTest(seed=seed, turn=turn), weir.connect() as client:
                    try:
                        client.send(chance.choice(self.BEGINNINGS)
                                    + chance.randbytes(chance.choice(self.SIZES)))
                        client.sock.shutdown(1)
                        while True:
                            self.assertIn(client.read().status, (200, 400, 405, 414, 431, 501, 505))
                    except (Truncated, OSError):
                        pass
            bystander.await_answers()
        self.assert_growth_below(weir, before, 4 * MIB_IN_KIB)

"""Memory is bounded by buffers, not by bodies."""

import threading

from harness.case import Case, SCALE, configuration
from harness.client import request_bytes
from harness.http2_case import Http2UpstreamCase
from harness.payload import payload
from harness.upstream import answer
from harness.waiting import settled

MIB = 1 << 20
LARGE = 256 * MIB
GROWTH_KIB = 8 * 1024 * SCALE  # sanitizers keep what was freed for a while


class BoundedMemory(Case):
    def warm(self, weir):
        with weir.connect() as client:
            client.get("/warm")
        return weir.memory_kib()

    def test_a_client_that_does_not_read_holds_a_large_answer_back_pitfall_35(self):
        sent = [0]
        block = payload(MIB)

        def behaviour(exchange):
            exchange.read_body()
            if exchange.target == "/warm":
                return exchange.answer(b"x")
            exchange.send(f"HTTP/1.1 200 OK\r\nContent-Length: {LARGE}\r\n\r\n".encode())
            while sent[0] < LARGE:
                exchange.send(block)
                sent[0] += len(block)

        weir = self.start(configuration(self.upstream(behaviour, send_buffer=MIB).url))
        before = self.warm(weir)
        client = self.connect(weir, receive_buffer=65536)
        client.send(request_bytes("GET", "/large"))
        settled(lambda: sent[0], "the transfer comes to a halt")
        self.assertLess(sent[0], LARGE // 2, "the upstream was not held back")
        self.assertLess(weir.memory_kib() - before, GROWTH_KIB)
        received = [0]
        client.read(sink=lambda piece: received.__setitem__(0, received[0] + len(piece)))
        self.assertEqual(received[0], LARGE)
        self.assertLess(weir.peak_memory_kib() - before, GROWTH_KIB)

    def assert_upload_is_held_back(self, fields, prefix, suffix):
        may_read = threading.Event()
        self.addCleanup(may_read.set)

        def behaviour(exchange):
            if exchange.target == "/warm":
                return exchange.answer(b"x")
            may_read.wait()
            size = [0]
            exchange.read_body(lambda piece: size.__setitem__(0, size[0] + len(piece)))
            exchange.answer(str(size[0]).encode())

        weir = self.start(configuration(self.upstream(behaviour, receive_buffer=65536).url))
        before = self.warm(weir)
        client = self.connect(weir)
        sent = [0]
        block = payload(MIB)

        def upload():
            client.send(request_bytes("POST", "/large", fields))
            while sent[0] < LARGE:
                client.send(prefix + block + suffix)
                sent[0] += len(block)
            if prefix:
                client.send(b"0\r\n\r\n")

        thread = threading.Thread(target=upload)
        thread.start()
        settled(lambda: sent[0], "the transfer comes to a halt")
        self.assertLess(sent[0], LARGE // 2, "the client was not held back")
        self.assertLess(weir.memory_kib() - before, GROWTH_KIB)
        may_read.set()
        self.assertEqual(client.read().body, str(LARGE).encode())
        thread.join()
        self.assertLess(weir.peak_memory_kib() - before, GROWTH_KIB)

    def test_an_upstream_that_does_not_read_holds_a_large_upload_back_pitfall_35(self):
        self.assert_upload_is_held_back({"Content-Length": str(LARGE)}, b"", b"")

    def test_an_upstream_that_does_not_read_holds_a_chunked_upload_back_pitfall_35(self):
        self.assert_upload_is_held_back({"Transfer-Encoding": "chunked"}, b"%x\r\n" % MIB, b"\r\n")

    def test_an_idle_connection_costs_little(self):
        weir = self.start(configuration(self.upstream(answer(b"x")).url))
        before = self.warm(weir)
        count, bound = (4000, 2) if SCALE == 1 else (2000, 48)  # sanitizers keep shadows
        clients = [self.connect(weir) for _ in range(count)]
        for client in clients:
            self.assertEqual(client.get("/", {"X": "x" * 1500}).status, 200)
        growth = weir.memory_kib() - before
        for client in clients:
            client.close()
        # docs/performance.md: 1.3 KiB each.
        self.assertLess(growth, count * bound, f"{growth} KiB for {count} connections")


class Http2Servers(Http2UpstreamCase):
    def test_an_upload_whose_windows_open_in_small_steps(self):
        self.begin(lambda exchange: exchange.answer(200))
        size = 16 * MIB
        before = self.weir.peak_memory_kib()
        response = self.client.request("POST", "/", {"Content-Length": str(size)}, bytes(size))
        self.assertEqual(response.status, 200)
        self.assertLess(self.weir.peak_memory_kib() - before, GROWTH_KIB)

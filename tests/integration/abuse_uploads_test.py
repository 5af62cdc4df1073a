"""Uploads in tiny pieces: their memory is bounded by the bytes of the bodies, not by the number of the pieces."""

import threading

from harness.abuse import MIB_IN_KIB, AbuseCase
from harness.http2 import DATA, END_STREAM, Http2Client, frame
from harness.http2_case import Http2UpstreamCase
from harness.upstream import answer
from harness.waiting import settled

AT_ONCE = 2000
MOST = 16 << 20  # of one body
GROWTH_KIB = 8 * MIB_IN_KIB


class TinyFrames(AbuseCase, Http2UpstreamCase):
    """DATA frames of one byte."""

    def flood(self, client, stream, most):
        """As many as the windows allow, at most `most`; returns their number."""
        sent = 0
        while count := min(AT_ONCE, client.credit_of(stream), client.credit_of(0), most - sent):
            client.send(frame(DATA, 0, stream, b"x") * count)
            for one in 0, stream:
                client.credit[one] = client.credit.get(one, 0) - count
            sent += count
            client.ping()
        return sent

    def upload(self, weir, count=8):
        client = Http2Client(weir.address)
        self.addCleanup(client.close)
        client.ping()
        return client, [client.open("POST", f"/upload/{number}", ends=False) for number in range(count)]

    def assert_held_back(self, weir, may_read, count):
        """Bodies whose upstream reads none of them: the windows bound what waits."""
        before = weir.memory_kib()
        client, streams = self.upload(weir, count)
        # Up to 1 MiB waits in the connection (docs/configuration.md), and more in the buffers of the system.
        sent = {stream: self.flood(client, stream, MOST) for stream in streams}
        for size in sent.values():
            self.assertLess(size, MOST, "the client is held back")
        self.assert_growth_below(weir, before, GROWTH_KIB)
        may_read.set()
        for stream in streams:
            client.send_data(stream, b"")
            self.assertEqual(client.read(stream).body, str(sent[stream]).encode())
        self.assertEqual(client.goaways, [])

    def test_for_a_server_of_http1_that_does_not_read(self):
        may_read = threading.Event()
        self.addCleanup(may_read.set)

        def behaviour(exchange):
            if exchange.target.startswith("/upload"):
                may_read.wait()
            exchange.answer(str(len(exchange.read_body())).encode())

        _, weir = self.guarded(behaviour, {"receive_buffer": 65536})
        self.assert_held_back(weir, may_read, 2)

    def test_for_a_server_of_http2_that_does_not_read(self):
        may_read = threading.Event()
        self.addCleanup(may_read.set)

        def on_head(exchange):
            if exchange.pseudo[":path"].startswith("/upload"):
                may_read.wait()  # the thread that reads the connection

        def behaviour(exchange):
            exchange.answer(200, {}, str(len(exchange.body)).encode())

        self.begin(behaviour, options={"on_head": on_head})
        self.assertEqual(self.client.get("/warm").status, 200)
        self.assert_held_back(self.weir, may_read, 8)

    def test_in_a_body_that_a_limit_reads(self):
        limit = {"policy": "units", "reserve": {"json": "/n", "default": 1}}
        _, weir = self.guarded(answer(b"x"), policies={"units": {"rate": "1000000/1h"}},
                               routes=[{"upstream": "main", "limits": [limit]}])
        before = weir.memory_kib()
        client, streams = self.upload(weir)
        for stream in streams:
            self.flood(client, stream, 100_000)
        self.assert_growth_below(weir, before, GROWTH_KIB)
        for stream in streams:
            client.send(frame(DATA, END_STREAM, stream))
            self.assertIn(client.read(stream).status, (200, 413))

    def test_frames_that_are_mostly_padding(self):
        """Padding counts against the windows, and is never stored."""
        _, weir = self.guarded(lambda exchange: exchange.answer(str(len(exchange.read_body())).encode()))
        before = weir.memory_kib()
        client = Http2Client(weir.address)
        self.addCleanup(client.close)
        client.ping()
        stream = client.open("POST", "/", ends=False)
        count, padded = 20_000, b"\xff" + b"x" + bytes(255)
        for _ in range(count):
            while min(client.credit_of(stream), client.credit_of(0)) < len(padded):
                client.step()
            for one in 0, stream:
                client.credit[one] = client.credit.get(one, 0) - len(padded)
            client.send(frame(DATA, 8, stream, padded))
        client.send_data(stream, b"")
        self.assertEqual(client.read(stream).body, str(count).encode())
        self.assert_growth_below(weir, before, GROWTH_KIB)


class TinyChunks(AbuseCase):
    def test_for_a_server_that_does_not_read(self):
        may_end = threading.Event()
        self.addCleanup(may_end.set)

        def behaviour(exchange):
            if exchange.target == "/upload":
                may_end.wait()
            else:
                exchange.answer(b"x")

        _, weir = self.guarded(behaviour, {"receive_buffer": 65536}, shutdown_timeout="1s")
        before = weir.memory_kib()
        chunks = b"1\r\nx\r\n" * 20_000
        total, sent, client = 256 << 20, [0], self.connect(weir)

        def upload():
            try:
                client.send(b"POST /upload HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
                while sent[0] < total:
                    client.send(chunks)
                    sent[0] += len(chunks)
            except OSError:
                pass  # the test has closed it

        thread = threading.Thread(target=upload)
        thread.start()
        settled(lambda: sent[0], "the client is held back")
        self.assertLess(sent[0], total // 2)
        self.assert_growth_below(weir, before, GROWTH_KIB)
        with weir.connect() as other:
            self.assertEqual(other.get("/beside").status, 200)
        client.sock.shutdown(2)
        thread.join()

"""Bodies pass unchanged, in both directions, whatever their size and however they are delimited."""

import hashlib
import os
import unittest

from harness.case import Case, configuration, scaled
from harness.client import chunked, request_bytes
from harness.payload import digest, payload
from harness.services import Nginx, PythonServer

SIZES = [0, 1, 4095, 4096, 65535, 65536, 1 << 20]
LARGE = scaled(64 << 20)
VERY_LARGE = 1 << 30


def answer_digest(exchange):
    hashed = hashlib.sha256()
    exchange.read_body(hashed.update)
    exchange.answer(hashed.hexdigest().encode())


def serve_payload(exchange):
    """/FRAMING/SIZE is answered with that payload in that framing."""
    exchange.read_body()
    _, framing, size = exchange.target.split("/")
    body = payload(int(size))
    if framing == "length":
        exchange.answer(body)
    elif framing == "chunked":
        exchange.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                      + chunked(body, [1, 70000, 13, 4096]))
    else:
        exchange.send(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + body)
        exchange.close()


class Upload(Case):
    def setUp(self):
        self.up, self.weir, self.client = self.proxy(answer_digest)

    def assert_arrives(self, head_fields, coded, body):
        response = self.client.request("POST", "/", head_fields, coded)
        self.assertEqual(response.status, 200)
        self.assertEqual(response.body.decode(), digest(body))

    def test_length_delimited_bodies_of_every_size_arrive_unchanged_on_one_connection(self):
        for size in [*SIZES, LARGE]:
            with self.subTest(size=size):
                body = payload(size)
                self.assert_arrives({}, body, body)
                self.assertEqual(self.up.requests[-1]["Content-Length"], str(size))

    def test_chunked_bodies_of_every_size_arrive_unchanged_on_one_connection(self):
        for size in [*SIZES, LARGE]:
            with self.subTest(size=size):
                body = payload(size)
                coded = chunked(body, [1, 65536, 7, 4096])
                self.assert_arrives({"Transfer-Encoding": "chunked"}, coded, body)
                self.assertEqual(self.up.requests[-1].framing, "chunked")

    def test_a_trailer_section_cut_by_a_pause_neither_fails_nor_reaches_the_next_request(self):
        body = payload(5)
        coded = chunked(body, [5])[:-2] + b"X-Check: abc\r\n\r\n"
        request = request_bytes("POST", "/cut", {"Transfer-Encoding": "chunked"}, coded)
        for cut in range(len(request) - len(coded), len(request)):
            before = len(self.up.requests)
            self.client.send(request[:cut])
            self.up.await_requests(before + 1)  # its head has gone on, the cut is real
            self.client.send(request[cut:])
            self.assertEqual(self.client.read().body.decode(), digest(body), f"cut at {cut}")


class Download(Case):
    def setUp(self):
        self.up, self.weir, self.client = self.proxy(serve_payload)

    def assert_comes(self, framing, size, version="1.1"):
        response = self.client.request("GET", f"/{framing}/{size}", version=version)
        self.assertEqual(response.status, 200)
        self.assertEqual(digest(response.body), digest(payload(size)))
        return response

    def test_length_delimited_bodies_of_every_size_come_back_unchanged_on_one_connection(self):
        for size in [*SIZES, LARGE]:
            with self.subTest(size=size):
                response = self.assert_comes("length", size)
                self.assertEqual(response["Content-Length"], str(size))

    def test_chunked_bodies_of_every_size_come_back_unchanged_on_one_connection(self):
        for size in [*SIZES, LARGE]:
            with self.subTest(size=size):
                self.assertEqual(self.assert_comes("chunked", size).framing, "chunked")

    def test_close_delimited_bodies_of_every_size_come_back_whole_and_the_client_stays(self):
        for size in [*SIZES, LARGE]:
            with self.subTest(size=size):
                self.assertEqual(self.assert_comes("close", size).framing, "chunked")

    def test_a_client_of_http_1_0_gets_a_close_delimited_body_plain(self):
        response = self.assert_comes("close", 100_000, version="1.0")
        self.assertNotIn("Transfer-Encoding", response.fields)
        self.assertEqual(response.framing, "close")


class FileServers(Case):
    """Programs that people really have behind a proxy."""

    def assert_serves(self, server):
        self.addCleanup(server.stop)
        weir = self.start(configuration(server.url))
        client = self.connect(weir)
        for size in SIZES:
            server.write(f"{size}.bin", payload(size))
        for size in SIZES:
            with self.subTest(size=size):
                response = client.get(f"/{size}.bin")
                self.assertEqual((response.status, digest(response.body)),
                                 (200, digest(payload(size))))
        self.assertEqual(client.get("/missing").status, 404)
        head = client.request("HEAD", "/4096.bin")
        self.assertEqual((head.status, head["Content-Length"], head.body), (200, "4096", b""))
        return client

    def assert_serves_very_large(self, server):
        block = payload(1 << 20)
        server.write_large("large.bin", VERY_LARGE, block)
        expected = hashlib.sha256()
        for _ in range(VERY_LARGE // len(block)):
            expected.update(block)
        client = self.connect(self.start(configuration(server.url)))
        received = hashlib.sha256()
        client.request("GET", "/large.bin", sink=received.update)
        self.assertEqual(received.hexdigest(), expected.hexdigest())

    def test_nginx_behind(self):
        client = self.assert_serves(Nginx())
        whole = client.get("/65536.bin")
        part = client.get("/65536.bin", {"Range": "bytes=1000-1999"})
        self.assertEqual((part.status, part.body), (206, whole.body[1000:2000]))
        unchanged = client.get("/65536.bin", {"If-None-Match": whole["ETag"]})
        self.assertEqual((unchanged.status, unchanged.body), (304, b""))

    def test_python_http_server_behind(self):
        self.assert_serves(PythonServer())

    @unittest.skipUnless(os.environ.get("WEIR_TEST_LARGE") == "1", "WEIR_TEST_LARGE=1 runs it")
    def test_a_file_of_one_gibibyte_from_nginx_and_from_python(self):
        for server in (Nginx(), PythonServer()):
            self.addCleanup(server.stop)
            with self.subTest(server=type(server).__name__):
                self.assert_serves_very_large(server)

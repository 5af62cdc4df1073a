"""Different servers read a request in the same way after Weir has forwarded it.

A corpus of right, odd and broken requests goes through Weir to an upstream that records the bytes.
Each request that came out is then read by nginx, Python's http.server and h11, with a request
behind it: all must find exactly the two, the same ones.
"""

import os
import random
import re
import socket
import time

from acceptance_http11_test import vectors
from harness.case import Case, configuration, scaled
from harness.message import Malformed, Reader, Truncated
from harness.readers import H11Reader, NginxReader, PythonReader
from harness.upstream import Exchange, Upstream
from harness.wire import get, post
from robustness_test import REQUESTS, mutated

MARKER = b"GET /marker HTTP/1.1\r\nHost: marker\r\nConnection: close\r\n\r\n"
TURNS = int(os.environ.get("WEIR_TEST_MUTATIONS", "1000"))
CHUNKED = b"Transfer-Encoding: chunked"
SMUGGLED = get(target=b"/smuggled")

ODD = [
    get(target=b"/a/../b//./%2e%2e/?q=/../#"[:-1]), get(target=b"//x//"), get(target=b"/?"),
    get(target=b"/a;b=c,d!$&'()*+:@"), get(b"X: \x80\xff\xe9", b"Y: \x85Z: 1"),
    get(b"X:", b"Y: \t ", b"X: 2"),
    get(target=b"http://weir.test?x"), get(target=b"http://weir.test:80/"), get(method=b"PATCH"),
    get(method=b"OPTIONS", target=b"*"), get(version=b"1.0"), get(b"Connection: close"),
    b"GET / HTTP/1.0\r\n\r\n", b"GET http://weir.test:8/ HTTP/1.0\r\n\r\n",
    get(b"Content_Length: 5"), get(b"Transfer_Encoding: chunked"), get(b"Content-Length: 0"),
    get(b"Connection: content-length, transfer-encoding, host"), get(b"Upgrade: h2c"),
    get(b"Connection: Upgrade, HTTP2-Settings", b"Upgrade: h2c", b"HTTP2-Settings: AAMAAABkAAQ"),
    get(b"TE: trailers", b"Connection: te"), get(b"Expect: 100-continue"),
    get(b"X-Forwarded-For: 192.0.2.1", b"X_Forwarded_For: 192.0.2.2"), get(b"Trailer: X"),
    get(*(b"X-%d: %d" % (i, i) for i in range(60))), get(b"X: " + b"x" * 8000),
    post(b"Content-Length: %d" % len(SMUGGLED), body=SMUGGLED),
    post(b"Content-Length: 5", b"Content_Length: 0", body=b"hello"),
    post(b"Content-Length: 5", b"Connection: content-length", body=b"hello"),
    post(CHUNKED, b"Connection: transfer-encoding", body=b"5\r\nhello\r\n0\r\n\r\n"),
    post(CHUNKED, body=b"%x\r\n%s\r\n0\r\n\r\n" % (len(SMUGGLED), SMUGGLED)),
    post(CHUNKED, body=b"5;a=\"b\\\"c\";d\r\nhello\r\n00\r\n\r\n"),
    post(CHUNKED, b"Trailer: X-Sum, Content-Length", body=b"5\r\nhello\r\n0\r\nX-Sum: 1\r\n"
         b"Content-Length: 9\r\nHost: evil\r\n\r\n"),
    post(CHUNKED, body=b"0\r\nX: y\r\n\r\n"), post(CHUNKED, body=b"005\r\nhello\r\n0\r\n\r\n"),
    post(CHUNKED, method=b"GET", body=b"5\r\nhello\r\n0\r\n\r\n"),
    post(CHUNKED, method=b"DELETE", body=b"5\r\nhello\r\n0\r\n\r\n"),
    post(b"Content-Length: 5", method=b"HEAD", body=b"hello"),
    post(b"Content-Length: 5", method=b"GET", body=b"hello"),
    post(b"Content-Length: 00005", body=b"hello"), post(b"Content-Length:5", body=b"hello"),
    post(b"transfer-encoding:\tCHUNKED\t", body=b"5\r\nhello\r\n0\r\n\r\n"),
    post(b"Content-Length: 5", b"Expect: 100-continue", body=b"hello"),
    post(b"Content-Length: 5", version=b"1.0", body=b"hello"),
    post(b"Content-Length: 2", body=b"hi") + get(target=b"/2") + post(CHUNKED, body=b"0\r\n\r\n"),
    post(b"Transfer-Encoding:", b" chunked", b"Content-Length: 5", body=b"hello"),
    post(b"Transfer-Encoding:", b" chunked", body=b"5\r\nhello\r\n0\r\n\r\n"),
    post(b"Content-Length:", b" 5", body=b"hello"), get(b"X:", b" Content-Length: 5"),
]


class Recorder(Upstream):
    """Keeps every request with its bytes, and what of others came after it or was cut off."""

    def __init__(self):
        self.taken, self.too_much = [], []
        super().__init__()

    def _serve(self, sock, number):
        wire = bytearray()
        reader = Reader(sock, wire)
        start = 0
        try:
            while reader.buffer or reader.fill():
                exchange = Exchange(reader.head(), reader, sock, number)
                exchange.read_body()
                end = len(wire) - len(reader.buffer)
                self.taken.append((bytes(wire[start:end]), exchange))
                self.too_much.append(bytes(reader.buffer))
                start = end
                exchange.answer()
        except (OSError, Truncated):
            pass  # a request that the client did not finish
        except Malformed as failure:
            self.too_much.append(str(failure).encode())
        finally:
            sock.close()


def as_read(exchange):
    parts = (exchange.method, exchange.target, "|".join(exchange.fields.all("Host")))
    return (*(part.encode("latin-1") for part in parts), exchange.body)


def may_refuse(reader, exchange):
    """True if the reader is allowed to answer 400 to this request."""
    if reader == "nginx":
        names = exchange.target + "|".join(exchange.fields.all("Host"))
        return (exchange.target == "*" or "%" in names or ".." in names
                or not re.fullmatch("[A-Z_-]+", exchange.method)
                or len(exchange.fields.all("Expect")) > 1)
    return not exchange.target.isascii()


def as_read_by(reader, request):
    """http.server takes NEL and NBSP for spaces, and makes one slash of several at the beginning."""
    method, target, host, body = request
    if reader == "http.server":
        target = re.sub(rb"^//+", b"/", target.strip(b"\x85\xa0"))
    return method, target, host, body


class Differential(Case):
    def setUp(self):
        self.recorder = Recorder()
        self.addCleanup(self.recorder.stop)
        self.weir = self.start(configuration(self.recorder.url,
                                             listen=[{"address": "127.0.0.1:0", "http2": False}]))
        self.readers = [NginxReader(), PythonReader(), H11Reader()]
        for reader in self.readers:
            self.addCleanup(reader.stop)
        self.seen = set()

    def pass_through(self, data):
        """The requests that Weir made of `data`; nothing is left on either connection."""
        for _ in range(3):
            before = len(self.recorder.taken)
            with self.weir.connect() as client:
                answered = self.answers(client, data)
            taken = self.recorder.taken[before:]
            # Once a second Weir looks for clients that have left. A client that has shut down its
            # sending half looks like one: its request ends without an answer.
            if answered >= len(taken):
                break
        self.assertEqual(answered, len(taken), "answers of the upstream")
        self.assertEqual([b"" for _ in self.recorder.too_much], self.recorder.too_much)
        return taken

    def answers(self, client, data):
        """The number of answers of the upstream; after them at most one of Weir, and then the end."""
        received = bytearray()
        try:
            client.send(data)
            client.sock.shutdown(socket.SHUT_WR)
            while piece := client.sock.recv(65536):
                received += piece
        except ConnectionResetError:
            pass
        *passed, last = bytes(received).split(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n")
        for tail in [*passed[1:], last][: len(passed)]:
            self.assertRegex(tail, rb"^(\w[-\w]*: [^\r\n]*\r\n)*\r\n(HTTP/1\.1 [45]\d\d |$)")
        if not passed:
            self.assertRegex(last, rb"^(HTTP/1\.1 [245]\d\d |$)")
        return len(passed)

    def assert_all_agree(self, raw, exchange):
        request, marker = as_read(exchange), (b"GET", b"/marker", b"marker", b"")
        for reader in self.readers:
            with self.subTest(reader=reader.name, raw=raw[:2000]):
                found = reader.read(raw + MARKER)
                if found or not may_refuse(reader.name, exchange):
                    self.assertEqual(found, [as_read_by(reader.name, request), marker])

    def run_through(self, data):
        for raw, exchange in self.pass_through(data):
            if raw not in self.seen:
                self.seen.add(raw)
                self.assert_all_agree(raw, exchange)

    def test_the_table_of_others(self):
        for name, data, _ in vectors(b"weir.test"):
            with self.subTest(name):
                self.run_through(data)
        self.assertGreater(len(self.seen), 25)

    def test_odd_requests(self):
        for data in ODD:
            with self.subTest(data=data[:200]):
                self.run_through(data)
        self.assertGreater(len(self.seen), 25)

    def test_mutated_requests(self):
        seed = time.time_ns()
        chance = random.Random(seed)
        for turn in range(scaled(TURNS)):
            data = mutated(chance.choice(REQUESTS + ODD), chance)
            with self.subTest(seed=seed, turn=turn, data=data[:500]):
                self.run_through(data)


class TheReaders(Case):
    """They do find a second request where there is one."""

    def test_a_smuggled_request_is_found(self):
        for reader in (NginxReader(), PythonReader(), H11Reader()):
            self.addCleanup(reader.stop)
            with self.subTest(reader.name):
                stream = post(b"Content-Length: 2", body=b"hi") + SMUGGLED + MARKER
                self.assertEqual([one[1] for one in reader.read(stream)],
                                 [b"/", b"/smuggled", b"/marker"])

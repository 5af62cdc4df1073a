"""Whatever bytes come, from either side: an answer or a closed connection, never a wrong answer and
never the end of the process."""

import random
import time

from harness.case import Case, configuration, scaled
from harness.client import Response, request_bytes
from harness.message import Malformed, Truncated
from harness.upstream import answer, raw

REQUESTS = [
    request_bytes("GET", "/path?query=1", {"Accept": "*/*", "X-Api-Key": "k"}),
    request_bytes("POST", "/path", {"Content-Type": "text/plain"}, b"hello"),
    request_bytes("PUT", "/path", {"Transfer-Encoding": "chunked"},
                  b"5\r\nhello\r\n0\r\nTrailer: x\r\n\r\n"),
    request_bytes("GET", "/", {"Connection": "keep-alive"}, version="1.0"),
    request_bytes("GET", "/a") + request_bytes("GET", "/b"),
]
RESPONSES = [
    b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX: y\r\n\r\nhello",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;a=b\r\nhello\r\n0\r\nT: x\r\n\r\n",
    b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"
    b"HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\nno",
    b"HTTP/1.0 200 OK\r\n\r\nhello",
    b"HTTP/1.1 304 Not Modified\r\nContent-Length: 7\r\nETag: \"x\"\r\n\r\n",
]
MORSELS = [b"\r\n", b"\n", b"\r", b"\0", b" ", b":", b"\t", b";", b",", b"\xff", b"%00", b"0",
           b"-1", b"Content-Length: 5\r\n",
           b"Transfer-Encoding: chunked\r\n", b"Host: a\r\n", b"Connection: close\r\n", b"HTTP/1.1",
           b"ffffffffffffffff",
           b"Expect: 100-continue\r\n", b"x" * 3000]


def mutated(source, chance):
    """`source` with a few bytes dropped, changed, doubled, or morsels put in."""
    data = bytearray(source)
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(data) + 1)
        kind = chance.randrange(5)
        if kind == 0:
            del data[at : at + chance.randint(1, 8)]
        elif kind == 1:
            data[at:at] = chance.choice(MORSELS)
        elif kind == 2 and at < len(data):
            data[at] = chance.randrange(256)
        elif kind == 3:
            end = min(len(data), at + chance.randint(1, 30))
            data[at:at] = data[at:end]
        else:
            del data[at:]
    return bytes(data)


class Mutations(Case):
    def setUp(self):
        self.seed = time.time_ns()
        self.chance = random.Random(self.seed)

    def answers(self, connection):
        """All answers until the connection ends; how it ends does not matter here."""
        statuses = []
        try:
            while True:
                statuses.append(connection.read().status)
        except (Truncated, ConnectionError):
            return statuses

    def test_mutated_requests(self):
        upstream = self.upstream(answer(b"fine"))
        weir = self.start(configuration(upstream.url,
                                        downstream={"head_timeout": "1s", "body_timeout": "1s"}))
        for turn in range(scaled(3000)):
            data = mutated(self.chance.choice(REQUESTS), self.chance)
            with self.subTest(seed=self.seed, turn=turn, data=data), weir.connect() as client:
                client.send(data)
                client.sock.shutdown(1)
                for status in self.answers(client):
                    self.assertIn(status, (200, 400, 405, 408, 413, 414, 431, 501, 505))
        for request in upstream.requests:
            self.assert_well_formed(request)
        self.assertEqual(self.connect(weir).get("/").status, 200)

    def assert_well_formed(self, request):
        """What reached the upstream can be read in one way only."""
        self.assertRegex(request.start, r"^[!#$%&'*+.^_`|~0-9A-Za-z-]+ [^ \t\r\n\0]+ HTTP/1\.1$")
        self.assertEqual(len(request.fields.all("Host")), 1, request)
        lengths = request.fields.all("Content-Length")
        codings = request.fields.all("Transfer-Encoding")
        self.assertLessEqual(len(lengths) + len(codings), 1, request)
        self.assertIn(codings, ([], ["chunked"]))
        for name, value in request.fields.lines:
            self.assertRegex(name, r"^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")
            self.assertNotRegex(value, "[\0\r\n]")

    def test_mutated_responses(self):
        upstream = self.upstream()
        weir = self.start(configuration(upstream.url, main={"response_timeout": "1s"}))
        for turn in range(scaled(3000)):
            data = mutated(self.chance.choice(RESPONSES), self.chance)
            upstream.behaviour = raw(data)
            with self.subTest(seed=self.seed, turn=turn, data=data), weir.connect() as client:
                try:
                    response = client.get("/")
                    self.assertIsInstance(response, Response)
                    self.assertTrue(200 <= response.status <= 999)
                except (Truncated, ConnectionError):
                    pass  # a cut answer is a right answer to most of these
                except (Malformed, ValueError) as failure:
                    self.fail(f"not HTTP/1.1: {failure}")
        upstream.behaviour = answer(b"fine")
        self.assertEqual(self.connect(weir).get("/").body, b"fine")

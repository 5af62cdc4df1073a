"""Without memory one connection ends and no other; a decision that Redis cannot be asked for is made
by on_failure."""

import contextlib
import re
import select
import threading

from harness.case import SCALE, Case, configuration
from harness.client import TIMEOUT_S, request_bytes
from harness.redis_case import RedisCase, answering, sharing
from harness.scarce import ScarceMemory
from harness.waiting import eventually

SWITCH = b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n"


class NoMemory(Case):
    def setUp(self):
        self.memory = ScarceMemory()
        self.addCleanup(self.memory.close)
        self.is_uploading = threading.Event()
        self.may_answer = threading.Event()
        self.addCleanup(self.may_answer.set)
        self.service = self.upstream(self.behaviour)
        self.weir = self.start(configuration(self.service.url, downstream={"max_head": "128KiB"}),
                               environment=self.memory.environment)
        self.bystander = self.connect(self.weir)
        self.client = self.connect(self.weir)
        self.assert_served()

    def behaviour(self, exchange):
        if exchange.target == "/tunnel":
            exchange.is_closed = True
            exchange.send(SWITCH)
            while data := exchange.sock.recv(65536):
                exchange.send(data)
        elif exchange.target == "/without-length":
            exchange.send(b"HTTP/1.1 200 OK\r\n\r\n")
            self.may_answer.wait()
            exchange.send(b"x" * 10_000_000)
            exchange.close()
        elif exchange.target == "/large-head":
            self.await_second_piece(exchange)
            self.may_answer.wait()
            exchange.send(b"HTTP/1.1 200 OK\r\nX-Large: " + b"x" * 40_000)
            exchange.sock.recv(1)
            exchange.is_closed = True
        elif exchange.target == "/upload":
            self.await_second_piece(exchange)
            exchange.is_closed = not exchange.sock.recv(1)
        else:
            exchange.read_body()
            exchange.answer(b"fine")

    def await_second_piece(self, exchange):
        """What came with the head was read with it; this piece went up beside the answer."""
        while b"second" not in exchange.reader.buffer:
            self.assertTrue(exchange.reader.fill())
        self.is_uploading.set()

    def assert_served(self):
        self.assertEqual(self.bystander.get("/").body, b"fine")

    def assert_given_up(self):
        self.assertTrue(self.client.is_gone())
        eventually(lambda: "a connection was given up: std::bad_alloc" in self.weir.stderr,
                   "a warning")

    def assert_echoed(self, data):
        self.client.send(data)
        pieces = []
        self.client.reader.exactly(len(data), pieces.append)
        self.assertEqual(b"".join(pieces), data)

    def send_more_than_is_accepted(self):
        """Until the connection is cut. What is left of a piece needs memory, unless it is small."""
        sock = self.client.sock
        sock.setblocking(False)
        try:
            while True:
                with contextlib.suppress(BlockingIOError):
                    while True:
                        sock.send(b"x" * 65536)
                select.select([sock], [sock], [])
                with contextlib.suppress(BlockingIOError):
                    if not sock.recv(65536):
                        break
        except ConnectionError:
            pass
        sock.settimeout(TIMEOUT_S)

    def test_a_head_for_which_there_is_no_room(self):
        large = {"X-Large": "x" * 40_000}
        with self.memory.at_most(30_000):
            self.client.send(request_bytes("GET", "/", large))
            self.assert_given_up()
            self.assert_served()
        with self.connect(self.weir) as again:
            self.assertEqual(again.get("/", large).body, b"fine")

    def test_a_new_connection_for_which_there_is_no_room(self):
        """Each takes a buffer with its first bytes; the worker has a few to spare."""
        with self.memory.at_most(1_500):
            others = [self.connect(self.weir) for _ in range(8)]
            for other in others:
                other.send(b"GET / HTTP/1.1\r\n")
            self.assertTrue(others[-1].is_gone())
            eventually(lambda: "a connection could not be taken: std::bad_alloc" in self.weir.stderr
                       or "a connection was given up: std::bad_alloc" in self.weir.stderr,
                       "a warning")
        self.assert_served()

    def test_a_cut_answer_does_not_look_complete(self):
        self.client.send(request_bytes("GET", "/without-length", version="1.0"))
        self.assertEqual(self.client.read_head().status, 200)
        with self.memory.at_most(30_000):
            self.may_answer.set()
            with self.assertRaises(ConnectionResetError):
                while self.client.sock.recv(65536):
                    pass
        self.assert_served()

    def test_an_answer_beside_an_upload(self):
        self.client.send(request_bytes("POST", "/large-head", {"Content-Length": "100000"}) + b"x")
        self.service.await_requests(2)
        self.client.send(b"second")
        self.assertTrue(self.is_uploading.wait(10 * SCALE))
        with self.memory.at_most(30_000):
            self.may_answer.set()
            self.assert_given_up()
            self.assert_served()
        eventually(lambda: self.service.open_connections == 1, "the upstream connection is closed")

    def test_an_upload_beside_its_answer(self):
        self.client.send(request_bytes("POST", "/upload", {"Transfer-Encoding": "chunked",
                                                           "Trailer": "X-Large"}) + b"1\r\nx\r\n")
        self.service.await_requests(2)
        self.client.send(b"6\r\nsecond\r\n")
        self.assertTrue(self.is_uploading.wait(10 * SCALE))
        with self.memory.at_most(2_000):
            self.client.send(b"0\r\nX-Large: " + b"x" * 4_000 + b"\r\n\r\n")
            self.assert_given_up()
        self.assert_served()
        eventually(lambda: self.service.open_connections == 1, "the upstream connection is closed")

    def test_a_tunnel(self):
        self.client.send(request_bytes("GET", "/tunnel",
                                       {"Connection": "Upgrade", "Upgrade": "echo"}))
        self.assertEqual(self.client.read_head().status, 101)
        self.assert_echoed(b"x")  # the tunnel has begun
        with self.memory.at_most(6_000):
            self.assert_echoed(b"x" * 8_000)  # needs no memory, because it is accepted
            self.send_more_than_is_accepted()
            self.assert_given_up()
        self.assert_served()
        eventually(lambda: self.service.open_connections == 1, "the upstream connection is closed")


class NoMemoryForRedis(RedisCase):
    """16 limits make a command of more bytes than there are, and so does the text of a script."""

    def setUp(self):
        super().setUp()
        self.memory = ScarceMemory()
        self.addCleanup(self.memory.close)
        rate = {"algorithm": "fixed_window", "rate": "1000/260d"}
        policies = {"one": rate, **{f"many-{i}": rate for i in range(16)}}
        many = answering("/many/**", "many-0")
        many["limits"] = [{"policy": f"many-{i}", "key": "client"} for i in range(16)]
        redis = self.redis(start=False)
        self.server = redis
        self.weir = self.start(
            sharing(redis.url, policies, routes=[answering("/one/**", "one"), many],
                    redis={"timeout": "5s"}, workers=1, admin={"address": "127.0.0.1:0"},
                    response_headers={"standard": False, "legacy": "none"}),
            environment=self.memory.environment)
        self.client = self.connect(self.weir)
        self.asked = 0
        # From now on only the command to Redis needs more memory than before.
        self.assertEqual(self.decided_by("/many/"), "local")
        redis.start()
        self.await_redis(self.weir)
        self.fallbacks = self.gauge(self.weir, "weir_store_fallbacks_total")

    def decided_by(self, path):
        self.assertEqual(self.client.get(path).status, 200)
        self.asked += 1
        return self.log_lines(self.weir, self.asked)[-1]["store"]

    def test_a_command_for_which_there_is_no_room(self):
        self.assertEqual(self.decided_by("/one/"), "redis")
        with self.memory.at_most(1_500):
            self.assertEqual(self.decided_by("/many/"), "local")
            self.assertEqual(self.decided_by("/one/"), "redis")
        self.assertEqual(self.decided_by("/many/"), "redis")
        self.assertEqual(self.gauge(self.weir, "weir_store_fallbacks_total"),
                         self.fallbacks + 1)
        self.assertEqual(self.gauge(self.weir, "weir_store_connects_total"), 1)

    def test_a_script_for_which_there_is_no_room_when_redis_has_lost_it(self):
        self.assertEqual(self.decided_by("/one/"), "redis")
        self.server("SCRIPT", "FLUSH")
        with self.memory.at_most(1_500):
            self.assertEqual(self.decided_by("/one/"), "local")
        self.assertEqual(self.decided_by("/one/"), "redis")
        self.assertEqual(self.gauge(self.weir, "weir_store_fallbacks_total"),
                         self.fallbacks + 1)
        self.assertEqual(self.gauge(self.weir, "weir_store_connects_total"), 1)

    def degraded(self):
        with self.connect_admin(self.weir) as client:
            return str(client.get("/readyz").json().get("degraded"))

    def test_a_connection_for_which_there_is_no_room(self):
        self.assertEqual(self.decided_by("/one/"), "redis")
        with self.memory.at_most(1_500, "others"):  # the main thread serves /readyz
            self.server.stop()
            self.server.start()
            eventually(lambda: "out of memory" in self.degraded(), "the reason in /readyz")
            self.assertEqual(self.decided_by("/one/"), "local")
        self.await_redis(self.weir)
        self.assertEqual(self.decided_by("/one/"), "redis")
        # Each reason is logged once, however many attempts fail for it.
        reasons = re.findall("(redis .*); deciding by on_failure", self.weir.stderr)
        after_start = reasons[1:]
        self.assertTrue(any("out of memory" in reason for reason in after_start), reasons)
        self.assertEqual(len(after_start), len(set(after_start)), reasons)

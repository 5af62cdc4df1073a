"""Requests that wait for a slot of a concurrency limit."""

import json
import re
import threading
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor

from harness.case import scaled
from harness.waiting import eventually

from holds_test import HoldCase, InRedis

GET = "GET {} HTTP/1.1\r\nHost: a\r\nX-Api-Key: {}\r\n\r\n"


class Gates:
    """A service that answers /NAME once its gate is open, and notes what it sees."""

    def __init__(self):
        self.open = defaultdict(threading.Event)
        self.lock = threading.Lock()
        self.arrived, self.now, self.most = [], 0, 0

    def __call__(self, exchange):
        exchange.read_body()
        name = exchange.target.strip("/")
        with self.lock:
            self.arrived.append(name)
            self.now += 1
            self.most = max(self.most, self.now)
            gate = self.open[name]
        gate.wait(60)
        with self.lock:
            self.now -= 1
        exchange.answer(b"", "200 OK")

    def await_arrivals(self, names):
        eventually(lambda: self.arrived == names, f"{names} have arrived: {self.arrived}", 30)


class Queue(HoldCase):
    KEYS = {"key": {"header": "x-api-key"}}

    def begin_queue(self, limit=1, queue=10, max_wait="60s", others=None, key="client", **sections):
        self.gates = Gates()
        self.service = self.upstream(self.gates)
        policies = {"slots": {"algorithm": "concurrency", "limit": limit, "queue": queue, "max_wait": max_wait},
                    **(others or {})}
        limits = [{"policy": "slots", "key": key}] + [{"policy": name, "key": key} for name in others or {}]
        self.weir = self.start_weir(self.service, limits, policies, identities=self.KEYS, **sections)

    def send(self, name, key="a"):
        client = self.connect(self.weir)
        client.send(GET.format("/" + name, key).encode())
        return client

    def queued(self):
        text = self.connect_admin(self.weir).get("/metrics").body.decode()
        return int(re.search(r'^weir_queued{policy="slots"} (\d+)$', text, re.M)[1])

    def queue_up(self, names, key="a"):
        """Sends requests that wait, one after another, so that their order is known."""
        clients = []
        before = self.queued()
        for position, name in enumerate(names, before + 1):
            clients.append(self.send(name, key))
            eventually(lambda: self.queued() == position, f"{name} waits", 30)
        return clients

    def test_requests_wait_first_come_first_served(self):
        self.begin_queue()
        names = [str(i) for i in range(8)]
        first = self.send("first")
        self.gates.await_arrivals(["first"])
        clients = [first] + self.queue_up(names)
        for position, name in enumerate(["first"] + names):
            self.gates.await_arrivals((["first"] + names)[:position + 1])
            self.gates.open[name].set()
            self.assertEqual(clients[position].read().status, 200)
        self.assertEqual(self.gates.most, 1)
        self.assertEqual(self.queued(), 0)
        eventually(lambda: self.held("slots") == 0, "the slot is free")

    def test_a_full_queue_denies_at_once(self):
        self.begin_queue(queue=2)
        self.send("first")
        self.gates.await_arrivals(["first"])
        self.queue_up(["second", "third"])
        with self.connect(self.weir) as other:
            response = other.get("/fourth")
        self.assertEqual((response.status, response["Retry-After"]), (429, "1"))
        self.assertEqual(response["RateLimit"], '"slots";r=0;t=1')
        self.assertEqual(self.queued(), 2)

    def test_the_longest_wait_ends_with_a_denial(self):
        self.begin_queue(max_wait="150ms", access_log={"path": "access.log"})
        self.send("first")
        self.gates.await_arrivals(["first"])
        with self.connect(self.weir) as other:
            response = other.get("/second")
        self.assertEqual((response.status, response["Retry-After"]), (429, "1"))
        self.assertEqual(self.queued(), 0)
        self.gates.open["first"].set()
        with self.connect(self.weir) as other:
            self.gates.open["third"].set()
            eventually(lambda: other.get("/third").status == 200, "the slot is free")
        self.assertNotIn("second", self.gates.arrived)
        log = self.weir.directory / "access.log"
        eventually(lambda: '"path":"/second"' in log.read_text(), "the line is written")
        line = next(json.loads(text) for text in log.read_text().splitlines() if '"path":"/second"' in text)
        self.assertEqual((line["decision"], line["policy"]), ("denied", "slots"))
        self.assertGreaterEqual(line["delay_us"], 150_000)

    def test_a_client_that_leaves_gives_up_its_place(self):
        self.begin_queue(access_log={"path": "access.log"})
        first = self.send("first")
        self.gates.await_arrivals(["first"])
        second, third = self.queue_up(["second", "third"])
        second.close()
        eventually(lambda: self.queued() == 1, "its place is free", 10)
        self.gates.open["first"].set()
        self.assertEqual(first.read().status, 200)
        self.gates.await_arrivals(["first", "third"])
        self.gates.open["third"].set()
        self.assertEqual(third.read().status, 200)
        log = self.weir.directory / "access.log"
        eventually(lambda: log.read_text().count("\n") == 3, "three lines")
        lines = {line["path"]: line for line in map(json.loads, log.read_text().splitlines())}
        self.assertEqual((lines["/second"]["status"], lines["/second"]["aborted_by"]), (499, "client"))
        self.assertEqual(lines["/third"]["decision"], "delayed")
        self.assertGreater(lines["/third"]["delay_us"], 0)

    def test_a_thousand_right_logins_at_once_all_pass(self):
        """Five at a time, because each holds a unit of the limit on wrong ones."""
        self.gates = Gates()
        self.gates.open["login"].set()
        self.service = self.upstream(self.gates)
        policies = {"slots": {"algorithm": "concurrency", "limit": 5, "queue": 1000, "max_wait": "60s"},
                    "logins": {"algorithm": "sliding_log", "rate": "5/1m"}}
        self.weir = self.start_weir(
            self.service, [{"policy": "slots", "key": "client"},
                           {"policy": "logins", "key": "client", "charge": {"status": [401]}}], policies)
        count = scaled(1000)
        with ThreadPoolExecutor(count) as pool:
            statuses = list(pool.map(lambda _: self.ask("/login"), range(count)))
        self.assertEqual(statuses, [200] * count)
        self.assertLessEqual(self.gates.most, 5)

    def ask(self, target):
        with self.connect(self.weir) as client:
            return client.get(target).status

    def test_a_reload_keeps_the_requests_that_wait(self):
        self.begin_queue()
        first = self.send("first")
        self.gates.await_arrivals(["first"])
        second, = self.queue_up(["second"])
        with self.connect_admin(self.weir) as admin:
            self.assertEqual(admin.request("POST", "/v1/reload").status, 200)
        third, = self.queue_up(["third"])
        for name, client in (("first", first), ("second", second), ("third", third)):
            self.gates.open[name].set()
            self.assertEqual(client.read().status, 200)
        self.assertEqual(self.gates.arrived, ["first", "second", "third"])

    def test_a_shutdown_ends_the_waits(self):
        self.begin_queue(shutdown_timeout="300ms")
        self.send("first")
        self.gates.await_arrivals(["first"])
        self.queue_up(["second", "third"])
        self.weir.stop()
        for gate in list(self.gates.open.values()):
            gate.set()


class QueueInRedis(InRedis, Queue):
    def begin_failing(self, on_failure):
        """One request in progress and two that wait, of a policy that does so without Redis."""
        self.gates = Gates()
        self.service = self.upstream(self.gates)
        self.weir = self.start_weir(self.service, [{"policy": "slots", "key": "client"}], {
            "slots": {"algorithm": "concurrency", "limit": 1, "queue": 10, "max_wait": "60s",
                      "on_failure": on_failure}})
        clients = [self.send("first")]
        self.gates.await_arrivals(["first"])
        clients += self.queue_up(["second", "third"])
        self.server.stop()
        return clients

    def test_without_redis_the_wait_ends_as_the_policy_decides(self):
        _, second, third = self.begin_failing("deny")
        self.assertEqual([second.read().status, third.read().status], [503, 503])
        self.assertEqual(self.queued(), 0)
        self.gates.open["first"].set()
        self.server.start()

    def test_without_redis_the_instance_may_admit_by_itself(self):
        _, second, third = self.begin_failing("allow")
        for name, client in (("second", second), ("third", third)):
            self.gates.open[name].set()
            self.assertEqual(client.read().status, 200)
        self.gates.open["first"].set()
        self.server.start()

    def test_two_instances_share_the_slots(self):
        self.begin_queue()
        one = self.weir
        first = self.send("first")
        self.gates.await_arrivals(["first"])
        self.weir = self.start_weir(
            self.service, [{"policy": "slots", "key": "client"}],
            {"slots": {"algorithm": "concurrency", "limit": 1, "queue": 10, "max_wait": "60s"}})
        second, = self.queue_up(["second"])
        self.gates.open["first"].set()
        self.assertEqual(first.read().status, 200)
        self.gates.open["second"].set()
        self.assertEqual(second.read().status, 200)
        self.assertEqual(self.gates.most, 1)
        self.weir = one


del HoldCase

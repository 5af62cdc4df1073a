"""Limits on requests in progress, and costs that depend on the status of the response."""

import json
import re
from concurrent.futures import ThreadPoolExecutor

from harness.case import configuration, scaled
from harness.preload import fast_clock
from harness.redis_case import SECRET, RedisCase
from harness.waiting import eventually

# Weir looks every second whether the clients have left, and a lease ends after 10 s.
FASTER = fast_clock(3)
LOGINS = {"logins": {"algorithm": "fixed_window", "rate": "5/1h"}}
FAILED = {"policy": "logins", "key": "client", "charge": {"status": [401, 403]}}
STATUSES = {200: "200 OK", 204: "204 No Content", 401: "401 Unauthorized", 403: "403 Forbidden", 404: "404 Not Found",
            500: "500 Internal Server Error", 503: "503 Service Unavailable"}


def by_target(exchange):
    """Answers /STATUS with this status."""
    exchange.read_body()
    exchange.answer(b"", STATUSES[int(exchange.target.rsplit("/", 1)[1])])


class HoldCase(RedisCase):
    def store(self):
        """The sections that choose the store."""
        return {}

    def start_weir(self, service, limits, policies=LOGINS, **sections):
        return self.start(configuration(
            service.url, policies=policies, routes=[{"upstream": "main", "limits": limits}],
            **{"admin": {"address": "127.0.0.1:0"}, **self.store(), **sections}), environment=FASTER)

    def begin(self, behaviour, limits, policies=LOGINS, **sections):
        self.service = self.upstream(behaviour)
        self.weir = self.start_weir(self.service, limits, policies, **sections)
        self.client = self.connect(self.weir)

    def remaining(self):
        """What is left beside the unit that this request holds; with status 200 it is not charged."""
        return int(self.client.get("/200")["RateLimit-Remaining"])

    def held(self, policy):
        text = self.connect_admin(self.weir).get("/metrics").body.decode()
        return int(re.search(rf'^weir_holds{{policy="{policy}"}} (\d+)$', text, re.M)[1])

    def at_once(self, count, target):
        """The statuses of so many requests, each on a connection of its own."""
        def ask(_):
            with self.connect(self.weir) as client:
                return client.get(target).status
        with ThreadPoolExecutor(count) as pool:
            return sorted(pool.map(ask, range(count)))


class ChargeByStatus(HoldCase):
    def test_only_the_listed_statuses_are_charged(self):
        self.begin(by_target, [FAILED])
        for status, charged in ((200, 0), (404, 0), (500, 0), (401, 1), (204, 1), (403, 2), (200, 2)):
            self.assertEqual(self.client.get(f"/{status}").status, status)
            self.assertEqual(self.remaining(), 4 - charged, status)
        for _ in range(3):
            self.assertEqual(self.client.get("/401").status, 401)
        response = self.client.get("/200")
        self.assertEqual((response.status, response["RateLimit-Remaining"]), (429, "0"))
        self.assertGreater(int(response["Retry-After"]), 3500)

    def test_all_but_the_listed_statuses(self):
        self.begin(by_target, [{**FAILED, "charge": {"status_not": ["500-599"]}}])
        for status in (500, 503, 500, 503, 500, 503):
            self.assertEqual(self.client.get(f"/{status}").status, status)
        for status in (200, 404, 401, 204, 403):
            self.assertEqual(self.client.get(f"/{status}").status, status)
        self.assertEqual(self.client.get("/500").status, 429)

    def test_of_many_wrong_logins_at_once_the_quota_reaches_the_upstream(self):
        self.begin(by_target, [FAILED])
        count = scaled(1000)
        statuses = []
        for _ in range(4):
            statuses += self.at_once(count // 4, "/401")
        self.assertEqual(statuses.count(401), 5)
        self.assertEqual(statuses.count(429), len(statuses) - 5)
        self.assertEqual(len(self.service.requests), 5)

    def test_a_fixed_answer_is_a_response(self):
        self.weir = self.start(configuration(
            policies=LOGINS, routes=[{"respond": {"status": 401}, "limits": [FAILED]}],
            **self.store()))
        client = self.connect(self.weir)
        self.assertEqual([client.get("/").status for _ in range(6)], [401] * 5 + [429])

    def test_an_error_of_weir_is_no_response(self):
        """504 of a service that does not answer, 502 of a closed port."""
        service, _ = self.late_upstream()
        self.weir = self.start_weir(service, [{**FAILED, "charge": {"status_not": [200]}}],
                                    main={"response_timeout": "100ms"})
        client = self.connect(self.weir)
        for _ in range(6):
            self.assertEqual(client.get("/").status, 504)
        service.stop()
        for _ in range(6):
            self.assertEqual(client.get("/").status, 502)

    def test_a_response_that_the_upstream_cuts_has_its_status(self):
        def cut(exchange):
            exchange.read_body()
            exchange.send(b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 100\r\n\r\nhalf")
            exchange.reset()
        self.begin(cut, [FAILED])
        for _ in range(5):
            with self.connect(self.weir) as client, self.assertRaises(Exception):
                client.get("/")
        self.assertEqual(self.connect(self.weir).get("/").status, 429)

    def test_a_client_that_leaves_before_the_response_is_charged(self):
        service, may_answer = self.late_upstream()
        self.weir = self.start_weir(service, [FAILED])
        clients = [self.connect(self.weir) for _ in range(5)]
        for client in clients:
            client.send(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        service.await_requests(5)
        for client in clients:
            client.close()
        eventually(lambda: self.held("logins") == 0, "the holds are settled")
        may_answer.set()
        with self.connect(self.weir) as client:
            self.assertEqual(client.get("/").status, 429)

    def test_the_log_and_the_metrics_have_the_outcome(self):
        self.begin(by_target, [FAILED], access_log={"path": "access.log"})
        for status in (200, 401, 403, 500):
            self.client.get(f"/{status}")
        log = self.weir.directory / "access.log"
        eventually(lambda: log.read_text().count("\n") == 4, "four lines")
        lines = [json.loads(line) for line in log.read_text().splitlines()]
        self.assertEqual([(line["status"], line["reserved"], line["cost"], line["settled_by"]) for line in lines],
                         [(200, 1, 0, "status"), (401, 1, 1, "status"), (403, 1, 1, "status"), (500, 1, 0, "status")])
        text = self.connect_admin(self.weir).get("/metrics").body.decode()
        self.assertIn('weir_holds{policy="logins"} 0', text)
        self.assertIn('weir_settlements_total{policy="logins",by="status"} 4', text)
        self.assertIn('weir_settlements_total{policy="logins",by="missing"} 0', text)


class Concurrency(HoldCase):
    POLICY = {"busy": {"algorithm": "concurrency", "limit": 2}}
    LIMIT = {"policy": "busy", "key": "client"}

    def begin_late(self, **sections):
        self.service, self.may_answer = self.late_upstream()
        self.weir = self.start_weir(self.service, [self.LIMIT], self.POLICY, **sections)

    def occupy(self, count=2):
        clients = [self.connect(self.weir) for _ in range(count)]
        already = len(self.service.requests)
        for client in clients:
            client.send(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        self.service.await_requests(already + count)
        return clients

    def test_requests_in_progress_are_limited_and_release_their_slots(self):
        self.begin_late()
        clients = self.occupy()
        with self.connect(self.weir) as other:
            response = other.get("/")
            self.assertEqual(response.status, 429)
            self.assertEqual(response["Retry-After"], "1")
            self.assertEqual(response["RateLimit-Policy"], '"busy";q=2;qu="concurrent-requests"')
            self.assertEqual(response["RateLimit"], '"busy";r=0;t=1')
        self.may_answer.set()
        for client in clients:
            self.assertEqual(client.read().status, 200)
        for _ in range(50):
            with self.connect(self.weir) as other:
                response = other.get("/")
                self.assertEqual((response.status, response["RateLimit-Remaining"]), (200, "1"))

    def test_a_client_that_leaves_releases_its_slot(self):
        self.begin_late()
        for _ in range(5):
            clients = self.occupy()
            with self.connect(self.weir) as other:
                self.assertEqual(other.get("/").status, 429)
            for client in clients:
                client.close()
            eventually(lambda: self.held("busy") == 0, "both slots are free")

    def test_a_failed_request_releases_its_slot(self):
        self.begin_late()
        self.service.stop()
        for _ in range(5):
            with self.connect(self.weir) as client:
                self.assertEqual(client.get("/").status, 502)


class InRedis:
    """The same with one Redis, which has more time than the least machine needs."""

    def store(self):
        if not hasattr(self, "server"):
            self.server = self.redis(environment=FASTER)
        return {"identity_secret": SECRET,
                "store": {"type": "redis", "redis": {"url": self.server.url, "timeout": "10s", "replicas": 1}}}

    def start_weir(self, *arguments, **options):
        weir = super().start_weir(*arguments, **options)
        self.await_redis(weir)
        return weir

    def tearDown(self):
        immortal = [key for key in self.server("KEYS", "*") if self.server("PTTL", key) == -1]
        self.assertEqual(immortal, [])
        super().tearDown()


class ChargeByStatusInRedis(InRedis, ChargeByStatus):
    pass


class ConcurrencyInRedis(InRedis, Concurrency):
    def test_two_instances_share_the_slots(self):
        self.begin_late()
        first = self.weir
        self.occupy(1)
        self.weir = self.start_weir(self.service, [self.LIMIT], self.POLICY)
        clients = self.occupy(1)
        for weir in (first, self.weir):
            with self.connect(weir) as other:
                self.assertEqual(other.get("/").status, 429)
        clients[0].close()
        eventually(lambda: self.held("busy") == 0, "the slot is free")
        self.weir = first
        self.occupy(1)

    def test_an_instance_that_is_killed_releases_its_slots_after_the_lease(self):
        self.begin_late()
        self.occupy()
        self.weir.kill()
        self.weir.is_stopped = True
        self.weir = self.start_weir(self.service, [self.LIMIT], self.POLICY)
        with self.connect(self.weir) as other:
            self.assertEqual(other.get("/").status, 429)
        self.may_answer.set()
        with self.connect(self.weir) as other:
            eventually(lambda: other.get("/").status == 200, "the lease has ended", 30)

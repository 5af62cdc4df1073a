"""Decisions for another proxy that hold units: the report of the proxy, and what happens without one."""

import re
import signal
import threading

from harness.asking import DEPLOY, DECIDING, HOLDING, deciding
from harness.case import Case, configuration
from harness.limit_fields import limit_fields
from harness.redis_case import SECRET, RedisCase
from harness.waiting import eventually
from harness.weir import run


def metric(test, weir, text):
    """The value of a sample; None: there is none."""
    found = re.search(f"^{re.escape(text)} (.*)$", test.connect_admin(weir).get("/metrics").body.decode(), re.M)
    return found and float(found[1])


def report(answer, status=200, **fields):
    return {"Weir-Hold": answer["Weir-Hold"], "Weir-Status": str(status), **fields}


class DecisionHolds(Case):
    def begin(self, **sections):
        weir = self.start(deciding(**{**HOLDING, "admin": {"address": "127.0.0.1:0"}, **sections}))
        return weir, self.connect(weir)

    def test_a_report_releases_the_slot(self):
        weir, client = self.begin()
        for _ in range(3):
            admitted = client.get("/a")
            self.assertEqual(admitted.status, 200)
            self.assertRegex(admitted["Weir-Hold"], "^[0-9a-f]{32}$")
            denied = client.get("/a")
            self.assertEqual((denied.status, denied["Retry-After"]), (429, "1"))
            self.assertNotIn("Weir-Hold", denied.fields)
            self.assertEqual(metric(self, weir, 'weir_holds{policy="slots"}'), 1)
            settled = client.get("/a", report(admitted))
            self.assertEqual((settled.status, settled.body), (204, b""))
            self.assertEqual(metric(self, weir, 'weir_holds{policy="slots"}'), 0)
            self.assertEqual(client.get("/a", report(admitted)).status, 404)

    def test_a_hold_that_nobody_settles_ends_by_its_lease(self):
        routes = [{**route, "hold_lease": "1s"} for route in HOLDING["routes"]]
        weir, client = self.begin(routes=routes)
        slot, login = client.get("/a"), client.get("/login")
        self.assertEqual(client.get("/a").status, 429)
        for policy in "slots", "logins":
            eventually(lambda: metric(self, weir, f'weir_holds{{policy="{policy}"}}') == 0, "the lease has ended")
            self.assertEqual(metric(self, weir, f'weir_settlements_total{{policy="{policy}",by="lease"}}'), 1)
        self.assertEqual(client.get("/a").status, 200)
        problem = self.assert_problem(client.get("/a", report(slot)), 404)
        self.assertIn("hold_lease", problem["detail"])
        self.assertEqual(client.get("/login", report(login)).status, 404)
        self.assertEqual(limit_fields(client.get("/login")).state["logins"]["r"], 0)

    def test_any_worker_takes_a_report(self):
        weir, _ = self.begin(workers=4, policies={
            **HOLDING["policies"], "slots": {"algorithm": "concurrency", "limit": 40}})
        clients = [self.connect(weir) for _ in range(40)]
        admitted = [client.get("/a") for client in clients]
        self.assertEqual([answer.status for answer in admitted], [200] * 40)
        self.assertEqual(clients[0].get("/a").status, 429)
        lock, statuses = threading.Lock(), []

        def settle(client, answers):
            for answer in answers:
                status = client.get("/a", report(answer)).status
                with lock:
                    statuses.append(status)

        # Each hold is reported by four clients at once.
        threads = [threading.Thread(target=settle, args=(clients[i], admitted[i // 4::10])) for i in range(40)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual((statuses.count(204), statuses.count(404)), (40, len(statuses) - 40))
        eventually(lambda: metric(self, weir, 'weir_holds{policy="slots"}') == 0, "all slots are free")
        self.assertEqual([client.get("/a").status for client in clients], [200] * 40)

    def test_a_drain_takes_reports_about_holds_of_workers_without_connections(self):
        weir, first = self.begin(workers=8, policies={
            **HOLDING["policies"], "slots": {"algorithm": "concurrency", "limit": 40}})
        with first:
            admitted = [first.get("/a")]
        for _ in range(39):
            with self.connect(weir) as client:
                admitted.append(client.get("/a"))
        reporter = self.connect(weir)
        fields = "".join(f"{name}: {value}\r\n" for name, value in report(admitted[0]).items())
        reporter.send(f"GET /a HTTP/1.1\r\nHost: a\r\n{fields}".encode())
        weir.signal(signal.SIGTERM)
        eventually(lambda: "draining" in weir.stderr, "the drain")
        self.assertEqual(metric(self, weir, 'weir_settlements_total{policy="slots",by="lease"}'), 0)
        reporter.send(b"\r\n")
        self.assertEqual(reporter.read().status, 204)
        self.assertEqual(weir.wait(), 0)

    def test_a_reload_keeps_the_holds(self):
        weir, client = self.begin()
        admitted = client.get("/a")
        weir.write(deciding(**HOLDING, admin={"address": "127.0.0.1:0"}, shutdown_timeout="7s"))
        self.assertEqual(self.connect_admin(weir).request("POST", "/v1/reload").status, 200)
        self.assertEqual(client.get("/a").status, 429)
        self.assertEqual(client.get("/a", report(admitted)).status, 204)
        eventually(lambda: client.get("/a").status == 200, "the slot is free again")

    def test_a_report_after_a_reload_without_holds_is_no_request(self):
        weir, client = self.begin()
        admitted = client.get("/a")
        weir.write(deciding(policies={"rate": {"algorithm": "fixed_window", "rate": "1/1h"}},
                            routes=[{"decide": True, "limits": [{"policy": "rate"}]}],
                            admin={"address": "127.0.0.1:0"}))
        self.assertEqual(self.connect_admin(weir).request("POST", "/v1/reload").status, 200)
        self.assertEqual([client.get("/a", report(admitted)).status for _ in range(2)], [204, 404])
        self.assertEqual(client.get("/a").status, 200)

    def test_a_proxy_that_leaves_before_the_decision_leaves_no_hold(self):
        weir, client = self.begin(policies={
            **HOLDING["policies"], "slow": {"algorithm": "leaky_bucket", "rate": "1/1m", "queue": 10, "max_delay": "5m"}},
            routes=[{"decide": True, "limits": [{"policy": "slots"}, {"policy": "slow"}]}])
        client.get("/a", report(client.get("/a")))
        with self.connect(weir) as leaves:
            leaves.send(b"GET /a HTTP/1.1\r\nHost: a\r\n\r\n")
            eventually(lambda: metric(self, weir, 'weir_holds{policy="slots"}') == 1, "the request waits")
        eventually(lambda: metric(self, weir, 'weir_holds{policy="slots"}') == 0, "the slot is free")
        self.assertEqual(metric(self, weir, "weir_holds_awaiting_report"), 0)

    def test_a_report_wakes_a_question_that_waits(self):
        weir, client = self.begin(policies={
            **HOLDING["policies"], "slots": {"algorithm": "concurrency", "limit": 1, "queue": 1, "max_wait": "1m"}})
        admitted = client.get("/a")
        self.assertEqual(metric(self, weir, "weir_holds_awaiting_report"), 1)
        with self.connect(weir) as waits:
            waits.send(b"GET /a HTTP/1.1\r\nHost: a\r\n\r\n")
            eventually(lambda: metric(self, weir, 'weir_queued{policy="slots"}') == 1, "the question waits")
            client.get("/a", report(admitted))
            self.assertEqual(waits.read().status, 200)

    def test_a_fixed_answer_is_no_decision(self):
        upstream = self.upstream(lambda exchange: exchange.answer(b"forwarded"))
        weir = self.start(configuration(upstream.url, **HOLDING | {"routes": [
            HOLDING["routes"][0], {"match": {"path": "/**"}, "upstream": "main"}]}, **DECIDING))
        client = self.connect(weir)
        admitted = client.get("/login")
        self.assertEqual(client.get("/a", report(admitted)).body, b"forwarded")
        self.assertEqual(client.get("/login", report(admitted)).status, 204)

    def test_the_file_of_deploy_is_valid_and_explains_its_holds(self):
        result = run("check", "--verbose", str(DEPLOY / "weir-holds.yaml"))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("reports the end with Weir-Hold, for up to 2m", result.stdout)


class DecisionHoldsInRedis(RedisCase):
    def test_a_slot_of_another_instance_is_free_after_the_report(self):
        redis = self.redis()
        policies = {**HOLDING["policies"], "slots": {"algorithm": "concurrency", "limit": 2}}
        weirs = [self.start(deciding(**{**HOLDING, "policies": policies}, store={
            "type": "redis", "redis": {"url": redis.url, "timeout": "2s", "replicas": 2}},
            admin={"address": "127.0.0.1:0"})) for _ in range(2)]
        for weir in weirs:
            self.await_redis(weir)
        first, second = (self.connect(weir) for weir in weirs)
        admitted = first.get("/a")
        self.assertEqual([admitted.status, second.get("/a").status, second.get("/a").status], [200, 200, 429])
        # A report goes to the instance that has decided.
        self.assertEqual(second.get("/a", report(admitted)).status, 404)
        self.assertEqual(first.get("/a", report(admitted)).status, 204)
        eventually(lambda: second.get("/a").status == 200, "the slot is free again")

    def test_a_proxy_that_leaves_while_redis_decides_leaves_no_hold(self):
        redis = self.redis()
        weir = self.start(deciding(**HOLDING, identity_secret=SECRET, admin={"address": "127.0.0.1:0"}, store={
            "type": "redis", "redis": {"url": redis.url, "timeout": "30s", "replicas": 1}}))
        self.await_redis(weir)
        redis.pause()
        with self.connect(weir) as leaves:
            leaves.send(b"GET /a HTTP/1.1\r\nHost: a\r\n\r\n")
            eventually(lambda: metric(self, weir, "weir_store_in_flight") >= 1, "Redis is asked")
        redis.resume()
        eventually(lambda: metric(self, weir, 'weir_decisions_total{policy="slots",outcome="allowed"}') == 1,
                   "Redis has decided")
        eventually(lambda: metric(self, weir, 'weir_holds{policy="slots"}') == 0, "the slot is free")
        with self.connect(weir) as client:
            self.assertEqual(client.get("/a").status, 200)

    def test_a_drain_settles_in_redis(self):
        """The last settlements reach Redis before the instance ends."""
        redis = self.redis()
        service, may_answer = self.late_upstream()
        policies = {"logins": {"algorithm": "fixed_window", "rate": "4/1h"}}
        routes = [{"upstream": "main", "limits": [{"policy": "logins", "charge": {"status": [401]}}]}]
        first, second = [self.start(configuration(service.url, policies=policies, routes=routes, store={
            "type": "redis", "redis": {"url": redis.url, "timeout": "2s", "replicas": 2}},
            admin={"address": "127.0.0.1:0"}, identity_secret=SECRET)) for _ in range(2)]
        for weir in first, second:
            self.await_redis(weir)
        clients = [self.connect(first) for _ in range(3)]
        for client in clients:
            client.send(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        service.await_requests(3)
        first.signal(signal.SIGTERM)
        eventually(lambda: "draining" in first.stderr, "the drain")
        may_answer.set()
        self.assertEqual([client.read().status for client in clients], [200] * 3)
        self.assertEqual(first.wait(), 0)
        with self.connect(second) as client:
            self.assertEqual(client.get("/")["RateLimit-Remaining"], "3")

    def test_an_instance_that_stops_leaves_no_hold_in_redis(self):
        redis = self.redis()
        first, second = [self.start(deciding(**HOLDING, identity_secret=SECRET, admin={"address": "127.0.0.1:0"}, store={
            "type": "redis", "redis": {"url": redis.url, "timeout": "2s", "replicas": 1}})) for _ in range(2)]
        for weir in first, second:
            self.await_redis(weir)
        with self.connect(first) as client:
            self.assertEqual(client.get("/a").status, 200)
        with self.connect(second) as client:
            self.assertEqual(client.get("/a").status, 429)
            first.signal(signal.SIGTERM)
            self.assertEqual(first.wait(), 0)
            self.assertEqual(client.get("/a").status, 200)

    def test_units_that_are_held_count_after_a_reload_without_holds(self):
        redis = self.redis()
        service, may_answer = self.late_upstream()
        limit = {"policy": "units", "cost": 60}

        def config(limit):
            return configuration(
                service.url, policies={"units": {"algorithm": "fixed_window", "rate": "100/1h"}},
                routes=[{"upstream": "main", "limits": [limit]}], identity_secret=SECRET,
                store={"type": "redis", "redis": {"url": redis.url, "timeout": "2s", "replicas": 1}},
                admin={"address": "127.0.0.1:0"})

        weir = self.start(config({**limit, "charge": {"status": [200]}}))
        self.await_redis(weir)
        with self.connect(weir) as client, self.connect(weir) as other:
            client.send(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            service.await_requests(1)
            weir.write(config(limit))
            self.assertEqual(self.connect_admin(weir).request("POST", "/v1/reload").status, 200)
            self.assertEqual(other.get("/").status, 429)
            may_answer.set()
            self.assertEqual(client.read().status, 200)

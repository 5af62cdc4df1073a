"""The admin endpoints, and the metrics after known traffic."""

import contextlib
import signal
import threading

from harness.case import Case, configuration, limited
from harness.client import request_bytes
from harness.exposition import labelled, parse
from harness.services import free_port
from harness.waiting import eventually
from harness.weir import run

ADMIN = {"address": "127.0.0.1:0"}
KEY = "key-that-nobody-may-see"


class AdminCase(Case):
    def admin(self, weir, target, fields=(), method="GET"):
        with self.connect_admin(weir) as connection:
            return connection.request(method, target, fields)

    def scrape(self, weir):
        response = self.admin(weir, "/metrics")
        self.assertEqual(response.status, 200)
        self.assertTrue(response["Content-Type"].startswith("text/plain"), response["Content-Type"])
        return parse(response.body.decode())

    def admin_url(self, weir):
        return "http://{}:{}".format(*weir.admin_address)


class RunningConfiguration(AdminCase):
    def test_it_is_shown_with_its_hash_and_without_secrets(self):
        config = configuration(self.upstream().url, workers=1, identity_secret="${SECRET}",
                               admin={**ADMIN, "token": KEY})
        weir = self.start(config, environment={"SECRET": KEY + "-too"})
        fields = {"Authorization": "Bearer " + KEY}
        shown = self.admin(weir, "/v1/config", fields)
        self.assertEqual(shown["Content-Type"], "application/json")
        self.assertNotIn(KEY, shown.body.decode())
        before = shown.json()
        self.assertEqual(before["config"]["admin"], {"address": ADMIN["address"], "token": "(secret)"})
        self.assertEqual(before["config"]["identity_secret"], "${SECRET}")
        self.assertEqual(before["restart_needed"], [])
        self.assert_problem(self.admin(weir, "/v1/config"), 401)
        weir.write({**config, "workers": 2, "shutdown_timeout": "7s"})
        self.assertEqual(self.admin(weir, "/v1/reload", fields, method="POST").status, 200)
        after = self.admin(weir, "/v1/config", fields).json()
        self.assertEqual(after["config"]["shutdown_timeout"], "7s")
        self.assertEqual(after["restart_needed"], ["workers"])
        self.assertNotEqual(after["hash"], before["hash"])
        self.assertGreaterEqual(after["loaded_at"], before["loaded_at"])


class Probes(AdminCase):
    def test_healthz_and_readyz(self):
        weir = self.start(configuration(self.upstream().url, admin=ADMIN))
        for target in ("/healthz", "/readyz"):
            response = self.admin(weir, target)
            self.assertEqual(response.status, 200)
            self.assertIn("Date", response.fields)
            self.assertEqual(self.admin(weir, target, method="HEAD").status, 200)

    def test_admin_endpoints_are_never_on_the_public_port(self):
        weir = self.start(configuration(routes=[{"match": {"path": "/x"},
                                                 "respond": {"body": "x"}}], admin=ADMIN))
        client = self.connect(weir)
        for target in ("/healthz", "/readyz", "/metrics", "/v1/config"):
            self.assertEqual(client.get(target).status, 404)

    def test_a_token_guards_all_but_the_probes(self):
        weir = self.start(configuration(self.upstream().url, admin={**ADMIN, "token": "${TOKEN}"}),
                          environment={"TOKEN": "open-sesame"})
        for fields in ({}, {"Authorization": "Bearer wrong"},
                       {"Authorization": "Bearer open-sesam"},
                       {"Authorization": "Bearer open-sesame2"},
                       {"Authorization": "Basic open-sesame"}):
            self.assert_problem(self.admin(weir, "/metrics", fields), 401)
        self.assertEqual(self.admin(weir, "/metrics",
                                    {"Authorization": "Bearer open-sesame"}).status, 200)
        self.assertEqual(self.admin(weir, "/healthz").status, 200)
        self.assertEqual(run("health", "--admin", self.admin_url(weir)).returncode, 0)
        self.assertNotIn("open-sesame", weir.stderr)

    def test_readyz_and_weir_health_say_when_it_drains(self):
        upstream, may_answer = self.late_upstream(b"late but whole")
        weir = self.start(configuration(upstream.url, admin=ADMIN))
        self.assertEqual(run("health", "--admin", self.admin_url(weir)).returncode, 0)
        client = self.connect(weir)
        client.send(request_bytes("GET", "/"))
        upstream.await_requests(1)
        weir.signal(signal.SIGTERM)
        eventually(lambda: self.admin(weir, "/readyz").status == 503, "readyz reports that it drains")
        self.assertEqual(self.admin(weir, "/healthz").status, 200)
        health = run("health", "--admin", self.admin_url(weir))
        self.assertEqual(health.returncode, 1)
        self.assertIn("draining", health.stderr)
        may_answer.set()
        self.assertEqual(client.read().body, b"late but whole")
        self.assertEqual(weir.wait(), 0)


class Metrics(AdminCase):
    def begin(self):
        self.up = self.upstream()
        servers = {"main": self.up.url, "gone": f"http://127.0.0.1:{free_port()}"}
        policies = {"p": {"algorithm": "fixed_window", "rate": "3/1h"},
                    "watch": {"algorithm": "fixed_window", "rate": "1/1h", "mode": "shadow"}}
        limits = [{"policy": name, "key": "key"} for name in policies]
        routes = [{"name": "limited", "match": {"path": "/limited"}, "upstream": "main",
                   "limits": limits},
                  {"name": "gone", "match": {"path": "/gone"}, "upstream": "gone"},
                  {"name": "fixed", "match": {"path": "/fixed"}, "respond": {"body": "x"}}]
        self.weir = self.start(limited(
            policies, [], {"key": {"header": "x-api-key"}}, routes=routes, admin=ADMIN, workers=2,
            upstreams={name: {"servers": [{"url": url}]} for name, url in servers.items()}))

    def send_known_traffic(self):
        """15 requests, each on a connection of its own, so that both workers get some."""
        for target, count in [("/limited", 5), ("/gone", 2), ("/fixed", 4), ("/nowhere", 3)]:
            for _ in range(count):
                with self.weir.connect() as client:
                    client.get(target, {"X-Api-Key": KEY})
        with self.weir.connect() as client:
            client.send(b"garbage\r\n\r\n")
            client.read()

    def requests_by_route(self, samples):
        return {(dict(labels)["route"], dict(labels)["code"]): value
                for (name, labels), value in samples.items() if name == "weir_requests_total"}

    def scrape_counts(self, total):
        """A request is counted once its answer has gone out, its duration last: waits until that many are."""
        def counted():
            samples = self.scrape(self.weir)
            durations = sum(value for (name, _), value in samples.items()
                            if name == "weir_request_duration_seconds_count")
            requests = sum(self.requests_by_route(samples).values())
            return samples if min(requests, durations) >= total else None

        return eventually(counted, f"{total} requests are counted")

    def test_counts_are_exact_after_known_traffic(self):
        self.begin()
        self.send_known_traffic()
        samples = self.scrape_counts(15)
        self.assertEqual(self.requests_by_route(samples), {
            ("limited", "200"): 3, ("limited", "429"): 2, ("gone", "502"): 2, ("fixed", "200"): 4,
            ("none", "404"): 3, ("none", "400"): 1})
        for name, labels, count in [
            ("weir_decisions_total", {"policy": "p", "outcome": "allowed"}, 3),
            ("weir_decisions_total", {"policy": "p", "outcome": "denied"}, 2),
            ("weir_decisions_total", {"policy": "watch", "outcome": "allowed"}, 1),
            ("weir_decisions_total", {"policy": "watch", "outcome": "shadow_denied"}, 4),
            ("weir_decision_duration_seconds_count", {"store": "memory"}, 5),
            ("weir_upstream_requests_total", {"upstream": "main", "outcome": "answered"}, 3),
            ("weir_upstream_requests_total", {"upstream": "gone", "outcome": "connect_failed"}, 2),
            ("weir_request_duration_seconds_count", {"route": "limited"}, 5),
            ("weir_request_duration_seconds_count", {"route": "gone"}, 2),
            ("weir_request_duration_seconds_count", {"route": "fixed"}, 4),
            ("weir_request_duration_seconds_bucket", {"route": "limited", "le": "+Inf"}, 5),
        ]:
            self.assertEqual(labelled(samples, name, **labels), count, (name, labels))

    def test_what_became_of_an_upstreams_answer(self):
        """`answered` even if the client left in its middle; `broken`, and logged, if it was no HTTP."""
        gone = threading.Event()
        self.addCleanup(gone.set)

        def behaviour(exchange):
            if exchange.target == "/odd":
                exchange.send(b"HTTP/1.1 999 No\r\n\r\n")
                return exchange.close()
            exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n")
            if exchange.target == "/stalls":
                return exchange.reader.fill()
            with contextlib.suppress(OSError):
                while not gone.is_set():
                    exchange.send(b"x" * 65536)

        upstream = self.upstream(behaviour)
        self.weir = self.start(configuration(upstream.url, admin=ADMIN))
        with self.weir.connect() as client:
            self.assertEqual(client.get("/odd").status, 502)
            client.send(request_bytes("GET", "/"))
            self.assertEqual(client.read_head().status, 200)
            client.reset()
        with self.weir.connect() as client:
            client.send(request_bytes("GET", "/stalls"))
            self.assertEqual(client.read_head().status, 200)
        for outcome, count in (("answered", 2), ("broken", 1)):
            eventually(lambda outcome=outcome, count=count: labelled(
                self.scrape(self.weir), "weir_upstream_requests_total", upstream="main",
                outcome=outcome) == count, outcome)
        self.assertIn(f"127.0.0.1:{upstream.port} sent an answer that is not valid HTTP",
                      self.weir.stderr)

    def test_no_key_is_ever_a_label_pitfall_29(self):
        self.begin()
        with self.weir.connect() as client:
            for i in range(50):
                client.get(f"/limited?api_key={KEY}", {"X-Api-Key": f"{KEY}-{i}"})
        before = len(self.scrape(self.weir))
        with self.weir.connect() as client:
            for i in range(50, 100):
                client.get("/limited", {"X-Api-Key": f"{KEY}-{i}"})
        self.assertEqual(len(self.scrape(self.weir)), before)
        self.assertNotIn(KEY, self.admin(self.weir, "/metrics").body.decode())
        self.assertNotIn(KEY, self.weir.stderr)

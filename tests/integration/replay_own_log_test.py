"""`weir replay` of Weir's own log, with the same configuration, reproduces every decision: of each algorithm, of costs
that depend on the response, of requests in progress. The command compares them line by line."""

import json
import random
import threading

from concurrency_test import in_threads
from harness.case import Case, configuration
from harness.waiting import eventually
from harness.weir import run

POLICIES = {
    "fixed": {"algorithm": "fixed_window", "rate": "20/1s"},
    "clock": {"algorithm": "fixed_window", "rate": "15/1s", "anchor": "clock", "count_rejected": True},
    "attributed": {"algorithm": "attributed_window", "rate": "20/1s", "attributes": ["method"]},
    "sliding": {"algorithm": "sliding_window", "rates": ["10/100ms", "30/1s"]},
    "log": {"algorithm": "sliding_log", "rate": "20/1s"},
    "bucket": {"algorithm": "token_bucket", "rate": "30/1s", "burst": 15},
    "gcra": {"algorithm": "gcra", "rate": "40/1s", "burst": 10},
    "leaky": {"algorithm": "leaky_bucket", "rate": "200/1s", "queue": 3},
    "trial": {"algorithm": "gcra", "rate": "30/1s", "burst": 5, "mode": "shadow"},
    "logins": {"algorithm": "sliding_log", "rate": "5/1s"},
    "tokens": {"algorithm": "token_bucket", "rate": "1000/1s"},
    "slots": {"algorithm": "concurrency", "limit": 1},
    "line": {"algorithm": "concurrency", "limit": 1, "queue": 3, "max_wait": "20ms"},
    "rate": {"algorithm": "gcra", "rate": "300/1s", "burst": 50},
}
CHARGES = {
    "logins": {"charge": {"status": [401]}},
    "tokens": {"reserve": {"header": "x-max", "default": 50}, "cost_from": [{"json": "/used"}], "missing": "zero"},
}
PLANS = {"free": {}, "gold": {"gcra": {"rate": "80/1s", "burst": 20}}}


def upstream_answer(exchange):
    """/tokens/N states N, /logins/N has this status."""
    exchange.read_body()
    _, policy, number = exchange.target.split("/")
    if policy == "logins":
        return exchange.answer(b"", f"{number} Status")
    body = json.dumps({"used": int(number)}).encode() if number != "0" else b"{}"
    return exchange.answer(body, fields=[("Content-Type", "application/json")])


class OwnLog(Case):
    def begin(self, behaviour, **sections):
        routes = [{"name": name, "upstream": "main", "match": {"path": f"/{name}/**"},
                   "limits": [{"policy": name, "key": "key", "otherwise": "client", **CHARGES.get(name, {})}]}
                  for name in POLICIES]
        # Conditions that the log does not have.
        routes[5]["match"]["host"] = "weir.test"
        routes[6]["match"]["headers"] = {"x-beta": "1"}
        routes[list(POLICIES).index("line")]["limits"].append({"policy": "rate", "key": "client"})
        self.up = self.upstream(behaviour)
        self.weir = self.start(configuration(self.up.url, **{
            "access_log": {"path": "access.log"}, "identities": {"key": {"header": "x-key"},
                                                                 "client": {"client_address": {}}},
            "client_address": {"trusted_proxies": ["127.0.0.0/8"]}, "plans": PLANS,
            "plan_from": [{"header": "x-plan"}], "default_plan": "free", "policies": POLICIES, "routes": routes,
            **sections}))

    def replay(self, lines, config=None):
        log = self.weir.directory / "access.log"
        eventually(lambda: log.exists() and log.read_text().count("\n") >= lines, f"{lines} lines in the access log")
        result = run("replay", "--json", "-c", config or str(self.weir.file), str(log))
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.decisions = [json.loads(line)["decision"] for line in log.read_text().splitlines()]
        return json.loads(result.stdout)

    def assert_reproduced(self, lines):
        report = self.replay(lines)
        self.assertEqual(report["reproduction"], {"compared": lines, "different": 0, "first_different": []})
        self.assertEqual(report["unreadable"], 0)
        return report

    def other_configuration(self, **policies):
        """The path of the same configuration with these changes."""
        config = json.loads(self.weir.file.read_text())
        for name, changes in policies.items():
            config["policies"][name].update(changes)
        file = self.weir.directory / "other.yaml"
        file.write_text(json.dumps(config))
        return str(file)

    def test_every_decision_of_every_algorithm(self):
        self.begin(upstream_answer)
        seed, clients, each = random.randrange(2**32), 4, 300

        def work(i):
            chance = random.Random(seed + i)
            with self.weir.connect() as client:
                for _ in range(each):
                    policy = chance.choice([name for name in POLICIES if name != "slots"])
                    number = chance.choice((200, 401)) if policy == "logins" else chance.choice((0, 10, 90, 400))
                    fields = {"X-Beta": "1"}
                    if chance.random() < 0.8:
                        fields["X-Key"] = chance.choice("abc")
                    if chance.random() < 0.3:
                        fields["X-Plan"] = "gold"
                    if chance.random() < 0.5:
                        fields["X-Max"] = str(chance.choice((20, 100, 700)))
                    client.get(f"/{policy}/{number}", fields)

        with self.subTest(seed=seed):
            self.compare_all(clients, each, work)

    def compare_all(self, clients, each, work):
        in_threads(clients, work)
        report = self.assert_reproduced(clients * each)
        self.assertEqual({route["policy"] for route in report["routes"]}, set(POLICIES) - {"slots"})
        self.assertLessEqual({"allowed", "denied", "shadow_denied", "delayed"}, set(self.decisions))
        self.assertEqual(report["outcomes"]["denied"], self.decisions.count("denied"))
        # The hashes of the report are those of the log.
        hashes = {json.loads(line)["identity"] for line in
                  (self.weir.directory / "access.log").read_text().splitlines()}
        self.assertLessEqual({key["hash"] for key in report["keys"]}, hashes)

    def test_requests_in_progress(self):
        may_answer = threading.Event()
        self.addCleanup(may_answer.set)

        def behaviour(exchange):
            may_answer.wait()
            upstream_answer(exchange)

        self.begin(behaviour)
        first = self.connect(self.weir)
        first.send(b"GET /slots/1 HTTP/1.1\r\nHost: weir.test\r\n\r\n")
        self.up.await_requests(1)
        client = self.connect(self.weir)
        self.assertEqual([client.get("/slots/1").status for _ in range(3)], [429] * 3)
        may_answer.set()
        self.assertEqual(first.read().status, 200)
        self.assertEqual([client.get("/slots/1").status for _ in range(3)], [200] * 3)
        self.assert_reproduced(7)

    def test_requests_that_wait_in_a_queue(self):
        self.begin(upstream_answer)
        clients, each = 6, 100

        def work(_):
            with self.weir.connect() as client:
                for _ in range(each):
                    client.get("/line/1")

        in_threads(clients, work)
        self.assert_reproduced(clients * each)
        self.assertLessEqual({"allowed", "denied", "delayed"}, set(self.decisions))

    def test_calls_of_the_rate_limit_service_are_counted_apart(self):
        self.begin(upstream_answer, rate_limit_service={"listen": [{"address": "127.0.0.1:0"}], "descriptors": [
            {"domain": "edge", "entries": {"user": "*"}, "policy": "gcra", "key": ["user"]}]})
        entries = [{"key": "user", "value": "a"}]
        with self.connect_to(self.weir.addresses[-1]) as service:
            for domain in ("edge", "edge", "other"):
                call = json.dumps({"domain": domain, "descriptors": [{"entries": entries}]}).encode()
                answer = service.request("POST", "/json", [("Content-Type", "application/json")], call)
                self.assertEqual(answer.status, 200)
        self.connect(self.weir).get("/bucket/1", {"X-Key": "a"})
        report = self.replay(4)
        self.assertEqual(report["reproduction"]["compared"], 1)
        # A call without a limit, as JSON, has nothing that shows what it is.
        outcomes = report["outcomes"]
        self.assertEqual((outcomes["service_calls"], outcomes["malformed"], outcomes["allowed"]), (2, 1, 1))

    def test_another_configuration_does_not_reproduce_it(self):
        self.begin(upstream_answer)
        client = self.connect(self.weir)
        for _ in range(30):
            client.get("/bucket/1", {"X-Key": "a"})
        report = self.replay(30, self.other_configuration(bucket={"burst": 5}))
        self.assertEqual(report["reproduction"]["compared"], 30)
        self.assertGreater(report["reproduction"]["different"], 0)
        first = report["reproduction"]["first_different"][0]
        self.assertEqual((first["logged"], first["replayed"]),
                         ("allowed by bucket, 14 left", "allowed by bucket, 4 left"))

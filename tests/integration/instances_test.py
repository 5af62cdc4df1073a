"""Instances with one Redis whose configurations differ: no limit is switched off, and all report it."""

import json

from harness.redis_case import RedisCase, answering, sharing
from harness.waiting import eventually

GCRA = {"algorithm": "gcra", "rate": "10/10h"}
ADMIN = {"address": "127.0.0.1:0"}
PATIENT = {"timeout": "10s", "connect_timeout": "10s", "on_failure": "deny", "replicas": 2}


class Instances(RedisCase):
    def begin(self, policy=GCRA, **differences):
        """Two Weirs: the second has other sections."""
        self.server = self.redis()
        self.weirs = []
        for changed in {}, differences:
            config = sharing(self.server.url, {"p": changed.get("other", policy)}, redis=PATIENT,
                             admin=ADMIN, routes=[answering("/p", "p")])
            if "identity_secret" in changed:
                config["identity_secret"] = changed["identity_secret"]
            self.weirs.append(self.start(config))
        for weir in self.weirs:
            self.await_redis(weir)

    def ask_admin(self, weir, target):
        with weir.connect_admin() as admin:
            return admin.get(target).body.decode()

    def ready(self, weir):
        return json.loads(self.ask_admin(weir, "/readyz"))

    def reported(self, weir):
        return " ".join(self.ready(weir).get("degraded", []))

    def assert_reported(self, names):
        for weir in self.weirs:
            eventually(lambda: f"a different {names};" in self.reported(weir), f"{names} is reported")
            self.assertEqual(weir.stderr.count(f"a different {names};"), 1)
            metrics = self.ask_admin(weir, "/metrics")
            self.assertIn("\nweir_store_instances 2\n", metrics)
            self.assertIn("\nweir_store_instances_differing 1\n", metrics)

    def admitted(self, requests):
        clients = [self.connect(weir) for weir in self.weirs]
        statuses = [clients[i % 2].get("/p").status for i in range(requests)]
        self.assertLessEqual(set(statuses), {200, 429})
        return statuses.count(200)

    def test_a_policy_with_two_algorithms_limits_under_each(self):
        self.begin(other={"algorithm": "fixed_window", "rate": "10/10h"})
        self.assertEqual(self.admitted(200), 20)
        keys = sorted(key[-3:] for key in self.server.counters("p"))
        self.assertEqual(keys, [b":f1", b":g1"])

    def test_what_differs_is_reported_until_that_instance_has_gone(self):
        self.begin(other={"algorithm": "fixed_window", "rate": "10/10h"},
                   identity_secret="another secret of more than 32 characters")
        self.assert_reported("identity_secret, policies.p.algorithm")
        first, second = self.weirs
        second.stop()
        eventually(lambda: "degraded" not in self.ready(first), "the other instance is gone")
        eventually(lambda: "all instances with this Redis agree again" in first.stderr, "it is logged")
        self.assertIn("\nweir_store_instances 1\n", self.ask_admin(first, "/metrics"))

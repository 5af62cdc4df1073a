"""Instances with one Redis whose configurations differ: no limit is switched off, and all report it."""

import json
import re

from harness.preload import fast_clock
from harness.redis_case import RedisCase, answering, sharing
from harness.waiting import eventually

GCRA = {"algorithm": "gcra", "rate": "10/10h"}
FASTER = 5  # an announcement is made every 5 s and ends after 30 s
ADMIN = {"address": "127.0.0.1:0"}
PATIENT = {"timeout": "60s", "connect_timeout": "60s", "on_failure": "deny", "replicas": 2}


class Instances(RedisCase):
    def begin(self, policy=GCRA, **differences):
        """Two Weirs: the second has other sections."""
        self.server = self.redis(environment=fast_clock(FASTER))
        self.weirs = []
        for changed in {}, differences:
            config = sharing(self.server.url, {"p": changed.get("other", policy)}, redis=PATIENT,
                             admin=ADMIN, routes=[answering("/p", "p")])
            if "identity_secret" in changed:
                config["identity_secret"] = changed["identity_secret"]
            self.weirs.append(self.start(config, environment=fast_clock(FASTER)))
        for weir in self.weirs:
            self.await_redis(weir)

    def ask_admin(self, weir, target):
        with weir.connect_admin() as admin:
            return admin.get(target).body.decode()

    def ready(self, weir):
        return json.loads(self.ask_admin(weir, "/readyz"))

    def reported(self, weir):
        return " ".join(self.ready(weir).get("degraded", []))

    def assert_reported(self):
        different = "instances that share this Redis have different limits: "
        hashes = set()
        for weir in self.weirs:
            eventually(lambda: different in self.reported(weir), "the difference is reported")
            self.assertEqual(weir.stderr.count(different), 1)
            hashes.add(re.search(different + ".*the hash of .* is ([0-9a-f]{32})", weir.stderr)[1])
            metrics = self.ask_admin(weir, "/metrics")
            self.assertIn("\nweir_store_instances 2\n", metrics)
            self.assertIn("\nweir_store_instances_differing 1\n", metrics)
        self.assertEqual(len(hashes), 2)

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
        self.assert_reported()
        first, second = self.weirs
        second.stop()
        eventually(lambda: "degraded" not in self.ready(first), "the other instance is gone")
        eventually(lambda: "have the same limits again" in first.stderr, "it is logged")
        self.assertIn("\nweir_store_instances 1\n", self.ask_admin(first, "/metrics"))

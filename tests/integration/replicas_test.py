"""`replicas: auto`: instances find out how many they are, and share the quotas while Redis is away."""

import re

from harness.preload import fast_clock
from harness.redis_case import RedisCase, answering, sharing
from harness.waiting import eventually

QUOTA = 60
FASTER = 10  # an instance that is gone is listed for 20 s, and counts for a minute after that
POLICIES = {name: {"algorithm": "fixed_window", "rate": f"{quota}/26d"}
            for name, quota in {"p": QUOTA, "shown": QUOTA, "few": 2}.items()}
PATIENT = {"timeout": "60s", "connect_timeout": "60s"}


class Replicas(RedisCase):
    def begin(self, instances):
        self.server = self.redis(environment=fast_clock(FASTER))
        config = sharing(self.server.url, POLICIES, workers=2, admin={"address": "127.0.0.1:0"},
                         routes=[answering(f"/{name}", name) for name in POLICIES],
                         redis={"replicas": "auto", **PATIENT})
        self.weirs = [self.start(config, environment=fast_clock(FASTER)) for _ in range(instances)]
        self.await_replicas(instances)

    def await_replicas(self, number):
        for weir in self.weirs:
            with self.connect_admin(weir) as admin:
                eventually(lambda one=admin: one.get("/readyz").json().get("replicas") == number,
                           f"there are {number} instances", 60)
            self.assertEqual(self.gauge(weir, "weir_store_replicas"), number)

    def lose_redis(self, share):
        """Until every worker decides alone, with this share."""
        self.server.stop()
        for weir in self.weirs:
            eventually(lambda one=weir: self.gauge(one, "weir_store_up") == 0, "redis is away")
            eventually(lambda one=weir: self.shares(one) == {share}, f"the share is {share}")

    def shares(self, weir):
        """The quotas that several connections see: each worker accepts some of them."""
        quotas = set()
        for _ in range(10):
            with self.connect(weir) as client:
                policy = client.get("/shown")["RateLimit-Policy"]
            quotas.add(int(re.search(r";q=(\d+);", policy)[1]))
        return quotas

    def admitted(self, weir):
        with self.connect(weir) as client:
            statuses = [client.get("/p").status for _ in range(QUOTA + 1)]
        self.assertEqual(set(statuses), {200, 429})
        return statuses.count(200)

    def test_each_of_three_instances_has_a_third_while_redis_is_away(self):
        self.begin(3)
        self.lose_redis(QUOTA // 3)
        self.assertEqual([self.admitted(weir) for weir in self.weirs], [QUOTA // 3] * 3)
        for weir in self.weirs:
            with self.connect(weir) as client:
                self.assertEqual(client.get("/few").status, 503, "fewer units than instances")
            self.assertIn("3 instances share quotas that have fewer units", weir.stderr)
            self.assertEqual(self.gauge(weir, "weir_store_replicas"), 3)

    def test_the_share_grows_after_an_instance_has_gone_for_a_while(self):
        self.begin(3)
        gone = self.weirs.pop()
        gone.kill()
        gone.is_stopped = True
        self.await_replicas(2)
        self.lose_redis(QUOTA // 2)
        self.assertEqual([self.admitted(weir) for weir in self.weirs], [QUOTA // 2] * 2)

"""Faults that other limiters have had with their Redis, by their numbers in the list of pitfalls."""

import json

from harness.case import SCALE, scaled
from harness.names import SlowNames
from harness.redis_case import RedisCase, Sender, answering, sharing
from harness.services import free_port
from harness.waiting import eventually

POLICIES = {
    "one": {"algorithm": "fixed_window", "rate": "1/1h"},
    "many": {"algorithm": "sliding_log", "rate": "1000/1h"},
    "bucket": {"algorithm": "token_bucket", "rate": "1000/1h"},
}
IDENTITIES = {"id": {"header": "x-id"}}
ROUTES = [answering("/many/**", "many", "id"), answering("/one/**", "one"),
          {**answering("/all/**", "many"),
           "limits": [{"policy": name, "key": "client"} for name in ("many", "bucket")]}]


class Pitfalls(RedisCase):
    def begin(self, url, environment=None, **redis):
        self.weir = self.start(
            sharing(url, POLICIES, identities=IDENTITIES, routes=ROUTES,
                    admin={"address": "127.0.0.1:0"}, redis={"timeout": "1s", **redis}),
            environment=environment)
        self.sender = Sender(self, self.weir)

    def stores(self):
        return [line["store"] for line in self.sender.lines()]

    def test_26_nothing_asked_while_disconnected_is_counted_later(self):
        redis = self.redis()
        self.begin(redis.url)
        self.await_redis(self.weir)
        redis.stop()
        self.sender.send("many", 20)
        self.assertEqual(set(self.stores()), {"local"})
        redis.start()
        self.sender.send_until("many", "redis", 15.0 * SCALE)
        decided = self.stores().count("redis")
        self.assertEqual(len(redis.counters("many")), decided)

    def test_30_a_flood_of_denials_and_failures_is_no_flood_of_log_lines(self):
        redis = self.redis()
        self.begin(redis.url)
        self.await_redis(self.weir)
        denied = self.sender.send("one", scaled(200))
        self.assertEqual(denied.count(429), len(denied) - 1)
        redis.stop()
        self.sender.send("many", scaled(200))
        redis.start()
        self.sender.send_until("many", "redis", 15.0 * SCALE)
        lines = self.weir.stderr.splitlines()
        self.assertLess(len(lines), 20, lines)

    def test_33_limits_of_one_identity_are_in_one_slot_of_a_cluster(self):
        # Else its other port is ten thousand higher, where there may be none.
        redis = self.redis("--cluster-enabled", "yes", "--cluster-port", str(free_port()))
        redis("CLUSTER", "ADDSLOTSRANGE", 0, 16383)
        eventually(lambda: b"cluster_state:ok" in redis("CLUSTER", "INFO"), "the cluster is up")
        self.begin(redis.url)
        self.await_redis(self.weir)
        self.assertEqual(self.sender.send("all", 3), [200] * 3)
        self.assertEqual(set(self.stores()), {"redis"})
        keys = redis.counters()
        self.assertEqual(len(keys), 2)
        self.assertEqual(len({redis("CLUSTER", "KEYSLOT", key) for key in keys}), 1)

    def test_37_a_name_that_is_not_resolved_keeps_nobody_waiting(self):
        redis = self.redis()
        names = SlowNames()
        self.addCleanup(names.close)
        self.begin(f"redis://redis.slow:{redis.port}", names.environment)
        self.addCleanup(names.answer)  # the end of the process waits for its lookups
        self.assertEqual(self.sender.send("many", 20), [200] * 20)
        self.assertEqual(set(self.stores()), {"local"})
        answer = self.connect_admin(self.weir).get("/readyz")
        self.assertEqual(answer.status, 200)
        self.assertIn("redis.slow", json.dumps(answer.json()["degraded"]))
        names.answer()
        self.sender.send_until("many", "redis", 15.0 * SCALE)

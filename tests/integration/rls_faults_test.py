"""The rate limit service while its store fails: no call fails, and none is late."""

from harness.clusters import Cluster, slot_of
from harness.redis_case import SLACK_US, waited_us
from harness.rls_case import RlsCase, domain, limit
from harness.rls_load import CallLoad
from harness.sentinels import Watched
from harness.waiting import eventually

TIMEOUT_MS = 50
COUNT = 200


class Stores(RlsCase):
    """Redis is lost or stands still while calls come."""

    def begin(self, redis, on_failure="local"):
        # A window of a year does not end during a test.
        self.client = self.serve_limits(
            domain(limit("user", COUNT, "year"), limit("probe", 1_000_000, "year")), redis=redis,
            store={"timeout": f"{TIMEOUT_MS}ms", "replicas": 1, "on_failure": on_failure},
            access_log={"path": "access.log"})

    def load(self, clients=4):
        load = CallLoad(self.weir, clients)
        self.addCleanup(load.end)
        load.await_answers(10)
        return load

    def end(self, load):
        load.end()
        self.assertEqual(load.failures, [])
        self.assert_bounded(load.allowance_us)

    def assert_bounded(self, allowance_us):
        """No call waits longer for its decision than it may."""
        latest_us = max(line["decision_us"] or 0 for line in self.log_lines(self.weir))
        self.assertLess(latest_us, TIMEOUT_MS * 1000 + SLACK_US + allowance_us)

    def fallbacks(self):
        """Decisions by on_failure."""
        return sum(value for (name, _), value in self.metrics(self.weir).items() if name == "weir_store_fallbacks_total")

    def is_decided_by_redis(self, value="1"):
        before = self.fallbacks()
        answer = self.client.ask("d", [("probe", value)])
        self.assertEqual(answer.code, "OK", answer)
        return self.fallbacks() == before

    def await_decided_by_redis(self):
        eventually(self.is_decided_by_redis, "redis decides")

    def test_a_failover_of_sentinels_fails_no_call(self):
        watched = Watched(self)
        self.begin(watched.options)
        self.await_decided_by_redis()
        load = self.load()
        watched.servers[0].stop()
        new = watched.await_master()
        eventually(lambda: new.calls("evalsha") > 0, "the new master decides")
        self.end(load)
        self.await_decided_by_redis()
        # Each master admits at most the limit, and so does Weir alone in between (docs/redis.md).
        admitted = sum(line["decision"] == "allowed" and line["policy"] == "d.user" for line in self.log_lines(self.weir))
        self.assertLessEqual(admitted, 4 * 3 * COUNT)

    def test_the_end_of_a_master_of_a_cluster_fails_no_call(self):
        cluster = Cluster(self, replicas=1)
        self.begin(cluster.store)
        self.await_decided_by_redis()
        load = self.load()
        # Of one of the users.
        cluster.master_of(slot_of(next(key for key in cluster.keys() if b":d.user:" in key))).stop()
        eventually(lambda: all(cluster.state(node) for node in cluster.running()), "the replica is elected")
        eventually(lambda: all(self.is_decided_by_redis(str(value)) for value in range(20)), "all slots are served")
        self.end(load)

    def test_a_stall_of_redis_fails_no_call(self):
        redis = self.redis()
        for on_failure in "local", "allow":
            with self.subTest(on_failure):
                self.begin(redis, on_failure)
                self.await_decided_by_redis()
                load = self.load()
                redis.pause()
                load.await_answers(100)
                self.assertGreater(self.fallbacks(), 0)
                redis.resume()
                self.await_decided_by_redis()
                self.end(load)

    def test_a_stall_of_redis_with_deny_answers_in_time(self):
        redis = self.redis()
        self.begin(redis, "deny")
        self.await_decided_by_redis()
        redis.pause()
        before = waited_us(self.weir.pid)
        answers = [self.client.ask("d", [("user", str(number))]) for number in range(5)]
        allowance_us = waited_us(self.weir.pid) - before
        redis.resume()
        self.assertEqual({answer.grpc_status for answer in answers}, {"UNAVAILABLE"})
        self.assert_bounded(allowance_us)

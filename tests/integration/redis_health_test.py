"""What Weir reports about its Redis, in /readyz and in the log, also without requests."""

from harness.case import SCALE
from harness.redis_case import RECOVERY_S, RedisCase, answering, sharing
from harness.waiting import eventually
from redis_failures_test import PASSWORD, FailureCase


class Unasked(RedisCase):
    """Health checks of Redis while no client sends a request."""

    def begin(self, redis, workers=1, **options):
        policies = {"shut": {"algorithm": "fixed_window", "rate": "10/1h", "on_failure": "deny"}}
        self.weir = self.start(sharing(
            redis.url, policies, routes=[answering("/shut/**", "shut")], workers=workers,
            admin={"address": "127.0.0.1:0"},
            redis={"timeout": "1s", "breaker": {"failures": 2, "retry_after": "100ms"}, **options}))
        self.admin = self.connect_admin(self.weir)
        self.await_ready(200)

    def readyz(self):
        answer = self.admin.get("/readyz")
        return answer.status, answer.json().get("degraded", [])

    def await_ready(self, status):
        eventually(lambda: self.readyz()[0] == status, f"/readyz is {status}", 15.0 * SCALE)

    def await_logged(self, text):
        eventually(lambda: text in self.weir.stderr, f"{text!r} in the log", 15.0 * SCALE)

    def test_a_breaker_that_opened_closes_without_a_request(self):
        redis = self.redis("--maxmemory-policy", "noeviction")
        self.begin(redis, workers=2)
        redis("CONFIG", "SET", "maxmemory", 1)
        client = self.connect(self.weir)
        # A policy that denies on failure is named where it did.
        self.assertEqual(client.get("/shut/").status, 503)
        line = self.log_lines(self.weir, 1)[0]
        self.assertEqual((line["decision"], line["policy"], line["store"]),
                         ("error", "shut", "local"))
        self.assertEqual([line[key] for key in ("cost", "remaining", "identity")], [None] * 3)
        self.await_ready(503)
        self.assertIn("redis does not decide: OOM", self.readyz()[1][0])
        redis("CONFIG", "SET", "maxmemory", 0)
        self.await_ready(200)
        self.assertEqual(self.readyz()[1], [])
        self.await_logged("redis is back")
        self.assertEqual(client.get("/shut/").status, 200)

    def test_a_redis_that_hangs_and_goes_on(self):
        redis = self.redis()
        self.begin(redis, timeout="50ms")
        redis.pause()
        client = self.connect(self.weir)
        self.assertEqual([client.get("/shut/").status for _ in range(3)], [503] * 3)
        self.await_ready(503)
        redis.resume()
        self.await_ready(200)

    def test_a_replica_is_not_taken_for_the_primary_back(self):
        redis = self.redis()
        self.begin(redis)
        redis("REPLICAOF", "127.0.0.1", 1)
        self.assertEqual(self.connect(self.weir).get("/shut/").status, 503)
        self.await_logged("read_only: READONLY")
        connects = self.gauge(self.weir, "weir_store_connects_total")
        eventually(lambda: self.gauge(self.weir, "weir_store_connects_total") > connects + 1,
                   "it has been connected to again, twice")
        self.assertNotIn("redis is back", self.weir.stderr)
        self.assertEqual(self.readyz()[0], 503)
        redis("REPLICAOF", "NO", "ONE")
        self.await_logged("redis is back")
        self.assertEqual(self.weir.stderr.count("READONLY You can't write"), 2)  # why, and what to do
        self.assertIn("set store.redis.url to the primary", self.weir.stderr)


class Logged(FailureCase):
    """Errors that are too few in a row to open the breaker are logged too."""

    def assert_logged_once(self, kind, remedy):
        # Good decisions in between: the breaker stays closed.
        for _ in range(3):
            self.sender.send("each", **{"X-Id": "known"})
            self.sender.send("here", **{"X-Group": "known"})
        text = f"redis could not decide ({kind}: "
        eventually(lambda: text in self.weir.stderr, f"{text!r} in the log")
        self.assertEqual(self.weir.stderr.count("redis could not decide"), 1)
        self.assertIn(remedy, self.weir.stderr)
        self.assertNotIn("redis does not decide", self.weir.stderr)
        self.assertGreater(self.gauge(self.weir, "weir_store_errors_total", kind=kind), 1)
        self.assertEqual(self.gauge(self.weir, "weir_store_breaker_state"), 0)

    def test_a_right_that_one_algorithm_lacks(self):
        redis = self.redis()
        redis("ACL", "SETUSER", "weir", "on", ">" + PASSWORD, "~*", "+@all", "-rpush")
        self.begin_with(redis, f"redis://weir:{PASSWORD}@127.0.0.1:{redis.port}")
        self.assert_logged_once("refused", "grant the user of store.redis.url all permissions")

    def test_a_command_that_the_server_does_not_know(self):
        redis = self.redis("--rename-command", "RPUSH", "")
        self.begin_with(redis, redis.url)
        self.assert_logged_once("other", "the server must have every command")

    def begin_with(self, redis, url):
        self.begin(redis, url)
        self.await_redis(self.weir)
        self.sender.send_until("open", "redis", RECOVERY_S)

"""Failures of Redis of every kind: no request waits, each policy applies its on_failure, nothing is
counted twice, and Redis decides again soon after it is back.

Every request of the counted route has an identity of its own, so that the count in Redis can be
compared with the line of the access log.
"""

import threading
import time

from harness.relay import Relay
from harness.redis_case import RECOVERY_S, SECRET, RedisCase, Sender, answering, sharing
from harness.waiting import eventually

TIMEOUT_MS = 50
QUOTA = 40
REPLICAS = 2
PASSWORD = "p4ss-that-nobody-may-see"

POLICIES = {
    "here": {"algorithm": "fixed_window", "rate": f"{QUOTA}/26d", "on_failure": "local"},
    "open": {"algorithm": "gcra", "rate": "1/26d", "on_failure": "allow"},
    "shut": {"algorithm": "gcra", "rate": "1000000/26d", "on_failure": "deny"},
    "each": {"algorithm": "attributed_window", "rate": "10/26d", "on_failure": "allow"},
}
ROUTES = [answering("/here/**", "here", "group"), answering("/open/**", "open"),
          answering("/shut/**", "shut"), answering("/each/**", "each", "id")]
IDENTITIES = {"id": {"header": "x-id"}, "group": {"header": "x-group"}}


def failing(url, **redis):
    return sharing(url, POLICIES, identities=IDENTITIES, routes=ROUTES,
                   admin={"address": "127.0.0.1:0"},
                   redis={"timeout": f"{TIMEOUT_MS}ms", "replicas": REPLICAS, **redis})


class FailureCase(RedisCase):
    def begin(self, redis, url=None, environment=None, **options):
        self.server = redis
        self.weir = self.start(failing(url or redis.url, **options), environment=environment)
        self.sender = Sender(self, self.weir)

    def begin_healthy(self, redis, url=None, **options):
        self.begin(redis, url, **options)
        self.await_redis(self.weir)
        self.sender.send_until("each", "redis", RECOVERY_S)
        self.assert_healthy()

    def assert_healthy(self):
        """Redis decides, all but what an overloaded machine delays."""
        first = len(self.sender.sent)
        statuses = self.sender.send("each", 20)
        stores = [line["store"] for line in self.sender.lines()[first:]]
        self.assertGreater(stores.count("redis"), 15, stores)
        self.assertEqual(set(statuses), {200})

    def assert_falls_back(self, name, requests=10):
        """Enough failures to open the breaker, then the on_failure of each policy."""
        first = len(self.sender.sent)
        self.sender.send("each", requests)
        self.assert_alone(name, self.sender.lines()[first:])
        self.assert_breaker_opens()
        self.assert_policies(name)

    def assert_alone(self, name, lines):
        self.assertEqual({line["store"] for line in lines}, {"local"}, name)

    def assert_breaker_opens(self):
        state = self.gauge(self.weir, "weir_store_breaker_state")
        self.assertGreater(state, 0, "the breaker is closed")

    def assert_policies(self, name):
        first = len(self.sender.sent)
        here = self.sender.send("here", QUOTA, **{"X-Group": name})
        share = QUOTA // REPLICAS
        self.assertEqual(here, [200] * share + [429] * (QUOTA - share))
        answer = self.sender.answer("here", **{"X-Group": name})
        self.assertRegex(answer["RateLimit-Policy"], f";q={share};")
        self.assertEqual(answer["RateLimit-Limit"], str(share))
        self.assertEqual(self.sender.send("open", 5), [200] * 5)
        self.assertEqual(self.sender.send("shut", 5), [503] * 5)
        self.assertRegex(self.sender.answer("shut")["Retry-After"], "^[1-9]")
        lines = self.sender.lines()[first:]
        self.assertEqual({line["store"] for line in lines}, {"local"})
        self.assertEqual({line["decision"] for line in lines[-5:]}, {"error"})

    def assert_recovers(self):
        took = self.sender.send_until("each", "redis", RECOVERY_S)
        self.assertLessEqual(took, RECOVERY_S)
        self.assert_healthy()
        self.assertEqual(self.gauge(self.weir, "weir_store_breaker_state"), 0)
        self.assertEqual(self.gauge(self.weir, "weir_store_up"), 1)

    def assert_probes(self, seconds):
        """With the breaker open few requests still wait: about one each retry_after."""
        first = len(self.sender.sent)
        till = time.monotonic() + seconds
        while time.monotonic() < till:
            self.sender.send("each")
            time.sleep(0.01)
        lines = self.sender.lines()[first:]
        waiting = [line for line in lines if line["decision_us"] > TIMEOUT_MS * 500]
        self.assertLessEqual(len(waiting), seconds + 2, "more waited than probes are due")
        self.assertEqual({line["store"] for line in lines}, {"local"})

    def assert_counted_once(self):
        """What Redis holds of each request: one unit if it decided, else one at most."""
        lines = [line for line in self.sender.lines() if line["path"].startswith("/each/")]
        other = self.start(failing(self.server.url, timeout="5s"))
        self.await_redis(other)
        with other.connect() as client:
            for line in lines:
                answer = client.get(line["path"], {"X-Id": line["path"]})
                counted = 10 - 1 - int(answer["RateLimit-Remaining"])
                if line["store"] == "redis":
                    self.assertEqual(counted, 1, line)
                else:
                    self.assertIn(counted, (0, 1), line)

    def send_at_once(self, connections):
        """Three requests on each connection; the senders."""
        senders = [Sender(self, self.weir) for _ in range(connections)]
        threads = [threading.Thread(target=sender.send, args=("open", 3)) for sender in senders]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return senders

    def finish(self):
        self.sender.assert_bounded(TIMEOUT_MS * 1000)
        self.assert_counted_once()


class Unreachable(FailureCase):
    def test_killed_and_restarted(self):
        redis = self.redis()
        self.begin_healthy(redis)
        redis.stop()
        self.assert_falls_back("killed")
        self.assert_probes(1.5)
        redis.start()
        self.assert_recovers()
        self.sender.assert_bounded(TIMEOUT_MS * 1000)

    def test_stopped_so_that_it_takes_but_never_answers(self):
        redis = self.redis()
        self.begin_healthy(redis)
        redis.pause()
        self.assert_falls_back("paused")
        self.assert_probes(2.5)
        redis.resume()
        self.assert_recovers()
        self.finish()

    def test_absent_when_weir_starts(self):
        redis = self.redis(start=False)
        self.begin(redis)
        self.assert_falls_back("absent")
        redis.start()
        self.assert_recovers()
        self.finish()

    def test_a_connection_that_is_reset_in_the_middle_of_a_reply(self):
        redis = self.redis()
        relay = Relay(redis.port)
        self.addCleanup(relay.close)
        self.begin_healthy(redis, relay.url)
        for after in (0, 1, 3, 7):
            relay.cut_next_reply(after)
            self.sender.send("each", 3)
            self.assertIsNone(relay.cut_after)
            self.assert_recovers()
        self.assertEqual(relay.cuts, 4)
        self.finish()


class Refusing(FailureCase):
    def test_scripts_that_were_flushed_are_sent_again_unnoticed(self):
        redis = self.redis()
        self.begin_healthy(redis)
        for _ in range(3):
            redis("SCRIPT", "FLUSH")
            self.assert_healthy()
        self.finish()
        flushed = [line["store"] for line in self.sender.lines()]
        self.assertGreaterEqual(flushed.count("redis"), len(flushed) - 5)

    def test_out_of_memory(self):
        redis = self.redis("--maxmemory-policy", "noeviction")
        self.begin_healthy(redis)
        redis("CONFIG", "SET", "maxmemory", 1)
        self.assert_falls_back("full")
        self.assertGreater(self.gauge(self.weir, "weir_store_errors_total", kind="out_of_memory"),
                           0)
        redis("CONFIG", "SET", "maxmemory", 0)
        self.assert_recovers()
        self.finish()

    def test_a_replica_that_takes_no_writes(self):
        redis = self.redis()
        self.begin_healthy(redis)
        redis("REPLICAOF", "127.0.0.1", 1)
        self.assert_falls_back("replica")
        self.assertGreater(self.gauge(self.weir, "weir_store_errors_total", kind="read_only"), 0)
        # It connects again and again, and is not up because of that.
        for _ in range(20):
            self.sender.send("each")
            self.assertEqual(self.gauge(self.weir, "weir_store_up"), 0)
        redis("REPLICAOF", "NO", "ONE")
        self.assert_recovers()
        self.finish()

    def test_a_wrong_password(self):
        redis = self.redis("--requirepass", "another")
        redis.password = "another"
        url = f"redis://:{PASSWORD}@127.0.0.1:{redis.port}"
        self.begin(redis, url)
        self.assert_falls_back("password")
        self.assertRegex(self.weir.stderr, "redis refuses the connection: .*WRONGPASS.*; check the user and the password")
        self.assertNotRegex(self.weir.stderr, "redis is not reachable: .*WRONGPASS")
        redis("CONFIG", "SET", "requirepass", PASSWORD)
        redis.password = PASSWORD
        self.assert_recovers()
        self.assertNotIn(PASSWORD, self.weir.stderr)
        self.sender.assert_bounded(TIMEOUT_MS * 1000)

    def test_a_password_that_is_changed_while_weir_runs(self):
        redis = self.redis("--requirepass", PASSWORD)
        redis.password = PASSWORD
        self.begin_healthy(redis, f"redis://:{PASSWORD}@127.0.0.1:{redis.port}")
        with redis.client() as client:
            client("CONFIG", "SET", "requirepass", "another")
            client("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
        eventually(lambda: self.sender.send("each") and "WRONGPASS" in self.weir.stderr,
                   "the reason in the log")
        redis.password = "another"
        redis("CONFIG", "SET", "requirepass", PASSWORD)
        redis.password = PASSWORD
        self.assert_recovers()
        self.assertNotIn(PASSWORD, self.weir.stderr)

    def test_a_server_that_is_still_loading(self):
        redis = self.redis()
        with redis.client() as client:
            for i in range(3000):
                client("SET", f"other:{i}", "x", "EX", 3600)
        self.begin_healthy(redis)
        redis("SAVE")
        redis.stop()
        # One key a millisecond; in between it answers -LOADING to everything.
        redis.start("--key-load-delay", "1000", "--loading-process-events-interval-bytes", "1024")
        self.assert_falls_back("loading")
        self.assertIn(b"\nloading:1", redis("INFO", "persistence"), "it was not loading any more")
        self.sender.send_until("each", "redis", 10.0 + RECOVERY_S)
        self.assert_recovers()
        self.finish()


class Slow(FailureCase):
    def test_a_script_that_takes_300_ms(self):
        redis = self.redis()
        self.begin_healthy(redis)
        for _ in range(3):
            first = len(self.sender.sent)
            busy = redis.sleep(0.3)
            till = time.monotonic() + 0.2
            while time.monotonic() < till:
                self.sender.send("each")
            self.assertIn("local", {line["store"] for line in self.sender.lines()[first:]})
            busy.read()
            busy.close()
            self.assert_recovers()
        self.finish()

    def test_many_connections_wait_no_longer_than_one(self):
        """A timeout so long that requests that wait for each other cannot be mistaken for a slow machine."""
        redis = self.redis()
        timeout_us = 2_000_000
        connections = 8
        self.begin_healthy(redis, timeout="2s")
        redis.pause()
        senders = self.send_at_once(connections)
        redis.resume()
        self.assertEqual({status for a in senders for _, status in a.sent}, {200})
        lines = self.log_lines(self.weir, len(self.sender.sent) + connections * 3)
        took = [line["decision_us"] for line in lines[len(self.sender.sent):]]
        self.assertGreaterEqual(sum(us > timeout_us // 2 for us in took), connections, took)
        self.assertLess(max(took), 2 * timeout_us, took)


class Secrets(FailureCase):
    def test_the_identity_secret_is_in_no_log(self):
        redis = self.redis()
        self.begin_healthy(redis)
        redis.stop()
        self.assert_falls_back("gone")
        self.assertNotIn(SECRET, self.weir.stderr)

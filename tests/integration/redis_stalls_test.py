"""A stall of Redis costs its own time: its end is noticed by a late reply, not after a pause."""

import re
import signal

from harness.case import SCALE
from harness.preload import fast_clock
from harness.redis_case import RECOVERY_S, Sender
from harness.waiting import eventually
from redis_failures_test import FailureCase

#: So long that a test that waits for it does not pass.
NEVER = {"failures": 1, "retry_after": "1h"}


class Stalls(FailureCase):
    def stall(self, redis, connections):
        """Redis stands still while each connection sends requests."""
        redis.pause()
        senders = self.send_at_once(connections)
        self.assertEqual({status for a in senders for _, status in a.sent}, {200})
        self.assertEqual(self.gauge(self.weir, "weir_store_breaker_state"), 2)
        self.sender = Sender(self, self.weir)  # the log has the requests of the others too
        redis.resume()

    def await_decisions(self):
        eventually(lambda: self.sender.send("shut") == [200], "Redis decides", RECOVERY_S)
        self.assertEqual(self.sender.send("shut", 20), [200] * 20)
        self.assertEqual(self.gauge(self.weir, "weir_store_breaker_state"), 0)

    def test_its_end_is_noticed_at_once(self):
        redis = self.redis()
        self.begin(redis, breaker=NEVER)
        for connections in (1, 16, 64):
            self.await_decisions()
            self.stall(redis, connections)
        self.await_decisions()

    def test_a_restart_is_noticed_at_once(self):
        redis = self.redis()
        self.begin(redis, breaker=NEVER)
        self.await_decisions()
        redis.stop()
        self.assertEqual(self.sender.send("shut", 5), [503] * 5)
        redis.start()
        self.await_decisions()

    def test_each_503_of_short_stalls_is_in_the_log(self):
        """Also if the breaker was closed again before a worker looked at it."""
        redis = self.redis()
        self.begin(redis, timeout="100ms", environment=fast_clock(5))  # 20 ms; the line comes after ten seconds
        self.await_decisions()
        first = self.weir.stderr
        denied = 0
        while denied < 5:
            redis.pause()
            denied += self.sender.send("shut", 3).count(503)
            redis.resume()
            eventually(lambda: self.sender.send("shut") == [200], "Redis decides", RECOVERY_S)
        denied = [status for _, status in self.sender.sent].count(503)

        def logged():
            text = "on_failure: deny, because redis did not decide: "
            lines = re.findall(text + r"(\d+) within", self.weir.stderr[len(first):])
            return sum(map(int, lines)) == denied

        eventually(logged, f"{denied} requests in the log", 75 * SCALE)

    def test_the_503_of_a_stall_just_before_the_end_are_in_the_log(self):
        redis = self.redis()
        self.begin(redis, timeout="20ms")
        self.await_decisions()
        redis.pause()
        self.assertEqual(self.sender.send("shut", 3), [503] * 3)
        redis.resume()
        self.weir.signal(signal.SIGTERM)
        self.assertEqual(self.weir.wait(), 0)
        self.assertIn("on_failure: deny, because redis did not decide: 3 ", self.weir.stderr)

    def test_what_is_in_flight_is_shown(self):
        redis = self.redis()
        self.begin(redis, timeout="2s")
        self.await_decisions()
        eventually(lambda: self.gauge(self.weir, "weir_store_in_flight_limit") > 1000, "the limit")
        self.assertEqual(self.gauge(self.weir, "weir_store_errors_total", kind="overloaded"), 0)

"""Each of the eight algorithms end to end (holds_test.py has more of concurrency): what passes, what is denied, what the client is told.

Windows of an hour make the sequences independent of how fast the test runs: all times told to the
client lie at most the time elapsed since the first request below the ones computed here.
"""

import math
import time

from harness.case import Case, configuration, limited
from harness.client import request_bytes
from harness.limit_fields import limit_fields
from harness.upstream import Upstream, answer
from harness.waiting import eventually

HOUR = 3600
LIMIT = [{"policy": "p", "key": "client"}]
QUOTA_EXCEEDED = "https://iana.org/assignments/http-problem-types#quota-exceeded"


class AlgorithmCase(Case):
    def begin(self, policy):
        self.weir = self.start(limited({"p": policy}, LIMIT))
        self.client = self.connect(self.weir)
        self.began_at = time.monotonic()

    def assert_seconds(self, told, computed, what):
        """`told` was rounded up from `computed` less what has elapsed since the first request."""
        least = math.ceil(computed - (time.monotonic() - self.began_at))
        self.assertTrue(least <= told <= math.ceil(computed),
                        f"{what}: {told}, not {least}..{computed}")

    def assert_allowed(self, *, quota, window, remaining, more_after, reset_after):
        response = self.client.get("/")
        self.assertEqual((response.status, response.body), (200, b"fine"))
        self.assert_told(limit_fields(response), quota, window, remaining, more_after, reset_after)
        self.assertNotIn("Retry-After", response.fields)

    def assert_denied(self, *, quota, window, retry_after, reset_after, remaining=0):
        response = self.client.get("/")
        problem = self.assert_problem(response, 429)
        told = limit_fields(response)
        self.assert_told(told, quota, window, remaining, retry_after, reset_after)
        self.assert_seconds(told.retry_after, retry_after, "Retry-After")
        self.assertEqual(response["Cache-Control"], "no-store")
        self.assertEqual(problem, {
            "type": QUOTA_EXCEEDED, "title": "Too Many Requests", "status": 429,
            "detail": f'quota "p" exceeded; retry in {told.retry_after} s',
            "violated-policies": ["p"], "retry_after": told.retry_after})

    def assert_told(self, told, quota, window, remaining, more_after, reset_after):
        self.assertEqual(told.policies, {"p": {"q": quota, "w": window}})
        self.assertEqual((told.limit, told.remaining), (quota, remaining))
        self.assertEqual(set(told.state), {"p"})
        self.assertEqual(told.state["p"]["r"], remaining)
        self.assert_seconds(told.state["p"]["t"], more_after, "t")
        self.assert_seconds(told.reset, reset_after, "RateLimit-Reset")


class Sequences(AlgorithmCase):
    def assert_window_sequence(self, end_after):
        for remaining in (2, 1, 0):
            self.assert_allowed(quota=3, window=HOUR, remaining=remaining, more_after=end_after,
                                reset_after=end_after)
        for _ in range(3):
            self.assert_denied(quota=3, window=HOUR, retry_after=end_after, reset_after=end_after)

    def test_fixed_window_from_the_first_request(self):
        self.begin({"algorithm": "fixed_window", "rate": "3/1h"})
        self.assert_window_sequence(HOUR)

    def test_fixed_window_by_the_clock(self):
        self.begin({"algorithm": "fixed_window", "rate": "3/1d", "anchor": "clock"})
        to_midnight = 86400 - time.time() % 86400
        if to_midnight < 60:
            self.skipTest("the day ends while this runs")
        for remaining in (2, 1, 0):
            self.assert_allowed(quota=3, window=86400, remaining=remaining, more_after=to_midnight,
                                reset_after=to_midnight)
        self.assert_denied(quota=3, window=86400, retry_after=to_midnight, reset_after=to_midnight)

    def test_attributed_window(self):
        self.begin({"algorithm": "attributed_window", "rate": "3/1h",
                    "attributes": ["header:user-agent", "client_address", "method", "path"]})
        self.assert_window_sequence(HOUR)

    def test_sliding_log(self):
        self.begin({"algorithm": "sliding_log", "rate": "3/1h"})
        for remaining in (2, 1, 0):
            self.assert_allowed(quota=3, window=HOUR, remaining=remaining, more_after=HOUR,
                                reset_after=HOUR)
        for _ in range(3):
            self.assert_denied(quota=3, window=HOUR, retry_after=HOUR, reset_after=HOUR)

    def test_gcra(self):
        self.begin({"algorithm": "gcra", "rate": "3/1h"})
        for remaining, reset_after in ((2, 1200), (1, 2400), (0, 3600)):
            self.assert_allowed(quota=3, window=HOUR, remaining=remaining, more_after=1200,
                                reset_after=reset_after)
        for _ in range(3):
            self.assert_denied(quota=3, window=HOUR, retry_after=1200, reset_after=3600)

    def test_gcra_with_a_burst_of_its_own(self):
        self.begin({"algorithm": "gcra", "rate": "3/1h", "burst": 1})
        self.assert_allowed(quota=1, window=1200, remaining=0, more_after=1200, reset_after=1200)
        self.assert_denied(quota=1, window=1200, retry_after=1200, reset_after=1200)

    def test_token_bucket(self):
        self.begin({"algorithm": "token_bucket", "rate": "6/1h", "burst": 2})
        self.assert_allowed(quota=2, window=1200, remaining=1, more_after=600, reset_after=600)
        self.assert_allowed(quota=2, window=1200, remaining=0, more_after=600, reset_after=1200)
        for _ in range(3):
            self.assert_denied(quota=2, window=1200, retry_after=600, reset_after=1200)

    def test_leaky_bucket_without_a_queue(self):
        self.begin({"algorithm": "leaky_bucket", "rate": "6/1h"})
        self.assert_allowed(quota=1, window=600, remaining=0, more_after=600, reset_after=600)
        self.assert_denied(quota=1, window=600, retry_after=600, reset_after=600)

    def test_sliding_window(self):
        self.begin({"algorithm": "sliding_window", "rate": "3/1h"})
        sub_window = HOUR / 10
        for remaining in (2, 1, 0):
            told = limit_fields(response := self.client.get("/"))
            self.assertEqual((response.status, told.remaining, told.state["p"]["r"]),
                             (200, remaining, remaining))
            self.assertEqual(told.policies, {"p": {"q": 3, "w": HOUR}})
            self.assert_between(told.state["p"]["t"], HOUR - sub_window, HOUR + sub_window)
            self.assert_between(told.reset, HOUR - sub_window, HOUR + sub_window)
        problem = self.assert_problem(response := self.client.get("/"), 429)
        told = limit_fields(response)
        self.assert_between(told.retry_after, HOUR - sub_window, HOUR + sub_window)
        self.assertEqual((problem["violated-policies"], problem["retry_after"]),
                         (["p"], told.retry_after))

    def test_sliding_window_of_two_tiers(self):
        self.begin({"algorithm": "sliding_window", "rates": ["5/1d", "2/1h"]})
        statuses = [self.client.get("/").status for _ in range(4)]
        self.assertEqual(statuses, [200, 200, 429, 429])

    def assert_between(self, value, least, most):
        self.assertTrue(least <= value <= most, f"{value} is not in {least}..{most}")


class CountRejected(AlgorithmCase):
    def test_denials_do_not_count_by_default_pitfall_1(self):
        self.begin({"algorithm": "sliding_log", "rate": "1/2s"})
        self.assertEqual(self.client.get("/").status, 200)
        answers = []

        def passes_again():
            answers.append(self.client.get("/").status)
            return answers[-1] == 200

        eventually(passes_again, "a client that keeps trying passes once its window is over")
        self.assertIn(429, answers)

    def test_denials_count_when_asked_to(self):
        for algorithm in ("sliding_log", "fixed_window"):
            with self.subTest(algorithm=algorithm):
                self.begin({"algorithm": algorithm, "rate": "2/1h", "count_rejected": True})
                statuses = [self.client.get("/").status for _ in range(4)]
                self.assertEqual(statuses, [200, 200, 429, 429])

    def test_a_denial_that_counted_moves_the_end_of_the_window(self):
        self.begin({"algorithm": "sliding_log", "rate": "1/1h", "count_rejected": True})
        self.assertEqual(self.client.get("/").status, 200)
        time.sleep(1.1)  # the end of the first one's window is less than an hour away
        response = self.client.get("/")
        self.assertEqual((response.status, limit_fields(response).retry_after), (429, HOUR))


class RetryAfter(Case):
    def test_who_waits_that_long_passes(self):
        """The moment told is never too early, whatever the algorithm."""
        algorithms = ("fixed_window", "attributed_window", "sliding_window", "sliding_log", "token_bucket", "gcra",
                      "leaky_bucket")
        client = self.connect(self.start(configuration(
            policies={name: {"algorithm": name, "rate": "1/2s"} for name in algorithms},
            identities={"client": {"client_address": {}}},
            routes=[{"match": {"path": f"/{name}"}, "respond": {"status": 200},
                     "limits": [{"policy": name, "key": "client"}]} for name in algorithms])))
        denied_until = {}
        for name in algorithms:
            self.assertEqual(client.get(f"/{name}").status, 200)
            response = client.get(f"/{name}")
            self.assertEqual(response.status, 429, "two requests within two seconds")
            retry_after = limit_fields(response).retry_after
            self.assertTrue(1 <= retry_after <= 3, retry_after)
            denied_until[name] = time.monotonic() + retry_after
        for name, until in denied_until.items():
            time.sleep(max(0, until - time.monotonic()))
            self.assertEqual(client.get(f"/{name}").status, 200, name)


class LeakyBucketQueue(AlgorithmCase):
    def send_at_once(self, count):
        """That many requests, each on its own connection, all sent before an answer is read."""
        connections = [self.connect(self.weir) for _ in range(count)]
        sent_at = time.monotonic()
        for connection in connections:
            connection.send(request_bytes("GET", "/"))
        answers = []
        for connection in connections:
            response = connection.read()
            answers.append((response, time.monotonic() - sent_at))
        return answers

    def test_queued_requests_wait_for_their_turn_and_the_rest_is_denied(self):
        self.begin({"algorithm": "leaky_bucket", "rate": "1/1s", "queue": 2})
        answers = self.send_at_once(5)
        allowed = [(limit_fields(r).remaining, waited) for r, waited in answers if r.status == 200]
        self.assertEqual(sorted(remaining for remaining, _ in allowed), [0, 1, 2])
        for remaining, waited in allowed:
            turn = 2 - remaining
            self.assertGreaterEqual(waited, turn - 0.01,
                                    f"the one in turn {turn} came after {waited} s")
        denied = [r for r, _ in answers if r.status == 429]
        self.assertEqual(len(denied), 2)
        for response in denied:
            self.assertEqual(limit_fields(response).policies, {"p": {"q": 3, "w": 3}})
            self.assertEqual(limit_fields(response).retry_after, 1)

    def test_max_delay_bounds_the_wait(self):
        self.begin({"algorithm": "leaky_bucket", "rate": "1/1h", "queue": 100, "max_delay": "1s"})
        statuses = sorted(response.status for response, _ in self.send_at_once(3))
        self.assertEqual(statuses, [200, 429, 429])

    def test_a_client_that_leaves_while_it_waits_is_not_forwarded(self):
        upstream = Upstream(answer(b"fine"))
        self.addCleanup(upstream.stop)
        policy = {"algorithm": "leaky_bucket", "rate": "4/1s", "queue": 20}
        self.weir = self.start(configuration(
            upstream.url, policies={"p": policy}, identities={"client": {"client_address": {}}},
            access_log={"path": "-"}, routes=[{"upstream": "main", "limits": LIMIT}]))
        head = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n"
        client = self.connect(self.weir)
        self.assertEqual(client.get("/").status, 200)
        for request in [request_bytes("GET", "/")] * 4 + [head + b"12345", head + b"1", head]:
            with self.weir.connect() as leaving:
                leaving.send(request)
        # Its turn is after that of all others.
        self.assertEqual(client.get("/").status, 200)
        eventually(lambda: self.weir.stdout.count('"status":499') == 7, "all have left")
        self.assertEqual(len(upstream.requests), 2)

    def test_a_client_that_leaves_the_queue_leaves_the_others_in_peace(self):
        self.begin({"algorithm": "leaky_bucket", "rate": "1/1s", "queue": 2})
        self.assertEqual(self.client.get("/").status, 200)
        with self.weir.connect() as leaving:
            leaving.send(request_bytes("GET", "/"))
        self.assertEqual(self.client.get("/").status, 200)

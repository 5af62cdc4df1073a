"""Leases: instances hold quota of hot keys in advance and decide from it. Together they never admit more than the quota,
also when one is killed, stopped or cut off; and nothing that they hold is lost."""

import json
import signal
import threading
import time

from concurrency_test import THREADS, in_threads
from harness.case import scaled
from harness.message import Truncated
from harness.override_case import in_an_hour
from harness.redis_case import RedisCase, answering, sharing
from harness.relay import Relay
from harness.waiting import eventually

WEIRS = 4
SHARE = 20
QUOTA = scaled(4000)
# Nothing recovers while a test runs, and nothing is decided but by Redis.
PATIENT = {"timeout": "10s", "connect_timeout": "10s", "on_failure": "deny"}
POLICIES = {"window": {"algorithm": "fixed_window", "rate": f"{QUOTA}/260d"},
            "bucket": {"algorithm": "gcra", "rate": f"{QUOTA}/260d"}}
ROUTES = [answering("/window", "window"), answering("/bucket", "bucket")]


class LeasesCase(RedisCase):
    def begin(self, weirs=1, urls=None, leases=None, redis=None, policies=None, **sections):
        self.server = self.redis()
        self.weirs = []
        for i in range(weirs):
            config = sharing(urls(i) if urls else self.server.url, policies or POLICIES, routes=ROUTES,
                             admin={"address": "127.0.0.1:0"}, workers=1,
                             redis={**PATIENT, "leases": leases or {"share": SHARE}, **(redis or {})}, **sections)
            self.weirs.append(self.start(config))
        for weir in self.weirs:
            self.await_redis(weir)
        return self.weirs

    def admitted(self, path, each, weirs=None, between=None):
        """How many of `each` requests on each of THREADS connections to each Weir passed. `between` runs once, after a
        third of them."""
        weirs = self.weirs if weirs is None else weirs
        passed = [0] * (THREADS * len(weirs))
        reached = threading.Barrier(len(passed) + 1)

        def work(i):
            with weirs[i % len(weirs)].connect() as client:
                for n in range(each):
                    if between and n == each // 3:
                        reached.wait(60)
                    try:
                        status = client.get(path).status
                    except (ConnectionError, Truncated):
                        if weirs[i % len(weirs)] not in self.lost:
                            raise
                        return
                    if weirs[i % len(weirs)] not in self.lost:
                        self.assertIn(status, (200, 429))
                    passed[i] += status == 200

        if between is None:
            in_threads(len(passed), work)
            return sum(passed)
        threads = threading.Thread(target=in_threads, args=(len(passed), work))
        threads.start()
        reached.wait(60)
        between()
        threads.join()
        return sum(passed)

    def setUp(self):
        super().setUp()
        self.lost = []

    def rest(self, path, weirs):
        """What is left of the quota, once leases of others have gone back: sent one by one until nothing passes."""
        passed = 0

        def nothing_passes():
            nonlocal passed
            now = self.admitted(path, 10, weirs)
            passed += now
            return now == 0 and sum(self.gauge(weir, "weir_leases", policy=path.strip("/")) for weir in weirs) == 0

        eventually(nothing_passes, "the quota is used up and no lease is left")
        return passed

    def held_fields(self):
        with self.server.client() as client:
            return {key: client("HLEN", key) for key in self.server.keys() if key.endswith(b":h")}


class Exactness(LeasesCase):
    def test_instances_admit_the_quota_and_no_more(self):
        self.begin(WEIRS)
        for path in ("/window", "/bucket"):
            with self.subTest(path=path):
                passed = self.admitted(path, 2 * QUOTA // (THREADS * WEIRS))
                self.assertLessEqual(passed, QUOTA)
                self.assertEqual(passed + self.rest(path, self.weirs), QUOTA)
        self.assertGreater(sum(self.gauge(weir, "weir_leased_decisions_total") for weir in self.weirs), QUOTA)

    def test_a_killed_instance_takes_no_more_than_its_share_with_it(self):
        weirs = self.begin(WEIRS)

        def kill():
            self.lost.append(weirs[0])
            weirs[0].is_stopped = True
            weirs[0].kill()

        passed = self.admitted("/window", 2 * QUOTA // (THREADS * WEIRS), between=kill)
        total = passed + self.rest("/window", weirs[1:])
        self.assertLessEqual(total, QUOTA)
        # Requests whose answer was lost with the instance were charged, too.
        self.assertGreaterEqual(total, QUOTA - QUOTA * SHARE // 100 - THREADS)

    def test_a_stopped_instance_spends_nothing_that_has_become_of_another(self):
        weirs = self.begin(WEIRS)

        def stop():
            weirs[0].signal(signal.SIGSTOP)
            threading.Timer(1.0, weirs[0].signal, (signal.SIGCONT,)).start()

        passed = self.admitted("/bucket", 2 * QUOTA // (THREADS * WEIRS), between=stop)
        self.assertEqual(passed + self.rest("/bucket", weirs), QUOTA)

    def test_an_instance_that_is_cut_off_does_not_exceed_the_quota(self):
        relays = []

        def url(i):
            if i > 0:
                return self.server.url
            relays.append(Relay(self.server.port))
            self.addCleanup(relays[0].close)
            return relays[0].url

        weirs = self.begin(WEIRS, urls=url, redis={"timeout": "100ms"})

        def cut_off():
            self.lost.append(weirs[0])
            relays[0].is_black_hole = True

        passed = self.admitted("/window", 2 * QUOTA // (THREADS * WEIRS), between=cut_off)
        self.assertLessEqual(passed, QUOTA)
        relays[0].is_black_hole = False
        relays[0].reset_all()
        total = passed + self.rest("/window", weirs[1:])
        self.assertLessEqual(total, QUOTA)
        self.assertGreaterEqual(total, QUOTA - QUOTA * SHARE // 100 - THREADS)


class Units(LeasesCase):
    def hold(self, path="/window"):
        """Requests until the Weir holds units."""
        with self.weirs[0].connect() as client:
            eventually(lambda: [client.get(path).status for _ in range(20)] and self.held_fields(), "units are held")

    def test_units_go_back_when_the_key_is_idle(self):
        self.begin()
        self.hold()
        eventually(lambda: not self.held_fields(), "nothing is held")
        self.assertEqual(self.gauge(self.weirs[0], "weir_leases", policy="window"), 0)

    def test_units_go_back_at_shutdown(self):
        self.begin()
        self.hold()
        self.weirs[0].stop()
        self.assertEqual(self.held_fields(), {})

    def test_units_go_back_when_a_reload_turns_leases_off(self):
        self.begin()
        self.hold()
        off = sharing(self.server.url, POLICIES, routes=ROUTES, admin={"address": "127.0.0.1:0"}, workers=1,
                      redis=PATIENT)
        self.weirs[0].write(off)
        with self.connect_admin(self.weirs[0]) as admin:
            self.assertEqual(admin.request("POST", "/v1/reload").status, 200)
        eventually(lambda: not self.held_fields(), "nothing is held")
        with self.weirs[0].connect() as client:
            before = self.server.calls("evalsha")
            self.assertEqual({client.get("/window").status for _ in range(50)}, {200})
            self.assertGreaterEqual(self.server.calls("evalsha") - before, 50)

    def test_a_hot_key_needs_few_calls(self):
        self.begin(leases={"share": 100})
        self.hold()
        before, began_at = self.server.calls("evalsha"), time.monotonic()
        each = QUOTA // 2 // THREADS
        passed = self.admitted("/window", each)
        took_s = time.monotonic() - began_at
        self.assertEqual(passed, each * THREADS)
        # A few for each half of the duration, and some until the demand is known.
        self.assertLess(self.server.calls("evalsha") - before, 60 + 20 * took_s)

    def test_an_override_applies_to_a_leased_key(self):
        self.begin()
        self.hold()
        over, statuses = threading.Event(), []
        self.addCleanup(over.set)

        def send():
            with self.weirs[0].connect() as client:
                while not over.is_set():
                    statuses.append(client.get("/window").status)

        sender = threading.Thread(target=send)
        sender.start()
        eventually(lambda: len(statuses) > 100, "requests are decided")
        with self.connect_admin(self.weirs[0]) as admin:
            denial = {"identity": "client", "key": "127.0.0.1", "deny": True, "until": in_an_hour()}
            body = json.dumps(denial).encode()
            put = admin.request("PUT", "/v1/overrides", [("content-type", "application/json")], body)
            self.assertEqual(put.status, 200, put.body)
        seen = len(statuses)
        eventually(lambda: len(statuses) > seen + 100, "requests are decided")
        over.set()
        sender.join()
        self.assertEqual(set(statuses[:50]), {200})
        # The one that was in flight may have been decided before.
        self.assertEqual(set(statuses[seen + 1:]), {403})

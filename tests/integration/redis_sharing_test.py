"""Several Weirs share each quota through one Redis: exactly, even if their clocks differ, with one
call per decision and none for requests that are still denied."""

import os
import subprocess
import threading
import time
from datetime import datetime

from concurrency_test import THREADS, in_threads
from harness.case import SCALE, scaled
from harness.client import request_bytes
from harness.limit_fields import limit_fields
from harness.redis import skewed
from harness.redis_case import SECRET, RedisCase, answering, sharing
from harness.waiting import eventually
from harness.weir import run

WEIRS = 4
ALGORITHMS = ("fixed_window", "attributed_window", "sliding_window", "sliding_log", "token_bucket",
              "gcra")
SKEWS = (0, 7, -20 * 86400, 20 * 86400)
# Nothing recovers while a test runs, and nothing is decided but by Redis.
PATIENT = {"timeout": "10s", "connect_timeout": "10s", "on_failure": "deny"}


def policies_of(quota):
    """A policy an algorithm, all with the same quota in a time no test waits for."""
    return {name: {"algorithm": name, "rate": f"{quota}/260d"} for name in ALGORITHMS}


class SharingCase(RedisCase):
    def begin(self, policies, environments=({},), limits=None, redis=None, **sections):
        """As many Weirs as environments, a route for each policy."""
        self.server = redis or self.redis()
        routes = [answering(f"/{name}", name, **(limits or {})) for name in policies]
        config = sharing(self.server.url, policies, routes=routes,
                         admin={"address": "127.0.0.1:0"}, redis=PATIENT, **sections)
        self.weirs = [self.start(config, environment=e) for e in environments]
        for weir in self.weirs:
            self.await_redis(weir)

    def admitted(self, path, each):
        """How many of `each` requests on each of THREADS connections to each Weir passed."""
        passed = [0] * (THREADS * len(self.weirs))

        def work(i):
            with self.weirs[i % len(self.weirs)].connect() as client:
                for _ in range(each):
                    status = client.get(path).status
                    self.assertIn(status, (200, 429))
                    passed[i] += status == 200

        in_threads(len(passed), work)
        return sum(passed)


class SeveralRoutes(SharingCase):
    def test_a_path_of_two_readings_is_charged_to_both_routes_by_one_script(self):
        policies = {name: {"algorithm": name, "rate": "10/260d"}
                    for name in ("fixed_window", "gcra")}
        self.server = self.redis()
        weir = self.start(sharing(
            self.server.url, policies, redis=PATIENT, admin={"address": "127.0.0.1:0"},
            routes=[answering("/login", "fixed_window"),
                    {**answering("/**", "gcra"), "name": "rest"}]))
        self.await_redis(weir)
        client = self.connect(weir)
        for left in (9, 8):
            state = limit_fields(client.get("/Login")).state
            self.assertEqual({name: item["r"] for name, item in state.items()},
                             {"fixed_window": left, "gcra": left})
        self.assertEqual(limit_fields(client.get("/login")).state["fixed_window"]["r"], 7)


class Exactness(SharingCase):
    QUOTA = scaled(640)

    def assert_exact(self, environments):
        self.begin(policies_of(self.QUOTA), environments, workers=2)
        for name in ALGORITHMS:
            with self.subTest(algorithm=name):
                each = 2 * self.QUOTA // (THREADS * WEIRS)
                self.assertEqual(self.admitted(f"/{name}", each), self.QUOTA)

    def test_every_algorithm_admits_its_quota_exactly(self):
        self.assert_exact([{}] * WEIRS)

    def test_whatever_the_clocks_of_the_processes_say(self):
        self.assert_exact([skewed(seconds) for seconds in SKEWS])
        for weir, seconds in zip(self.weirs, SKEWS):
            told = datetime.fromisoformat(self.log_lines(weir, 1)[-1]["time"]).timestamp()
            self.assertAlmostEqual(told - time.time(), seconds, delta=300)

    def test_units_are_exact_where_requests_cost_several(self):
        quota = scaled(640)
        self.begin({"p": {"algorithm": "gcra", "rate": f"{quota * 3}/260d"}}, [{}] * WEIRS,
                   limits={"cost": 3})
        self.assertEqual(self.admitted("/p", 2 * quota // (THREADS * WEIRS)), quota)

    def test_a_leaky_bucket_is_one_queue_of_all(self):
        self.assert_one_queue([{}] * WEIRS)

    def test_a_leaky_bucket_whatever_the_clocks_of_the_processes_say(self):
        self.assert_one_queue([skewed(seconds) for seconds in SKEWS])

    def assert_one_queue(self, environments):
        """All ask at once; within one interval one passes and `queue` wait, each for its turn."""
        interval_s, queue = 2.0 * SCALE, 3
        self.begin({"p": {"algorithm": "leaky_bucket", "rate": f"1/{int(interval_s)}s",
                          "queue": queue}}, environments)
        passed_at, lock = [], threading.Lock()
        together = threading.Barrier(THREADS * WEIRS)

        def work(i):
            with self.weirs[i % WEIRS].connect() as client:
                together.wait()
                status = client.get("/p").status
                with lock:
                    if status == 200:
                        passed_at.append(time.monotonic())
                    else:
                        self.assertEqual(status, 429)

        in_threads(THREADS * WEIRS, work)
        self.assertEqual(len(passed_at), 1 + queue)
        for before, after in zip(passed_at, passed_at[1:]):
            # Not sooner than its turn, but for when the one before it was late itself.
            self.assertGreater(after - before, interval_s / 2)
        self.assertGreater(passed_at[-1] - passed_at[0], interval_s * (queue - 0.5))


class Cost(SharingCase):
    def test_a_flood_of_a_denied_key_costs_redis_nothing(self):
        self.begin({"p": {"algorithm": "gcra", "rate": "5/1h"}}, workers=1)
        requests = scaled(4000)
        with self.weirs[0].connect() as client:
            self.assertEqual([client.get("/p").status for _ in range(6)], [200] * 5 + [429])
            before = self.calls()
            statuses = []
            for _ in range(requests // 100):
                client.send(request_bytes("GET", "/p") * 100)
                statuses += [client.read().status for _ in range(100)]
        self.assertEqual(set(statuses), {429})
        self.assertLess(self.calls() - before, len(statuses) / 100)

    def test_a_flood_over_many_connections_asks_once_when_a_denial_ends(self):
        """The quota recovers dozens of times while it is denied. Each time a few calls find out: each
        worker asks once, and the one that was admitted asks again. The connections that wait do not."""
        self.begin({"p": {"algorithm": "gcra", "rate": "10/1s"}}, workers=2)
        command = ["wrk", "-t1", "-c64", "-d5s", "--timeout", "10s", f"http://127.0.0.1:{self.weirs[0].port}/p"]
        subprocess.run(command, check=True, stdout=subprocess.PIPE, timeout=60)
        admitted, denied = (self.gauge(self.weirs[0], "weir_decisions_total", policy="p", outcome=outcome)
                            for outcome in ("allowed", "denied"))
        self.assertGreater(admitted, 40)
        self.assertGreater(denied, 64 * admitted // 4)
        questions = self.gauge(self.weirs[0], "weir_store_questions_total")
        self.assertGreaterEqual(questions, admitted)
        # Until the first denial each connection may have asked.
        self.assertLess(questions - 64, 6 * admitted)

    def test_requests_that_wait_together_share_a_call(self):
        self.begin({"p": {"algorithm": "gcra", "rate": "1000000/1s"}}, workers=1)
        before = self.calls()
        command = ["wrk", "-t1", "-c64", "-d2s", "--timeout", "10s", f"http://127.0.0.1:{self.weirs[0].port}/p"]
        subprocess.run(command, check=True, stdout=subprocess.PIPE, timeout=60)
        decisions = self.gauge(self.weirs[0], "weir_decisions_total", policy="p", outcome="allowed")
        calls = self.calls() - before
        self.assertGreater(decisions, 500)
        self.assertLess(2 * calls, decisions)
        self.assertLessEqual(abs(self.gauge(self.weirs[0], "weir_store_calls_total") - calls), 10)
        # Alone a request is a call of its own.
        before = self.calls()
        with self.weirs[0].connect() as client:
            self.assertEqual({client.get("/p").status for _ in range(20)}, {200})
        self.assertGreaterEqual(self.calls() - before, 20)

    def test_one_call_decides_all_limits_of_a_request(self):
        policies = {name: {"algorithm": name, "rate": "100000/1d"} for name in ALGORITHMS}
        self.server = self.redis()
        route = answering("/all", "gcra")
        route["limits"] = [{"policy": name, "key": "client"} for name in policies]
        weir = self.start(sharing(self.server.url, policies, routes=[route],
                                  admin={"address": "127.0.0.1:0"}, redis=PATIENT))
        self.await_redis(weir)
        with weir.connect() as client:
            self.assertEqual(client.get("/all").status, 200)
            # Once Redis has decided, nothing is asked but by requests. Instances announce themselves by EVAL.
            before = self.server.calls("evalsha")
            self.assertEqual({client.get("/all").status for _ in range(20)}, {200})
        self.assertEqual(self.server.calls("evalsha") - before, 20)

    def calls(self):
        return self.server.calls("evalsha") + self.server.calls("eval")


class Answers(SharingCase):
    def test_what_one_instance_counts_the_other_tells(self):
        self.begin({"p": {"algorithm": "fixed_window", "rate": "10/1h"}}, [{}] * 2)
        with self.weirs[0].connect() as one, self.weirs[1].connect() as other:
            for expected in range(9, -1, -2):
                told = limit_fields(one.get("/p"))
                self.assertEqual((told.limit, told.remaining), (10, expected))
                self.assertEqual(limit_fields(other.get("/p")).remaining, expected - 1)
            self.assertEqual(one.get("/p").status, 429)
            denied = other.get("/p")
            self.assertEqual(denied.status, 429)
            self.assertTrue(3500 < limit_fields(denied).retry_after <= 3600)

    def test_a_restarted_instance_finds_what_it_counted(self):
        self.begin({"p": {"algorithm": "sliding_log", "rate": "3/1h"}})
        with self.weirs[0].connect() as client:
            self.assertEqual([client.get("/p").status for _ in range(2)], [200, 200])
        self.weirs[0].stop()
        self.begin({"p": {"algorithm": "sliding_log", "rate": "3/1h"}}, redis=self.server)
        with self.weirs[0].connect() as client:
            self.assertEqual([client.get("/p").status for _ in range(2)], [200, 429])

    def test_all_or_nothing_is_charged_pitfall_10(self):
        self.server = self.redis()
        policies = {"wide": {"algorithm": "fixed_window", "rate": "5/1h"},
                    "narrow": {"algorithm": "sliding_log", "rate": "1/1h"}}
        route = answering("/p", "wide")
        route["limits"].append({"policy": "narrow", "key": "client"})
        weir = self.start(sharing(self.server.url, policies, routes=[route],
                                  admin={"address": "127.0.0.1:0"}, redis=PATIENT))
        self.await_redis(weir)
        with weir.connect() as client:
            self.assertEqual([client.get("/p").status for _ in range(4)], [200, 429, 429, 429])
            state = limit_fields(client.get("/p")).state
        self.assertEqual((state["wide"]["r"], state["narrow"]["r"]), (4, 0))


class Connecting(SharingCase):
    def assert_serves(self, url, **redis):
        """A Weir with this URL counts in Redis: the keys it leaves there."""
        weir = self.start(sharing(url, {"p": {"algorithm": "gcra", "rate": "5/1h"}},
                                  routes=[answering("/p", "p")],
                                  admin={"address": "127.0.0.1:0"}, redis={**PATIENT, **redis}))
        self.await_redis(weir)
        with weir.connect() as client:
            self.assertEqual([client.get("/p").status for _ in range(6)], [200] * 5 + [429])
        eventually(lambda: self.log_lines(weir, 6)[0]["store"] == "redis", "redis decides")
        return weir

    def test_by_tcp_by_name_and_by_unix_socket(self):
        redis = self.redis()
        for url in (redis.url, redis.url.replace("127.0.0.1", "localhost"),
                    f"unix://{redis.unix_path}"):
            with self.subTest(url=url):
                self.assert_serves(url)
                redis("FLUSHALL")

    def test_database_prefix_and_client_name(self):
        redis = self.redis()
        weir = self.assert_serves(redis.url + "/3", key_prefix="limits.")
        with redis.client() as client:
            self.assertEqual(client("DBSIZE"), 0)
            names = client("CLIENT", "LIST").decode()
            client("SELECT", 3)
            keys = client("KEYS", "*}:p:*")
            client("FLUSHDB")
        self.assertRegex(names, r" name=weir\S* ")
        self.assertEqual(len(keys), 1)
        self.assertRegex(keys[0].decode(), r"^limits\.\{[0-9a-f]{32}\}:p:g1$")
        weir.stop()

    def test_a_user_with_the_documented_rules_and_nothing_more(self):
        """The rules are those of docs/redis.md, which this reads them from."""
        rules = documented_acl_rules()
        self.assertIn("-@all", rules)
        redis = self.redis()
        password = "p@ss:w/rd%"
        redis("ACL", "SETUSER", "weir", "reset", "on", f">{password}", *rules)
        redis("CONFIG", "SET", "requirepass", "admin")
        redis.password = "admin"
        url = f"redis://weir:p%40ss%3Aw%2Frd%25@127.0.0.1:{redis.port}"
        self.assert_serves(url)
        policies = policies_of(5)
        policies["leaky_bucket"] = {"algorithm": "leaky_bucket", "rate": "5/1h", "max_delay": "1s"}
        policies["concurrency"] = {"algorithm": "concurrency", "limit": 5}
        routes = [answering(f"/{name}", name) for name in policies]
        weir = self.start(sharing(url, policies, routes=routes,
                                  admin={"address": "127.0.0.1:0"}, redis=PATIENT))
        self.await_redis(weir)
        with weir.connect() as client:
            for name in policies:
                self.assertEqual(client.get(f"/{name}").status, 200, name)
            redis("SCRIPT", "FLUSH")
            self.assertEqual(client.get("/gcra").status, 200)
        log = [entry for entry in redis("ACL", "LOG") if b"weir" in entry]
        self.assertEqual(log, [])

    def test_without_the_rules_it_is_refused(self):
        redis = self.redis()
        redis("ACL", "SETUSER", "weir", "reset", "on", ">pass", "~weir:*", "-@all", "+ping")
        weir = self.start(sharing(f"redis://weir:pass@127.0.0.1:{redis.port}",
                                  {"p": {"algorithm": "gcra", "rate": "5/1h"}},
                                  routes=[answering("/p", "p")],
                                  admin={"address": "127.0.0.1:0"}))
        eventually(lambda: self.gauge(weir, "weir_store_up") == 0 and "NOPERM" in weir.stderr,
                   "the log reports what is wrong", 10)
        with weir.connect() as client:
            self.assertEqual(client.get("/p").status, 200)
        self.assertEqual(self.log_lines(weir, 1)[0]["store"], "local")

    def test_weir_proxy_shares_by_a_flag(self):
        redis, upstream = self.redis(), self.upstream()
        command = ["proxy", "--to", upstream.url, "--limit", "4/1h", "--listen", "127.0.0.1:0",
                   "--admin", "127.0.0.1:0", "--redis", redis.url]
        weirs = [self.start(None, command=command,
                            environment={"WEIR_IDENTITY_SECRET": SECRET}) for _ in range(2)]
        for weir in weirs:
            self.await_redis(weir)
        statuses = []
        for weir in weirs:
            with weir.connect() as client:
                statuses += [client.get("/").status for _ in range(3)]
        self.assertEqual(statuses, [200, 200, 200, 200, 429, 429])


class Secrecy(SharingCase):
    def test_no_secret_and_no_identity_is_anywhere(self):
        key, password, query = "api-key-7f3a91", "p4ss-5e1c77", "query-key-c0ffee"
        redis = self.redis("--requirepass", password)
        redis.password = password
        policies = policies_of(5)
        policies["attributed_window"]["attributes"] = [
            "identity:key", "identity:parameter", "method"]
        identities = {"key": {"header": "x-api-key"}, "parameter": {"query": "api_key"}}
        routes = [answering(f"/{name}", name, "key") for name in policies]
        for route in routes:
            route["limits"].append({"policy": route["name"], "key": "parameter"})
        url = f"redis://:{password}@127.0.0.1:{redis.port}"
        config = sharing(url, policies, identities=identities, routes=routes,
                         admin={"address": "127.0.0.1:0"}, redis=PATIENT)
        weir = self.start(config)
        self.await_redis(weir)
        with weir.connect() as client:
            for name in policies:
                statuses = [client.get(f"/{name}?api_key={query}", {"X-Api-Key": key}).status
                            for _ in range(6)]
                self.assertEqual(statuses, [200] * 5 + [429])
        with self.connect_admin(weir) as client:
            shown = b"".join(client.get(path).body for path in ("/metrics", "/readyz", "/"))
        self.log_lines(weir, 6 * len(policies))
        seen = {"redis": redis.contents(), "metrics": shown, "stderr": weir.stderr.encode(),
                "log": (weir.directory / "access.log").read_bytes(),
                "check": run("check", "--verbose", str(weir.file)).stdout.encode()}
        self.assertGreater(len(redis.keys()), len(policies))
        for place, content in seen.items():
            for secret in (key, password, query, SECRET):
                self.assertNotIn(secret.encode(), content, place)


def documented_acl_rules():
    """The words after `ACL SETUSER weir on >PASSWORD` in docs/redis.md."""
    file = os.path.join(os.path.dirname(__file__), "../../docs/redis.md")
    with open(file, encoding="utf-8") as text:
        for line in text.read().replace("\\\n", " ").splitlines():
            if line.startswith("ACL SETUSER weir"):
                return [word for word in line.split()[3:] if word not in ("reset", "on")
                        and not word.startswith(">")]
    raise AssertionError("docs/redis.md has no ACL SETUSER line")



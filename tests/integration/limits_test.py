"""The state of one key and its reset, through /v1/limits and `weir limits show` and `reset`."""

import json
import signal
import socket
from contextlib import contextmanager
from urllib.parse import urlencode

from harness.clusters import Cluster
from harness.override_case import ALGORITHMS, KEY, OverrideCase, in_an_hour, policies
from harness.redis_case import answering
from harness.reload_case import copied
from harness.sentinels import Watched
from harness.services import free_port
from harness.waiting import eventually
from harness.weir import run


@contextmanager
def paused(server):
    server.pause()
    try:
        yield
    finally:
        server.resume()


class Limits(OverrideCase):
    def limits(self, weir, method="GET", policy="gcra", key=KEY, **query):
        target = "/v1/limits?" + urlencode({"policy": policy, "identity": "api_key", "key": key, **query})
        with self.connect_admin(weir) as connection:
            return connection.request(method, target, {}, b"")

    def look(self, weir, policy="gcra", **query):
        response = self.limits(weir, policy=policy, **query)
        self.assertEqual(response.status, 200, response.body)
        self.assertNotIn(KEY, response.body.decode())
        return response.json()

    def reset(self, weir, policy="gcra"):
        self.assertEqual(self.limits(weir, "DELETE", policy).status, 204)

    def check_each_algorithm(self, weir, store):
        for name in ALGORITHMS:
            with self.subTest(algorithm=name):
                # A leaky bucket makes its second request wait; slots are given back.
                left = {"concurrency": 2}.get(name, 1)
                fresh = self.look(weir, name)
                self.assertEqual((fresh["store"], fresh["algorithm"]), (store, name))
                self.assertEqual((fresh["numbers"]["limit"], fresh["numbers"]["from"]), (2, "policy"))
                self.assertEqual((fresh["remaining"], fresh["reset_after"], fresh["retry_after"]), (2, 0, None))
                self.assertEqual(self.get(weir, name).status, 200)
                # A slot is given back after the response.
                eventually(lambda: self.look(weir, name)["remaining"] == left, "what is left")
                for _ in range(3):  # a look charges nothing
                    self.assertEqual(self.look(weir, name)["remaining"], left)
                if left == 2:
                    continue
                if name != "leaky_bucket":
                    self.exhaust(weir, name)
                    spent = self.look(weir, name)
                    self.assertEqual(spent["remaining"], 0)
                    self.assertGreater(spent["retry_after"], 0)
                    self.assertGreaterEqual(spent["reset_after"], spent["retry_after"])
                self.reset(weir, name)
                self.assertEqual(self.look(weir, name)["remaining"], 2)
                self.assertEqual(self.get(weir, name).status, 200)

    def check_entries(self, weir, policy="seen"):
        """Who used up an attributed window: the attributes of its requests, the oldest first."""
        self.assertEqual(self.look(weir, policy)["entries"], [])
        for count, agent in enumerate(("curl", "bot"), 1):
            with weir.connect() as client:
                client.request("GET", "/" + policy,
                               {"X-Api-Key": KEY, "User-Agent": agent, "X-Token": "open-sesame"})
            # A policy with `charge` is charged after the response.
            eventually(lambda: len(self.look(weir, policy)["entries"]) == count, "the entry")
        found = self.look(weir, policy)
        self.assertEqual([entry["attributes"]["header:user-agent"] for entry in found["entries"]], ["curl", "bot"])
        self.assertEqual([entry["units"] for entry in found["entries"]], [1, 1])
        self.assertTrue(found["entries_complete"])
        self.assertNotIn("open-sesame", json.dumps(found))
        shown = run("limits", "show", "--admin", "http://{}:{}".format(*weir.admin_address), "--policy", policy,
                    "--identity", "api_key", "--key", KEY)
        self.assertEqual((shown.returncode, shown.stderr), (0, ""))
        self.assertIn("curl", shown.stdout)

    SEEN = {"policies": {**policies(), "seen": {"algorithm": "attributed_window", "rate": "5/10h",
                                                "attributes": ["header:user-agent", "identity:token"]},
                         "charged": {"algorithm": "attributed_window", "rate": "5/10h",
                                     "attributes": ["header:user-agent", "identity:token"]}},
            "identities": {"api_key": {"header": "X-Api-Key"}, "token": {"header": "X-Token"}},
            "routes": [answering("/seen", "seen", "api_key"),
                       answering("/charged", "charged", "api_key", charge={"status": [200]}), *OverrideCase.routes()]}

    def test_the_entries_of_an_attributed_window_in_the_memory_store(self):
        weir = self.alone(**self.SEEN)
        self.check_entries(weir)
        self.check_entries(weir, "charged")

    def test_values_that_clients_choose_do_not_reach_the_terminal_as_they_are(self):
        weir = self.alone(**self.SEEN)
        with self.connect(weir) as client:
            client.send(b"GET /seen HTTP/1.1\r\nHost: a\r\nX-Api-Key: " + KEY.encode() +
                        "\r\nUser-Agent: a\u009b31m\u202e, units\r\n\r\n".encode())
            client.read()
        shown = run("limits", "show", "--admin", "http://{}:{}".format(*weir.admin_address), "--policy", "seen",
                    "--identity", "api_key", "--key", KEY)
        self.assertIn(r'header:user-agent "a\u009b31m\u202e, units"', shown.stdout)
        self.assertTrue(shown.stdout.isascii())

    def test_the_entries_of_an_attributed_window_in_redis(self):
        weir = self.shared(workers=2, **self.SEEN)[0]
        self.check_entries(weir)
        self.check_entries(weir, "charged")

    def test_names_to_choose_from(self):
        weir = self.alone()
        problem = self.limits(weir, policy="")
        self.assertEqual(problem.status, 422)
        for name in ALGORITHMS:
            self.assertIn(name, problem.json()["detail"])

    def test_each_algorithm_in_the_memory_store(self):
        self.check_each_algorithm(self.alone(), "memory")

    def test_each_algorithm_in_redis(self):
        self.check_each_algorithm(self.shared(workers=2)[0], "redis")

    def test_a_reset_holds_on_another_instance_at_its_next_decision(self):
        first, second = self.shared(2, workers=2)
        for _ in range(3):
            self.exhaust(second)
            self.assertEqual(self.statuses(second, 6), [429] * 6)  # remembered, by both workers
            self.reset(first)
            self.assertEqual(self.statuses(second, 2), [200] * 2)

    def test_in_a_cluster(self):
        redis = self.redis("--cluster-enabled", "yes", "--cluster-port", str(free_port()))
        redis("CLUSTER", "ADDSLOTSRANGE", 0, 16383)
        eventually(lambda: b"cluster_state:ok" in redis("CLUSTER", "INFO"), "the cluster is up")
        first, second = self.shared(2)
        for key in ("a", "b", "c"):
            eventually(lambda: self.get(second, key=key).status == 429, "a denial")
            self.assertEqual(self.look(first, key=key)["remaining"], 0)
            self.assertEqual(self.limits(first, "DELETE", key=key).status, 204)
            self.assertEqual(self.get(second, key=key).status, 200)

    def test_in_a_cluster_of_several_masters(self):
        cluster = Cluster(self)
        first, second = self.shared(2, redis={**cluster.store, "timeout": "1s"})
        keys = [f"customer-{i}" for i in range(12)]
        for key in keys:
            eventually(lambda key=key: self.get(second, key=key).status == 429, "a denial")
            self.assertEqual(self.look(first, key=key)["remaining"], 0)
            self.assertEqual(self.limits(first, "DELETE", key=key).status, 204)
            self.assertEqual(self.get(second, key=key).status, 200)
        # No look and no reset waits for as long as a master hangs. Without it the cluster ends its service.
        hashes = {key: self.look(first, key=key)["hash"].encode() for key in keys}
        stalled = cluster.nodes[0]
        own = [key for key in keys if any(hashes[key] in name for name in stalled("KEYS", "*"))]
        self.assertTrue(own and len(own) < len(keys))
        with paused(stalled):
            self.assert_problem(self.limits(first, key=own[0]), 503)
            self.assert_problem(self.limits(first, "DELETE", key=own[0]), 503)
        cluster.await_whole()
        eventually(lambda: self.limits(first, key=own[0]).status == 200, "the cluster decides again")

    def test_behind_sentinels(self):
        watched = Watched(self)
        first, second = self.shared(2, redis={**watched.options, "timeout": "1s"})
        self.exhaust(second)
        self.assertEqual(self.look(first)["remaining"], 0)
        self.reset(first)
        self.assertEqual(self.statuses(second, 2), [200] * 2)
        with paused(self.servers[0]):
            self.assert_problem(self.limits(first), 503)
            self.assert_problem(self.limits(first, "DELETE"), 503)

    def test_the_numbers_of_an_override_are_in_force(self):
        weir = self.shared()[0]
        self.put(weir, policy="gcra", rate="5/5h", until=in_an_hour())
        numbers = self.look(weir)["numbers"]
        self.assertEqual((numbers["limit"], numbers["from"]), (5, "override"))
        self.assertAlmostEqual(numbers["ends_after"], 3600, delta=60)
        self.put(weir, policy="gcra", unlimited=True, until=in_an_hour())
        self.assertEqual(self.look(weir)["numbers"]["unlimited"], True)
        self.put(weir, deny=True, until=in_an_hour())
        self.assertEqual(self.look(weir)["numbers"]["denied"], True)
        self.reset(weir)  # overrides stay
        self.assertEqual(self.get(weir).status, 403)

    def test_without_redis_both_are_answered_503(self):
        weir = self.shared()[0]
        self.servers[0].stop()
        eventually(lambda: self.limits(weir).status == 503, "the loss of Redis")
        self.assert_problem(self.limits(weir), 503, "redis is not reachable")
        self.assert_problem(self.limits(weir, "DELETE"), 503, "redis is not reachable: nothing was changed")

    def test_a_redis_that_hangs_is_answered_503_after_its_timeout(self):
        """No look and no reset waits for as long as Redis hangs, and a reset may have been made."""
        weir = self.shared()[0]
        self.servers[0].pause()
        self.assert_problem(self.limits(weir), 503, "redis did not answer")
        self.assert_problem(self.limits(weir, "DELETE"), 503, "the reset may have been made")
        self.servers[0].resume()
        eventually(lambda: self.limits(weir).status == 200, "Redis decides again")

    def test_a_policy_that_is_new_can_be_seen_while_a_reload_waits_for_another_redis(self):
        weir = self.shared(workers=1)[0]
        silent = socket.create_server(("127.0.0.1", 0))  # accepts connections, and answers nothing
        self.addCleanup(silent.close)
        config = copied(weir.configuration)
        config["store"]["redis"].update({"url": "redis://127.0.0.1:{}".format(silent.getsockname()[1]),
                                         "connect_timeout": "3s"})
        config["policies"]["new"] = {"algorithm": "gcra", "rate": "7/10h"}
        config["routes"][0]["limits"].append({"policy": "new", "key": "api_key"})
        weir.write(config)
        weir.signal(signal.SIGHUP)
        eventually(lambda: self.limits(weir, policy="new").status != 422, "the configuration is read")
        self.assertEqual(self.look(weir, "new")["remaining"], 7)
        self.assertEqual(self.limits(weir, "DELETE", "new").status, 204)

    def test_what_is_wrong_with_a_query(self):
        weir = self.alone()
        self.assert_problem(self.limits(weir, policy="gcrb"), 422, 'did you mean "gcra"?')
        self.assert_problem(self.limits(weir, key=""), 422, "key is missing")
        self.assert_problem(self.limits(weir, rate="1/1s"), 400, "known are identity, key, policy, plan")
        self.assert_problem(self.limits(weir, "PUT"), 405, "GET, HEAD, DELETE")


class CommandLine(OverrideCase):
    def limits(self, weir, *arguments, **options):
        return run("limits", *arguments, "--identity", "api_key", "--policy", "gcra",
                   "--admin", "http://{}:{}".format(*weir.admin_address), **options)

    def test_it_shows_and_resets(self):
        weir = self.shared()[0]
        self.exhaust(weir)
        shown = self.limits(weir, "show", "--key", KEY)
        self.assertEqual((shown.returncode, shown.stderr), (0, ""))
        self.assertRegex(shown.stdout, r"^hash:[0-9a-f]{32}, policy gcra \(gcra\): 0 of 2 left, the next after "
                                       r"[0-9.]+ s, all of it again after [0-9.]+ s\n$")
        hash = shown.stdout.split(",")[0]
        done = self.limits(weir, "reset", "--key", "-", input=KEY + "\n")
        self.assertEqual((done.returncode, done.stdout, done.stderr),
                         (0, "reset: the next request of the key finds the whole quota\n", ""))
        self.assertRegex(self.limits(weir, "show", "--key", hash).stdout, r": 2 of 2 left\n$")
        self.assertIn('"remaining":2', self.limits(weir, "show", "--key", hash, "--json").stdout)
        self.put(weir, deny=True, until=in_an_hour())
        self.assertRegex(self.limits(weir, "show", "--key", hash).stdout, r": denied by an override\n$")
        wrong = run("limits", "show", "--key", "a", "--admin", "http://{}:{}".format(*weir.admin_address))
        self.assertEqual((wrong.returncode, wrong.stdout), (1, ""))
        self.assertIn("policy is missing", wrong.stderr)

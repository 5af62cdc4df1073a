"""The list of top keys, through /v1/top: who is limited, by which policy, on which route."""

import signal
from urllib.parse import urlencode

from harness.case import configuration
from harness.redis_case import RedisCase, sharing
from harness.reload_case import copied
from harness.waiting import eventually

ADMIN = {"address": "127.0.0.1:0"}
HEAVY, LIGHT, OTHER = (f"a-secret-key-{number}" for number in range(3))
IDENTITIES = {"api_key": {"header": "X-Api-Key"}, "client": {"client_address": {}}}
POLICIES = {"narrow": {"algorithm": "fixed_window", "rate": "2/10h"},
            "wide": {"algorithm": "gcra", "rate": "1000/1s"}}
ROUTES = [{"name": "search", "match": {"path": "/search"}, "respond": {"status": 200},
           "limits": [{"policy": "narrow", "key": "api_key"}, {"policy": "wide", "key": "client"}]},
          {"name": "login", "match": {"path": "/login"}, "respond": {"status": 200},
           "limits": [{"policy": "narrow", "key": "api_key"}]},
          {"name": "free", "match": {"path": "/**"}, "respond": {"status": 200}}]
SECTIONS = {"identities": IDENTITIES, "routes": ROUTES, "admin": ADMIN}


class TopCase(RedisCase):
    def in_memory(self, **sections):
        return self.start(configuration(policies=POLICIES, **{**SECTIONS, "workers": 2, **sections}))

    def in_redis(self, **sections):
        weir = self.start(sharing(self.redis().url, POLICIES, **{**SECTIONS, "workers": 2, **sections},
                                  redis={"timeout": "10s", "connect_timeout": "10s"}))
        self.await_redis(weir)
        return weir

    def send(self, weir, key, path="/search", times=1):
        """Each request on a connection of its own, so that both workers get some."""
        statuses = []
        for _ in range(times):
            with weir.connect() as connection:
                statuses.append(connection.get(path, [("X-Api-Key", key)]).status)
        return statuses

    def send_apart(self, weir, *request, times=1):
        """In passes of the worker's loop of their own: requests that arrive in the pass of an answer overlap it."""
        statuses = []
        for _ in range(times):
            statuses += self.send(weir, *request)
            self.send(weir, LIGHT, "/nowhere")
        return statuses

    def ask(self, weir, **query):
        with self.connect_admin(weir) as connection:
            return connection.get("/v1/top?" + urlencode(query))

    def top(self, weir, **query):
        response = self.ask(weir, **query)
        self.assertEqual(response.status, 200, response.body)
        self.assertEqual(response["Content-Type"], "application/json")
        for key in (HEAVY, LIGHT, OTHER):
            self.assertNotIn(key, response.body.decode())
        return response.json()

    def rows(self, weir, *members, **query):
        return [tuple(key[name] for name in members) for key in self.top(weir, **query)["keys"]]


class Top(TopCase):
    def check_counts(self, weir):
        self.assertEqual(self.top(weir)["keys"], [])
        self.assertEqual(self.send(weir, HEAVY, times=6), [200] * 2 + [429] * 4)
        self.assertEqual(self.send(weir, HEAVY, "/login", times=3), [429] * 3)
        self.assertEqual(self.send(weir, LIGHT, times=3), [200] * 2 + [429])
        self.assertEqual(self.send(weir, OTHER, "/free", times=2), [200] * 2)
        top = self.top(weir)
        self.assertEqual(top["by"], "requests")
        self.assertLess(0, top["window"])
        self.assertLess(top["window"], 61)
        self.assertEqual((top["total"]["requests"], top["total"]["denied"]), (21, 8))
        self.assertEqual(top["unseen"], {"requests": 0, "denied": 0, "early_retries": 0})
        members = ("identity", "policy", "route", "requests", "denied")
        self.assertEqual(sorted(self.rows(weir, *members)),
                         [("api_key", "narrow", "login", 3, 3), ("api_key", "narrow", "search", 3, 1),
                          ("api_key", "narrow", "search", 6, 4), ("client", "wide", "search", 9, 0)])
        for key in top["keys"]:
            self.assertEqual(key["client"], "127.0.0.1")
            self.assertEqual(key["error"], {"requests": 0, "denied": 0, "early_retries": 0})
        self.assertEqual(self.rows(weir, "denied", by="denied"), [(4,), (3,), (1,)])
        self.assertEqual(self.rows(weir, "requests", n=1), [(9,)])
        self.assertEqual(self.rows(weir, "requests", policy="wide"), [(9,)])
        self.assertEqual(self.rows(weir, "requests", route="login"), [(3,)])
        self.assertEqual(self.rows(weir, "requests", policy="narrow", route="search"), [(6,), (3,)])

    def test_counts_of_workers_with_the_memory_store(self):
        self.check_counts(self.in_memory())

    def test_counts_of_workers_with_redis(self):
        self.check_counts(self.in_redis())

    def check_early_retries(self, weir):
        self.assertEqual(self.send_apart(weir, HEAVY, "/login", times=2), [200] * 2)
        self.assertEqual(self.rows(weir, "requests", by="early_retries"), [])
        self.assertEqual(self.send_apart(weir, HEAVY, "/login"), [429])  # not early
        self.assertEqual(self.send_apart(weir, HEAVY, "/login", times=5), [429] * 5)
        self.assertEqual(self.send(weir, LIGHT, "/login"), [200])
        self.assertEqual(self.send_apart(weir, HEAVY, times=2), [429] * 2)  # the same key on another route
        self.assertEqual(self.rows(weir, "policy", "route", "early_retries", "denied", by="early_retries"),
                         [("narrow", "login", 5, 6), ("narrow", "search", 2, 2)])
        self.assertEqual(self.gauge(weir, "weir_early_retries_total", policy="narrow"), 7)
        self.assertEqual(self.gauge(weir, "weir_early_retries_total", policy="wide"), 0)

    # With several workers a retry that overtakes the answer on another worker's clock is not early.
    def test_early_retries_with_the_memory_store(self):
        self.check_early_retries(self.in_memory(workers=1))

    def test_early_retries_with_redis(self):
        self.check_early_retries(self.in_redis(workers=1))

    def test_hashes_are_those_of_the_log_and_reset_a_key(self):
        weir = self.in_memory(access_log={"path": "access.log"})
        self.send(weir, HEAVY, "/login", times=3)
        hash = self.rows(weir, "hash", by="denied")[0][0]
        eventually(lambda: len(self.log_lines(weir)) == 3, "the log")
        self.assertEqual({line["identity"] for line in self.log_lines(weir)}, {hash})
        with self.connect_admin(weir) as connection:
            target = "/v1/limits?" + urlencode({"policy": "narrow", "key": "hash:" + hash})
            self.assertEqual(connection.request("DELETE", target, {}, b"").status, 204)
        self.assertEqual(self.send(weir, HEAVY, "/login"), [200])

    def test_a_reload_keeps_the_counts_and_their_names(self):
        weir = self.in_memory()
        self.send(weir, HEAVY, times=2)
        config = copied(weir.configuration)
        config["routes"] = [config["routes"][1], config["routes"][0]]  # without `free`
        config["policies"] = {"new": {"rate": "1/1s"}, **dict(reversed(POLICIES.items()))}
        config["routes"][0]["limits"].append({"policy": "new", "key": "client"})
        weir.write(config)
        weir.signal(signal.SIGHUP)
        eventually(lambda: self.ask(weir, policy="new").status == 200, "the reload")
        self.send(weir, HEAVY, times=3)
        self.assertEqual(self.rows(weir, "policy", "route", "requests"),
                         [("narrow", "search", 5), ("wide", "search", 5)])
        self.assertEqual(self.ask(weir, route="free").status, 422)

    def test_what_is_wrong_with_a_query(self):
        weir = self.in_memory()
        for query, detail in (({"by": "hits"}, "requests, denied, early_retries"),
                              ({"n": 0}, "from 1 to 1000"), ({"n": "many"}, "from 1 to 1000"),
                              ({"policy": "narow"}, 'did you mean "narrow"?'),
                              ({"route": "x"}, "known here: search, login, free")):
            with self.subTest(query=query):
                self.assert_problem(self.ask(weir, **query), 422, detail)
        self.assert_problem(self.ask(weir, key=HEAVY), 400, "known are by, n, policy, route")
        with self.connect_admin(weir) as connection:
            self.assert_problem(connection.request("POST", "/v1/top", {}, b""), 405, "GET, HEAD")

    def test_the_list_needs_the_token(self):
        weir = self.in_memory(admin={**ADMIN, "token": "of-the-operator"})
        self.assert_problem(self.ask(weir), 401)

"""Overrides: other numbers for one client, no limit, or denied, put through the admin API and read by
the call that decides, in Redis and in the memory store."""

import hashlib
import json
import tempfile
from datetime import datetime
from pathlib import Path

from harness.limit_fields import limit_fields
from harness.override_case import (ALGORITHMS, KEY, OverrideCase, SetClock, in_an_hour, in_hours,
                                   other_numbers)
from harness.redis_case import answering
from harness.waiting import eventually
from harness.weir import run


class Kinds(OverrideCase):
    """An override of each kind, in each store."""

    def check_numbers(self, weir):
        for name in ALGORITHMS:
            with self.subTest(algorithm=name):
                answer = self.put(weir, policy=name, until=in_an_hour(), note="launch", **other_numbers(name))
                self.assertEqual(answer["note"], "launch")
                self.assertNotIn(KEY, json.dumps(answer))
                response = self.get(weir, name)
                self.assertEqual(response.status, 200)
                fields = limit_fields(response)
                self.assertEqual((fields.policies[name]["q"], fields.state[name]["r"]), (5, 4))
                self.assertEqual(response["RateLimit-Limit"], "5")
                if name not in ("leaky_bucket", "concurrency"):
                    self.assertEqual(self.statuses(weir, 5, name), [200] * 4 + [429])
                # Another client has the policy's numbers.
                self.assertEqual(limit_fields(self.get(weir, name, "another")).policies[name]["q"], 2)
                self.assertEqual(self.delete(weir, policy=name), 204)
                if name != "leaky_bucket":  # its next request would wait
                    self.assertEqual(limit_fields(self.get(weir, name)).policies[name]["q"], 2)

    def check_other_kinds(self, weir):
        self.exhaust(weir, "sliding_log")
        self.put(weir, unlimited=True, until=in_an_hour())
        response = self.get(weir, "sliding_log")
        self.assertEqual(response.status, 200)
        self.assertNotIn("RateLimit", response.fields)
        self.assertEqual(self.statuses(weir, 5, "sliding_log"), [200] * 5)
        self.put(weir, policy="gcra", deny=True, until=in_an_hour())
        self.assert_problem(self.get(weir), 403, "denied")
        self.assertNotIn("Retry-After", self.get(weir).fields)
        self.assertEqual(self.get(weir, "sliding_log").status, 200)
        self.put(weir, deny=True, until=in_an_hour())
        self.assertEqual(self.get(weir, "sliding_log").status, 403)
        self.assertEqual(self.get(weir, "gcra", "another").status, 200)
        self.assertEqual(len(self.ask(weir, "GET").json()["overrides"]), 2)
        self.assertEqual(self.delete(weir), 204)
        self.assertEqual(self.delete(weir), 404)
        self.assertEqual(self.get(weir, "sliding_log").status, 429)

    def check(self, weir):
        self.check_numbers(weir)
        self.check_other_kinds(weir)

    def test_in_the_memory_store(self):
        self.check(self.alone())

    def test_in_redis(self):
        self.check(self.shared()[0])

    def test_a_denial_in_shadow_mode_does_not_deny(self):
        shadow = {"gcra": {"rate": "2/10h", "mode": "shadow"}}
        weir = self.alone(policies=shadow, routes=[answering("/gcra", "gcra", "api_key")])
        self.put(weir, deny=True)
        self.assertEqual(self.get(weir).status, 200)


class Agreement(OverrideCase):
    def test_a_denied_client_passes_on_another_instance_at_its_next_request(self):
        first, second = self.shared(2, workers=2)
        for round in range(3):
            self.exhaust(second)
            # The denial is remembered, and used, by the second instance.
            self.assertEqual(self.statuses(second, 40), [429] * 40)
            self.put(first, policy="gcra", rate=f"{10 ** (round + 1)}/1s", until=in_an_hour())
            self.assertEqual(self.get(second).status, 200)
            self.put(first, policy="gcra", rate="1/10h", until=in_an_hour())
            self.exhaust(second)
            self.put(first, policy="gcra", unlimited=True, until=in_an_hour())
            self.assertEqual(self.statuses(second, 20), [200] * 20)
            self.put(first, policy="gcra", deny=True, until=in_an_hour())
            self.assertEqual(self.statuses(second, 20), [403] * 20)
            self.assertEqual(self.delete(first, policy="gcra"), 204)

    def test_they_survive_a_restart_with_redis(self):
        weir = self.shared()[0]
        self.put(weir, deny=True, until=in_an_hour(), note="abuse")
        weir.stop()
        weir = self.shared()[0]
        self.assertEqual(self.get(weir).status, 403)
        listed = self.ask(weir, "GET", identity="api_key", key=KEY).json()
        self.assertEqual([one["note"] for one in listed["overrides"]], ["abuse"])
        self.assertEqual(listed["store"], "redis")

    def test_they_are_lost_with_the_memory_store(self):
        weir = self.alone()
        self.assertEqual(self.put(weir, deny=True)["store"], "memory")
        weir.stop()
        self.assertEqual(self.get(self.alone()).status, 200)


class WallClock(OverrideCase):
    def test_overrides_in_memory_end_by_a_wall_clock_that_is_set(self):
        with tempfile.TemporaryDirectory() as directory:
            clock = SetClock(directory)
            weir = self.alone(environment=clock.environment)
            self.put(weir, deny=True, until=in_an_hour())
            self.assertEqual(self.get(weir).status, 403)
            clock.set(2 * 3600)
            eventually(lambda: self.get(weir).status == 200, "the end of the override")
            self.assertEqual(self.ask(weir, "GET").json()["overrides"], [])
            ended = {"identity": "api_key", "key": KEY, "deny": True, "until": in_an_hour()}
            self.assert_problem(self.ask(weir, "PUT", ended), 422, "the time has passed")
            self.put(weir, deny=True, until=in_hours(3))
            self.assertEqual(self.get(weir).status, 403)
            clock.set(-2 * 3600)
            self.put(weir, deny=True, until=in_an_hour())
            self.assertEqual(self.get(weir).status, 403)
            self.put(weir, deny=True, until=in_hours(-1))  # has not passed by this clock
            self.assertEqual(self.get(weir).status, 403)


class InRedis(OverrideCase):
    """The text under PREFIX{HASH}:!, written by hand."""

    def setUp(self):
        super().setUp()
        self.weir = self.shared()[0]
        self.hash = self.put(self.weir, deny=True, until=in_an_hour())["hash"]
        self.at = f"weir:{{{self.hash}}}:!"
        self.client = self.servers[0].client()
        self.addCleanup(self.client.close)

    def write(self, *lines, header="1"):
        self.client("SET", self.at, header + "\n" + "".join(line + "\n" for line in lines), "EX", 600)

    @staticmethod
    def line(name, rule, details=""):
        rest = f"{rule}\t{details}"
        total = hashlib.sha1(f"{name}\t{rest}".encode()).hexdigest()[:8]
        return f"{name}\t{total}\t{rest}"

    def test_no_key_is_there_in_plain_text(self):
        self.assertNotIn(KEY.encode(), self.client("GET", self.at))
        self.assertNotIn(KEY.encode(), b"".join(self.client("KEYS", "*")))

    def test_one_that_has_ended_does_not_count(self):
        now = int(datetime.now().timestamp() * 1e6)
        self.write(self.line("*", f"d {now - 1} "))
        self.assertEqual(self.get(self.weir).status, 200)
        self.assertEqual(self.ask(self.weir, "GET").json()["overrides"], [])
        self.write(self.line("*", f"d {now + 600_000_000} "))
        self.assertEqual(self.get(self.weir, "sliding_log").status, 403)

    def test_one_that_ends_ends_at_that_time(self):
        seconds, us = self.client("TIME")
        ends = int(seconds) * 1_000_000 + int(us) + 300_000
        self.write(self.line("*", f"d {ends} "))
        statuses = set()
        eventually(lambda: statuses.add(self.get(self.weir).status) or 200 in statuses, "its end")
        self.assertLessEqual(statuses, {200, 403})
        seconds, us = self.client("TIME")
        self.assertGreaterEqual(int(seconds) * 1_000_000 + int(us), ends)

    def test_malformed_ones_mean_the_policys_numbers_and_one_log_line(self):
        whole = self.line("gcra", "n 0 5 18000000000 5 5 18000000000", '"rate":"5/5h"')
        self.write(whole)
        self.assertEqual(limit_fields(self.get(self.weir)).policies["gcra"]["q"], 5)
        for text in (whole.replace(" 5 5 ", " 9 5 "), whole[:-1], "gcra\t", "gcra\tzz\tx\ty",
                     self.line("gcra", "x 0 ", ""), self.line("gcra", "n 0 4 1 5 5 1", ""),
                     self.line("gcra", "n ", "")):
            with self.subTest(text=text):
                self.write(text)
                self.client("DEL", f"weir:{{{self.hash}}}:gcra:g1")
                self.assertEqual(limit_fields(self.get(self.weir)).policies["gcra"]["q"], 2)
        self.write(whole, header="2")
        self.assertEqual(limit_fields(self.get(self.weir)).policies["gcra"]["q"], 2)
        lines = [line for line in self.weir.stderr.splitlines() if "override of policy" in line]
        self.assertEqual(len(lines), 1, self.weir.stderr)
        self.assertIn(f"hash:{self.hash}", lines[0])
        self.assertNotIn(KEY, self.weir.stderr)
        self.assertTrue(self.ask(self.weir, "GET").json()["overrides"][0]["malformed"])

    def test_an_entry_that_no_decision_reads_is_listed_and_not_logged(self):
        """A decision reads the entries of its policies and the one for all."""
        self.write("no\x1b[2Jbody\tzz\tx\ty", "no tab at all", self.line("gcra", "u 0 ", '"unlimited":true'))
        for name in ALGORITHMS:
            self.assertEqual(self.get(self.weir, name).status, 200)
        self.assertNotIn("override of policy", self.weir.stderr)
        listed = self.ask(self.weir, "GET").json()["overrides"]
        self.assertEqual([(one.get("policy"), one.get("malformed")) for one in listed],
                         [("no\x1b[2Jbody", True), (None, True), ("gcra", None)])
        done = run("limits", "overrides", "--admin", "http://{}:{}".format(*self.weir.admin_address))
        self.assertIn("policy no?[2Jbody: malformed\n", done.stdout)

    def test_a_value_of_another_type_is_logged_listed_and_replaced(self):
        self.client("DEL", self.at)
        for words in (("LPUSH", "x"), ("SADD", "x"), ("HSET", "f", "x"), ("ZADD", 1, "x"),
                      ("XADD", "*", "f", "x")):
            with self.subTest(type=words[0]):
                key = "customer-" + words[0]  # each has a bucket of its own
                hash = self.put(self.weir, key, deny=True, until=in_an_hour())["hash"]
                at = f"weir:{{{hash}}}:!"
                self.client("DEL", at)
                self.client(words[0], at, *words[1:])
                self.client("EXPIRE", at, 600)
                for name in ALGORITHMS:
                    response = self.get(self.weir, name, key)
                    self.assertEqual(response.status, 200)
                    self.assertEqual(limit_fields(response).policies[name]["q"], 2)
                self.assertEqual(self.statuses(self.weir, 2, key=key), [200, 429])
                for query in {}, {"identity": "api_key", "key": key}:
                    listed = self.ask(self.weir, "GET", **query).json()
                    self.assertEqual(listed["overrides"], [{"hash": hash, "malformed": True}])
                self.put(self.weir, key, policy="gcra", rate="5/5h", until=in_an_hour())
                self.assertEqual(self.client("TYPE", at), b"string")
                self.assertEqual(limit_fields(self.get(self.weir, key=key)).policies["gcra"]["q"], 5)
                # A deletion removes it as well, though it has no entry to delete.
                self.client("DEL", at)
                self.client(words[0], at, *words[1:])
                self.assertEqual(self.delete(self.weir, key, policy="gcra"), 404)
                self.assertEqual(self.client("EXISTS", at), 0)
        lines = [line for line in self.weir.stderr.splitlines() if "override of policy" in line]
        self.assertEqual(len(lines), 1, self.weir.stderr)
        self.assertIn("cannot be read", lines[0])


class Refusals(OverrideCase):
    def test_bad_requests_are_refused_with_what_to_write(self):
        weir = self.alone()
        good = {"identity": "api_key", "key": KEY, "policy": "gcra"}
        for members, detail in (
                ({"deny": True, "rate": "5/1h"}, "rate, deny exclude each other"),
                ({"burst": "5"}, "burst: expected a whole number"),
                ({"plan": "gold"}, "no plan has the name"),
                ({"limit": 5}, "limit has no meaning for gcra"),
                ({"rate": "5/1h", "until": "2020-01-01T00:00:00Z"}, "has passed"),
                ({"rate": "5/1h", "identity": "nobody"}, "no identity")):
            with self.subTest(members=members):
                response = self.ask(weir, "PUT", {**good, **members})
                self.assert_problem(response, 422, detail)
                self.assertNotIn(KEY, response.body.decode())
        self.assert_problem(self.ask(weir, "DELETE", identity="api_key"), 422, "key is missing")
        self.assert_problem(self.ask(weir, "GET", policy="gcrs"), 422, 'did you mean "gcra"')
        for method in ("GET", "DELETE"):
            response = self.connect_admin(weir).request(method, "/v1/overrides?identity=%zz&key=a")
            self.assert_problem(response, 422, "identity: % is not followed by two hexadecimal digits")
        self.assertEqual(self.ask(weir, "GET").json()["overrides"], [])
        for body, status, detail in ((b"{" + b" " * 20_000, 413, None), (b"{" + b" " * 1_060_000, 413, None),
                                     (b"[", 422, "JSON object")):
            with self.connect_admin(weir) as connection:
                self.assert_problem(connection.request("PUT", "/v1/overrides", {}, body), status, detail)

    def test_the_names_that_overrides_use_are_no_names_of_policies(self):
        with tempfile.TemporaryDirectory() as directory:
            file = Path(directory) / "weir.yaml"
            for name in ("!", "*"):
                file.write_text(f'policies: {{"{name}": {{rate: 5/1s}}}}\n'
                                "routes: [{respond: {status: 200}}]\n")
                done = run("check", str(file))
                self.assertEqual(done.returncode, 2)
                self.assertIn(f"cannot have the name {name}", done.stdout)

    def test_without_redis_they_cannot_be_changed(self):
        weir = self.shared()[0]
        self.servers[0].stop()
        body = {"identity": "api_key", "key": KEY, "deny": True}
        eventually(lambda: self.ask(weir, "PUT", body).status == 503, "a refusal")
        self.assert_problem(self.ask(weir, "PUT", body), 503, "redis is not reachable: nothing was changed")
        self.assert_problem(self.ask(weir, "GET"), 503, "redis is not reachable;")

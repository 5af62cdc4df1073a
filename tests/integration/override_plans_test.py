"""Overrides and plans: which of them counts, overrides that name a plan, and `weir explain --live`."""

import json

from harness.limit_fields import limit_fields
from harness.override_case import ALGORITHMS, KEY, OverrideCase, in_an_hour, other_numbers
from harness.waiting import eventually
from harness.weir import run


class WithPlans(OverrideCase):
    SECTIONS = {
        "client_address": {"trusted_proxies": ["127.0.0.0/8"]},
        "plans": {"gold": {"gcra": {"rate": "7/10h"}, "fixed_window": "unlimited"},
                  "internal": {name: "unlimited" for name in ALGORITHMS}},
        "plan_from": [{"header": "x-plan"}],
    }

    def get_as(self, weir, plan, name="gcra"):
        with weir.connect() as client:
            return client.request("GET", f"/{name}", {"X-Api-Key": KEY, "X-Plan": plan})

    def quota(self, weir, plan, name):
        """The quota in force; None: there is no limit."""
        response = self.get_as(weir, plan, name)
        return limit_fields(response).policies[name]["q"] if response["RateLimit-Policy"] else None

    def check_unlimited(self, weir):
        for name in ALGORITHMS:
            with self.subTest(algorithm=name):
                self.assertEqual([self.get_as(weir, "internal", name).status for _ in range(4)], [200] * 4)
                self.assertIsNone(self.quota(weir, "internal", name))
                self.put(weir, policy=name, until=in_an_hour(), **other_numbers(name))
                # Nothing was counted before.
                fields = limit_fields(self.get_as(weir, "internal", name))
                self.assertEqual((fields.policies[name]["q"], fields.state[name]["r"]), (5, 4))
                self.put(weir, policy=name, deny=True, until=in_an_hour())
                self.assertEqual(self.get_as(weir, "internal", name).status, 403)
                self.assertEqual(self.delete(weir, policy=name), 204)
                self.assertIsNone(self.quota(weir, "internal", name))

    def check_plan(self, weir):
        self.put(weir, plan="gold", until=in_an_hour())
        for plan in ("", "internal"):
            self.assertEqual(self.quota(weir, plan, "gcra"), 7)
            self.assertIsNone(self.quota(weir, plan, "fixed_window"))
            self.assertEqual(self.quota(weir, plan, "sliding_log"), 2)
        # An override of the policy counts before one for all policies.
        self.put(weir, policy="sliding_log", plan="internal", until=in_an_hour())
        self.assertIsNone(self.quota(weir, "gold", "sliding_log"))
        listed = self.ask(weir, "GET").json()["overrides"]
        self.assertEqual({one.get("policy"): one.get("plan") for one in listed},
                         {None: "gold", "sliding_log": "internal"})
        self.assertEqual(self.delete(weir), 204)
        self.assertIsNone(self.quota(weir, "internal", "gcra"))
        self.put(weir, deny=True, until=in_an_hour())
        self.assertEqual(self.get_as(weir, "internal").status, 403)

    def check(self, weir):
        self.check_unlimited(weir)
        self.check_plan(weir)

    def test_they_count_before_plans_in_the_memory_store(self):
        self.check(self.alone(**self.SECTIONS))

    def test_they_count_before_plans_in_redis(self):
        self.check(self.shared(**self.SECTIONS)[0])

    def test_without_redis_a_client_without_limit_passes(self):
        weir = self.shared(**self.SECTIONS)[0]
        self.servers[0].stop()
        eventually(lambda: self.get_as(weir, "gold").status == 503, "a failure")
        self.assertEqual([self.get_as(weir, "internal").status for _ in range(3)], [200] * 3)


class Explain(OverrideCase):
    def explain(self, weir, *arguments, name="gcra"):
        options = ("--config", str(weir.file), "--live", "http://{}:{}".format(*weir.admin_address),
                   "-H", f"X-Api-Key: {KEY}", *arguments, f"http://a/{name}")
        done = run("explain", "--json", *options)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return json.loads(done.stdout), run("explain", *options).stdout

    def test_explain_shows_the_override_in_force(self):
        weir = self.alone(**WithPlans.SECTIONS)
        found, _ = self.explain(weir)
        self.assertEqual(found["limits"][0]["numbers"]["from"], "policy")
        self.put(weir, policy="gcra", rate="5/5h", until=in_an_hour(), note="launch")
        for plan in ("gold", "internal"):
            found, text = self.explain(weir, "-H", f"X-Plan: {plan}")
            self.assertEqual(found["limits"][0]["numbers"],
                             {"rate": "5/5h", "limit": 5, "window": 18000, "burst": 5, "from": "override"})
            self.assertEqual(found["limits"][0]["remaining"], 4)
            self.assertIn("gcra: gcra 5/5h, 5 at once (from the override)", text)
        self.put(weir, policy="concurrency", limit=5, until=in_an_hour())
        found, _ = self.explain(weir, name="concurrency")
        self.assertEqual(found["limits"][0]["numbers"], {"limit": 5, "from": "override"})
        self.put(weir, policy="gcra", unlimited=True)
        found, text = self.explain(weir)
        self.assertEqual(found["limits"][0]["numbers"], {"unlimited": True, "from": "override"})
        self.assertFalse(found["limits"][0]["applies"])
        self.assertIn("no: the override sets unlimited", text)
        self.put(weir, deny=True)
        found, text = self.explain(weir, "-H", "X-Plan: internal")
        self.assertEqual(found["limits"][0]["numbers"], {"denied": True, "from": "override"})
        self.assertEqual((found["verdict"]["outcome"], found["verdict"]["status"]), ("refused", 403))
        self.assertIn("denied by an override", text)
        self.put(weir, plan="gold")
        found, _ = self.explain(weir, name="sliding_log")
        self.assertEqual(found["limits"][0]["numbers"]["limit"], 2)

    def test_explain_shows_the_present_state_and_charges_nothing(self):
        weir = self.alone()
        self.assertEqual(self.get(weir).status, 200)
        for _ in range(2):
            found, text = self.explain(weir)
            live = found["limits"][0]["live"]
            self.assertEqual((live["store"], live["remaining"], live["limit"]), ("memory", 1, 2))
            self.assertRegex(text, r"(?m)^ +now +.*1")
        self.exhaust(weir)
        found, _ = self.explain(weir)
        self.assertGreater(found["limits"][0]["live"]["retry_after"], 0)

    def test_explain_warns_of_another_configuration(self):
        weir = self.alone()
        other = weir.file.with_name("other.yaml")
        other.write_text(weir.file.read_text().replace("10h", "9h"))
        done = run("explain", "--config", str(other), "--live", "http://{}:{}".format(*weir.admin_address),
                   "-H", f"X-Api-Key: {KEY}", "http://a/gcra")
        self.assertEqual(done.returncode, 0)
        self.assertIn("runs another configuration", done.stderr)

    def test_explain_without_redis_has_what_the_file_has(self):
        weir = self.shared()[0]
        self.servers[0].stop()
        command = ("explain", "--config", str(weir.file), "--live", "http://{}:{}".format(*weir.admin_address),
                   "-H", f"X-Api-Key: {KEY}", "http://a/gcra")
        done = eventually(lambda: (once := run(*command, "--json")).returncode and once, "the loss of Redis")
        limit = json.loads(done.stdout)["limits"][0]
        self.assertEqual((done.returncode, limit["policy"], limit["allowed"]), (1, "gcra", True))
        self.assertNotIn("live", limit)
        self.assertRegex(done.stderr, r"^weir explain: http://\S+: redis .*without overrides and the present state\n$")
        text = run(*command)
        self.assertEqual((text.returncode, text.stderr), (1, done.stderr))
        self.assertRegex(text.stdout, "(?m)^verdict +allowed")

    def test_explain_needs_an_answer_of_the_instance(self):
        weir = self.alone(admin={"address": "127.0.0.1:0", "token": "open-sesame"})
        done = run("explain", "--config", str(weir.file), "--live",
                   "http://{}:{}".format(*weir.admin_address), "-H", f"X-Api-Key: {KEY}", "http://a/gcra")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertRegex(done.stderr, r"^weir explain: http://\S+: .*token")

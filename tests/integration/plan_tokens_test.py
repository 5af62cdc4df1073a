"""Plans that a claim of a verified token names."""

import json
import tempfile
import time
from pathlib import Path

from harness.issuers import SECRET, signed
from harness.limit_fields import items
from harness.plan_case import PLANS, PlanCase
from harness.waiting import eventually
from harness.weir import run

PROVIDER = {"algorithms": ["HS256"], "secret": SECRET}


def token(**claims):
    return signed({"sub": "alice", "exp": int(time.time()) + 3600, **claims})


class Tokens(PlanCase):
    def begin(self, **sections):
        super().begin([{"policy": "p", "key": "client"}], **{
            "jwt_providers": {"idp": PROVIDER}, "default_plan": "internal",
            "plan_from": [{"jwt": {"provider": "idp", "claim": "realm.plan"}}, {"header": "x-plan"}],
            **sections})

    def ask(self, text=None, fields=()):
        bearer = [("Authorization", f"Bearer {text}")] if text else []
        return self.client.request("GET", "/", [*bearer, *fields])

    def quota(self, *arguments, **options):
        response = self.ask(*arguments, **options)
        self.assertEqual(response.status, 200)
        return items(response["RateLimit-Policy"] or "").get("p", {}).get("q")

    def test_a_claim_names_the_plan(self):
        self.begin()
        self.assertEqual(self.quota(token(realm={"plan": "gold"})), 5)
        self.assertIsNone(self.quota(token(realm={"plan": ["free"]})))
        self.assertEqual(self.quota(token(), fields=[("X-Plan", "free")]), 3)
        self.assertEqual(self.quota(fields=[("X-Plan", "free")]), 3)
        self.assertEqual([line["plan"] for line in self.logged(4)],
                         ["gold", "internal", "free", "free"])

    def test_an_unknown_name_is_the_default(self):
        self.begin()
        self.assertIsNone(self.quota(token(realm={"plan": "platinum"}), fields=[("X-Plan", "free")]))
        eventually(lambda: 'no plan is called "platinum"' in self.weir.stderr, "it is logged")
        self.assertIn('"platinum", which a request names (claim realm.plan of idp); the default plan counts. '
                      "Add it to plans, or correct the issuer of the token", self.weir.stderr)
        self.assertIsNone(self.quota(fields=[("X-Plan", "platinum")]))
        eventually(lambda: '"platinum", which a request names (header x-plan)' in self.weir.stderr,
                   "it is logged for the other source, too")

    def test_an_invalid_token_names_no_plan_and_is_limited_by_the_default(self):
        self.begin(default_plan="gold")
        bad = token(realm={"plan": "internal"})[:-4] + "AAAA"
        self.assertEqual([self.ask(bad).status for _ in range(6)], [401] * 5 + [429])

    def test_an_invalid_token_meets_no_condition(self):
        self.begin()
        config = {**self.weir.configuration, "plans": {name: {} for name in PLANS}}
        config["routes"][0]["limits"][0]["unless"] = {"plan": ["internal"]}
        self.reload(config)
        self.assertEqual(self.ask(token(realm={"plan": "internal"})[:-4] + "AAAA").status, 401)
        self.assertEqual(self.quota(token(realm={"plan": "gold"})), 3)

    def test_a_file_may_list_subjects(self):
        with tempfile.TemporaryDirectory(prefix="weir-plans-") as directory:
            file = Path(directory) / "plans.tsv"
            file.write_text("acme\tgold\n5\tfree\n")
            self.begin(identities={"user": {"jwt": {"provider": "idp", "claim": "tenant"}}},
                       plan_from=[{"file": str(file), "key": "user"}])
            self.assertEqual(self.quota(token(tenant="acme")), 5)
            self.assertEqual(self.quota(token(tenant="5")), 3)
            self.assertIsNone(self.quota(token(tenant=5)))
            self.assertEqual(self.ask(token()[:-4] + "AAAA").status, 401)

    def test_commands_show_the_claim(self):
        self.begin()
        file = str(self.weir.file)
        shown = run("check", "--verbose", file).stdout
        self.assertIn("plan of a request: claim realm.plan of idp, header x-plan, else internal\n", shown)
        for text, plan, source in [
            (token(realm={"plan": "gold"}), "gold", "claim realm.plan of idp"),
            (token()[:-4] + "AAAA", "internal",
             "claim realm.plan of idp: the token is invalid or cannot be verified"),
        ]:
            found = json.loads(run("explain", "-c", file, "--json", "-H", f"Authorization: Bearer {text}",
                                   "http://a/").stdout)
            self.assertEqual((found["plan"], found["plan_from"]), (plan, source))

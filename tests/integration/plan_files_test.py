"""Plans by a file of identities that changes while the program runs, and what commands show of plans."""

import json
import tempfile
from pathlib import Path

from harness.case import limited
from harness.exposition import labelled
from harness.limit_fields import items
from harness.plan_case import API_KEY, BY_HEADER, POLICIES, PlanCase
from harness.preload import fast_clock
from harness.reload_case import copied
from harness.waiting import eventually
from harness.weir import run


class Files(PlanCase):
    def setUp(self):
        super().setUp()
        directory = tempfile.TemporaryDirectory(prefix="weir-plans-")
        self.addCleanup(directory.cleanup)
        self.directory = Path(directory.name)
        self.file = self.directory / "plans.tsv"

    def begin(self, key="api_key", **options):
        """The file is checked every tenth of a second."""
        super().begin(plan_from=[{"file": str(self.file), "key": key}], environment=fast_clock(10), **options)

    def quota(self, key):
        return self.policy_of(key=key)["p"][0]

    def file_reloads(self, result):
        return labelled(self.scrape(), "weir_file_reloads_total", kind="plan_file", result=result)

    def test_a_file_that_changes_counts_without_a_reload(self):
        self.file.write_bytes(b"\xef\xbb\xbf# customers\r\nacme\tgold\r\n\r\n  \r\nnew one\tfree # x\r\n")
        self.begin(default_plan="gold")
        self.assertEqual((self.quota("acme"), self.quota("new one"), self.quota("other")), (5, 3, 5))
        self.assertEqual(labelled(self.scrape(), "weir_plan_file_identities", file=str(self.file)), 2)
        self.file.write_text("acme\tfree\n")
        eventually(lambda: self.quota("acme") == 3, "the changed file counts")
        self.assertEqual(self.quota("new one"), 5)
        new = self.directory / "new"
        new.write_text("acme\tgold\nb\tfree\nc\tfree\n")
        new.rename(self.file)
        eventually(lambda: self.quota("b") == 3, "the new file counts")
        self.assertEqual(self.quota("acme"), 5)
        eventually(lambda: self.file_reloads("ok") == 2, "two files are counted")
        self.assertEqual((self.file_reloads("failed"), self.reloads()), (0, 0))
        self.assertIn(f"info plan file {self.file}: file read again, 3 identities", self.weir.stderr)
        self.assertNotIn("acme", self.weir.stderr)

    def test_the_state_of_a_key_is_that_of_its_plan(self):
        self.file.write_text("acme\tgold\n")
        self.begin(default_plan="free", admin={"address": "127.0.0.1:0"})
        for key, plan, limit in (("acme", "gold", 5), ("other", "free", 3)):
            self.assertEqual(self.quota(key), limit)
            with self.connect_admin(self.weir) as admin:
                state = admin.get(f"/v1/limits?policy=p&identity=api_key&key={key}").json()
                by_hash = admin.get(f"/v1/limits?policy=p&identity=api_key&key=hash:{state['hash']}").json()
                named = admin.get(f"/v1/limits?policy=p&identity=api_key&key={key}&plan=internal").json()
            self.assertEqual((state["plan"], state["numbers"]["limit"], state["remaining"]), (plan, limit, limit - 1))
            self.assertEqual((by_hash["plan"], by_hash["numbers"]), (plan, state["numbers"]))
            self.assertEqual((named["plan"], named["numbers"]), ("internal", {"unlimited": True, "from": "plan"}))
        shown = run("limits", "show", "--identity", "api_key", "--policy", "p", "--key", "acme",
                    "--admin", "http://{}:{}".format(*self.weir.admin_address))
        self.assertIn("4 of 5 left (limit of the plan gold)", shown.stdout)

    def test_the_last_good_file_stays(self):
        self.file.write_text("acme\tgold\n")
        self.begin()
        self.file.write_text("acme\tfree\ns3cr3t gold\n")
        eventually(lambda: self.file_reloads("failed") == 1, "a failure is counted")
        self.assertEqual(self.quota("acme"), 5)
        self.assertIn(f'error plan file {self.file}: file "{self.file}" line 2: expected an identity, '
                      "a TAB and the name of a plan", self.weir.stderr)
        self.assertIn("the previous content stays in use, 1 identity\n", self.weir.stderr)
        self.assertNotIn("s3cr3t", self.weir.stderr)
        self.assertEqual(self.reload_fails()[0]["path"], "plan_from[0].file")
        self.file.unlink()
        eventually(lambda: self.file_reloads("failed") == 2, "the missing file is counted")
        self.file.write_text("")
        eventually(lambda: self.file_reloads("failed") == 3, "the empty file is counted")
        self.assertEqual(self.quota("acme"), 5)
        self.file.write_text("# nobody\n")
        eventually(lambda: self.quota("acme") == 3, "a file without identities counts")

    def test_an_identity_may_be_written_as_its_hash(self):
        self.file.write_text("# none\n")
        self.begin()
        self.get(key="acme")
        logged = self.logged(1)[0]["identity"]
        self.assertRegex(logged, r"^[0-9a-f]{32}$")
        self.file.write_text(f"hash:{logged.upper()}\tgold\n")
        eventually(lambda: self.quota("acme") == 5, "the hash counts")
        self.assertEqual(self.quota("other"), 3)

    def test_a_plan_of_the_file_that_is_unknown_is_the_default(self):
        self.file.write_text("acme\tplatinum\nb\tgold\n")
        self.begin()
        self.assertIn(f'line 1: no plan is called "platinum", so the default counts', self.weir.stderr)
        self.assertEqual((self.quota("acme"), self.quota("b")), (3, 5))
        self.assertEqual(labelled(self.scrape(), "weir_unknown_plans_total"), 1)

    def test_every_kind_of_identity(self):
        for source, value, target, fields in [
            ({"header": "x-user"}, "Ann", "/", [("X-User", " Ann ")]),
            ({"header": "authorization"}, "t0ken", "/", [("Authorization", "Bearer t0ken")]),
            ({"header": "authorization"}, "Bearer t0ken", "/", [("Authorization", "t0ken")]),
            ({"query": "user"}, "a b/c", "/?user=a%20b%2Fc", []),
            ({"cookie": "sid"}, "a b", "/", [("Cookie", "sid=a%20b")]),
            ({"client_address": {}}, "192.0.2.7", "/", [("X-Forwarded-For", "192.0.2.7")]),
            ({"client_address": {}}, "2001:db8::1", "/", [("X-Forwarded-For", "2001:db8::ffff")]),
            ({"path": "tenant"}, "acme", "/t/acme", []),
            ({"path": {}}, "/t/acme", "/t/acme", []),
            ({"any_of": [{"header": "x-user"}, {"query": "user"}]}, "Ann", "/?user=Ann", []),
        ]:
            with self.subTest(source=source, value=value):
                self.file.write_text(f"{value}\tgold\n")
                answer = {"status": 200, "body": ""}
                limits = [{"policy": "p", "key": "client"}]
                self.begin(key="who", identities={"who": source}, routes=[
                    {"match": {"path": "/t/{tenant}"}, "respond": answer, "limits": limits},
                    {"respond": answer, "limits": limits}])
                response = self.client.request("GET", target, fields)
                self.assertEqual(items(response["RateLimit-Policy"])["p"]["q"], 5)
                other = self.client.request("GET", "/other", [])
                self.assertEqual(items(other["RateLimit-Policy"])["p"]["q"], 3)
                self.client.close()
                self.weir.stop()

    def test_an_identity_that_services_may_read_differently_is_400(self):
        self.file.write_text("a\tgold\n")
        self.begin(key="user", identities={"user": {"query": "user"}})
        self.assert_problem(self.client.request("GET", "/?user=a&user=b", [("X-Api-Key", "k")]), 400)

    def test_the_first_source_that_names_a_plan_counts(self):
        self.file.write_text("acme\tgold\nb\tinternal\n")
        PlanCase.begin(self, plan_from=[{"file": str(self.file), "key": "api_key"},
                                        {"header": "x-plan"}], default_plan="internal")
        self.assertEqual(self.policy_of("free", key="acme"), {"p": (5, 4)})
        self.assertEqual(self.policy_of("free", key="c"), {"p": (3, 2)})
        self.assertEqual(self.policy_of(key="c"), {})

    def test_a_reload_keeps_the_running_secret_for_the_file(self):
        self.file.write_text("acme\tgold\n")
        self.begin(identity_secret="one")
        config = copied(self.weir.configuration)
        config["identity_secret"] = "two"
        self.assertEqual(self.reload(config)["restart_needed"], ["identity_secret"])
        self.assertEqual(self.quota("acme"), 5)
        self.file.write_text("acme\tgold\nb\tgold\n")
        eventually(lambda: self.quota("b") == 5, "the changed file counts")
        self.assertEqual(self.quota("acme"), 5)

    def test_requests_continue_while_a_large_file_changes(self):
        lines = "".join(f"key-{i}\tfree\n" for i in range(100_000))
        self.file.write_text("acme\tgold\n" + lines)
        self.begin(policies={"p": {"algorithm": "fixed_window", "rate": "100000/260d"}},
                   plans={"free": {}, "gold": {"p": {"rate": "200000/260d"}}})
        for i in range(3):
            self.file.write_text(f"acme\tgold\nnew-{i}\tgold\n" + lines)
            seen = []
            eventually(lambda: seen.append(self.quota("acme")) or
                       self.quota(f"new-{i}") == 200000, "the new file counts")
            self.assertEqual(set(seen), {200000})


class Check(PlanCase):
    def setUp(self):
        super().setUp()
        directory = tempfile.TemporaryDirectory(prefix="weir-plans-")
        self.addCleanup(directory.cleanup)
        self.file = Path(directory.name) / "weir.yaml"
        self.plans = Path(directory.name) / "plans.tsv"
        self.plans.write_text("acme\tgold\n")

    def write(self, **sections):
        config = limited(POLICIES, [{"policy": "p", "key": "api_key"}], API_KEY,
                         **{**BY_HEADER, **sections})
        self.file.write_text(json.dumps(config))

    def test_check_shows_plans(self):
        self.write(plan_from=[{"header": "x-plan"}, {"file": "plans.tsv", "key": "api_key"}],
                   default_plan="free", routes=[
                       {"name": "b", "respond": {}, "limits": [
                           {"policy": "p", "unless": {"plan": ["gold", "internal"]}}]},
                       {"name": "c", "match": {"path": "/c"}, "respond": {}, "limits": [{"policy": "q"}]}])
        result = run("check", "--verbose", str(self.file))
        self.assertIn("plan free: the numbers of the policies\n"
                      "plan gold: p 5/260d, 5 at once; q 100/1h, 2 at once\n"
                      "plan internal: p unlimited\n"
                      f"plan of a request: header x-plan, file {self.plans} of api_key (1 identity), "
                      "else free\n", result.stdout)
        self.assertIn("; unless plan gold or internal\n", result.stdout)

    def test_a_bad_file_is_an_error_with_its_line(self):
        self.plans.write_text("a\tgold\nb\n")
        self.write(plan_from=[{"file": "plans.tsv", "key": "api_key"}])
        for command in ["check", str(self.file)], ["serve", "--config", str(self.file)]:
            result = run(*command)
            self.assertEqual(result.returncode, 2)
            self.assertIn(f'plan_from[0].file: file "{self.plans}" line 2: expected an identity',
                          result.stdout + result.stderr)
        self.plans.unlink()
        self.assertIn(f'cannot read file "{self.plans}": No such file', run("check", str(self.file)).stdout)

    def explain(self, *arguments, **options):
        found = run("explain", "--config", str(self.file), "--json", *arguments, "http://a/", **options)
        text = run("explain", "--config", str(self.file), *arguments, "http://a/", **options)
        return json.loads(found.stdout), text.stdout

    def test_explain_shows_the_plan_and_where_numbers_come_from(self):
        self.write(plan_from=[{"header": "x-plan"}, {"file": "plans.tsv", "key": "api_key"}],
                   default_plan="free")
        peer = ["--peer", "127.0.0.1"]
        found, text = self.explain(*peer, "-H", "X-Api-Key: acme")
        self.assertEqual((found["plan"], found["plan_from"]), ("gold", f"file {self.plans}"))
        self.assertEqual(found["limits"][0]["numbers"],
                         {"rate": "5/260d", "limit": 5, "window": 260 * 86400, "from": "plan"})
        self.assertEqual(found["limits"][0]["remaining"], 4)
        self.assertRegex(text, r"(?m)^plan +gold \(file ")
        self.assertIn("p: fixed_window 5/260d, 5 at once (from the plan)", text)

        found, text = self.explain(*peer, "-H", "X-Api-Key: b", "-H", "X-Plan: internal")
        self.assertEqual((found["plan"], found["plan_from"]), ("internal", "header x-plan"))
        self.assertEqual(found["limits"][0]["numbers"], {"unlimited": True, "from": "plan"})
        self.assertFalse(found["limits"][0]["applies"])
        self.assertIn("no: the plan sets unlimited", text)
        self.assertIn("p: fixed_window unlimited (from the plan)", text)

        found, text = self.explain(*peer, "-H", "X-Api-Key: b", "-H", "X-Plan: platinum")
        self.assertEqual((found["plan"], found["plan_from"]),
                         ("free", "default_plan: header x-plan names an unknown plan"))
        self.assertEqual(found["limits"][0]["numbers"]["from"], "policy")
        found, text = self.explain("--peer", "192.0.2.1", "-H", "X-Api-Key: b", "-H", "X-Plan: gold")
        self.assertEqual((found["plan"], found["plan_from"]),
                         ("free", "default_plan: no source names a plan"))

    def test_explain_shows_the_condition(self):
        self.write(routes=[{"name": "b", "respond": {}, "limits": [
            {"policy": "p", "key": "client", "when": {"plan": ["gold"]}}]}])
        found, text = self.explain("-H", "X-Plan: gold")
        self.assertIn("when: plan gold is listed", found["limits"][0]["because"])
        found, text = self.explain("-H", "X-Plan: free")
        self.assertEqual(found["limits"][0]["because"], "when: plan free is not listed")
        found, text = self.explain()
        self.assertEqual(found["limits"][0]["because"], "when: no plan is in force")
        self.assertIsNone(found["plan"])

    def test_a_field_from_a_variable_is_shown_as_written(self):
        self.write(plan_from=[{"header": "${FIELD}"}])
        found, text = self.explain("-H", "X-Api-Key: b", "-H", "X_Tier: gold", env={"FIELD": "x-tier"})
        self.assertEqual(found["verdict"]["status"], 400)
        self.assertIn('"${FIELD}"', found["verdict"]["detail"])
        self.assertNotIn("x-tier", text)
        found, text = self.explain("-H", "X-Api-Key: b", "-H", "X-Tier: gold", env={"FIELD": "x-tier"})
        self.assertEqual((found["plan"], found["plan_from"]), ("gold", "header ${FIELD}"))

    def test_numbers_from_variables_are_not_shown(self):
        self.write(plans={"gold": {"p": {"rate": "${GOLD_RATE}"}, "q": {"burst": 7}}})
        variables = {"GOLD_RATE": "77/260d"}
        shown = run("check", "--verbose", str(self.file), env=variables)
        self.assertIn("plan gold: p ${GOLD_RATE}, (from the environment) at once; q 10/1h, 7 at once",
                      shown.stdout)
        found, text = self.explain("-H", "X-Api-Key: b", "-H", "X-Plan: gold", env=variables)
        self.assertEqual(found["limits"][0]["numbers"]["rate"], "${GOLD_RATE}")
        self.assertNotIn("77", text + json.dumps(found))

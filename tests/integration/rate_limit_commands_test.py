"""What commands and metrics show of calls of the rate limit service."""

import json

from harness.case import configuration
from harness.exposition import labelled
from harness.redis_case import SECRET
from harness.rls_case import RlsCase, domain, limit
from harness.weir import run


class Commands(RlsCase):
    def command(self, name, *arguments, **options):
        result = run(name, "--config", str(self.weir.file), *arguments, **options)
        self.assertEqual((result.returncode, result.stderr), (0, ""), result)
        return result.stdout

    def test_explain_and_hash_show_the_key_of_the_log(self):
        self.serve_limits(domain(limit("user", 3, "year"), limit("path", 5, "year", value="/files/*", share_threshold=True)),
                          identity_secret=SECRET, access_log={"path": "access.log"})
        entries = {"user": "al=ice s3cret", "path": "/files/7"}
        self.ask_json({"domain": "d", "descriptors": [{"entries": [{"key": key, "value": value}]}
                                                      for key, value in entries.items()]})
        admin = "http://%s:%d" % self.weir.admin_address
        text = self.command("explain", "--domain", "d", "--descriptor", "user=al=ice s3cret",
                            "--descriptor", "path=/files/7", "--live", admin, "--json")
        self.assertNotIn("s3cret", text)
        explained = json.loads(text)
        self.assertEqual([one["matches"] for one in explained["descriptors"]], [["user"], ["path_/files/*"]])
        user, path = explained["limits"]
        self.assertEqual((user["policy"], user["remaining"], user["live"]["remaining"]), ("d.user", 2, 2))
        self.assertEqual((path["policy"], path["remaining"], path["live"]["remaining"]), ("d.path_/files/*", 4, 4))
        logged = self.log_lines(self.weir, 1)[-1]["identity"]
        self.assertEqual(logged, user["identity"]["hash"])
        self.assertEqual(self.command("hash", "--identity", "descriptor", "user=al=ice s3cret"), logged + "\n")
        self.assertEqual(self.command("hash", "--identity", "descriptor", "-", input="path=/files/*\n"),
                         path["identity"]["hash"] + "\n")
        shown = run("limits", "show", "--policy", "d.user", "--key", f"hash:{logged}", "--admin", admin)
        self.assertIn("2 of 3 left", shown.stdout)

    def test_a_limit_of_0_is_denied_whatever_the_numbers_of_its_policy_are(self):
        self.serve_limits(domain(limit("user", 3, descriptors=[limit("path", 0)])), identity_secret=SECRET)
        admin = "http://%s:%d" % self.weir.admin_address
        call = ["--domain", "d", "--descriptor", "user=ann", "path=/"]
        key = json.loads(self.command("explain", *call, "--json"))["limits"][0]["identity"]["hash"]
        shown = run("limits", "show", "--policy", "d.user.path", "--key", f"hash:{key}", "--admin", admin)
        self.assertEqual(shown.stdout, f"hash:{key}, policy d.user.path (fixed_window): denied, requests_per_unit is 0\n")
        explained = json.loads(self.command("explain", *call, "--json", "--live", admin))["limits"][0]
        self.assertEqual(explained["numbers"], {"denied": True, "from": "file"})

    def test_wrong_usage_names_what_is_wrong_and_shows_no_value(self):
        self.serve_limits(domain(limit("user", 3)))
        rows = [
            (["explain", "--domain", "d", "--descriptor", "s3cret"], "--descriptor: expected an entry KEY=VALUE"),
            (["explain", "--domain", "d", "--descriptor", ""], "--descriptor: expected an entry KEY=VALUE, such as"),
            (["explain", "--domain", "d", "--descriptor", "", "a=s3cret"], "--descriptor: expected an entry KEY=VALUE"),
            (["explain", "--domain", "d", "--descriptor", "a=b", "", "c=d"], "--descriptor: expected an entry KEY=VALUE"),
            (["explain", "--domain", "d"], "--descriptor: write at least one"),
            (["explain", "--descriptor", "a=s3cret"], "--descriptor requires --domain"),
            (["explain"], "URL is required"),
            (["hash", "--identity", "descriptor", "s3cret"], "VALUE: expected an entry KEY=VALUE"),
        ]
        for (name, *arguments), message in rows:
            with self.subTest(arguments=arguments):
                result = run(name, "--config", str(self.weir.file), *arguments)
                self.assertEqual((result.returncode, result.stdout), (2, ""), result)
                self.assertIn(message, result.stderr)
                self.assertNotIn("s3cret", result.stderr)
        other = self.start(configuration(routes=[{"respond": {}}]))
        result = run("explain", "--config", str(other.file), "--domain", "d", "--descriptor", "a=b")
        self.assertIn("the configuration has no rate_limit_service", result.stderr)

    def test_calls_are_a_route_of_the_metrics(self):
        self.serve_limits(domain(limit("user", 3)))
        self.ask_json({"domain": "d", "descriptors": [{"entries": [{"key": "user"}]}]})
        self.assertEqual(labelled(self.scrape(), "weir_requests_total", route="rate_limit_service", code="200"), 1)

"""`weir test`: what it prints, how it ends, and the XML that it writes. The rules are in tests/unit/scenario."""

import re
import socket
import xml.etree.ElementTree as xml
from pathlib import Path

from cli_test import FileCase
from harness.weir import run

CONFIGURATION = """\
listen: [{address: "127.0.0.1:1"}]
upstreams: {api: {servers: [{url: "http://no-such-host.invalid:1"}]}}
identities: {key: {header: x-key}}
store: {type: redis, redis: {url: "redis://127.0.0.1:1"}}
identity_secret: ${TEST_SECRET:-0123456789abcdef0123456789abcdef}
policies: {p: {algorithm: gcra, rate: 2/1m}}
routes: [{name: all, upstream: api, limits: [{policy: p, key: key, required: true}]}]
"""
GOOD = """\
config: weir.yaml
steps:
  - {repeat: 2, request: {url: "http://a/", headers: {x-key: s3cr3t}}, expect: {status: 200}}
  - {request: {url: "http://a/?token=s3cr3t", headers: {x-key: s3cr3t}}, expect: {status: 429, retry_after: 30}}
"""
FAILURE = """\
limits.yaml:4: step 2, at 0s: GET http://a/
  retry_after: expected 31, found 30

    request     GET /
    host        a
    client      127.0.0.1
    route       all
    upstream    api

    limit       p: gcra 2/1m, 2 at once (from the policy)
      applies   yes: key is present
      key       key (header x-key) hash HASH
      cost      1
      answer    denied, 0 remaining, all of it again after 60.0 s, retry after 30.0
                s

    verdict     denied, status 429, Retry-After: 30

limits.yaml: 1 of 2 steps failed
"""


class Scenarios(FileCase):
    def setUp(self):
        self.directory = Path(self.file(CONFIGURATION)).parent

    def run_test(self, *names, **scenarios):
        for name, text in scenarios.items():
            (self.directory / f"{name}.yaml").write_text(text)
        return run("test", *names, *(f"{name}.yaml" for name in scenarios), cwd=self.directory)

    def test_steps_that_are_ok_are_one_line(self):
        result = self.run_test(limits=GOOD)
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "limits.yaml: 2 steps ok\n", ""))

    def test_a_failed_step_shows_what_explain_prints(self):
        result = self.run_test(limits=GOOD.replace("30", "31"))
        self.assertEqual((result.returncode, result.stderr), (1, ""))
        self.assertEqual(re.sub("[0-9a-f]{32}", "HASH", result.stdout), FAILURE)
        self.assertNotIn("s3cr3t", result.stdout)

    def test_several_files_are_all_run(self):
        result = self.run_test(a=GOOD, b="config: weir.yaml\nsteps: [{reqest: {}}]\n", c=GOOD.replace("30", "31"))
        self.assertEqual(result.returncode, 2)
        self.assertIn('b.yaml:2:10: steps[0].reqest: unknown key "reqest"; did you mean "request"?', result.stderr)
        self.assertIn("a.yaml: 2 steps ok\n", result.stdout)
        self.assertIn("c.yaml: 1 of 2 steps failed\n", result.stdout)
        self.assertEqual(self.run_test("a.yaml", "c.yaml").returncode, 1)

    def test_a_scenario_has_to_expect_something(self):
        unchecked = '  - {request: {url: "http://a/"}}\n'
        result = self.run_test(limits=GOOD + unchecked)
        self.assertEqual((result.returncode, result.stdout), (0, "limits.yaml: 3 steps ok (1 without expect)\n"))
        result = self.run_test(limits="config: weir.yaml\nsteps:\n" + unchecked)
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        self.assertTrue(result.stderr.startswith("limits.yaml:3:3: steps: no step expects anything, "), result.stderr)

    def test_problems_of_the_configuration_are_those_of_check(self):
        (self.directory / "weir.yaml").write_text(CONFIGURATION.replace("2/1m", "2 a minute"))
        result = self.run_test(limits=GOOD)
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        self.assertEqual(result.stderr, run("check", "weir.yaml", cwd=self.directory).stdout)

    def test_a_file_that_does_not_exist(self):
        result = self.run_test("none.yaml")
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        self.assertRegex(result.stderr, r"^none\.yaml: cannot read the file: No such file or directory; ")
        result = self.run_test(limits=GOOD.replace("weir.yaml", "none.yaml"))
        self.assertEqual(result.returncode, 2)
        self.assertRegex(result.stderr, r"^limits\.yaml:1:9: config: cannot read the file: No such file")

    def test_junit_xml(self):
        hostile = GOOD.replace("30", "31").replace("- {request", '- {name: "<&\\"\']]> \\u0001 \\u00e4", request')
        result = self.run_test("--junit", "out.xml", a=GOOD, b=hostile, c="steps: []\n")
        self.assertEqual(result.returncode, 2)
        root = xml.parse(self.directory / "out.xml").getroot()
        self.assertEqual(root.tag, "testsuites")
        suites = [{name: suite.get(name) for name in ("name", "tests", "failures", "errors", "skipped")}
                  for suite in root]
        expected = [("a.yaml", "2", "0", "0"), ("b.yaml", "2", "1", "0"), ("c.yaml", "1", "0", "1")]
        self.assertEqual([tuple(suite.values())[:4] for suite in suites], expected)
        for suite in root:
            self.assertEqual({case.tag for case in suite}, {"testcase"})
            self.assertEqual(len(suite), int(suite.get("tests")))
            self.assertEqual(len(suite.findall("testcase/failure")), int(suite.get("failures")))
            self.assertEqual(len(suite.findall("testcase/error")), int(suite.get("errors")))
            for case in suite:
                self.assertTrue(case.get("name") and case.get("classname") == suite.get("name"))
        failed = root[1][1]
        self.assertEqual(failed.get("line"), "4")
        self.assertIn("<&\"']]> \N{REPLACEMENT CHARACTER} \u00e4", failed.get("name"))
        failure = failed.find("failure")
        self.assertEqual(failure.get("message"), "retry_after: expected 31, found 30")
        self.assertIn("verdict     denied, status 429", failure.text)
        self.assertIn("c.yaml:1:1: ", root[2][0].find("error").text)

    def test_a_junit_file_that_cannot_be_written(self):
        result = self.run_test("--junit", "none/out.xml", limits=GOOD)
        self.assertEqual((result.returncode, result.stdout), (1, "limits.yaml: 2 steps ok\n"))
        self.assertIn("--junit: cannot write the file none/out.xml", result.stderr)

    def test_nothing_is_connected_to(self):
        servers = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
        for server in servers:
            self.addCleanup(server.close)
            server.setblocking(False)
        api, redis = (server.getsockname()[1] for server in servers)
        (self.directory / "weir.yaml").write_text(
            CONFIGURATION.replace("no-such-host.invalid:1", f"127.0.0.1:{api}").replace("redis://127.0.0.1:1",
                                                                                       f"redis://127.0.0.1:{redis}"))
        self.assertEqual(self.run_test(limits=GOOD).returncode, 0)
        for server in servers:
            self.assertRaises(BlockingIOError, server.accept)

    def test_help(self):
        result = run("test", "--help")
        self.assertEqual(result.returncode, 0)
        for word in ("--junit FILE", "FILE", "expect:", "Exit code 1"):
            self.assertIn(word, result.stdout)
        self.assertLessEqual(max(map(len, result.stdout.splitlines())), 100)
        self.assertEqual(run("test").returncode, 2)

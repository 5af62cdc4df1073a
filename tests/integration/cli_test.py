"""The commands: what they print, and how they end."""

import os
import re
import resource
import subprocess
import tempfile
from pathlib import Path

from harness.case import Case
from harness.limit_fields import limit_fields
from harness.upstream import answer
from harness.weir import Weir, run

GOOD = """\
listen: [{address: "127.0.0.1:0"}]
upstreams: {api: {servers: [{url: "http://127.0.0.1:3000"}]}}
identities: {key: {header: x-api-key}}
policies: {p: {algorithm: sliding_window, rate: 100/1m}}
routes:
  - name: search
    match: {path: /v1/search, methods: [GET]}
    upstream: api
    limits: [{policy: p, key: key, cost: 5}]
"""
PROXY = ["proxy", "--to", "http://127.0.0.1:1"]


class FileCase(Case):
    def file(self, text):
        directory = tempfile.TemporaryDirectory(prefix="weir-cli-")
        self.addCleanup(directory.cleanup)
        path = Path(directory.name) / "weir.yaml"
        path.write_text(text)
        return str(path)


class Check(FileCase):
    def test_a_prefix_that_means_all_of_ipv4_is_warned_of(self):
        for prefix in ("64:ff9b::/96", "::ffff:0:0/96"):
            text = 'client_address: {trusted_proxies: ["%s"]}\n%s' % (prefix, GOOD)
            checked = run("check", self.file(text))
            self.assertEqual(checked.returncode, 0, checked.stderr)
            self.assertIn("1:36: warning: client_address.trusted_proxies[0]: this prefix means "
                          "every IPv4 address", checked.stderr)

    def test_a_good_file(self):
        file = self.file(GOOD)
        result = run("check", file)
        self.assertEqual((result.returncode, result.stdout, result.stderr),
                         (0, f"{file}: ok\n", ""))

    def test_verbose_says_what_every_route_resolves_to(self):
        result = run("check", "--verbose", self.file(GOOD))
        self.assertEqual(result.returncode, 0)
        for word in ("search", "/v1/search", "GET", "api", "127.0.0.1:3000", "p", "100/1m", "key",
                     "5"):
            self.assertIn(word, result.stdout)

    def test_one_line_a_problem_with_its_place(self):
        file = self.file(GOOD.replace("cost: 5", "costs: 5").replace("100/1m", "100 per minute"))
        result = run("check", file)
        self.assertEqual(result.returncode, 2)
        lines = result.stdout.splitlines()
        self.assertEqual(len(lines), 2, result.stdout)
        for line in lines:
            self.assertRegex(line, "^" + re.escape(file) + r":\d+:\d+: .+")
        self.assertIn('did you mean "cost"?', result.stdout)

    def test_text_that_is_no_yaml(self):
        for text in ("listen: [", "\t: x", "a: b: c", "- just\n- a list", "", "\0"):
            with self.subTest(text=text):
                result = run("check", self.file(text))
                self.assertEqual(result.returncode, 2, result)
                self.assertTrue(result.stdout.strip())

    def test_a_missing_file(self):
        result = run("check", "/no-such-directory/weir.yaml")
        self.assertEqual(result.returncode, 2)
        self.assertIn("/no-such-directory/weir.yaml", result.stdout + result.stderr)

    def test_the_environment_fills_in_and_a_missing_variable_is_a_problem(self):
        file = self.file(GOOD.replace("100/1m", "${RATE}/${PER:-1m}"))
        self.assertEqual(run("check", file, env={**os.environ, "RATE": "7"}).returncode, 0)
        result = run("check", file)
        self.assertEqual(result.returncode, 2)
        self.assertIn("RATE", result.stdout)

    def test_the_configurations_that_come_with_weir_are_good(self):
        shipped = Path(__file__).resolve().parents[2] / "config"
        files = sorted(shipped.glob("*.yaml"))
        self.assertTrue(files)
        for file in files:
            with self.subTest(file=file.name):
                self.assertEqual(run("check", str(file)).returncode, 0)


class Usage(FileCase):
    def test_version(self):
        for arguments in (["version"], ["--version"]):
            result = run(*arguments)
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            self.assertRegex(result.stdout, r"^weir \d+\.\d+\.\d+\n$")

    def test_output_that_cannot_be_written_is_a_failure(self):
        file = self.file(GOOD)
        broken = self.file(GOOD.replace("cost: 5", "costs: 5"))
        for arguments, code in ((["version"], 1), (["--version"], 1), (["--help"], 1),
                                (["check", "--help"], 1), (["check", file], 1),
                                (["check", "--verbose", file], 1), (["check", broken], 2),
                                (["explain", "--config", file, "http://a/"], 1),
                                (["explain", "--config", file, "--json", "http://a/"], 1)):
            with self.subTest(arguments=arguments), open("/dev/full", "w") as full:
                result = run(*arguments, capture_output=False, stdout=full,
                             stderr=subprocess.PIPE)
                self.assertEqual(result.returncode, code, result)
                self.assertRegex(result.stderr, "^weir: cannot write to standard output"
                                                "(: No space left on device)?\n$")

    def test_closed_standard_output_is_a_failure_of_what_prints(self):
        closed = {"capture_output": False, "stderr": subprocess.PIPE,
                  "preexec_fn": lambda: os.close(1)}
        result = run("check", self.file(GOOD), **closed)
        self.assertEqual(result.returncode, 1)
        self.assertIn("weir: cannot write to standard output: ", result.stderr)
        result = run("health", "--admin", "unix:/no-such-socket", **closed)
        self.assertNotIn("standard output", result.stderr)

    def test_help(self):
        result = run("--help")
        self.assertEqual(result.returncode, 0)
        for command in ("serve", "proxy", "check", "health", "version"):
            self.assertIn(command, result.stdout)
            help_text = run(command, "--help")
            self.assertEqual((help_text.returncode, help_text.stderr), (0, ""))
            self.assertIn(command, help_text.stdout)

    def test_wrong_usage_ends_with_2_and_says_what_is_wrong(self):
        for arguments in ([], ["nonsense"], ["check"], ["check", "a", "b"], ["serve", "--nonsense"],
                          ["serve", "--config"], ["proxy"], PROXY,
                          ["proxy", "--to", "nonsense", "--limit", "1/1s"],
                          [*PROXY, "--limit", "many"],
                          [*PROXY, "--limit", "1/1s", "--burst", "x"],
                          [*PROXY, "--limit", "1/1s", "--burst", "0"],
                          [*PROXY, "--limit", "1/1s", "--key", "nonsense"],
                          [*PROXY, "--limit", "1/1s", "--listen", "nonsense"],
                          ["health", "--admin", "nonsense"]):
            with self.subTest(arguments=arguments):
                result = run(*arguments)
                self.assertEqual(result.returncode, 2, result)
                self.assertTrue(result.stderr.strip(), result)
                self.assertEqual(result.stdout, "")


class Descriptors(FileCase):
    def test_too_few_open_files_are_refused_at_the_start(self):
        def few():
            resource.setrlimit(resource.RLIMIT_NOFILE, (100, 100))

        ended = subprocess.run([os.environ["WEIR_BINARY"], *PROXY, "--limit", "1/1s", "--listen", "127.0.0.1:0"],
                               capture_output=True, text=True, timeout=60, preexec_fn=few, check=False)
        self.assertEqual(ended.returncode, 1, ended.stderr)
        self.assertIn("100 open files, and needs at least ", ended.stderr)


class Proxy(Case):
    def begin(self, *flags):
        self.up = self.upstream(answer(b"fine"))
        weir = Weir(command=["proxy", "--to", self.up.url, "--listen", "127.0.0.1:0", *flags])
        self.addCleanup(weir.stop)
        self.weir = weir
        self.client = self.connect(weir)

    def test_an_upstream_and_a_limit_are_enough(self):
        self.begin("--limit", "2/1h")
        answers = [self.client.get("/some/path?a=b") for _ in range(3)]
        self.assertEqual([response.status for response in answers], [200, 200, 429])
        self.assertEqual(self.up.requests[0].target, "/some/path?a=b")
        self.assertEqual([limit_fields(response).remaining for response in answers], [1, 0, 0])

    def test_burst(self):
        self.begin("--limit", "1/1h", "--burst", "4")
        statuses = [self.client.get("/").status for _ in range(5)]
        self.assertEqual(statuses, [200, 200, 200, 200, 429])

    def test_a_key_of_each_kind_and_the_address_where_it_is_absent(self):
        for kind, request in [("header:X-Key", lambda v: ("/", {"X-Key": v})),
                              ("query:key", lambda v: (f"/?key={v}", {})),
                              ("cookie:key", lambda v: ("/", {"Cookie": f"key={v}"}))]:
            with self.subTest(key=kind):
                self.begin("--limit", "1/1h", "--key", kind)
                requests = [request("a"), request("b"), ("/", {}), request("a"), ("/", {})]
                statuses = [self.client.get(*arguments).status for arguments in requests]
                self.assertEqual(statuses, [200, 200, 200, 429, 429])

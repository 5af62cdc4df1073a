"""The commands: what they print, and how they end."""

import os
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
    def test_all_problems_are_printed_at_once_with_their_positions_and_fixes(self):
        """The wording of each rule is in tests/unit/config/problems.txt."""
        file = self.file(GOOD.replace("cost: 5", "costs: 5").replace("100/1m", "100 per minute")
                         .replace("key: key", "key: $remote_addr"))
        result = run("check", file)
        self.assertEqual(result.returncode, 2)
        self.assertEqual(result.stderr, "")
        self.assertEqual(result.stdout, f"""\
{file}:4:49: policies.p.rate: expected a rate: COUNT/DURATION, such as 100/1m or 5/s (here "100 per minute"); \
did you mean "100/m"?
{file}:9:31: routes[0].limits[0].key: no identity is called "$remote_addr"; did you mean "client"?
{file}:9:45: routes[0].limits[0].costs: unknown key "costs"; did you mean "cost"?
""")

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

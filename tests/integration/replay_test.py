"""`weir replay`: the formats and compressions that it reads, what it prints, and how it ends. The rules are in
tests/unit/replay."""

import gzip
import json
import os
import pty
import subprocess
from pathlib import Path

from cli_test import FileCase
from harness.weir import binary, run

CONFIGURATION = """\
listen: [{address: "127.0.0.1:1"}]
upstreams: {api: {servers: [{url: "http://no-such-host.invalid:1"}]}}
identities: {client: {client_address: {}}, key: {header: x-key}}
store: {type: redis, redis: {url: "redis://127.0.0.1:1"}}
identity_secret: 0123456789abcdef0123456789abcdef
policies:
  per_client: {algorithm: gcra, rate: 1/1m, burst: 2}
  per_key: {algorithm: sliding_log, rate: 1/1h}
routes:
  - name: all
    upstream: api
    limits: [{policy: per_key, key: key}, {policy: per_client, key: client}]
"""
# Four requests of one client within a minute, one of another.
COMBINED = "".join(
    f'192.0.2.{host} - - [01/Jan/2026:12:00:{second:02} +0000] "GET /a?b=c HTTP/1.1" 200 5 "-" "curl/8"\n'
    for host, second in ((1, 0), (1, 1), (2, 1), (1, 2), (1, 59)))
REPORT = """\
requests        5
time            2026-01-01T12:00:00Z to 2026-01-01T12:00:59Z
allowed         3 (60.0 %)
denied          2 (40.0 %)
absent          key in 5 requests: limits looked for it, and the log does not have it

POLICY      ROUTE  REQUESTS  DENIED   SHARE
per_client  all           5       2  40.0 %

POLICY      KEYS  LIMITED   SHARE
per_client     2        1  50.0 %

POLICY      IDENTITY  KEY        FIRST DENIED          REQUESTS  DENIED  PEAK
per_client  client    192.0.2.1  2026-01-01T12:00:02Z         4       2  4/1m

POLICY ALONE  TIMES  RATE  BURST  DENIED   SHARE  KEYS LIMITED   SHARE
per_client    x1     1/1m      2       2  40.0 %             1  50.0 %
per_client    x2     2/1m      2       1  20.0 %             1  50.0 %
"""


class Replay(FileCase):
    def setUp(self):
        self.directory = Path(self.file(CONFIGURATION)).parent

    def replay(self, *arguments, **options):
        return run("replay", "-c", "weir.yaml", *arguments, cwd=self.directory, **options)

    def log(self, content, name="access.log"):
        path = self.directory / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return name

    def report(self, *arguments):
        result = self.replay("--json", *arguments)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return json.loads(result.stdout)

    def test_a_combined_log_is_decided_on_its_own_time(self):
        result = self.replay(self.log(COMBINED))
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, REPORT, ""))

    def test_compressed_logs_are_recognised_by_their_content(self):
        data = COMBINED.encode()
        # Members and frames may follow each other.
        packed = gzip.compress(data[:100]) + gzip.compress(data[100:])
        self.assertEqual(self.replay(self.log(packed)).stdout, REPORT)
        packed = b"".join(subprocess.run(["zstd", "-q", "-c"], input=part, capture_output=True, check=True).stdout
                          for part in (data[:100], data[100:]))
        self.assertEqual(self.replay(self.log(packed)).stdout, REPORT)

    def test_zeros_after_a_gzip_member_are_padding(self):
        data = COMBINED.encode()
        packed = gzip.compress(data[:100]) + bytes(700) + gzip.compress(data[100:]) + bytes(300_000)
        result = self.replay(self.log(packed))
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, REPORT, ""))
        result = self.replay(self.log(gzip.compress(data) + b"\0\0rest"))
        self.assertEqual((result.returncode, result.stderr),
                         (1, "weir replay: access.log: the gzip data is damaged\n"))

    def test_standard_input_is_a_log(self):
        with open(self.directory / self.log(COMBINED), "rb") as log:
            result = subprocess.run([binary(), "replay", "-c", "weir.yaml", "-"], stdin=log, cwd=self.directory,
                                    capture_output=True, text=True, check=False)
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, REPORT, ""))

    def test_a_damaged_log_is_replayed_as_far_as_it_goes(self):
        packed = gzip.compress(os.urandom(10_000) + b"\n" + COMBINED.encode())
        result = self.replay(self.log(packed[:-12]))
        self.assertEqual((result.returncode, result.stderr),
                         (1, "weir replay: access.log: the compressed data is cut off\n"))
        self.assertIn("unreadable lines", result.stdout)
        damaged = bytearray(packed)
        damaged[20:40] = bytes(20)
        result = self.replay(self.log(bytes(damaged)))
        self.assertEqual((result.returncode, result.stderr),
                         (1, "weir replay: access.log: the gzip data is damaged\n"))

    def test_a_file_that_is_no_access_log_is_an_error(self):
        result = self.replay(self.log("not a log\n" * 3))
        self.assertEqual((result.returncode, result.stderr),
                         (1, "weir replay: no line is one of an access log; --fields names the members of JSON logs of "
                             "other servers\n"))
        self.assertEqual(self.replay(self.log("")).returncode, 0)

    def test_several_logs_are_merged_by_time_in_any_order(self):
        lines = COMBINED.splitlines(keepends=True)
        old, new = self.log("".join(lines[:2]), "access.log.1"), self.log("".join(lines[2:]), "access.log")
        self.assertEqual(self.replay(new, old).stdout, REPORT)
        even, odd = self.log("".join(lines[::2]), "a.log"), self.log("".join(lines[1::2]), "b.log")
        self.assertEqual(self.replay(odd, even).stdout, REPORT)

    def test_a_line_with_a_time_far_in_the_future_spoils_nothing(self):
        line = '192.0.2.9 - - [01/Jan/2062:00:00:00 +0000] "GET /a HTTP/1.1" 200 5 "-" "curl/8"\n'
        lines = [COMBINED.splitlines(keepends=True)[0].replace("192.0.2.1 ", f"192.0.2.{10 + i % 3} ").replace(
            ":12:00:00", f":12:{i // 60:02}:{i % 60:02}") for i in range(600)]
        even, odd = "".join(lines[:100:2]) + line + "".join(lines[100::2]), "".join(lines[1::2])
        right = self.report(self.log("".join(lines)))
        report = self.report(self.log(odd, "b.log"), self.log(even, "a.log"))
        self.assertEqual((report["requests"], report["late"], report["ahead"]), (601, 0, 1))
        self.assertEqual(report["outcomes"]["denied"], right["outcomes"]["denied"])
        # The same in the first line of a log.
        report = self.report(self.log(line + even.replace(line, ""), "a.log"), "b.log")
        self.assertEqual((report["requests"], report["late"], report["ahead"]), (601, 0, 1))
        self.assertEqual(report["keys"], right["keys"])

    def test_lines_that_cannot_be_read_are_counted_and_the_first_are_shown(self):
        report = self.report(self.log("#Version: 1.0\n" + COMBINED + "nonsense\n" * 10))
        self.assertEqual((report["requests"], report["unreadable"], len(report["first_unreadable"])), (5, 11, 5))
        self.assertEqual(report["first_unreadable"][1], {
            "file": "access.log", "line": 7, "problem": "a part is missing, or not where the format has it"})

    def test_json_of_another_server_has_the_members_of_fields(self):
        lines = [json.dumps({"ts": 1767268800 + second, "status": 200, "duration": 0.01, "request": {
            "remote_ip": "192.0.2.1", "method": "GET", "uri": "/a", "headers": {"X-Key": [key]}}})
            for second, key in enumerate("abab")]
        report = self.report(
            self.log("\n".join(lines)), "--fields", "time=ts,client=request.remote_ip,method=request.method,"
            "target=request.uri,status=status,duration=duration,header:x-key=request.headers.X-Key")
        self.assertEqual(report["absent"], [])
        self.assertEqual([(route["policy"], route["requests"], route["denied"]) for route in report["routes"]],
                         [("per_client", 4, 2), ("per_key", 4, 2)])
        self.assertEqual({(key["policy"], key["identity"], key["denied"]) for key in report["keys"]},
                         {("per_key", "key", 1), ("per_client", "client", 2)})

    def test_wrong_usage_is_described(self):
        for arguments, message in ((("none.log",), "none.log: No such file or directory"),
                                   ((".",), ".: Is a directory"),
                                   (("-", "--fields", "x=y"), '--fields: unknown part "x"'),
                                   (("-", "--host", "a b"), "--host: expected a host"),
                                   (("-", "-"), "LOG: - is given more than once")):
            with self.subTest(arguments):
                result = self.replay(*arguments)
                self.assertEqual((result.returncode, result.stdout), (2, ""))
                self.assertIn(f"weir replay: {message}", result.stderr)
                self.assertEqual(result.stderr.endswith("\nTry `weir replay --help`.\n"), message.startswith(("--", "LOG")))

    def test_a_bar_is_shown_on_a_terminal_only(self):
        log = self.log(COMBINED * 2000)
        self.assertEqual(self.replay(log).stderr, "")
        main, other = pty.openpty()
        subprocess.run([binary(), "replay", "-c", "weir.yaml", log], cwd=self.directory, stdout=subprocess.DEVNULL,
                       stderr=other, check=True)
        os.close(other)
        shown = os.read(main, 65536)
        os.close(main)
        self.assertIn(b"%, ", shown)
        self.assertTrue(shown.endswith(b"\r\x1b[K"))

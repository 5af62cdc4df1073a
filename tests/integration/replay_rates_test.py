"""`weir replay` with `--suggest` and `--compare`: what a replay at the suggested rate, or with the other file, really
denies. The rules are in tests/unit/replay."""

import gzip
import json
import os
import random
import subprocess
from pathlib import Path

from cli_test import FileCase
from harness.weir import binary, run

CONFIGURATION = """\
listen: [{{address: "127.0.0.1:1"}}]
upstreams: {{api: {{servers: [{{url: "http://no-such-host.invalid:1"}}]}}}}
identities: {{client: {{client_address: {{}}}}, agent: {{header: user-agent}}}}
identity_secret: {secret}
policies:
  per_client: {per_client}
  per_agent: {per_agent}
routes:
  - match: {{path: /a}}
    upstream: api
    limits: [{{policy: per_client, key: client}}]
  - match: {{path: /b}}
    upstream: api
    limits: [{{policy: per_agent, key: agent}}]
"""
PER_CLIENT = "{algorithm: gcra, rate: %s}"
PER_AGENT = "{algorithm: sliding_window, rate: %s}"
SECRET = "0123456789abcdef0123456789abcdef"
ROUND = [m * 10 ** n // 2 for n in range(6) for m in (2, 4, 5, 10) if (m * 10 ** n) % 2 == 0]


def configured(per_client=PER_CLIENT % "10/1s", per_agent=PER_AGENT % "100/1m", secret=SECRET):
    return CONFIGURATION.format(per_client=per_client, per_agent=per_agent, secret=secret)


def random_log(seed, lines=4000):
    source = random.Random(seed)
    at, text = 0.0, []
    for _ in range(lines):
        at += source.expovariate(20)
        client = min(int(source.paretovariate(0.8)), 200)
        text.append(f'192.0.2.{client} - - [01/Jan/2026:12:{int(at) // 60 % 60:02}:{int(at) % 60:02} +0000] "GET '
                    f'/{source.choice("ab")} HTTP/1.1" 200 5 "-" "agent{source.randrange(9)}"\n')
    return "".join(text)


class Rates(FileCase):
    def setUp(self):
        self.directory = Path(self.file(configured())).parent
        self.log = self.write("access.log", random_log(20261127))

    def write(self, name, content):
        (self.directory / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        return name

    def replay(self, *arguments, config="weir.yaml", **options):
        return run("replay", "-c", config, *arguments, cwd=self.directory, **options)

    def report(self, *arguments, **options):
        result = self.replay("--json", *arguments, **options)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return json.loads(result.stdout)

    def denials(self, policy, report):
        return {"denied": sum(route["denied"] for route in report["routes"] if route["policy"] == policy),
                "denied_keys": sum(one["denied_keys"] for one in report["policies"] if one["policy"] == policy)}

    def replayed_at(self, policy, rate):
        form = {"per_client": PER_CLIENT, "per_agent": PER_AGENT}[policy]
        file = self.write("other.yaml", configured(**{policy: form % rate}))
        return self.denials(policy, self.report(self.log, config=file))

    def suffices(self, denials, suggestion, share):
        # The share has one decimal, so that this is exact.
        most = 1000 - round(share * 10)
        return (denials["denied"] * 1000 <= suggestion["requests"] * most and
                denials["denied_keys"] * 1000 <= suggestion["keys"] * most)

    def test_a_suggestion_is_the_smallest_round_rate_of_replays(self):
        for share in (100, 99.9, 90):
            report = self.report(self.log, "--suggest", str(share))
            for suggestion in report["suggestions"]["policies"]:
                policy, per = suggestion["policy"], {"per_client": "1s", "per_agent": "1m"}[suggestion["policy"]]
                with self.subTest(policy, share=share):
                    for count in ROUND:
                        denials = self.replayed_at(policy, f"{count}/{per}")
                        if self.suffices(denials, suggestion, share):
                            break
                        smaller = count, denials
                    self.assertEqual(suggestion["rate"]["rate"], f"{count}/{per}")
                    self.assertEqual({name: suggestion["rate"][name] for name in denials}, denials)
                    self.assertEqual(suggestion["smaller"]["rate"], f"{smaller[0]}/{per}")
                    self.assertEqual({name: suggestion["smaller"][name] for name in denials}, smaller[1])

    def test_half_and_twice_the_rate_are_shown_without_being_asked_for(self):
        report = self.report(self.log)
        self.assertIsNone(report["suggestions"])
        for policy, half, twice in (("per_client", "5/1s", "20/1s"), ("per_agent", "50/1m", "200/1m")):
            [rates] = [one["rates"] for one in report["other_rates"] if one["policy"] == policy]
            self.assertEqual([(rate["times"], rate["rate"]) for rate in rates][::2], [("x0.5", half), ("x2", twice)])
            for rate in rates:
                self.assertEqual({name: rate[name] for name in ("denied", "denied_keys")},
                                 self.replayed_at(policy, rate["rate"]))

    def test_one_command_answers_which_rate_to_set(self):
        result = self.replay(self.log, "--suggest", "99.9")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertRegex(result.stdout, r"(?m)^per_client +rate: \d+/1s +\d")
        self.assertRegex(result.stdout, r"(?m)^per_agent +rate: \d+/1m +\d")
        # A burst with which no rate suffices.
        file = self.write("burst.yaml", configured("{algorithm: gcra, rate: 10/1s, burst: 1}"))
        result = self.replay(self.log, "--suggest", "100", config=file)
        self.assertRegex(result.stdout, r"(?m)^per_client +rate: \d+/1s, no burst +0 ")
        self.assertIn("per_client: remove its burst", result.stdout)

    def test_standard_input_and_compressed_logs_are_read_once(self):
        expected = self.report(self.log, "--suggest", "99.9", "--compare", "weir.yaml")
        data = (self.directory / self.log).read_bytes()
        for content in (data, gzip.compress(data)):
            result = subprocess.run(
                [binary(), "replay", "-c", "weir.yaml", "-", "--json", "--suggest=99.9", "--compare=weir.yaml"],
                input=content, cwd=self.directory, capture_output=True, check=True)
            self.assertEqual(json.loads(result.stdout), expected)

    def test_flips_are_the_differences_of_two_replays(self):
        other = self.write("other.yaml", configured(PER_CLIENT % "20/1s", PER_AGENT % "30/1m"))
        report = self.report(self.log, "--compare", other, "--keys", "1000")
        comparison = report["comparison"]
        own, its = report, self.report(self.log, "--keys", "1000", config=other)
        self.assertEqual(comparison["decisions"], 4000)
        self.assertEqual(comparison["to_denied"] - comparison["to_admitted"],
                         its["outcomes"]["denied"] - own["outcomes"]["denied"])
        self.assertEqual(comparison["flips"], comparison["to_denied"] + comparison["to_admitted"])
        self.assertGreater(min(comparison["to_denied"], comparison["to_admitted"]), 0)

        def denied(report):
            return {(key["policy"], key["hash"]): key["denied"] for key in report["keys"]}

        def flips(keys):
            return {(key["policy"], key["hash"]): key["flips"] for key in keys}

        # Each key has one policy and both rates differ in one direction only.
        own_denied, its_denied = denied(own), denied(its)
        keys = set(own_denied) | set(its_denied)
        less = {key: own_denied.get(key, 0) - its_denied.get(key, 0) for key in keys}
        gained, lost = flips(comparison["denied_keys"]), flips(comparison["admitted_keys"])
        self.assertEqual({key: lost.get(key, 0) - gained.get(key, 0) for key in keys}, less)
        self.assertEqual(sum(gained.values()), comparison["to_denied"])
        self.assertEqual({key[0] for key in gained}, {"per_agent"})
        self.assertTrue(all(key["address"] for key in comparison["admitted_keys"]))

    def test_another_secret_changes_no_key(self):
        rates = (PER_CLIENT % "20/1s", PER_AGENT % "30/1m")
        same, other = self.write("a.yaml", configured(*rates)), self.write("b.yaml", configured(*rates, "f" * 32))
        expected = self.report(self.log, "--compare", same)["comparison"]
        comparison = self.report(self.log, "--compare", other)["comparison"]
        self.assertEqual(comparison, {**expected, "file": "b.yaml", "secret_differs": True})
        self.assertIn("identity_secret differs", self.replay(self.log, "--compare", other).stdout)

    def test_all_options_combine_and_the_page_appears_when_it_is_complete(self):
        other = self.write("other.yaml", configured(PER_CLIENT % "20/1s"))
        page = self.directory / "report.html"
        page.write_text("an earlier one")
        before = set(os.listdir(self.directory))
        report = self.report(self.log, "--suggest", "99.9", "--compare", other, "--report", "report.html")
        self.assertTrue(report["suggestions"] and report["comparison"] and report["timeline"])
        self.assertEqual(set(os.listdir(self.directory)), before)
        self.assertEqual(sum(report["timeline"]["requests"]), 4000)
        text = page.read_text()
        self.assertTrue(text.startswith("<!DOCTYPE html>") and text.endswith("</html>\n"))
        self.assertIn("Replay of 4,000 requests", text)
        # A replay that does not begin keeps it, and leaves nothing.
        result = self.replay("no.log", "--report", "report.html")
        self.assertEqual(result.returncode, 2)
        self.assertEqual(page.read_text(), text)
        self.assertEqual(set(os.listdir(self.directory)), before)

    def test_wrong_usage_is_described(self):
        self.write("bad.yaml", configured(PER_CLIENT % "ten"))
        for arguments, message in ((("--suggest", "0"), "--suggest: expected a percentage above 0"),
                                   (("--suggest", "101"), "--suggest: expected a percentage above 0"),
                                   (("--suggest", "many"), "--suggest: expected a percentage above 0"),
                                   (("--report", "none/a.html"), "none/a.html: No such file or directory"),
                                   (("--report", "."), ".: not a regular file"),
                                   (("--compare", "none.yaml"), "none.yaml: "),
                                   (("--compare", "bad.yaml"), "bad.yaml:6:")):
            with self.subTest(arguments):
                result = self.replay(self.log, *arguments)
                self.assertEqual((result.returncode, result.stdout), (2, ""))
                self.assertIn(message, result.stderr)

    def test_the_request_line_of_nginx(self):
        lines = [json.dumps({"msec": f"176726880{second}.000", "remote_addr": "192.0.2.1", "status": "200",
                             "request_time": "0.010", "request": "GET /a HTTP/1.1"}) for second in range(3)]
        log = self.write("nginx.json", "\n".join(lines))
        fields = "time=msec,client=remote_addr,request=request,status=status,duration=request_time"
        report = self.report(log, "--fields", fields)
        self.assertEqual([(one["policy"], one["requests"]) for one in report["routes"]], [("per_client", 3)])
        self.assertEqual(report["outcomes"]["no_route"], 0)

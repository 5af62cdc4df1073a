"""Mistakes that newcomers make, in tests/data/broken, and what `weir check` prints about each.

Beside NAME.yaml (or .conf, .cfg, .toml) is NAME.txt: the lines that are printed, without the name of the
file. A line that begins with LINE:COLUMN: warning: is printed on standard error and is no reason to fail."""

import os
import re
import unittest
from pathlib import Path

from harness.weir import run

FOLDER = Path(__file__).resolve().parents[1] / "data" / "broken"
FILES = sorted(path for path in FOLDER.iterdir() if path.suffix != ".txt")
# A reader is shown what to write, or what to do.
FIX = re.compile(r"did you mean|such as|as in|expected|never matches"
                 r"|\b(write|use|remove|add|keep|make|create|give|put|replace|indent|define|leave|name|set|save|see"
                 r"|check|choose|start|type|count|must be quoted|must come last|must be at least|need(s|ed)?"
                 r"|belongs? to|belongs under|known here|indented alike|begins with|`weir|never reached|are needed"
                 r"|is one segment|is missing|is that of the policy|has all keys|part of url|HTTP/1\.1 on both sides)\b")


def printed_about(file):
    """The lines about a file, and the exit code. A variable of these names is not set."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("WEIR_TEST_NOT")}
    result = run("check", file.name, cwd=FOLDER, env=environment)
    return (result.stdout + result.stderr).splitlines(), result.returncode


def expected_of(file):
    return file.with_suffix(".txt")


class BrokenFiles(unittest.TestCase):
    def test_every_file_has_the_messages_beside_it(self):
        for file in FILES:
            with self.subTest(file=file.name):
                self.assertTrue(expected_of(file).exists(), f"write {expected_of(file).name}: the lines that "
                                f"`weir check {file.name}` shall print, without the file's name")
                expected = expected_of(file).read_text().splitlines()
                lines, code = printed_about(file)
                warnings = [line for line in expected if re.match(r"\d+:\d+: warning: ", line)]
                prefix = file.name + ":"
                self.assertTrue(all(line.startswith(prefix) for line in lines), lines)
                found = [line[len(prefix):].strip() for line in lines if line != f"{prefix} ok"]
                self.assertEqual(found, expected)
                self.assertEqual(code, 0 if len(warnings) == len(expected) else 2)

    def test_every_message_has_a_fix_and_names_the_file_once(self):
        for file in FILES:
            lines, _ = printed_about(file)
            for line in lines:
                with self.subTest(file=file.name, line=line):
                    self.assertEqual(line.count(file.name), 1)
                    names = re.findall(r'"([^"]*[./][^"]*)"', line)
                    self.assertEqual(len(names), len(set(names)), "a file is named twice")
                    if not line.endswith(": ok"):
                        self.assertRegex(line, FIX)

    def test_the_collection_is_complete(self):
        self.assertGreaterEqual(len(FILES), 100)
        stems = [file.stem for file in FILES]
        self.assertEqual(len(stems), len(set(stems)), "two files would share one expectation")
        self.assertEqual({path.stem for path in FOLDER.glob("*.txt")}, set(stems))

    def test_a_part_of_each_message_is_the_hint_that_helps(self):
        """The hints that must not be lost when expectations are written anew."""
        hints = {
            "rate_per_sec": 'did you mean "10/s"?',
            "rate_per_min": 'did you mean "100/m"?',
            "rate_per_month": "months and years are not supported yet",
            "algorithm_upper_case": 'did you mean "gcra"?',
            "brace_unclosed": "6:15: not valid YAML: this { is not closed",
            "quote_curly_double": "curly quotes",
            "variable_of_a_shell": "${BACKEND}",
            "prefix_with_host_bits": 'did you mean "10.0.0.0/8"?',
            "key_as_header": "identities: {x_api_key: {header: x-api-key}}",
            "policy_as_rate": "such as {algorithm: gcra, rate: 10/s}",
            "nginx": "a file of nginx",
            "envoy": "a file of Envoy",
            "traefik_dynamic": "a file of Traefik",
            "http2_on_listener": "HTTP/1.1",
        }
        for stem, hint in hints.items():
            with self.subTest(stem):
                self.assertIn(hint, (FOLDER / f"{stem}.txt").read_text())



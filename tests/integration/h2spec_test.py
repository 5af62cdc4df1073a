"""The conformance suite for servers of HTTP/2, against a plain listener and one with TLS.

`script/bootstrap h2spec` builds it where Go is to be had."""

import os
import re
import shutil
import subprocess
import unittest
from pathlib import Path

from harness.case import configuration
from harness.tls_case import TlsCase
from harness.upstream import answer

BUILT = Path(__file__).resolve().parents[2] / "build" / "tools" / "h2spec"

# On a plain port a client that does not send the preface speaks HTTP/1.1, and is answered 400.
HTTP1_INSTEAD = "Sends invalid connection preface"


def h2spec():
    found = shutil.which("h2spec") or (str(BUILT) if os.access(BUILT, os.X_OK) else None)
    if found is None:
        raise unittest.SkipTest("h2spec is not installed: script/bootstrap h2spec")
    return found


class Conformance(TlsCase):
    def failures(self, *arguments):
        done = subprocess.run([h2spec(), "-h", "127.0.0.1", "-P", "/", "-o", "10", *arguments],
                              capture_output=True, text=True, timeout=500)
        summary = re.search(r"(\d+) tests, (\d+) passed, 0 skipped, (\d+) failed", done.stdout)
        self.assertIsNotNone(summary, done.stdout + done.stderr)
        self.assertGreater(int(summary[1]), 140)
        failures = done.stdout.partition("Failures:")[2]
        return re.findall(r"\u00d7 \d+: (.*)", failures), done.stdout

    def test_a_plain_listener(self):
        weir = self.start(configuration(self.upstream(answer(b"x" * 100)).url))
        failures, printed = self.failures("-p", str(weir.port))
        self.assertEqual(failures, [HTTP1_INSTEAD], printed)

    def test_a_listener_with_tls(self):
        self.serve(answer(b"x" * 100))
        failures, printed = self.failures("-p", str(self.weir.port), "-t", "-k")
        self.assertEqual(failures, [], printed)

"""The example of docker/jwt: its compose file, and its issuer and its configuration as processes, its commands with
curl."""

import os
import re
import subprocess
import unittest
from pathlib import Path

from harness.case import Case
from harness.compose import ComposeChecks
from harness.preload import fast_clock
from harness.waiting import eventually
from harness.weir import Weir

EXAMPLE = Path(__file__).resolve().parents[2] / "docker" / "jwt"


def curl(*arguments):
    return subprocess.run(["curl", "-s", *arguments], check=True, capture_output=True,
                          text=True).stdout.strip()


class Compose(ComposeChecks, unittest.TestCase):
    EXAMPLE = EXAMPLE
    SERVICE = "issuer"


class Example(Case):
    def setUp(self):
        self.issuer = subprocess.Popen(["node", EXAMPLE / "issuer.js"], stdout=subprocess.PIPE,
                                       text=True, env={**os.environ, "PORT": "0", "ROTATE_S": "0"})
        self.addCleanup(self.stop_issuer)
        self.issuer_url = "http://127.0.0.1:" + re.search(r"port (\d+)",
                                                          self.issuer.stdout.readline())[1]
        # Between fetches of the keys cooldown passes, by default 5 s.
        weir = Weir((EXAMPLE / "weir.yaml").read_text() + "admin: off\n", environment={
            **fast_clock(10), "LISTEN": "127.0.0.1:0", "ISSUER_URL": self.issuer_url})
        self.addCleanup(weir.stop)
        self.url = f"http://127.0.0.1:{weir.port}/v1/orders"
        eventually(lambda: self.status(self.token("warm-up")) == "200", "the keys are fetched")

    def stop_issuer(self):
        self.issuer.terminate()
        self.issuer.wait()
        self.issuer.stdout.close()

    def token(self, subject, **claims):
        query = "&".join(f"{name}={value}" for name, value in {"sub": subject, **claims}.items())
        return curl("-X", "POST", f"{self.issuer_url}/token?{query}")

    def status(self, token):
        return curl("-o", "/dev/null", "-w", "%{http_code}", "-H", f"Authorization: Bearer {token}",
                    self.url)

    def rotate(self):
        curl("-X", "POST", f"{self.issuer_url}/rotate")

    def test_a_subject_is_limited_and_a_plan_raises_the_limit(self):
        alice, bob = self.token("alice"), self.token("bob", plan="gold")
        self.assertEqual([self.status(alice) for _ in range(6)], ["200"] * 5 + ["429"])
        self.assertEqual([self.status(bob) for _ in range(20)], ["200"] * 20)
        self.assertEqual(self.status("a.b.c"), "401")

    def test_a_rotation_keeps_old_tokens_valid_until_the_key_is_gone(self):
        before = self.token("carol", plan="gold")
        self.assertEqual(self.status(before), "200")
        self.rotate()
        after = self.token("carol", plan="gold")
        eventually(lambda: self.status(after) == "200", "the new key is fetched")
        self.assertEqual(self.status(before), "200")
        self.rotate()
        newest = self.token("carol", plan="gold")
        eventually(lambda: self.status(newest) == "200", "the newest key is fetched")
        self.assertEqual(self.status(before), "401")

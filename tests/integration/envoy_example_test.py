"""The example of deploy/envoy/rate-limit: its compose file, and its configurations with a real Envoy."""

import re
import unittest
from pathlib import Path

from harness.client import Connection
from harness.compose import read_compose, substituted
from harness.envoy import Envoy
from harness.rls_case import RlsCase
from harness.services import free_port
from harness.weir import Weir

EXAMPLE = Path(__file__).resolve().parents[2] / "deploy" / "envoy" / "rate-limit"


class Compose(unittest.TestCase):
    def setUp(self):
        self.services = read_compose((EXAMPLE / "compose.yaml").read_text())["services"]

    def test_its_services_are_locked_down_and_their_files_exist(self):
        self.assertEqual(set(self.services), {"envoy", "weir", "api"})
        for name, service in self.services.items():
            self.assertEqual((service["read_only"], service["cap_drop"]), ("true", ["ALL"]), name)
            for volume in service["volumes"]:
                source, _, mode = volume.split(":")
                self.assertTrue((EXAMPLE / source).is_file(), source)
                self.assertEqual(mode, "ro")

    def test_the_addresses_are_those_that_are_listened_on(self):
        envoy, weir = (EXAMPLE / "envoy.yaml").read_text(), (EXAMPLE / "weir.yaml").read_text()
        ports = dict(re.findall(r"address: ([\w.]+), port_value: (\d+)", envoy))
        self.assertEqual(set(ports), {"0.0.0.0", "api", "weir"})
        self.assertIn(f"0.0.0.0:{ports['weir']}", weir)
        [published] = self.services["envoy"]["ports"]
        self.assertEqual(substituted(published), f"127.0.0.1:{ports['0.0.0.0']}:{ports['0.0.0.0']}")
        api = (EXAMPLE / "../../../docker/demo-api.conf").read_text()
        self.assertRegex(api, rf"listen\s+(\S+:)?{ports['api']}\b")
        self.assertEqual([name for name, service in self.services.items() if "ports" in service], ["envoy"])


class Example(RlsCase):
    """Both files as they are, except for addresses."""

    def setUp(self):
        super().setUp()
        self.api = self.upstream()
        config = (EXAMPLE / "weir.yaml").read_text().replace("[limits.yaml]", f'["{EXAMPLE}/limits.yaml"]')
        self.weir = Weir(config + "admin: off\naccess_log: off\n", environment={"LISTEN": "127.0.0.1:0"})
        self.addCleanup(self.weir.stop)
        envoy = (EXAMPLE / "envoy.yaml").read_text()
        self.port = free_port()
        for written, port in (("0.0.0.0, port_value: 8000", self.port), ("api, port_value: 8000", self.api.port),
                              ("weir, port_value: 8081", self.weir.port), ("timeout: 0.2s", None)):
            self.assertIn(f" {written}", envoy)
            # A slow machine is not a Weir that does not answer.
            here = f"127.0.0.1, port_value: {port}" if port else "timeout: 60s"
            envoy = envoy.replace(f" {written}", f" {here}")
        started = Envoy(envoy, self.port)
        self.addCleanup(started.stop)

    def statuses(self, count, target, *fields, source=None):
        with Connection(("127.0.0.1", self.port), source=source) as client:
            return [client.get(target, list(fields)).status for _ in range(count)]

    def test_the_limits_are_those_that_its_comment_names(self):
        # A minute of the clock may end meanwhile, and the counts begin again.
        self.assertEqual(self.statuses(5, "/login"), [200] * 5)
        self.assertIn(429, self.statuses(6, "/login"))
        self.assertEqual(self.statuses(1, "/login", source="127.0.0.2"), [200])
        key = ("X-Api-Key", "alice")
        self.assertEqual(self.statuses(20, "/hello", key), [200] * 20)
        self.assertIn(429, self.statuses(21, "/hello", key))
        self.assertEqual(self.statuses(1, "/hello", ("X-Api-Key", "bob")), [200])
        other = "127.0.0.3"
        self.assertEqual(self.statuses(100, "/hello", source=other), [200] * 100)
        self.assertIn(429, self.statuses(101, "/hello", source=other))

    def test_without_weir_requests_are_served(self):
        self.weir.stop()
        self.assertEqual(self.statuses(7, "/login"), [200] * 7)

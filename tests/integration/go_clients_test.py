"""Clients of gRPC in Go call the rate limit service: that of envoyproxy/ratelimit, grpcurl and grpc-health-probe.

`script/bootstrap ratelimit clients` builds them where Go is to be had."""

import json
import os
import re
import signal
import subprocess
import tempfile
import unittest
from pathlib import Path

from harness.certificates import Authority
from harness.rls_case import RlsCase, domain, limit

TOOLS = Path(__file__).resolve().parents[2] / "build" / "tools"

# Of grpc/health/v1/health.proto: grpcurl needs it, because Weir serves no reflection.
HEALTH = """syntax = "proto3";
package grpc.health.v1;
message HealthCheckRequest { string service = 1; }
message HealthCheckResponse {
  enum ServingStatus { UNKNOWN = 0; SERVING = 1; NOT_SERVING = 2; SERVICE_UNKNOWN = 3; }
  ServingStatus status = 1;
}
service Health {
  rpc Check(HealthCheckRequest) returns (HealthCheckResponse);
  rpc Watch(HealthCheckRequest) returns (stream HealthCheckResponse);
}
"""

# Exit codes of grpc-health-probe, and that of grpcurl for UNAVAILABLE.
SERVING, NOT_CONNECTED, CALL_FAILED = 0, 2, 3
UNAVAILABLE = 64 + 14


def program(path, group):
    if not os.access(TOOLS / path, os.X_OK):
        raise unittest.SkipTest(f"{Path(path).name} is not built: script/bootstrap {group}")
    return str(TOOLS / path)


def run(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60)


class OfTheReference(RlsCase):
    """With the messages that go-control-plane generates."""

    def setUp(self):
        super().setUp()
        self.program = program("ratelimit/client_cmd", "ratelimit")

    def call(self, *descriptors, name="d", options=()):
        """What it prints, with single spaces: the text format of Protocol Buffers has them at random."""
        port = self.weir.addresses[-1][1]
        made = [word for one in descriptors for word in ("-descriptors", one)]
        ran = run(self.program, "-dial_string", f"127.0.0.1:{port}", "-domain", name, *made, *options)
        return ran.returncode, re.sub(r" +", " ", ran.stdout)

    def assert_answered(self, code, status, *descriptors, **options):
        returned, printed = self.call(*descriptors, **options)
        self.assertEqual(returned, 0, printed)
        self.assertIn(f"response: overall_code:{code} statuses:{{code:{status}", printed)
        return printed

    def test_a_limit_denies(self):
        self.serve_limits(domain(limit("user", 2, "year"), {"key": "tenant", "descriptors": [limit("path", 9, "day")]}))
        for left in "limit_remaining:1 ", "":  # text leaves out 0
            status = f"OK current_limit:{{requests_per_unit:2 unit:YEAR}} {left}duration_until_reset:{{seconds:"
            printed = self.assert_answered("OK", status, "user=ann")
            self.assertIn('response_headers_to_add:{key:"RateLimit-Limit" value:"2"}', printed)
        printed = self.assert_answered("OVER_LIMIT", "OVER_LIMIT current_limit:{requests_per_unit:2", "user=ann")
        self.assertIn('dynamic_metadata:{fields:{key:"policy" value:{string_value:"d.user"}}}', printed)
        printed = self.assert_answered("OK", "OK} statuses:{code:OK", "other=1", "tenant=a,path=/")
        self.assertIn("current_limit:{requests_per_unit:9 unit:DAY} limit_remaining:8", printed)

    def test_a_call_that_fails_has_its_status(self):
        self.serve_limits(domain(limit("user")))
        returned, printed = self.call("user=ann", name="")
        self.assertEqual(returned, 1)
        self.assertIn("rpc error: code = Unknown desc = rate limit domain must not be empty", printed)

    def test_a_call_over_tls(self):
        authority = Authority()
        self.addCleanup(authority.cleanup)
        files = authority.issue("weir", "IP:127.0.0.1").files
        self.serve_limits(domain(limit("user")), service={"listen": [{"address": "127.0.0.1:0", "tls": files}]})
        trusting = ("-grpc-use-tls", "-grpc-server-ca-file", authority.file)
        self.assert_answered("OK", "OK current_limit:", "user=ann", options=trusting)


class Health(RlsCase):
    def test_checks_of_a_probe(self):
        probe = program("grpc/grpc-health-probe", "clients")
        self.serve_limits(domain(limit("user")), workers=2)
        address = f"-addr=127.0.0.1:{self.weir.addresses[-1][1]}"
        for service in "", "ratelimit", "envoy.service.ratelimit.v3.RateLimitService":
            ran = run(probe, address, f"-service={service}")
            self.assertEqual((ran.returncode, "status: SERVING" in ran.stdout), (SERVING, True), ran.stdout)
        self.assertEqual(run(probe, address, "-service=other").returncode, CALL_FAILED)
        self.weir.stop()
        self.assertEqual(run(probe, address).returncode, NOT_CONNECTED)

    def test_a_watch_gets_the_end_of_the_service(self):
        grpcurl = program("grpc/grpcurl", "clients")
        self.serve_limits(domain(limit("user")))
        with tempfile.TemporaryDirectory(prefix="weir-proto-") as directory:
            (Path(directory) / "health.proto").write_text(HEALTH)
            watch = subprocess.Popen(
                [grpcurl, "-plaintext", "-import-path", directory, "-proto", "health.proto", "-d", "{}",
                 f"127.0.0.1:{self.weir.addresses[-1][1]}", "grpc.health.v1.Health/Watch"],
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            with watch:
                self.addCleanup(watch.kill)
                self.assertEqual(self.message(watch), {"status": "SERVING"})
                self.weir.signal(signal.SIGTERM)
                self.assertEqual(self.message(watch), {"status": "NOT_SERVING"})
                self.assertIn("Code: Unavailable", watch.stdout.read())
                self.assertEqual(watch.wait(), UNAVAILABLE)
        self.assertEqual(self.weir.wait(), 0)

    @staticmethod
    def message(watch):
        """The next one, in several lines of JSON."""
        text = watch.stdout.readline()
        while text and not text.endswith("}\n"):
            more = watch.stdout.readline()
            if not more:
                break
            text += more
        return json.loads(text)

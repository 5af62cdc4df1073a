"""Weir between the client and the server of gRPC's interoperability tests, as written for grpc-go.

The cases are those of https://github.com/grpc/grpc/blob/master/doc/interop-test-descriptions.md. `script/bootstrap
interop` builds both where Go is to be had."""

import os
import subprocess
import unittest
from pathlib import Path

from harness.case import configuration
from harness.http2_case import Http2Case
from harness.services import free_port
from harness.waiting import eventually

BUILT = Path(__file__).resolve().parents[2] / "build" / "tools" / "grpc"

CASES = ["empty_unary", "large_unary", "client_streaming", "server_streaming", "ping_pong", "empty_stream",
         "timeout_on_sleeping_server", "cancel_after_begin", "cancel_after_first_response", "status_code_and_message",
         "special_status_message", "custom_metadata", "unimplemented_method", "unimplemented_service"]


def program(name):
    path = BUILT / name
    if not os.access(path, os.X_OK):
        raise unittest.SkipTest("grpc-go's interoperability tests are not built: script/bootstrap interop")
    return path


class Interoperability(Http2Case):
    def test_the_cases_pass_through_weir(self):
        port = free_port()
        server = subprocess.Popen([program("server"), "--port", str(port)], stderr=subprocess.DEVNULL)
        self.addCleanup(server.wait)
        self.addCleanup(server.terminate)
        config = configuration(f"http://127.0.0.1:{port}", access_log={})
        config["upstreams"]["main"]["protocol"] = "http2"
        self.weir = self.start(config)
        eventually(lambda: self.run_case("empty_unary").returncode == 0, "the server")
        for case in CASES:
            with self.subTest(case):
                done = self.run_case(case)
                self.assertEqual(done.returncode, 0, done.stdout)

    def run_case(self, case):
        return subprocess.run(
            [program("client"), "--server_host=127.0.0.1", f"--server_port={self.weir.port}", f"--test_case={case}"],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60)

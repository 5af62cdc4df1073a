"""Load of gRPC from Go by ghz: calls at a rate that does not depend on how fast they are answered."""

import dataclasses
import json
import os
import pathlib
import subprocess

PROGRAM = pathlib.Path(__file__).resolve().parents[1] / "build" / "tools" / "grpc" / "ghz"
CALL = "envoy.service.ratelimit.v3.RateLimitService.ShouldRateLimit"

# ghz sends the bytes of a message that it is given, so its fields are not needed.
PROTO = """syntax = "proto3";
package envoy.service.ratelimit.v3;
message RateLimitRequest { string domain = 1; }
message RateLimitResponse { int32 overall_code = 1; }
service RateLimitService { rpc ShouldRateLimit(RateLimitRequest) returns (RateLimitResponse); }
"""


@dataclasses.dataclass(frozen=True)
class Run:
    rate: float  # calls a second
    p50_ms: float
    p99_ms: float


def is_built():
    return os.access(PROGRAM, os.X_OK)


def run(port, message, core, calls, connections, rate=None):
    """`calls` calls of the message in a file, `rate` a second without a wait for answers; None: 50 at a time."""
    proto = message.with_name("rls.proto")
    proto.write_text(PROTO)
    pace = ["--async", f"--rps={rate}"] if rate else []
    ran = subprocess.run(["taskset", "-c", str(core), str(PROGRAM), "--insecure", f"--proto={proto}", f"--call={CALL}",
                          f"--binary-file={message}", f"--connections={connections}", "--concurrency=50",
                          f"--total={calls}", *pace, "--format=json", f"127.0.0.1:{port}"],
                         capture_output=True, text=True, check=False)
    if ran.returncode:
        raise RuntimeError(ran.stderr[-600:])
    report = json.loads(ran.stdout)
    if report["statusCodeDistribution"] != {"OK": calls}:
        raise RuntimeError(f"{report['statusCodeDistribution']} {report['errorDistribution']}")
    times = {one["percentage"]: one["latency"] / 1e6 for one in report["latencyDistribution"]}
    return Run(report["rps"], times[50], times[99])

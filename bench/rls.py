"""Weir and envoyproxy/ratelimit answer the same calls with one Redis, in interleaved rounds, as a markdown table."""

import argparse
import contextlib
import dataclasses
import json
import os
import pathlib
import random
import re
import statistics
import subprocess
import sys
import tempfile

import ghz
import measure
from peers import redis

ROOT = pathlib.Path(__file__).resolve().parents[1]
REFERENCE = ROOT / "build" / "tools" / "ratelimit" / "service_cmd"
PATH = "/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit"
GRPC = ["-H", "content-type: application/grpc", "-H", "te: trailers"]
OK, OVER_LIMIT = 1, 2
PEERS = ("reference", "weir", "weir_memory")

# What a proxy of three limits would have; nothing matches "other".
FILE = {"domain": "bench", "descriptors": [
    {"key": key, "rate_limit": {"unit": "hour", "requests_per_unit": count}}
    for key, count in (("user", 2_000_000_000), ("path", 2_000_000_000), ("tenant", 2_000_000_000), ("denied", 1))]}


@dataclasses.dataclass(frozen=True)
class Row:
    title: str
    keys: tuple  # of the descriptors, one entry each
    code: int = OK


ROWS = {
    "one": Row("one limit", ("user",)),
    "three": Row("three limits", ("user", "path", "tenant")),
    "denied": Row("denied", ("denied",), OVER_LIMIT),
    "unmatched": Row("no limit", ("other",)),
}

WEIR = """
workers: 1
admin: off
access_log: off
identity_secret: secret of the benchmark, which is long enough
store: {store}
rate_limit_service:
  listen: [{{address: "127.0.0.1:{port}"}}]
  files: ["{directory}/config/*.yaml"]
  algorithm: reference
  charge: reference
"""


@dataclasses.dataclass(frozen=True)
class Sample:
    cpu_us: float        # of the service, a call
    redis_cpu_us: float
    rate: float          # calls a second
    p99_ms: float        # at half load
    memory_mb: float


@dataclasses.dataclass(frozen=True)
class Latencies:
    """At rates that do not depend on the answers: half of the most that ghz and the slowest service reach, and --rate."""
    at_half: ghz.Run
    at_rate: ghz.Run


def field(number, data):
    """A field of Protocol Buffers with a text or a message of less than 128 bytes."""
    data = data.encode() if isinstance(data, str) else data
    return bytes([number << 3 | 2, len(data)]) + data


def body(row):
    """A RateLimitRequest as a message of gRPC."""
    descriptors = [field(2, field(1, field(1, key) + field(2, "value-of-" + key))) for key in row.keys]
    message = field(1, FILE["domain"]) + b"".join(descriptors)
    return b"\0" + len(message).to_bytes(4, "big") + message


def weir(port, directory, redis_port, store=None):
    path = directory / "weir.yaml"
    path.write_text(WEIR.format(port=port, directory=directory, store=store or
                                f'{{type: redis, redis: {{url: "redis://127.0.0.1:{redis_port}"}}}}'))
    return [str(ROOT / "build/release/weir"), "serve", "--config", str(path)]


def weir_memory(port, directory, redis_port):
    return weir(port, directory, redis_port, "{type: memory}")


def reference(port, directory, redis_port):
    """Without statistics and with its other defaults; the core that it is pinned to is the only one that Go sees."""
    settings = {"DISABLE_STATS": "true", "USE_STATSD": "false", "LOG_LEVEL": "error", "REDIS_SOCKET_TYPE": "tcp",
                "REDIS_URL": f"127.0.0.1:{redis_port}", "RUNTIME_ROOT": str(directory), "RUNTIME_SUBDIRECTORY": ".",
                "RUNTIME_WATCH_ROOT": "false", "GRPC_HOST": "127.0.0.1", "GRPC_PORT": str(port),
                "HOST": "127.0.0.1", "PORT": str(measure.free_port()), "DEBUG_HOST": "127.0.0.1",
                "DEBUG_PORT": str(measure.free_port())}
    return ["env", *(f"{name}={value}" for name, value in settings.items()), str(REFERENCE)]


def check(name, port, row, place):
    """Fails unless the service answers a call of the row as it should: h2load does not look at the message."""
    ran = subprocess.run(["curl", "-sS", "--http2-prior-knowledge", *GRPC, "--data-binary", f"@{place}",
                          f"http://127.0.0.1:{port}{PATH}"], capture_output=True, check=False)
    if ran.stdout[5:7] != bytes([1 << 3, row.code]):
        raise RuntimeError(f"{name}, {row.title}: wrong answer {ran.stdout!r} {ran.stderr.decode()}")


def run_load(port, place, core, arguments, calls, rate=None):
    """The calls a second and the 99th percentile in ms. `rate`: of all connections together; None: all that fits."""
    log = place.with_suffix(".log")
    log.unlink(missing_ok=True)
    pace = [f"--rps={max(1, rate // arguments.connections)}"] if rate else []
    ran = subprocess.run(["taskset", "-c", str(core), "h2load", f"-n{calls}", f"-c{arguments.connections}",
                          f"-m{arguments.streams}", "-t1", *pace, f"--log-file={log}", "-d", str(place), *GRPC,
                          f"http://127.0.0.1:{port}{PATH}"], capture_output=True, text=True, check=False)
    done = re.search(r"status codes: (\d+) 2xx", ran.stdout)
    if not done or int(done[1]) != calls:
        raise RuntimeError(f"{ran.stdout[-600:]}{ran.stderr}")
    times = sorted(int(line.split("\t")[2]) for line in log.read_text().splitlines())
    return float(re.search(r"([\d.]+) req/s", ran.stdout)[1]), times[len(times) * 99 // 100] / 1000


def measure_latencies(port, place, core, slowest, arguments):
    half, rate = (ghz.run(port, place, core, one * arguments.seconds, arguments.connections, one)
                  for one in (int(slowest / 2), arguments.rate))
    return Latencies(half, rate)


def measure_rows(names, arguments, directory):
    """{row: {peer: the samples of all rounds}}, with Latencies if ghz is built."""
    service_core, load_core = measure.two_cores()
    samples = {name: {peer: [] for peer in arguments.peers} for name in names}
    latencies = {name: {peer: [] for peer in arguments.peers} for name in names}
    with contextlib.ExitStack() as stack:
        redis_port = measure.free_port()
        redis_pid = stack.enter_context(measure.running(redis(redis_port, directory), load_core, redis_port,
                                                        directory / "redis.out"))
        running = {}
        for peer in arguments.peers:
            own = directory / peer
            (own / "config").mkdir(parents=True)
            (own / "config" / "bench.yaml").write_text(json.dumps(FILE))
            port = measure.free_port()
            command = globals()[peer](port, own, redis_port)
            running[peer] = port, stack.enter_context(measure.running(command, service_core, port, own / "output"))
        for name in names:
            row, place, message = ROWS[name], directory / f"{name}.body", directory / f"{name}.message"
            place.write_bytes(body(row))
            message.write_bytes(body(row)[5:])
            slowest = measure_warm_up(running, row, place, load_core, arguments)
            if ghz.is_built():
                slowest_of_ghz = min(ghz.run(port, message, load_core, arguments.calls // 4, arguments.connections).rate
                                     for port, _pid in running.values())
            for _ in range(arguments.rounds):
                for peer in random.sample(arguments.peers, len(arguments.peers)):
                    port, pid = running[peer]
                    before = measure.cpu_seconds(pid), measure.cpu_seconds(redis_pid)
                    rate, _p99 = run_load(port, place, load_core, arguments, arguments.calls)
                    spent = [(measure.cpu_seconds(one) - start) * 1e6 / arguments.calls
                             for one, start in zip((pid, redis_pid), before)]
                    _rate, p99 = run_load(port, place, load_core, arguments, arguments.calls // 4, int(slowest / 2))
                    samples[name][peer].append(Sample(*spent, rate, p99, measure.memory_mb(pid)))
                    if ghz.is_built():
                        latencies[name][peer].append(
                            measure_latencies(port, message, load_core, slowest_of_ghz, arguments))
    return samples, latencies


def measure_warm_up(running, row, place, core, arguments):
    """The rate of the slowest peer; half of it is the load of the latencies."""
    rates = []
    for peer, (port, _pid) in running.items():
        rate, _p99 = run_load(port, place, core, arguments, arguments.calls // 4)
        check(peer, port, row, place)
        rates.append(rate)
    return min(rates)


def print_table(results):
    print("| work | service | calls/s | to the reference | CPU µs/call | to the reference | Redis CPU µs/call "
          "| p99 ms at half load | memory MB |")
    print("|---|---|---:|---:|---:|---:|---:|---:|---:|")
    for name, peers in results.items():
        for peer, taken in peers.items():
            middle = {one.name: statistics.median(getattr(sample, one.name) for sample in taken)
                      for one in dataclasses.fields(Sample)}
            rate, cpu = (statistics.median(getattr(own, one) / getattr(other, one)
                                           for own, other in zip(taken, peers["reference"]))
                         for one in ("rate", "cpu_us"))
            print(f"| {ROWS[name].title} | {peer} | {middle['rate']:,.0f} | {rate:.2f} | {middle['cpu_us']:.1f} | "
                  f"{cpu:.2f} | {middle['redis_cpu_us']:.1f} | {middle['p99_ms']:.2f} | {middle['memory_mb']:.1f} |")


def print_latencies(results, rate):
    print(f"\n| work | service | calls/s, half of the most | p50 ms | p99 ms | to the reference | p50 ms at {rate:,}/s "
          "| p99 ms | to the reference |")
    print("|---|---|---:|---:|---:|---:|---:|---:|---:|")
    for name, peers in results.items():
        for peer, taken in peers.items():
            cells = [f"{statistics.median(one.at_half.rate for one in taken):,.0f}"]
            for load in "at_half", "at_rate":
                own, other = ([getattr(one, load) for one in peers[each]] for each in (peer, "reference"))
                ratio = statistics.median(a.p99_ms / b.p99_ms for a, b in zip(own, other))
                cells += [f"{statistics.median(one.p50_ms for one in own):.2f}",
                          f"{statistics.median(one.p99_ms for one in own):.2f}", f"{ratio:.2f}"]
            print(f"| {ROWS[name].title} | {peer} | {' | '.join(cells)} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, prog="script/bench rls")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--calls", type=int, default=60_000, help="of each run")
    parser.add_argument("--connections", type=int, default=4)
    parser.add_argument("--streams", type=int, default=32, help="in progress on each connection")
    parser.add_argument("--rate", type=int, default=1_000, help="calls a second of the second run of ghz")
    parser.add_argument("--seconds", type=int, default=2, help="of each run of ghz")
    parser.add_argument("--rows", default=",".join(ROWS), help="of: " + ", ".join(ROWS))
    parser.add_argument("--peers", default=",".join(PEERS), help="of: " + ", ".join(PEERS))
    arguments = parser.parse_args()
    arguments.peers = arguments.peers.split(",")
    for given, known in ((arguments.rows.split(","), ROWS), (arguments.peers, PEERS)):
        unknown = [name for name in given if name not in known]
        if unknown:
            sys.exit(f"script/bench rls: {unknown[0]} is none of {', '.join(known)}")
    if "reference" not in arguments.peers:
        sys.exit("script/bench rls: the ratios are those to the reference; add it to --peers")
    if not os.access(REFERENCE, os.X_OK):
        sys.exit("script/bench rls: envoyproxy/ratelimit is not built: script/bootstrap ratelimit")
    with tempfile.TemporaryDirectory() as directory:
        samples, latencies = measure_rows(arguments.rows.split(","), arguments, pathlib.Path(directory))
        print_table(samples)
        if ghz.is_built():
            print_latencies(latencies, arguments.rate)
        else:
            print("script/bench rls: ghz is not built, so there are no latencies at fixed rates", file=sys.stderr)


if __name__ == "__main__":
    main()

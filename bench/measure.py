"""Processes pinned to cores, and what one round of load cost them."""

import contextlib
import dataclasses
import os
import pathlib
import random
import socket
import subprocess
import sys
import time

TICKS = os.sysconf("SC_CLK_TCK")
LOAD = pathlib.Path(__file__).resolve().parents[1] / "build" / "release" / "bench" / "bench_load"


@dataclasses.dataclass(frozen=True)
class Sample:
    cpu_us: float  # user and system time of the peer's processes, a request
    store_cpu_us: float  # the same of its Redis, if it has one
    rate: float    # requests a second
    p50_ms: float
    p99_ms: float
    memory_mb: float


@dataclasses.dataclass(frozen=True)
class Peer:
    pid: int
    port: int
    upstream_port: int
    redis_pid: int | None = None
    tokens: pathlib.Path | None = None


def two_cores():
    """One for the proxy and one for the load."""
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2:
        sys.exit("script/bench: needs two cores, one for the proxy and one for the load")
    return cores[:2]


GIVEN_PORTS = set()  # the kernel may return a port again that nobody has bound yet


def free_port():
    while True:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        if port not in GIVEN_PORTS:
            GIVEN_PORTS.add(port)
            return port


def wait_until_it_answers(port, process, output):
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise RuntimeError(f"{process.args} ended at once:\n{output.read_text(errors='replace')}")
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.02)
    raise RuntimeError(f"{process.args} does not answer on port {port}:\n{output.read_text(errors='replace')}")


@contextlib.contextmanager
def running(command, core, port, output):
    """The command on one core, from when it answers on the port until the block ends."""
    with output.open("wb") as sink:
        process = subprocess.Popen(["taskset", "-c", str(core), *command], stdout=sink, stderr=sink)
    try:
        wait_until_it_answers(port, process, output)
        yield process.pid  # taskset has become the command
    finally:
        process.terminate()
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def process_tree(pid):
    children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
    return [pid] + [one for child in children for one in process_tree(int(child))]


def cpu_seconds(pid):
    ticks = 0
    for one in process_tree(pid):
        fields = pathlib.Path(f"/proc/{one}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])  # utime, stime: proc(5) fields 14 and 15
    return ticks / TICKS


def memory_mb(pid):
    """Resident, a page that several of the processes share counted once."""
    kilobytes = 0
    for one in process_tree(pid):
        for line in pathlib.Path(f"/proc/{one}/smaps_rollup").read_text(encoding="ascii").splitlines():
            if line.startswith("Pss:"):
                kilobytes += int(line.split()[1])
    return kilobytes / 1024


def load_arguments(peer, seconds, connections, row, first=0):
    """The arguments of bench_load for one run, from the first-th request on."""
    return [f"port={peer.port}", f"upstream_port={peer.upstream_port}", f"seconds={seconds}",
            f"connections={row.connections or connections}", f"keys={row.keys}", f"routes={row.routes}",
            f"first={first}", f"mode={row.mode}", f"tls={int(row.tls)}",
            *([f"tokens={peer.tokens}/tokens"] if row.token else [])]


def load(core, arguments):
    """One run of bench_load; its numbers by name."""
    ran = subprocess.run(["taskset", "-c", str(core), str(LOAD), *arguments], capture_output=True, text=True,
                         check=False)
    if ran.returncode:
        raise RuntimeError(ran.stderr.strip())
    return {name: int(value) for name, value in (pair.split("=") for pair in ran.stdout.split())}


def check(name, row, counts):
    """A run that did other work than its row says is no measurement."""
    if counts["failed"]:
        raise RuntimeError(f"{name}, {row.title}: {counts['failed']} requests failed")
    expected = counts["requests"] if row.denied else 0
    # The first request of the used-up limit passes, and HAProxy's rate takes two.
    if abs(counts["refused"] - expected) > 10:
        raise RuntimeError(f"{name}, {row.title}: {counts['refused']} of {counts['requests']} requests refused, "
                           f"not {expected}")


def warm_up(peer, core, seconds, connections, row):
    """Fills connection pools, and the table of keys with all of them."""
    sent = 0
    while sent < row.keys:
        sent += load(core, load_arguments(peer, seconds, connections, row, first=sent))["requests"]


def sample(name, row, peer, core, seconds, connections):
    pids = (peer.pid, peer.redis_pid)
    first = random.randrange(max(row.keys, row.routes))
    before = [cpu_seconds(pid) if pid else 0 for pid in pids]
    counts = load(core, load_arguments(peer, seconds, connections, row, first))
    spent, spent_in_store = (cpu_seconds(pid) - start if pid else 0 for pid, start in zip(pids, before))
    check(name, row, counts)
    return Sample(cpu_us=spent * 1e6 / counts["requests"],
                  store_cpu_us=spent_in_store * 1e6 / counts["requests"],
                  rate=counts["requests"] * 1e6 / counts["duration_us"],
                  p50_ms=counts["p50_us"] / 1000, p99_ms=counts["p99_us"] / 1000,
                  memory_mb=memory_mb(peer.pid))

#!/usr/bin/env python3
"""How two Weirs decide while Redis stalls, is too slow, and with many connections: script/bench stalls --help

A slow Redis runs in valgrind, and one with a tenth of a core in a control group, which only root may
make; without root its rows are left out. Both run before the other processes if the user may give
them a priority."""

import argparse
import contextlib
import dataclasses
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

import measure
import peers

PROGRAM = pathlib.Path(__file__).resolve().parents[1] / "build" / "release" / "weir"

WEIR = """
listen: [{{address: "127.0.0.1:{port}"}}]
admin: {{address: "127.0.0.1:{admin}"}}
workers: 1
identity_secret: not-a-secret-but-long-enough-for-a-benchmark
access_log: {{path: {log}}}
store:
  type: redis
  redis: {{url: "redis://127.0.0.1:{redis}", timeout: {timeout}, replicas: 2}}
policies: {{per_client: {{algorithm: gcra, rate: 100000000/1h}}}}
routes: [{{respond: {{status: 204}}, limits: [{{policy: per_client}}]}}]
"""


@dataclasses.dataclass(frozen=True)
class Setting:
    name: str
    connections: int  # at each Weir
    stall_s: float = 0
    every_s: float = 0.5
    think_ms: int = 0  # of a client between two requests, on average
    timeout: str = "25ms"
    is_slow: bool = False
    core: float = 1  # the part of a processor that Redis may use, in each 10 ms
    of_capacity: float = 0  # what the clients offer, as a multiple of what Redis took in the row before


SETTINGS = [
    Setting("no stall", 32),
    Setting("30 ms twice a second", 32, stall_s=0.03),
    Setting("300 ms every 2 s", 32, stall_s=0.3, every_s=2),
    Setting("1,000 connections", 500, think_ms=100),
    Setting("2,000 connections", 1000, think_ms=200),
    Setting("1,000 connections without a pause", 500),
    Setting("a tenth of a core, 64 connections", 32, core=0.1),
    Setting("a tenth of a core, 2,000 connections, a pause", 1000, think_ms=66, core=0.1),
    Setting("a tenth of a core, 2,000 connections", 1000, core=0.1),
    Setting("slow Redis: its capacity", 32, timeout="500ms", is_slow=True),
    Setting("slow Redis: twice its capacity", 600, is_slow=True, of_capacity=2),
]


def stalls(pid, setting, until, seen):
    """Stops and continues the server; notes when, on the clock of the log."""
    while time.monotonic() < until:
        time.sleep(setting.every_s - setting.stall_s)
        began = time.time()
        os.kill(pid, signal.SIGSTOP)
        time.sleep(setting.stall_s)
        os.kill(pid, signal.SIGCONT)
        seen.append((began, time.time()))


def metric(port, name):
    text = urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics").read().decode()
    return sum(float(value) for value in re.findall(rf"^{name}(?:{{[^}}]*}})? (\S+)$", text, re.M))


def lines_of(logs):
    for log in logs:
        for line in log.read_text().splitlines():
            yield json.loads(line)


def seconds_of(line):
    return time.mktime(time.strptime(line["time"][:19], "%Y-%m-%dT%H:%M:%S")) - time.timezone + float(
        line["time"][19:].rstrip("Z") or 0)


def after_stalls(lines, seen):
    """The part of the requests that was decided alone although no stall was within the last 50 ms."""
    late = 0
    for line in lines:
        if line["store"] == "local":
            at = seconds_of(line)
            late += not any(begin <= at <= end + 0.05 for begin, end in seen)
    return late / len(lines)


def share_per_tenth(lines):
    """The smallest and the largest part that was decided alone in 100 ms, without the edges."""
    tenths = {}
    for line in lines:
        counts = tenths.setdefault(int(seconds_of(line) * 10), [0, 0])
        counts[0] += line["store"] == "local"
        counts[1] += 1
    shares = [alone / all_ for _, (alone, all_) in sorted(tenths.items())[5:-5]]
    return min(shares, default=0), max(shares, default=0)


def percentile(values, part):
    values = sorted(values)
    return values[min(len(values) - 1, int(len(values) * part))] if values else 0


def redis_command(port, directory, setting):
    command = peers.redis(port, directory)
    if not setting.is_slow and setting.core == 1:
        return command
    priority = ["nice", "-n", "-20"] if os.geteuid() == 0 else []
    valgrind = ["valgrind", "--quiet", "--tool=none"] if setting.is_slow else []
    return [*priority, *valgrind, *command]


@contextlib.contextmanager
def part_of_a_core(pid, part):
    """Limits the process to a part of a processor in each 10 ms, by a control group of its own (of
    either version, which needs root)."""
    if part >= 1:
        yield
        return
    period_us = 10_000
    quota_us = round(part * period_us)
    root = pathlib.Path("/sys/fs/cgroup")
    is_first_version = (root / "cpu" / "cpu.cfs_quota_us").exists()
    group = root / ("cpu" if is_first_version else "") / f"weir-bench-{os.getpid()}"
    group.mkdir()
    try:
        if is_first_version:
            (group / "cpu.cfs_period_us").write_text(str(period_us))
            (group / "cpu.cfs_quota_us").write_text(str(quota_us))
        else:
            (group / "cpu.max").write_text(f"{quota_us} {period_us}")
        (group / "cgroup.procs").write_text(str(pid))
        yield
    finally:
        (group.parent / "cgroup.procs").write_text(str(pid))
        group.rmdir()


@contextlib.contextmanager
def weirs(directory, redis_port, timeout):
    with contextlib.ExitStack() as stack:
        started = []
        for number in range(2):
            port, admin = measure.free_port(), measure.free_port()
            log = directory / f"{number}.log"
            file = directory / f"{number}.yaml"
            file.write_text(WEIR.format(port=port, admin=admin, log=log, redis=redis_port, timeout=timeout))
            output = directory / f"{number}.out"
            sink = stack.enter_context(output.open("wb"))
            process = subprocess.Popen([PROGRAM, "serve", file], stdout=sink, stderr=sink)
            stack.callback(process.wait)
            stack.callback(process.terminate)
            measure.wait_until_it_answers(port, process, output)
            started.append((port, admin, log))
        yield started


def run(setting, seconds, directory):
    """Prints the row; returns how many requests Redis has decided per second."""
    script = directory / "think.lua"
    script.write_text(f"function delay() return math.random(0, {2 * setting.think_ms}) end\n"
                      if setting.think_ms else "")
    redis_port = measure.free_port()
    redis = subprocess.Popen(redis_command(redis_port, directory, setting), stdout=subprocess.DEVNULL)
    try:
        time.sleep(4 if setting.is_slow else 0.5)
        with (part_of_a_core(redis.pid, setting.core),
              weirs(directory, redis_port, setting.timeout) as started):
            loads = [subprocess.Popen(
                ["wrk", "-t1", f"-c{setting.connections}", f"-d{seconds}s", "-s", script,
                 f"http://127.0.0.1:{port}/"], stdout=subprocess.DEVNULL)
                for port, _, _ in started]
            seen = []
            if setting.stall_s:
                until = time.monotonic() + seconds - setting.every_s
                stalling = threading.Thread(target=stalls, args=(redis.pid, setting, until, seen))
                stalling.start()
                stalling.join()
            for load in loads:
                load.wait()
            calls = sum(metric(admin, "weir_store_calls_total") for _, admin, _ in started)
            late = sum(metric(admin, "weir_store_late_answers_total") for _, admin, _ in started)
            time.sleep(0.5)  # the log is written every quarter of a second
            lines = list(lines_of(log for _, _, log in started))
    finally:
        redis.terminate()
        redis.wait()
    alone = sum(line["store"] == "local" for line in lines)
    took = [line["decision_us"] / 1000 for line in lines]
    low, high = share_per_tenth(lines)
    print(f"| {setting.name} | {len(lines) / seconds:,.0f} | {(len(lines) - alone) / seconds:,.0f} "
          f"| {alone / len(lines):.2%} | {low:.0%} to {high:.0%} | {after_stalls(lines, seen):.2%} "
          f"| {percentile(took, 0.5):.2f} | {percentile(took, 0.99):.2f} | {max(took):.1f} "
          f"| {late:.0f} | {(len(lines) - alone) / max(calls, 1):.2f} |", flush=True)
    return (len(lines) - alone) / seconds


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=6, help="of each setting")
    parser.add_argument("--settings", default="", help="only those whose name contains it")
    options = parser.parse_args(arguments)
    print("| setting | requests/s | by Redis | decided alone | per 100 ms | not in a stall | decision p50, ms "
          "| p99 | longest | late answers | decisions per call |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    taken = 0
    for setting in SETTINGS:
        if options.settings not in setting.name:
            continue
        if setting.core < 1 and os.geteuid() != 0:
            print(f"{setting.name}: left out, a control group needs root", file=sys.stderr)
            continue
        if setting.of_capacity:
            think_ms = round(1000 * 2 * setting.connections / (setting.of_capacity * taken))
            setting = dataclasses.replace(setting, think_ms=think_ms)
        with tempfile.TemporaryDirectory() as directory:
            taken = run(setting, options.seconds, pathlib.Path(directory))


if __name__ == "__main__":
    main()

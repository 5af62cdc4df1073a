"""Time and memory of `weir replay` on one core for a log in the Combined Log Format, as a markdown table."""

import argparse
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
PROGRAM = ROOT / "build/release/weir"

CONFIGURATION = """\
listen: [{{address: "127.0.0.1:1"}}]
upstreams: {{api: {{servers: [{{url: "http://127.0.0.1:1"}}]}}}}
identities: {{client: {{client_address: {{}}}}, agent: {{header: user-agent}}}}
policies:
  per_client: {{algorithm: gcra, rate: {rate}/1s, burst: 20}}
  per_hour: {{algorithm: fixed_window, rate: 5000/1h}}
  per_agent: {{algorithm: token_bucket, rate: 1000/1m}}
routes:
  - match: {{path: /v1/items/**}}
    upstream: api
    limits: [{{policy: per_client, key: client}}, {{policy: per_agent, key: agent}}]
  - match: {{path: /**}}
    upstream: api
    limits: [{{policy: per_client, key: client}}, {{policy: per_hour, key: client}}]
"""
ROWS = {"replay": [], "--suggest 99.9": ["--suggest", "99.9"], "--compare": ["--compare", "other.yaml"],
        "all, with a page": ["--suggest", "99.9", "--compare", "other.yaml", "--report", "report.html"]}
LINE = ('{address} - - [{day:02}/Jan/2026:{hour:02}:{minute:02}:{second:02} +0000] "GET /v1/{path}/{number}?page={page}'
        ' HTTP/1.1" 200 {size} "https://www.example.com/list" "Mozilla/5.0 (X11; Linux x86_64) Agent/{agent}"\n')


def write_log(path, size, clients):
    """A thousand requests a second; the number of a client is distributed as its rank in most services."""
    source = random.Random(20261127)
    addresses = [f"{source.randrange(1, 224)}.{source.randrange(256)}.{source.randrange(256)}.{source.randrange(256)}"
                 for _ in range(clients)]
    written = lines = 0
    with open(path, "w", encoding="ascii") as log:
        while written < size:
            second = lines // 1000
            line = LINE.format(
                address=addresses[min(int(source.paretovariate(0.7)) - 1, clients - 1)], day=1 + second // 86400,
                hour=second // 3600 % 24, minute=second // 60 % 60, second=second % 60,
                path=("items", "users", "search")[lines % 3], number=source.randrange(100000), page=lines % 7,
                size=source.randrange(100000), agent=source.randrange(40))
            written += log.write(line)
            lines += 1
    return lines


def measure(arguments, log, directory):
    """(seconds, seconds of user time, bytes of memory)."""
    with subprocess.Popen([PROGRAM, "replay", "-c", "weir.yaml", log, *arguments], cwd=directory,
                          stdout=subprocess.DEVNULL, preexec_fn=lambda: os.sched_setaffinity(
                              0, {min(os.sched_getaffinity(0))})) as process:
        begun_at = time.monotonic()
        _, status, usage = os.wait4(process.pid, 0)
        took = time.monotonic() - begun_at
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"weir replay {' '.join(arguments)} failed")
    return took, usage.ru_utime, usage.ru_maxrss * 1024


def main(arguments):
    parser = argparse.ArgumentParser(prog="script/bench replay", description=__doc__)
    parser.add_argument("--megabytes", type=int, default=1000, help="size of the log, default 1000")
    parser.add_argument("--clients", type=int, default=5000, help="addresses in the log, default 5000")
    parser.add_argument("--rounds", type=int, default=3, help="default 3; the median is printed")
    parser.add_argument("--rows", help=f"of {', '.join(ROWS)}; default all")
    options = parser.parse_args(arguments)
    rows = options.rows.split(",") if options.rows else list(ROWS)
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        (directory / "weir.yaml").write_text(CONFIGURATION.format(rate=10), encoding="ascii")
        (directory / "other.yaml").write_text(CONFIGURATION.format(rate=20), encoding="ascii")
        lines = write_log(directory / "access.log", options.megabytes * 1_000_000, options.clients)
        print(f"{options.megabytes} MB, {lines} lines, {options.clients} clients\n")
        print("| | seconds | user s | us a line | memory, MB |\n|---|---:|---:|---:|---:|")
        for row in rows:
            rounds = [measure(ROWS[row], "access.log", directory) for _ in range(options.rounds)]
            took, user, memory = (statistics.median(values) for values in zip(*rounds))
            print(f"| {row} | {took:.1f} | {user:.1f} | {user * 1e6 / lines:.2f} | {memory / 1e6:.0f} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])

#!/usr/bin/env python3
"""Weir beside its peers, on the same work: script/bench --help"""

import argparse
import contextlib
import os
import pathlib
import shutil
import signal
import sys
import tempfile

import measure
import peers
import report

PROGRAM = pathlib.Path(__file__).resolve().parents[1] / "build" / "release" / "weir"


def choices(part):
    return "; ".join(f"{name}: {', '.join(getattr(table, part))}" for name, table in peers.TABLES.items())


def chosen(parser, text, known):
    """{name: what it stands for} of those named, all without a text."""
    names = text.split(",") if text else list(known)
    unknown = [name for name in names if name not in known]
    if unknown:
        parser.error(f"no {unknown[0]!r}; there are {', '.join(known)}")
    return {name: known[name] for name in names}


def options_of(arguments):
    parser = argparse.ArgumentParser(
        prog="script/bench", description=__doc__.partition(":")[0] + ".",
        epilog="Others, each with --help: `script/bench abuse`, what a well-behaved client notices of those that are "
               "not; `script/bench instructions`, instructions per request beside the recorded values.")
    parser.add_argument("table", nargs="?", choices=list(peers.TABLES), default="embedded",
                        help="embedded: nginx and HAProxy beside Weir's own store, the default; "
                             "redis: nginx with Lua beside Weir, each with a Redis; "
                             "reuse: Weir with upstream connections of its clients' own (reuse: safe) beside shared ones")
    parser.add_argument("--rounds", type=int, default=5, help="interleaved rounds, default 5")
    parser.add_argument("--seconds", type=int, default=4, help="of load a round and peer, default 4")
    parser.add_argument("--rows", metavar="NAME,...", help=f"{choices('rows')}; default all")
    parser.add_argument("--peers", metavar="NAME,...",
                        help=f"{choices('peers')}; default all; ratios are to the first")
    parser.add_argument("--connections", type=int, default=64, help="default 64")
    parser.add_argument("--log", choices=("text", "json"),
                        help="write access logs, Weir in nginx's combined format (text) or in its own; without "
                             "it nobody writes one")
    parser.add_argument("--program", type=pathlib.Path, default=PROGRAM, help="the weir to measure")
    options = parser.parse_args(arguments)
    table = peers.TABLES[options.table]
    options.rows = chosen(parser, options.rows, table.rows)
    options.peers = chosen(parser, options.peers, table.peers)
    return options


def started(stack, row, options, cores, directory):
    """{peer: Peer}, each running until the stack is left."""
    proxy_core, load_core = cores
    upstream_port = measure.free_port()  # the load serves it
    found = {}
    for name, configure in options.peers.items():
        own = directory / name
        own.mkdir(parents=True)
        redis_port, redis_pid = None, None
        if row.redis:
            redis_port = measure.free_port()
            redis_pid = stack.enter_context(measure.running(peers.redis(redis_port, own), load_core, redis_port,
                                                            own / "redis.out"))
        work = peers.Work(row, measure.free_port(), upstream_port, own, options.log, redis_port)
        command = configure(work, str(options.program))
        pid = stack.enter_context(measure.running(command, proxy_core, work.port, own / "output"))
        found[name] = measure.Peer(pid, work.port, upstream_port, redis_pid)
        measure.warm_up(found[name], load_core, 1, options.connections, row)
    return found


def measure_row(row, options, cores, directory):
    """{peer: [Sample of each round]}. Each round starts the peers anew: where their buffers come to lie decides how fast
    the kernel copies from them."""
    samples = {name: [] for name in options.peers}
    for number in range(options.rounds):
        with contextlib.ExitStack() as stack:
            running = list(started(stack, row, options, cores, directory / str(number)).items())
            turn = number % len(running)
            for name, peer in running[turn:] + running[:turn]:
                taken = measure.sample(name, row, peer, cores[1], options.seconds, options.connections)
                samples[name].append(taken)
                in_redis = f" and {taken.store_cpu_us:.2f} in Redis" if row.redis else ""
                print(f"{row.name} round {number + 1} {name}: {taken.cpu_us:.2f}{in_redis} µs/request, "
                      f"{taken.rate:.0f}/s", file=sys.stderr, flush=True)
    return samples


def missing_programs(options):
    wanted = {"taskset", *(["nginx"] if {"nginx", "nginx_lua"} & set(options.peers) else []),
              *(["haproxy"] if "haproxy" in options.peers else []),
              *(["redis-server"] if options.table == "redis" else [])}
    missing = sorted(name for name in wanted if not shutil.which(name))
    if not measure.LOAD.is_file():
        missing.append(f"{measure.LOAD} (script/build release bench_load makes it)")
    if any(name.startswith("weir") for name in options.peers) and not options.program.is_file():
        missing.append(f"{options.program} (script/build makes it)")
    return missing


def main(arguments):
    options = options_of(arguments)
    cores = measure.two_cores()
    if missing := missing_programs(options):
        sys.exit(f"script/bench: not found: {', '.join(missing)}; script/bootstrap installs the programs")
    if (busy := os.getloadavg()[0]) > 1:
        print(f"script/bench: other work is running here (load average {busy:.1f}); expect noise", file=sys.stderr)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that what was started is stopped

    named = [*options.peers, *(["redis"] if options.table == "redis" else [])]
    versions = {name: report.version(peers.version_command(name, str(options.program))) for name in named}
    results = {}
    for row in options.rows.values():
        with tempfile.TemporaryDirectory(prefix="weir-bench-") as directory:
            results[row.title] = measure_row(row, options, cores, pathlib.Path(directory))
    print(report.circumstances(versions, options))
    print()
    print(report.table(results))


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except RuntimeError as error:
        sys.exit(f"script/bench: {error}")
    except KeyboardInterrupt:
        sys.exit(130)

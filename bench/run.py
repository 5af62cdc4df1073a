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
import tokens
from tables import TABLES

PROGRAM = pathlib.Path(__file__).resolve().parents[1] / "build" / "release" / "weir"


def choices(part):
    return "; ".join(f"{name}: {', '.join(getattr(table, part))}" for name, table in TABLES.items())


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
    parser.add_argument("table", nargs="?", choices=list(TABLES), default="embedded",
                        help="; ".join(f"{name}: {table.about}" for name, table in TABLES.items()))
    parser.add_argument("--rounds", type=int, default=5, help="interleaved rounds, default 5")
    parser.add_argument("--seconds", type=int, default=4, help="of load a round and peer, default 4")
    parser.add_argument("--rows", metavar="NAME,...", help=f"{choices('rows')}; default all")
    parser.add_argument("--peers", metavar="NAME,...",
                        help=f"{choices('peers')}; default all; ratios are to the first")
    parser.add_argument("--connections", type=int, default=64, help="default 64; a row may have a number of its own")
    parser.add_argument("--log", choices=("text", "json"),
                        help="write access logs, Weir in nginx's combined format (text) or in its own; without "
                             "it nobody writes one")
    parser.add_argument("--program", type=pathlib.Path, default=PROGRAM, help="the weir to measure")
    options = parser.parse_args(arguments)
    table = TABLES[options.table]
    options.rows = chosen(parser, options.rows, table.rows)
    options.peers = chosen(parser, options.peers, table.peers)
    return options


def started(stack, row, options, cores, directory, certificate):
    """{peer: Peer}, each running until the stack is left."""
    proxy_core, load_core = cores
    upstream_port = measure.free_port()  # the load serves it
    made = directory / "tokens" if row.token else None
    if made:
        tokens.write(row.token, row.keys, made)
    found = {}
    for name, configure in options.peers.items():
        own = directory / name
        own.mkdir(parents=True)
        redis_port, redis_pid = None, None
        if row.redis:
            redis_port = measure.free_port()
            redis_pid = stack.enter_context(measure.running(peers.redis(redis_port, own), load_core, redis_port,
                                                            own / "redis.out"))
        work = peers.Work(row, measure.free_port(), upstream_port, own, options.log, redis_port, made, certificate)
        command = configure(work, str(options.program))
        pid = stack.enter_context(measure.running(command, proxy_core, work.port, own / "output"))
        found[name] = measure.Peer(pid, work.port, upstream_port, redis_pid, made)
        measure.warm_up(found[name], load_core, 1, options.connections, row)
    return found


def measure_round(number, row, options, cores, directory, certificate):
    """{peer: Sample}. Each round restarts the peers: the addresses of their buffers decide how fast the kernel copies
    from them."""
    samples = {}
    with contextlib.ExitStack() as stack:
        running = list(started(stack, row, options, cores, directory, certificate).items())
        turn = number % len(running)
        for name, peer in running[turn:] + running[:turn]:
            taken = measure.sample(name, row, peer, cores[1], options.seconds, options.connections)
            samples[name] = taken
            in_redis = f" and {taken.store_cpu_us:.2f} in Redis" if row.redis else ""
            print(f"{row.name} round {number + 1} {name}: {taken.cpu_us:.2f}{in_redis} µs/request, "
                  f"{taken.rate:.0f}/s", file=sys.stderr, flush=True)
    return samples


def measure_rows(options, cores, directory):
    """{row name: {peer: [Sample of each round]}}. A round has all rows, so that rows can be compared, too."""
    certificate = None
    if any(row.tls for row in options.rows.values()):
        peers.make_certificate(directory)
        certificate = directory
    results = {row: {peer: [] for peer in options.peers} for row in options.rows}
    for number in range(options.rounds):
        for row in options.rows.values():
            own = directory / f"{number}-{row.name}"
            for peer, taken in measure_round(number, row, options, cores, own, certificate).items():
                results[row.name][peer].append(taken)
    return results


def missing_programs(options):
    wanted = {"taskset", *(["nginx"] if {"nginx", "nginx_lua"} & set(options.peers) else []),
              *(["haproxy"] if "haproxy" in options.peers else []),
              *(["redis-server"] if any(row.redis for row in options.rows.values()) else []),
              *(["openssl"] if any(row.tls for row in options.rows.values()) else [])}
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
    busy = os.getloadavg()[0]
    if busy > 1:
        print(f"script/bench: other work is running here (load average {busy:.1f}); expect noise", file=sys.stderr)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that what was started is stopped

    named = [*options.peers, *(["redis"] if any(row.redis for row in options.rows.values()) else [])]
    versions = {name: report.version(peers.version_command(name, str(options.program))) for name in named}
    with tempfile.TemporaryDirectory(prefix="weir-bench-") as directory:
        results = measure_rows(options, cores, pathlib.Path(directory))
    print(report.circumstances(versions, options, (busy, os.getloadavg()[0])))
    print()
    print(report.table(options.rows, results))
    if between_rows := report.comparisons(options.rows, results):
        print()
        print(between_rows)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except RuntimeError as error:
        sys.exit(f"script/bench: {error}")
    except KeyboardInterrupt:
        sys.exit(130)

#!/usr/bin/env python3
"""Weir beside nginx and HAProxy, on the same work: script/bench --help"""

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


def names_of(known):
    def parse(text):
        names = text.split(",")
        unknown = [name for name in names if name not in known]
        if unknown:
            raise argparse.ArgumentTypeError(f"no {unknown[0]!r}; there are {', '.join(known)}")
        return names
    return parse


def options_of(arguments):
    parser = argparse.ArgumentParser(prog="script/bench", description=__doc__.partition(":")[0] + ".")
    parser.add_argument("--rounds", type=int, default=5, help="interleaved rounds, default 5")
    parser.add_argument("--seconds", type=int, default=4, help="of load a round and peer, default 4")
    parser.add_argument("--rows", type=names_of(peers.ROWS), default=list(peers.ROWS), metavar="NAME,...",
                        help=f"of {', '.join(peers.ROWS)}; default all")
    parser.add_argument("--peers", type=names_of(peers.PEERS), default=list(peers.PEERS), metavar="NAME,...",
                        help=f"of {', '.join(peers.PEERS)}; default all; ratios are to the first")
    parser.add_argument("--connections", type=int, default=64, help="default 64")
    parser.add_argument("--log", action="store_true", help="write access logs to files; without it there are none")
    parser.add_argument("--program", type=pathlib.Path, default=PROGRAM, help="the weir to measure")
    return parser.parse_args(arguments)


def measure_row(row, options, cores, directory):
    """{peer: [Sample of each round]}, every peer running from the first round to the last."""
    proxy_core, load_core = cores
    samples = {name: [] for name in options.peers}
    with contextlib.ExitStack() as stack:
        upstream_port = measure.free_port()
        stack.enter_context(measure.running(peers.upstream(upstream_port, directory), load_core, upstream_port,
                                            directory / "upstream.out"))
        started = {}
        for name in options.peers:
            own = directory / name
            own.mkdir()
            work = peers.Work(row, measure.free_port(), upstream_port, own, options.log)
            command = peers.PEERS[name](work, str(options.program))
            pid = stack.enter_context(measure.running(command, proxy_core, work.port, own / "output"))
            started[name] = (pid, work.port)

        for _, port in started.values():
            measure.warm_up(port, load_core, options.seconds, options.connections, row.keys)
        for number in range(options.rounds):
            turn = number % len(started)
            order = list(started.items())
            for name, (pid, port) in order[turn:] + order[:turn]:
                taken = measure.sample(name, row, pid, port, load_core, options.seconds, options.connections)
                samples[name].append(taken)
                print(f"{row.name} round {number + 1} {name}: {taken.cpu_us:.2f} µs/request, {taken.rate:.0f}/s",
                      file=sys.stderr, flush=True)
    return samples


def missing_programs(options):
    wanted = {"taskset", "wrk", "nginx", *(name for name in options.peers if name != "weir")}
    missing = sorted(name for name in wanted if not shutil.which(name))
    if "weir" in options.peers and not options.program.is_file():
        missing.append(f"{options.program} (script/build makes it)")
    return missing


def main(arguments):
    options = options_of(arguments)
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2:
        sys.exit("script/bench: needs two cores, one for the proxy and one for the load")
    if missing := missing_programs(options):
        sys.exit(f"script/bench: not found: {', '.join(missing)}; script/bootstrap installs the programs")
    if (busy := os.getloadavg()[0]) > 1:
        print(f"script/bench: other work is running here (load average {busy:.1f}); expect noise", file=sys.stderr)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that what was started is stopped

    versions = {name: report.version(peers.version_command(name, str(options.program))) for name in options.peers}
    results = {}
    for name in options.rows:
        row = peers.ROWS[name]
        with tempfile.TemporaryDirectory(prefix="weir-bench-") as directory:
            results[row.title] = measure_row(row, options, cores[:2], pathlib.Path(directory))
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

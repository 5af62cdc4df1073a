#!/usr/bin/env python3
"""Instructions per request by callgrind: script/bench instructions --help

One worker, one client on one connection, one request at a time. Each row runs twice with different numbers of requests,
and the difference is divided by the difference of the numbers. Client and upstream are one thread, so every run does the
same work in the same order; the figures repeat within 1 %, also on a busy machine.
"""

import argparse
import contextlib
import json
import pathlib
import platform
import re
import select
import shutil
import socket
import subprocess
import sys
import tempfile

import instruction_rows
import measure
import peers
from instruction_count import broken_bounds, exceeds, per_request, Result, Run, table

ROOT = pathlib.Path(__file__).resolve().parents[1]
PROGRAM = ROOT / "build" / "release" / "weir"
RECORDED = ROOT / "bench" / "instructions.json"
SHORT, LONG = 500, 2500  # requests of the two runs
ANSWER = (b"HTTP/1.1 200 OK\r\nServer: bench\r\nDate: Fri, 01 Jan 2027 00:00:00 GMT\r\nContent-Type: text/plain\r\n"
          b"Content-Length: 100\r\n\r\n" + b"x" * 100)


def take_message(data):
    """The first complete message with Content-Length, or without a body, and the bytes after it; (None, data) if it is
    not complete."""
    head, end, rest = data.partition(b"\r\n\r\n")
    length = re.search(rb"\r\ncontent-length: *(\d+)", head, re.I)
    size = int(length[1]) if length else 0
    return (head, rest[size:]) if end and len(rest) >= size else (None, data)


class Exchange:
    """The client and the upstream in one thread."""

    def __init__(self, listener, port):
        self.listener = listener
        self.client = socket.create_connection(("127.0.0.1", port))
        self.client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.upstreams = {}  # connection: bytes of an incomplete request
        self.arrived = b""

    def close(self):
        for connection in (self.client, *self.upstreams):
            connection.close()

    def send(self, data, answers, status):
        """Sends requests and waits for their answers."""
        self.client.sendall(data)
        while answers:
            for readable in select.select([self.client, self.listener, *self.upstreams], [], [], 60)[0]:
                if readable is self.listener:
                    self.upstreams[self.listener.accept()[0]] = b""
                elif readable is self.client:
                    answers -= self.take_answers(status)
                else:
                    self.serve(readable)

    def take_answers(self, status):
        piece = self.client.recv(65536)
        if not piece:
            raise RuntimeError("Weir closed the connection")
        self.arrived += piece
        count = 0
        while True:
            head, self.arrived = take_message(self.arrived)
            if head is None:
                return count
            if status and not head.startswith(b"HTTP/1.1 %d " % status):
                raise RuntimeError(f"not {status}: {head.decode(errors='replace')}")
            count += 1

    def serve(self, upstream):
        piece = upstream.recv(65536)
        if not piece:
            upstream.close()
            del self.upstreams[upstream]
            return
        head, self.upstreams[upstream] = take_message(self.upstreams[upstream] + piece)
        if head is not None:
            upstream.sendall(ANSWER)


@contextlib.contextmanager
def program_in_callgrind(program, configuration, count):
    """The port that the program listens on. When the block has ended, so has the program, and `count` has callgrind's
    output."""
    process = subprocess.Popen(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", f"--log-file={count}",
                                str(program), "serve", "--config", str(configuration)],
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    try:
        printed = b""
        while not (found := re.search(rb"listening on http://127\.0\.0\.1:(\d+)", printed)):
            line = process.stdout.readline()
            if not line:
                raise RuntimeError(f"Weir did not start:\n{printed.decode(errors='replace')}")
            printed += line
        yield int(found[1])
    finally:
        process.terminate()
        process.communicate()


def warm_up(exchange, row):
    """Sends each key once, many requests in one piece."""
    for first in range(0, row.keys, 50):
        numbers = range(first, min(first + 50, row.keys))
        exchange.send(b"".join(instruction_rows.request(row, number) for number in numbers), len(numbers), None)


def run(row, requests, program, redis_port, directory):
    with contextlib.ExitStack() as stack:
        listener = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        configuration, count = directory / "weir.yaml", directory / "callgrind.log"
        configuration.write_text(instruction_rows.configuration(row, listener.getsockname()[1], redis_port,
                                                                directory / "access.log"), encoding="utf-8")
        with program_in_callgrind(program, configuration, count) as port:
            exchange = Exchange(listener, port)
            stack.callback(exchange.close)
            warm_up(exchange, row)
            for number in range(requests):
                exchange.send(instruction_rows.request(row, number), 1, row.status)
            exchange.client.close()
        text = count.read_text(encoding="utf-8", errors="replace")
        collected = re.search(r"Collected : (\d+)", text)
        if not collected:
            raise RuntimeError(f"callgrind printed no count:\n{text}")
        return Run(requests, int(collected[1]))


def measured(row, program):
    with contextlib.ExitStack() as stack:
        directory = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="weir-bench-")))
        redis_port = None
        if row.redis:
            redis_port = measure.free_port()
            core = measure.two_cores()[1]
            stack.enter_context(measure.running(peers.redis(redis_port, directory), core, redis_port,
                                                directory / "redis.out"))
        return per_request(*(run(row, requests, program, redis_port, directory) for requests in (SHORT, LONG)))


def compiler():
    """The compiler's name and version as the build tree names it."""
    files = list((ROOT / "build" / "release" / "CMakeFiles").glob("*/CMakeCXXCompiler.cmake"))
    text = files[0].read_text(encoding="utf-8") if files else ""
    values = [re.search(rf'set\(CMAKE_CXX_COMPILER_{name} "([^"]*)"\)', text) for name in ("ID", "VERSION")]
    return " ".join(value[1] for value in values if value) or "unknown"


def circumstances():
    return {"preset": "release", "compiler": compiler(), "c_library": " ".join(platform.libc_ver()),
            "machine": platform.machine()}


def record(name, value):
    """Writes the value of one row; those of other rows stay."""
    recorded = json.loads(RECORDED.read_text(encoding="utf-8")) if RECORDED.is_file() else {"rows": {}}
    rows = {**recorded["rows"], name: value}
    text = json.dumps({"made_with": circumstances(), "rows": {name: rows[name] for name in instruction_rows.ROWS
                                                              if name in rows}}, indent=2)
    RECORDED.write_text(text + "\n", encoding="utf-8")


def options_of(arguments):
    parser = argparse.ArgumentParser(
        prog="script/bench instructions",
        description="Instructions per request by callgrind, without the kernel, beside the recorded values in "
                    "bench/instructions.json. Exits 1 if a row is more than 3 %% above its recorded value. The values "
                    "hold for one compiler and its libraries: record your own before a change, compare after it.")
    parser.add_argument("--rows", metavar="NAME,...", help=f"{', '.join(instruction_rows.ROWS)}; default all")
    parser.add_argument("--record", action="store_true", help="write the measured values to bench/instructions.json")
    parser.add_argument("--program", type=pathlib.Path, default=PROGRAM, help="the weir to measure")
    options = parser.parse_args(arguments)
    names = options.rows.split(",") if options.rows else list(instruction_rows.ROWS)
    if unknown := [name for name in names if name not in instruction_rows.ROWS]:
        parser.error(f"no row {unknown[0]!r}; there are {', '.join(instruction_rows.ROWS)}")
    options.rows = [instruction_rows.ROWS[name] for name in names]
    return options


def main(arguments):
    options = options_of(arguments)
    wanted = ["valgrind", *(["redis-server", "taskset"] if any(row.redis for row in options.rows) else [])]
    if missing := [name for name in wanted if not shutil.which(name)]:
        sys.exit(f"script/bench: not found: {', '.join(missing)}; script/bootstrap bench installs them")
    recorded = json.loads(RECORDED.read_text(encoding="utf-8")) if RECORDED.is_file() else {"made_with": {}, "rows": {}}
    if recorded["made_with"] not in ({}, circumstances()):
        print(f"script/bench: recorded with {recorded['made_with']}, this is {circumstances()}; the ratios may not "
              "mean anything", file=sys.stderr)
    results, values = [], {}
    for row in options.rows:
        results.append(Result(row.title, measured(row, options.program), recorded["rows"].get(row.name)))
        values[row.name] = results[-1].measured
        print(f"{row.name}: {results[-1].measured:,.1f}", file=sys.stderr, flush=True)
        if options.record:
            record(row.name, round(results[-1].measured))
    print(table(results))
    broken = list(broken_bounds(values))
    for message in broken:
        print(f"script/bench: {message}", file=sys.stderr)
    has_grown = any(exceeds(result) for result in results) and not options.record
    return 1 if broken or has_grown else 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except RuntimeError as error:
        sys.exit(f"script/bench: {error}")
    except KeyboardInterrupt:
        sys.exit(130)

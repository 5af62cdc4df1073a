"""What open status pages cost: CPU time of the threads of Weir with and without them, as a markdown table."""

import argparse
import json
import pathlib
import socket
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
PROGRAM = ROOT / "build/release/weir"
REQUEST = b"GET /v1/status/events HTTP/1.1\r\nHost: localhost\r\n\r\n"


MOST_POLICIES = 4000  # a configuration has at most 4096


def configuration(routes, port, admin):
    names = [f"name-{number}" for number in range(routes)]
    policies = names[:MOST_POLICIES]
    return {
        "listen": [{"address": f"127.0.0.1:{port}"}], "admin": {"address": f"127.0.0.1:{admin}"}, "workers": 1,
        "access_log": "off", "identities": {"client": {"client_address": {}}},
        "policies": {name: {"algorithm": "gcra", "rate": "10/1s"} for name in policies},
        "routes": [{"name": name, "match": {"path": f"/{name}"}, "respond": {"body": "x"},
                    "limits": [{"policy": policies[number % len(policies)]}]} for number, name in enumerate(names)]}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def cpu_ms(process):
    """By schedstat, in which the kernel counts nanoseconds: of all threads that exist."""
    tasks = pathlib.Path(f"/proc/{process.pid}/task").glob("*/schedstat")
    return sum(int(stat.read_text().split()[0]) for stat in tasks) / 1e6


def connect(port):
    give_up_at = time.monotonic() + 60
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port))
        except ConnectionRefusedError:
            if time.monotonic() > give_up_at:
                raise
            time.sleep(0.01)


def read(streams, process, seconds):
    """The CPU time for these seconds in ms a second, and the bytes of all pages a second."""
    before, received = cpu_ms(process), 0
    begun_at = time.monotonic()
    while (left := begun_at + seconds - time.monotonic()) > 0:
        time.sleep(min(0.2, left))
        for stream in streams:
            try:
                received += len(stream.recv(1 << 20))
            except BlockingIOError:
                pass
    took = time.monotonic() - begun_at
    return (cpu_ms(process) - before) / took, received / took


def open_page(admin):
    stream = connect(admin)
    stream.sendall(REQUEST)
    stream.setblocking(False)
    return stream


def measure(routes, seconds):
    """Rows of one process: pages, ms a second, bytes a second."""
    port, admin = free_port(), free_port()
    with tempfile.TemporaryDirectory() as directory:
        file = pathlib.Path(directory) / "weir.yaml"
        file.write_text(json.dumps(configuration(routes, port, admin)))
        process = subprocess.Popen([PROGRAM, "serve", "--config", file], stderr=subprocess.DEVNULL)
        try:
            connect(port).close()
            streams = []
            for pages in (0, 1, 10):
                streams += [open_page(admin) for _ in range(pages - len(streams))]
                read(streams, process, 2)  # the first events have no rates
                yield pages, *read(streams, process, seconds)
        finally:
            process.terminate()
            process.wait()


def main():
    parser = argparse.ArgumentParser(prog="script/bench pages", description=__doc__)
    parser.add_argument("--seconds", type=int, default=30, help="for each row")
    options = parser.parse_args()
    print("| routes | pages | CPU ms in a second | of one worker | KB/s |\n|---:|---:|---:|---:|---:|")
    for routes in (10, 100, 10_000):
        for pages, cpu, received in measure(routes, options.seconds):
            print(f"| {routes} | {pages} | {cpu:.2f} | {cpu / 10:.3f} % | {received / 1000:.0f} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

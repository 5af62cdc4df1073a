#!/usr/bin/env python3
"""What a well-behaved client notices of those that are not: script/bench abuse --help"""

import argparse
import contextlib
import dataclasses
import multiprocessing
import os
import pathlib
import random
import resource
import selectors
import signal
import socket
import ssl
import statistics
import sys
import tempfile
import time

import abuse_http2
import measure
import peers
import report

PROGRAM = pathlib.Path(__file__).resolve().parents[1] / "build" / "release" / "weir"
LARGE = 256 << 20
CONNECTIONS = 64  # of the well-behaved client
MOST_SLOWDOWN = 2  # of the p99 under a flood of handshakes: --judge

UPSTREAM = """
user root;  # its workers read files that only the user of the script may read
daemon off; worker_processes 1; pid {directory}/upstream.pid; error_log {directory}/upstream.log;
events {{ worker_connections 16384; }}
http {{
  access_log off; keepalive_requests 1000000000; default_type text/plain; client_max_body_size 0;
  client_body_temp_path {directory}/body; proxy_temp_path {directory}/proxy;
  fastcgi_temp_path {directory}/f; uwsgi_temp_path {directory}/u; scgi_temp_path {directory}/s;
  server {{
    listen 127.0.0.1:{port} backlog=4096 sndbuf=64k;  # otherwise 4 MiB of the kernel for each response that waits
    root {directory};
    location / {{ return 200 "{body}"; }}
    location = /large {{ }}
  }}
}}
"""

WEIR = """
listen:
  - {{address: "127.0.0.1:{port}"}}
  - {{address: "127.0.0.1:{tls_port}", tls: {{certificate: {directory}/crt.pem, private_key: {directory}/key.pem}}}}
workers: 1
admin: off
access_log: off
upstreams:
  service: {{servers: [{{url: "http://127.0.0.1:{upstream_port}"}}]}}
routes: [{{upstream: service}}]
"""

HEAD = b"GET / HTTP/1.1\r\nHost: bench\r\n"
GET = HEAD + b"\r\n"
CHUNKED = b"POST / HTTP/1.1\r\nHost: bench\r\nTransfer-Encoding: chunked\r\n\r\n"
RESET = b"\1\0\0\0\0\0\0\0"  # SO_LINGER: on, 0 s


def opened(port, source):
    sock = socket.socket()
    sock.bind((source, 0))
    sock.connect(("127.0.0.1", port))
    sock.setblocking(False)
    return sock


def hold(port, source, count, first=b"", piece=b"", reads=0):
    """Connections that send `piece`, and read some bytes, once a second."""
    held = []
    while True:
        while len(held) < count:
            sock = opened(port, source)
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096 if reads else 65536)
            held.append(sock)
            sock.send(first)
        time.sleep(1)
        for sock in list(held):
            try:
                if piece:
                    sock.send(piece)
                if reads:
                    sock.recv(reads)
            except BlockingIOError:
                pass
            except OSError:
                held.remove(sock)
                sock.close()


def flood(port, source, count, first, again, reads=True):
    """Connections that send as fast as they can, without end; new ones for those hung up on."""
    selector = selectors.DefaultSelector()
    events = selectors.EVENT_WRITE | (selectors.EVENT_READ if reads else 0)

    def begin():
        selector.register(opened(port, source), events, [memoryview(first)])

    for _ in range(count):
        begin()
    while True:
        for key, ready in selector.select():
            sock, rest = key.fileobj, key.data
            try:
                if ready & selectors.EVENT_READ and not sock.recv(1 << 18):
                    raise ConnectionError
                if ready & selectors.EVENT_WRITE:
                    rest[0] = rest[0][sock.send(rest[0]):] or memoryview(again)
            except BlockingIOError:
                continue
            except OSError:
                selector.unregister(sock)
                sock.close()
                begin()


def flood_http2(port, source, count, frames):
    flood(port, source, count, frames.first(), frames.again())


def client_hello(curve):
    """The first flight of a client that offers this curve only, as bytes: an attacker sends it again and again."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.set_ecdh_curve(curve)
    written = ssl.MemoryBIO()
    with contextlib.suppress(ssl.SSLWantReadError):
        context.wrap_bio(ssl.MemoryBIO(), written, server_hostname="bench").do_handshake()
    return written.read()


def shake_hands(port, source, count, curve):
    """Handshakes as fast as they are answered: each connection sends a hello, waits for the server's flight, and goes."""
    hello = client_hello(curve)
    selector = selectors.DefaultSelector()

    def begin():
        sock = opened(port, source)
        sock.send(hello)
        selector.register(sock, selectors.EVENT_READ)

    for _ in range(count):
        begin()
    while True:
        for key, _ in selector.select():
            selector.unregister(key.fileobj)
            key.fileobj.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
            key.fileobj.close()
            begin()


def come_and_go(port, source):
    """A connection after the other, broken off anywhere."""
    beginnings = [b"", b"G", HEAD, GET, GET * 10, CHUNKED, CHUNKED + b"5\r\nhel", os.urandom(100)]
    while True:
        with contextlib.suppress(OSError), socket.socket() as sock:
            sock.bind((source, 0))
            sock.connect(("127.0.0.1", port))
            sock.send(random.choice(beginnings))
            if random.random() < 0.3:
                sock.recv(1) if random.random() < 0.5 else sock.shutdown(socket.SHUT_WR)
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)


@dataclasses.dataclass(frozen=True)
class Attack:
    title: str
    work: object = None
    options: dict = dataclasses.field(default_factory=dict)
    processes: int = 1
    tls: bool = False  # on the port that expects it

    @property
    def connections(self):
        return self.processes * self.options.get("count", 1) if self.work else 0

    def with_connections(self, count):
        """The same flood over so many connections; what is held stays as it is."""
        if count is None or self.work not in (flood, flood_http2):
            return self
        return dataclasses.replace(self, options={**self.options, "count": count})


def attacks(idle):
    return {
        "none": Attack("none"),
        "idle": Attack("idle connections", hold, {"count": idle // 2}, processes=2),
        "slow_heads": Attack("slow heads, a byte a second", hold,
                             {"count": 2000, "first": HEAD, "piece": b"a"}),
        "slow_bodies": Attack("slow bodies, a byte a second", hold, {
            "count": 2000, "first": b"POST / HTTP/1.1\r\nHost: bench\r\nContent-Length: 1000000\r\n\r\n",
            "piece": b"a"}),
        "slow_readers": Attack("slow readers of 256 MiB, 1 KiB a second", hold, {
            "count": 100, "first": GET.replace(b"/ ", b"/large "), "reads": 1024}),
        "heads": Attack("heads without end", flood, {"count": 50, "first": HEAD, "again": b"A: b\r\n" * 200}),
        "extensions": Attack("chunk extensions without end", flood,
                             {"count": 50, "first": CHUNKED + b"5;a=", "again": b"b" * 16384}),
        "small_chunks": Attack("chunks of one byte without end", flood,
                               {"count": 50, "first": CHUNKED, "again": b"1\r\nx\r\n" * 2000}),
        "garbage": Attack("random bytes", flood,
                          {"count": 50, "first": os.urandom(999), "again": os.urandom(16384)}),
        "pipelines": Attack("pipelined requests without end", flood,
                            {"count": 50, "first": GET, "again": GET * 500}),
        "unread": Attack("the same, answers not read", flood,
                         {"count": 500, "first": GET, "again": GET * 500, "reads": False}),
        "x25519_handshakes": Attack("TLS handshakes without end, X25519", shake_hands,
                                    {"count": 100, "curve": "X25519"}, tls=True),
        "handshakes": Attack("the same, P-256", shake_hands, {"count": 100, "curve": "prime256v1"}, tls=True),
        "costly_handshakes": Attack("the same, P-384, the costliest group offered", shake_hands,
                                    {"count": 100, "curve": "secp384r1"}, tls=True),
        "churn": Attack("connections that come and go", come_and_go, processes=2),
        **{name: Attack(f"HTTP/2: {title}", hold, {"count": count, "first": first})
           for name, (title, count, first) in abuse_http2.HELD.items()},
        **{name: Attack(f"HTTP/2: {one.title}", flood_http2, {"count": 50, "frames": one})
           for name, one in abuse_http2.FLOODS.items()},
    }


def attack(work, port, source, core, options):
    """In a process of its own, behind the well-behaved one in the queue for the core."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    os.nice(19)
    os.sched_setaffinity(0, [core])
    work(port, source, **options)


def cpu_clock(pid):
    """Returns the clock of the CPU time of another process: clock_getcpuclockid(3)."""
    return ~pid << 3 | 2


def behave(port, pid, core, rate, seconds, results):
    """Requests at fixed times on kept connections: how long each took, how much CPU time Weir used meanwhile, and how
    many were not sent because no connection was free."""
    os.sched_setaffinity(0, [core])
    selector = selectors.DefaultSelector()
    free, sent_at, answers = [], {}, {}
    for _ in range(CONNECTIONS):
        free.append(opened(port, "127.0.0.1"))
        selector.register(free[-1], selectors.EVENT_READ)
    clock = cpu_clock(pid)
    took, used, unsent, number = [], [], 0, 0
    start = time.perf_counter()
    while number < rate * seconds or sent_at:
        due = start + number / rate
        while number < rate * seconds and due <= time.perf_counter():
            number += 1
            due = start + number / rate
            if not free:
                unsent += 1
                continue
            sock = free.pop()
            sent_at[sock], answers[sock] = (time.perf_counter(), time.clock_gettime(clock)), b""
            sock.send(GET)
        for key, _ in selector.select(max(0.0, due - time.perf_counter()) if number < rate * seconds else None):
            sock = key.fileobj
            piece = sock.recv(65536)
            answers[sock] += piece
            if not piece or answers[sock].endswith(b"\r\n\r\n" + b"x" * 100):
                begun, used_before = sent_at.pop(sock)
                took.append(time.perf_counter() - begun)
                used.append(time.clock_gettime(clock) - used_before)
                free.append(sock)
                if not answers[sock].startswith(b"HTTP/1.1 200 "):
                    raise RuntimeError(f"the well-behaved client was answered {answers[sock][:100]!r}")
    results.put((took, used, unsent))


@contextlib.contextmanager
def under_attack(which, port, core):
    processes = [multiprocessing.Process(target=attack, args=(which.work, port, f"127.0.0.{number + 2}", core,
                                                              which.options), daemon=True)
                 for number in range(which.processes if which.work else 0)]
    for process in processes:
        process.start()
    try:
        yield processes
    finally:
        for process in processes:
            process.terminate()
            process.join()


@dataclasses.dataclass(frozen=True)
class Figures:
    """Of one measurement; times in milliseconds, memory in megabytes."""

    attack: Attack
    p50: float
    p99: float
    longest: float
    cpu_p99: float  # CPU time of Weir during a request: does not depend on other load of the machine
    unsent: int
    before: float
    during: float
    ending: str  # of one connection of the attack

    def row(self):
        # The others come and go, and more of them than at one time are on their way out.
        a_connection = (f"{(self.during - self.before) * 1024 / self.attack.connections:.1f}"
                        if self.attack.work is hold else "")
        return (f"| {self.attack.title} | {self.attack.connections or ''} | {self.p50:.2f} | {self.p99:.2f} | "
                f"{self.longest:.1f} | {self.cpu_p99:.2f} | {self.unsent} | {self.before:.1f} | {self.during:.1f} | "
                f"{a_connection} | {self.ending} |")


def measured(which, options, cores, directory):
    upstream_port, port, tls_port = (measure.free_port() for _ in range(3))
    peers.make_certificate(directory, options.key)
    (directory / "upstream.conf").write_text(UPSTREAM.format(directory=directory, port=upstream_port, body="x" * 100))
    with (directory / "large").open("wb") as large:
        large.truncate(LARGE)
    (directory / "weir.yaml").write_text(WEIR.format(port=port, tls_port=tls_port, upstream_port=upstream_port, directory=directory))
    upstream = ["nginx", "-p", str(directory), "-c", str(directory / "upstream.conf"),
                "-e", str(directory / "error.log")]
    weir = [str(options.program), "serve", "--config", str(directory / "weir.yaml")]
    with measure.running(upstream, cores[1], upstream_port, directory / "upstream.out"), \
         measure.running(weir, cores[0], port, directory / "weir.out") as pid:
        results = multiprocessing.Queue()
        behave(port, pid, cores[1], options.rate, 1, multiprocessing.Queue())  # warms up
        before = measure.memory_mb(pid)
        with under_attack(which, tls_port if which.tls else port, cores[-1]) as attackers:
            time.sleep(options.lead)
            client = multiprocessing.Process(target=behave,
                                             args=(port, pid, cores[1], options.rate, options.seconds, results))
            client.start()
            took, used, unsent = results.get(timeout=10 * options.seconds + 60)
            client.join()
            during = measure.memory_mb(pid)
            if not all(one.is_alive() for one in attackers):
                raise RuntimeError(f"{which.title}: an attacker has ended")
        frames = which.options.get("frames")
        ending = abuse_http2.ending(port, frames) if frames else ""
    quantiles = statistics.quantiles(took, n=1000)
    return Figures(which, p50=quantiles[499] * 1000, p99=quantiles[989] * 1000, longest=max(took) * 1000,
                   cpu_p99=statistics.quantiles(used, n=100)[98] * 1000, unsent=unsent, before=before,
                   during=during, ending=ending)


def measured_once(which, options, cores):
    with tempfile.TemporaryDirectory(prefix="weir-bench-") as directory:
        return measured(which, options, cores, pathlib.Path(directory))


def judged(usual, under):
    """Whether the median of the p99s under a flood is within twice the median without; both are lists of one p99 for
    each round."""
    return statistics.median(under) <= MOST_SLOWDOWN * statistics.median(usual)


def judge(options, cores):
    """Measures without an attack and under each flood of handshakes, in rounds, so that a change of the machine's speed
    reaches all of them. Returns the exit code."""
    calm = attacks(0)["none"]
    floods = [which for which in options.attacks if which.tls]
    p99s = {which.title: [] for which in (calm, *floods)}
    for number in range(options.judge):
        for which in (calm, *floods):
            p99s[which.title].append(measured_once(which, options, cores).p99)
        print(f"round {number + 1} of {options.judge}: " +
              ", ".join(f"{title} {p99[-1]:.2f}" for title, p99 in p99s.items()), file=sys.stderr, flush=True)
    print_setting(options)
    print("| attack | p99 ms, median | lowest | highest | times that without | |")
    print("|---|---:|---:|---:|---:|---|")
    usual = p99s[calm.title]
    for title, p99 in p99s.items():
        slowdown = statistics.median(p99) / statistics.median(usual)
        print(f"| {title} | {statistics.median(p99):.2f} | {min(p99):.2f} | {max(p99):.2f} | {slowdown:.2f} | "
              f"{'' if judged(usual, p99) else f'above {MOST_SLOWDOWN}'} |")
    return 0 if all(judged(usual, p99) for p99 in p99s.values()) else 1


def options_of(arguments):
    parser = argparse.ArgumentParser(prog="script/bench abuse", description=__doc__.partition(":")[0] + ".")
    parser.add_argument("--rate", type=int, default=500,
                        help="requests a second of the well-behaved client, default 500")
    parser.add_argument("--seconds", type=int, default=10, help="of measuring under each attack, default 10")
    parser.add_argument("--lead", type=int, default=3, help="seconds from its begin to the measuring, default 3")
    parser.add_argument("--attacks", metavar="NAME,...", help=f"{', '.join(attacks(0))}; default all")
    parser.add_argument("--connections", type=int, metavar="N",
                        help="connections of each flood that sends as fast as it can; default: those of the table, most 50")
    parser.add_argument("--key", default="P-256", help="of the certificate: P-256, rsa:2048 or rsa:4096; default P-256")
    parser.add_argument("--idle", type=int, default=14_000, help="idle connections, default 14,000")
    parser.add_argument("--judge", type=int, nargs="?", const=5, metavar="ROUNDS",
                        help="measure only the floods of TLS handshakes, and without an attack, in turn in so many rounds "
                             "(5); exit 1 if the median of the p99s under a flood is above twice that without")
    parser.add_argument("--program", type=pathlib.Path, default=PROGRAM, help="the weir to measure")
    options = parser.parse_args(arguments)
    known = attacks(options.idle)
    names = options.attacks.split(",") if options.attacks else list(known)
    if unknown := [name for name in names if name not in known]:
        parser.error(f"no {unknown[0]!r}; there are {', '.join(known)}")
    options.attacks = [known[name].with_connections(options.connections) for name in names]
    if options.judge is not None and (options.judge < 1 or not any(one.tls for one in options.attacks)):
        parser.error("--judge needs at least one round and one flood of handshakes")
    return options


def print_setting(options):
    print(f"weir {report.version([str(options.program), 'version'])}; {report.processor()}, {os.cpu_count()} cores, "
          f"load average {os.getloadavg()[0]:.1f}, {resource.getrlimit(resource.RLIMIT_NOFILE)[1]} open files a process. "
          f"Weir, one worker, on one core; client and upstream (nginx) on another; attackers at nice 19 on "
          f"{'a third' if len(os.sched_getaffinity(0)) > 2 else 'that of the client'}; {options.rate} requests/s on "
          f"{CONNECTIONS} connections for {options.seconds} s.\n")


def main(arguments):
    options = options_of(arguments)
    cores = measure.two_cores() + sorted(os.sched_getaffinity(0))[2:3]  # the attackers have the last one
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that what was started is stopped

    if options.judge is not None:
        return judge(options, cores)
    rows = []
    for which in options.attacks:
        rows.append(measured_once(which, options, cores).row())
        print(rows[-1], file=sys.stderr, flush=True)
    print_setting(options)
    print("| attack | connections | p50 ms | p99 ms | longest ms | p99 CPU ms | not sent | MB before | MB during | "
          "KiB a connection | GOAWAY and end of a connection, by steps |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---|")
    print("\n".join(rows))
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except RuntimeError as error:
        sys.exit(f"script/bench: {error}")
    except KeyboardInterrupt:
        sys.exit(130)

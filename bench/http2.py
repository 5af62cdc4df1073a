"""Weir, nginx, HAProxy and nghttpx under the same load of HTTP/2, in interleaved rounds, as a markdown table."""

import argparse
import contextlib
import dataclasses
import pathlib
import random
import re
import statistics
import subprocess
import sys
import tempfile

import measure
from peers import make_certificate

ROOT = pathlib.Path(__file__).resolve().parents[1]
BODY = "x" * 32


@dataclasses.dataclass(frozen=True)
class Row:
    title: str
    peers: tuple
    tls: bool = False       # between the clients and the peer
    upstream: str = "http1"


ROWS = {
    "h2_h1": Row("h2 to HTTP/1.1", ("nginx", "haproxy", "nghttpx", "weir")),
    "h2_h2": Row("h2 to h2", ("haproxy", "nghttpx", "weir"), upstream="http2"),
    "tls_h1": Row("h2 over TLS to HTTP/1.1", ("nginx", "haproxy", "nghttpx", "weir"), tls=True),
}


@dataclasses.dataclass(frozen=True)
class Work:
    row: Row
    port: int
    upstream_port: int
    directory: pathlib.Path
    certificate: pathlib.Path


NGINX = """
daemon off; worker_processes 1; pid {directory}/nginx.pid; error_log {directory}/error.log crit;
events {{ worker_connections 4096; }}
http {{
  access_log off; keepalive_requests 1000000000; http2_max_requests 1000000000; http2_max_concurrent_streams 256;
  client_body_temp_path {directory}/body; proxy_temp_path {directory}/proxy;
  fastcgi_temp_path {directory}/f; uwsgi_temp_path {directory}/u; scgi_temp_path {directory}/s;
  {upstream}
  server {{ listen 127.0.0.1:{port} {options}; {tls} location / {{ {action} }} }}
}}
"""

HAPROXY = """
global
  nbthread 1
  maxconn 8192
defaults
  mode http
  option forwardfor
  http-reuse always
  timeout connect 1s
  timeout client 75s
  timeout server 60s
frontend public
  bind 127.0.0.1:{port} {options}
  http-request set-header X-Forwarded-Proto {scheme}
  http-request set-header X-Forwarded-Host %[req.hdr(Host)]
  default_backend service
backend service
  server one 127.0.0.1:{upstream_port} {server}
"""

WEIR = """
listen: [{{address: "127.0.0.1:{port}"{tls}}}]
workers: 1
admin: off
access_log: off
upstreams:
  service: {{servers: [{{url: "http://127.0.0.1:{upstream_port}"}}], protocol: {protocol}}}
routes: [{{upstream: service}}]
"""


def write_nginx(directory, port, options, tls, upstream, action):
    path = directory / "nginx.conf"
    path.write_text(NGINX.format(directory=directory, port=port, options=options, tls=tls, upstream=upstream,
                                 action=action))
    return ["nginx", "-p", str(directory), "-c", str(path), "-e", str(directory / "error.log")]


def nginx(work):
    files = f"ssl_certificate {work.certificate}/crt.pem; ssl_certificate_key {work.certificate}/key.pem;"
    return write_nginx(
        work.directory, work.port, "ssl http2" if work.row.tls else "http2", files if work.row.tls else "",
        f"upstream service {{ server 127.0.0.1:{work.upstream_port}; keepalive 1024; keepalive_requests 1000000000; }}",
        'proxy_pass http://service; proxy_http_version 1.1; proxy_set_header Connection ""; '
        "proxy_set_header Host $http_host; proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for; "
        "proxy_set_header X-Forwarded-Proto $scheme; proxy_set_header X-Forwarded-Host $http_host;")


def haproxy(work):
    path = work.directory / "haproxy.cfg"
    tls = f"ssl crt {work.certificate}/both.pem alpn h2"
    path.write_text(HAPROXY.format(
        port=work.port, upstream_port=work.upstream_port, options=tls if work.row.tls else "proto h2",
        scheme="https" if work.row.tls else "http", server="proto h2" if work.row.upstream == "http2" else ""))
    return ["haproxy", "-f", str(path), "-db"]


def nghttpx(work):
    files = [f"{work.certificate}/key.pem", f"{work.certificate}/crt.pem"]
    backend = f"127.0.0.1,{work.upstream_port};;proto={'h2' if work.row.upstream == 'http2' else 'http/1.1'}"
    frontend = f"127.0.0.1,{work.port}" + ("" if work.row.tls else ";no-tls")
    return ["nghttpx", "--conf=/dev/null", f"--frontend={frontend}", f"--backend={backend}", "--workers=1",
            "--log-level=ERROR", "--accesslog-file=/dev/null", "--single-process",
            *(files if work.row.tls else [])]


def weir(work):
    path = work.directory / "weir.yaml"
    tls = f", tls: {{certificate: {work.certificate}/crt.pem, private_key: {work.certificate}/key.pem}}"
    path.write_text(WEIR.format(port=work.port, upstream_port=work.upstream_port, tls=tls if work.row.tls else "",
                                protocol=work.row.upstream))
    return [str(ROOT / "build/release/weir"), "serve", "--config", str(path)]


def start_upstream(stack, row, directory, core):
    port = measure.free_port()
    if row.upstream == "http2":
        (directory / "index.html").write_text(BODY)
        command = ["nghttpd", "--no-tls", "-a", "127.0.0.1", "-d", str(directory), str(port)]
    else:
        command = write_nginx(directory, port, "", "", "", f'return 200 "{BODY}";')
    stack.enter_context(measure.running(command, core, port, directory / "output"))
    return port


def run_load(work, core, requests, arguments):
    """The requests a second. Fails if one of them did not succeed."""
    url = f"{'https' if work.row.tls else 'http'}://127.0.0.1:{work.port}/"
    ran = subprocess.run(["taskset", "-c", str(core), "h2load", f"-n{requests}", f"-c{arguments.connections}",
                          f"-m{arguments.streams}", "-t1", url], capture_output=True, text=True, check=False)
    done = re.search(r"status codes: (\d+) 2xx", ran.stdout)
    if not done or int(done[1]) != requests:
        raise RuntimeError(f"{work.directory.name}: {ran.stdout[-600:]}{ran.stderr}")
    return float(re.search(r"([\d.]+) req/s", ran.stdout)[1])


def measure_row(name, row, arguments, directory):
    """By peer, the samples of all rounds: CPU time per request in us, requests a second, resident memory in MB."""
    proxy_core, load_core = measure.two_cores()
    samples = {peer: [] for peer in row.peers}
    with contextlib.ExitStack() as stack:
        own = directory / name
        own.mkdir()
        upstream_port = start_upstream(stack, row, own, load_core)
        running = {}
        for peer in row.peers:
            place = own / peer
            place.mkdir()
            work = Work(row, measure.free_port(), upstream_port, place, directory)
            pid = stack.enter_context(measure.running(globals()[peer](work), proxy_core, work.port, place / "output"))
            running[peer] = (work, pid)
            run_load(work, load_core, arguments.requests // 4, arguments)
        for _ in range(arguments.rounds):
            for peer in random.sample(row.peers, len(row.peers)):
                work, pid = running[peer]
                before = measure.cpu_seconds(pid)
                rate = run_load(work, load_core, arguments.requests, arguments)
                cpu = (measure.cpu_seconds(pid) - before) * 1e6 / arguments.requests
                samples[peer].append((cpu, rate, measure.memory_mb(pid)))
    return samples


def print_table(results):
    print("| work | proxy | CPU µs/request | Weir's CPU to it | requests/s | memory MB |")
    print("|---|---|---:|---:|---:|---:|")
    for name, peers in results.items():
        for peer, samples in peers.items():
            cpu, rate, memory = (statistics.median(one) for one in zip(*samples))
            ratio = statistics.median(own[0] / other[0] for own, other in zip(peers["weir"], samples))
            print(f"| {ROWS[name].title} | {peer} | {cpu:.1f} | {ratio:.2f} | {rate:,.0f} | {memory:.1f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, prog="script/bench http2")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--requests", type=int, default=100_000, help="of each run")
    parser.add_argument("--connections", type=int, default=16)
    parser.add_argument("--streams", type=int, default=32, help="in progress on each connection")
    parser.add_argument("--rows", default=",".join(ROWS), help="of: " + ", ".join(ROWS))
    arguments = parser.parse_args()
    unknown = [name for name in arguments.rows.split(",") if name not in ROWS]
    if unknown:
        sys.exit(f"script/bench http2: no row {unknown[0]}; the rows are {', '.join(ROWS)}")
    with tempfile.TemporaryDirectory() as directory:
        make_certificate(pathlib.Path(directory))
        print_table({name: measure_row(name, ROWS[name], arguments, pathlib.Path(directory))
                     for name in arguments.rows.split(",")})


if __name__ == "__main__":
    main()

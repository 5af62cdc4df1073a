"""Weir and its peers set to the same work: one worker, keep-alive on both sides, one upstream."""

import dataclasses
import pathlib

# A quota that always admits, and one that is used up by its first request.
AMPLE = 1_000_000


@dataclasses.dataclass(frozen=True)
class Row:
    name: str
    title: str
    keys: int  # different values of x-api-key in the load
    limited: bool = True
    denied: bool = False
    redis: bool = False  # each peer decides in a Redis of its own
    closes: bool = False  # a connection for each request


@dataclasses.dataclass(frozen=True)
class Work:
    """What a peer is configured for."""
    row: Row
    port: int
    upstream_port: int
    directory: pathlib.Path  # its own
    log: str | None  # the format of Weir's access log; None: nobody writes one
    redis_port: int | None = None


NGINX = """
daemon off; worker_processes 1; pid {directory}/nginx.pid; error_log {directory}/error.log crit;
events {{ worker_connections 4096; }}
http {{
  access_log {log}; keepalive_requests 1000000000; keepalive_timeout 75s;
  client_body_temp_path {directory}/body; proxy_temp_path {directory}/proxy;
  fastcgi_temp_path {directory}/f; uwsgi_temp_path {directory}/u; scgi_temp_path {directory}/s;
  {zone}
  upstream service {{ server 127.0.0.1:{upstream_port}; keepalive 256; keepalive_requests 1000000000; }}
  server {{
    listen 127.0.0.1:{port} backlog=4096;
    location / {{
      {limit}
      proxy_pass http://service; proxy_http_version 1.1; proxy_set_header Connection "";
      proxy_set_header Host $http_host; proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
      proxy_set_header X-Forwarded-Proto $scheme; proxy_set_header X-Forwarded-Host $http_host;
    }}
  }}
}}
"""

HAPROXY = """
global
  nbthread 1
  maxconn 8192
{log_global}
defaults
  mode http
  option http-keep-alive
  option forwardfor
  http-reuse always
{log_defaults}
  timeout connect 1s
  timeout client 75s
  timeout server 60s
frontend public
  bind 127.0.0.1:{port} backlog 4096
{limit}
  http-request set-header X-Forwarded-Proto http
  http-request set-header X-Forwarded-Host %[req.hdr(Host)]
  default_backend service
backend service
  server one 127.0.0.1:{upstream_port}
"""

WEIR = """
listen: [{{address: "127.0.0.1:{port}"}}]
workers: 1
admin: off
access_log: {log}
{store}
upstreams:
  service: {{servers: [{{url: "http://127.0.0.1:{upstream_port}"}}], reuse: {reuse}}}
{limits}
routes:
  - match: {{path: /**}}
    upstream: service
    {route_limits}
"""

NGINX_LUA = """
load_module /usr/lib/nginx/modules/ndk_http_module.so;
load_module /usr/lib/nginx/modules/ngx_http_lua_module.so;
daemon off; worker_processes 1; pid {directory}/nginx.pid; error_log {directory}/error.log crit;
events {{ worker_connections 4096; }}
http {{
  access_log {log}; keepalive_requests 1000000000; keepalive_timeout 75s;
  client_body_temp_path {directory}/body; proxy_temp_path {directory}/proxy;
  fastcgi_temp_path {directory}/f; uwsgi_temp_path {directory}/u; scgi_temp_path {directory}/s;
  lua_package_path "{scripts}/?.lua;/usr/share/lua/5.1/?.lua;;";
  upstream service {{ server 127.0.0.1:{upstream_port}; keepalive 256; keepalive_requests 1000000000; }}
  server {{
    listen 127.0.0.1:{port} backlog=4096;
    location / {{
      access_by_lua_block {{ require("gcra_in_redis").limit({redis_port}, {interval_us}, {burst}) }}
      proxy_pass http://service; proxy_http_version 1.1; proxy_set_header Connection "";
      proxy_set_header Host $http_host; proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
      proxy_set_header X-Forwarded-Proto $scheme; proxy_set_header X-Forwarded-Host $http_host;
    }}
  }}
}}
"""

WEIR_LIMITS = """
identities:
  api_key: {{header: x-api-key}}
policies:
  bench: {{algorithm: gcra, rate: {rate}, burst: {burst}}}
"""


def nginx(work, _program):
    rate, burst = ("1r/m", "") if work.row.denied else (f"{AMPLE}r/s", f" burst={AMPLE} nodelay")
    zone = f"limit_req_zone $http_x_api_key zone=bench:64m rate={rate};" if work.row.limited else ""
    limit = f"limit_req zone=bench{burst}; limit_req_status 429;" if work.row.limited else ""
    path = work.directory / "nginx.conf"
    path.write_text(NGINX.format(
        directory=work.directory, port=work.port, upstream_port=work.upstream_port, zone=zone, limit=limit,
        log=f"{work.directory}/access.log combined buffer=64k flush=1s" if work.log else "off"))
    return ["nginx", "-p", str(work.directory), "-c", str(path), "-e", str(work.directory / "error.log")]


def haproxy(work, _program):
    bound = 1 if work.row.denied else 4_000_000_000
    limit = f"""
  stick-table type string len 64 size 200k expire 60s store http_req_rate(60s)
  http-request track-sc0 req.hdr(x-api-key)
  http-request deny deny_status 429 if {{ sc_http_req_rate(0) gt {bound} }}
""" if work.row.limited else ""
    path = work.directory / "haproxy.cfg"
    path.write_text(HAPROXY.format(
        port=work.port, upstream_port=work.upstream_port, limit=limit,
        log_global="  log stdout format raw local0" if work.log else "",
        log_defaults="  log global\n  option httplog" if work.log else ""))
    return ["haproxy", "-db", "-f", str(path)]  # -db: one process, in the foreground


def weir(work, program, reuse="always"):
    rate, burst = ("1/1h", 1) if work.row.denied else (f"{AMPLE}/1s", AMPLE)
    path = work.directory / "weir.yaml"
    path.write_text(WEIR.format(
        port=work.port, upstream_port=work.upstream_port, reuse=reuse,
        log=f'{{path: "{work.directory}/access.log", format: {work.log}}}' if work.log else '{path: "off"}',
        limits=WEIR_LIMITS.format(rate=rate, burst=burst) if work.row.limited else "",
        store=f'store: {{type: redis, redis: {{url: "redis://127.0.0.1:{work.redis_port}"}}}}' if work.row.redis else "",
        route_limits="limits: [{policy: bench, key: api_key}]" if work.row.limited else ""))
    return [program, "serve", "--config", str(path)]


def weir_safe(work, program):
    return weir(work, program, reuse="safe")


def nginx_lua(work, _program):
    interval_us, burst = (3_600_000_000, 1) if work.row.denied else (1, AMPLE)
    path = work.directory / "nginx.conf"
    path.write_text(NGINX_LUA.format(
        directory=work.directory, port=work.port, upstream_port=work.upstream_port,
        scripts=pathlib.Path(__file__).parent, redis_port=work.redis_port, interval_us=interval_us, burst=burst,
        log=f"{work.directory}/access.log combined buffer=64k flush=1s" if work.log else "off"))
    return ["nginx", "-p", str(work.directory), "-c", str(path), "-e", str(work.directory / "error.log")]


def redis(port, directory):
    return ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no",
            "--dir", str(directory)]


def version_command(name, program):
    return {"nginx": ["nginx", "-v"], "nginx_lua": ["nginx", "-v"], "haproxy": ["haproxy", "-v"],
            "redis": ["redis-server", "--version"], "weir": [program, "version"], "weir_safe": [program, "version"]}[name]


@dataclasses.dataclass(frozen=True)
class Table:
    rows: dict
    peers: dict  # ratios are to the first


TABLES = {
    "embedded": Table({row.name: row for row in (
        Row("plain", "no limits", keys=1, limited=False),
        Row("one_key", "limited, 1 key", keys=1),
        Row("many_keys", "limited, 100,000 keys", keys=100_000),
        Row("denied", "429, limit used up", keys=1, denied=True),
    )}, {"nginx": nginx, "haproxy": haproxy, "weir": weir}),
    "redis": Table({row.name: row for row in (
        Row("one_key", "limited in Redis, 1 key", keys=1, redis=True),
        Row("many_keys", "limited in Redis, 100,000 keys", keys=100_000, redis=True),
        Row("denied", "429 by Redis, limit used up", keys=1, denied=True, redis=True),
    )}, {"nginx_lua": nginx_lua, "weir": weir}),
    "reuse": Table({row.name: row for row in (
        Row("kept", "kept client connections", keys=1, limited=False),
        Row("closed", "a client connection for each request", keys=1, limited=False, closes=True),
    )}, {"weir": weir, "weir_safe": weir_safe}),
}

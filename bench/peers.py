"""Weir and its peers configured for the same work: one worker, keep-alive on both sides, one upstream."""

import dataclasses
import pathlib
import subprocess

# A quota that always admits, and one that is used up by its first request.
AMPLE = 1_000_000


@dataclasses.dataclass(frozen=True)
class Row:
    name: str
    title: str
    keys: int = 1  # different values of x-api-key in the load
    limited: bool = False
    denied: bool = False
    redis: bool = False  # each peer decides in a Redis of its own
    mode: str = "keep"   # keep: keep-alive; close: a connection for each request; tunnel: messages after an upgrade
    connections: int | None = None  # None: as many as the other rows
    routes: int = 0      # of a prefix each, all used in turn; 0: one for everything
    token: str | None = None  # the algorithm of the tokens in Authorization, one for each key, instead of x-api-key
    tls: bool = False    # between the clients and the peer
    beside: str | None = None  # the row whose CPU time this one is compared with


@dataclasses.dataclass(frozen=True)
class Work:
    """What a peer is configured for."""
    row: Row
    port: int
    upstream_port: int
    directory: pathlib.Path  # its own
    log: str | None  # the format of Weir's access log; None: nobody writes one
    redis_port: int | None = None
    tokens: pathlib.Path | None = None  # the directory of tokens.write(), for rows with tokens
    certificate: pathlib.Path | None = None  # the directory of make_certificate(), for rows with TLS


NGINX = """
daemon off; worker_processes 1; pid {directory}/nginx.pid; error_log {directory}/error.log crit;
events {{ worker_connections 4096; }}
http {{
  access_log {log}; keepalive_requests 1000000000; keepalive_timeout 75s;
  client_body_temp_path {directory}/body; proxy_temp_path {directory}/proxy;
  fastcgi_temp_path {directory}/f; uwsgi_temp_path {directory}/u; scgi_temp_path {directory}/s;
  {zone}
  upstream service {{ server 127.0.0.1:{upstream_port}; keepalive 1024; keepalive_requests 1000000000; }}
  server {{
    listen 127.0.0.1:{port} backlog=4096{listen_options};
    {tls}
    {limit}
    proxy_http_version 1.1; {hop_by_hop}
    proxy_set_header Host $http_host; proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
    proxy_set_header X-Forwarded-Proto $scheme; proxy_set_header X-Forwarded-Host $http_host;
    {locations}
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
  timeout tunnel 1h
frontend public
  bind 127.0.0.1:{port} backlog 4096{bind_options}
{limit}
  http-request set-header X-Forwarded-Proto {scheme}
  http-request set-header X-Forwarded-Host %[req.hdr(Host)]
  {backend}
backend service
  server one 127.0.0.1:{upstream_port}
"""

WEIR = """
listen: [{{address: "127.0.0.1:{port}"{tls}}}]
workers: 1
admin: off
access_log: {log}
{store}
upstreams:
  service: {{servers: [{{url: "http://127.0.0.1:{upstream_port}"}}], reuse: {reuse}}}
{limits}
routes:
{routes}
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
{identities}
policies:
  bench: {{algorithm: gcra, rate: {rate}, burst: {burst}}}
"""


REDIS_STORE = 'store: {{type: redis, redis: {{url: "redis://127.0.0.1:{port}"{more}}}}}'
WEIR_API_KEY = "identities: {api_key: {header: x-api-key}}"
WEIR_TOKEN = """
jwt_providers:
  idp: {{algorithms: [{algorithm}], jwks: {{file: "{tokens}/jwks.json"}}}}
identities: {{api_key: {{jwt: {{provider: idp, claim: sub}}}}}}
"""


def make_certificate(directory, key="P-256"):
    """Makes a self-signed certificate: crt.pem, key.pem, and both in both.pem. `key` as in `openssl req -newkey`."""
    kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"] if key == "P-256" else ["-newkey", key]
    subprocess.run(["openssl", "req", "-x509", *kind, "-nodes", "-days", "2", "-subj", "/CN=bench",
                    "-keyout", directory / "key.pem", "-out", directory / "crt.pem"], check=True, capture_output=True)
    (directory / "both.pem").write_bytes((directory / "crt.pem").read_bytes() + (directory / "key.pem").read_bytes())


def prefixes(row):
    """The path prefixes of the row's routes, each ending in a slash."""
    return [f"/route{number}/" for number in range(row.routes)] or ["/"]


def nginx(work, _program):
    row = work.row
    rate, burst = ("1r/m", "") if row.denied else (f"{AMPLE}r/s", f" burst={AMPLE} nodelay")
    tls = f"""ssl_certificate {work.certificate}/crt.pem; ssl_certificate_key {work.certificate}/key.pem;
    ssl_protocols TLSv1.3; ssl_ecdh_curve X25519;""" if row.tls else ""
    hop_by_hop = ('proxy_set_header Connection upgrade; proxy_set_header Upgrade $http_upgrade;'
                  if row.mode == "tunnel" else 'proxy_set_header Connection "";')
    path = work.directory / "nginx.conf"
    path.write_text(NGINX.format(
        directory=work.directory, port=work.port, upstream_port=work.upstream_port,
        zone=f"limit_req_zone $http_x_api_key zone=bench:64m rate={rate};" if row.limited else "",
        limit=f"limit_req zone=bench{burst}; limit_req_status 429;" if row.limited else "",
        listen_options=" ssl" if row.tls else "", tls=tls, hop_by_hop=hop_by_hop,
        locations="\n    ".join(f"location {prefix} {{ proxy_pass http://service; }}" for prefix in prefixes(row)),
        log=f"{work.directory}/access.log combined buffer=64k flush=1s" if work.log else "off"))
    return ["nginx", "-p", str(work.directory), "-c", str(path), "-e", str(work.directory / "error.log")]


def haproxy(work, _program):
    row = work.row
    bound = 1 if row.denied else 4_000_000_000
    limit = f"""
  stick-table type string len 64 size 200k expire 60s store http_req_rate(60s)
  http-request track-sc0 req.hdr(x-api-key)
  http-request deny deny_status 429 if {{ sc_http_req_rate(0) gt {bound} }}
""" if row.limited else ""
    if row.token:
        limit = f"""
  http-request set-var(txn.token) http_auth_bearer
  http-request deny deny_status 401 unless {{ var(txn.token),jwt_header_query('$.alg') -m str {row.token} }}
  http-request deny deny_status 401 unless {{ var(txn.token),jwt_verify({row.token},"{work.tokens}/key.pem") -m int 1 }}
  http-request set-var(txn.exp) var(txn.token),jwt_payload_query('$.exp','int')
  http-request set-var(txn.now) date()
  http-request deny deny_status 401 if {{ var(txn.exp),sub(txn.now) -m int lt 1 }}
  stick-table type string len 64 size 200k expire 60s store http_req_rate(60s)
  http-request track-sc0 var(txn.token),jwt_payload_query('$.sub')
  http-request deny deny_status 429 if {{ sc_http_req_rate(0) gt {bound} }}
"""
    backend = "default_backend service"
    if row.routes:  # HAProxy's index of prefixes; a list of `use_backend` lines is evaluated line by line
        backends = work.directory / "backends.map"
        backends.write_text("".join(f"{prefix} service\n" for prefix in prefixes(row)))
        backend = f"use_backend %[path,map_beg({backends})]"
    path = work.directory / "haproxy.cfg"
    path.write_text(HAPROXY.format(
        port=work.port, upstream_port=work.upstream_port, limit=limit, backend=backend,
        bind_options=f" ssl crt {work.certificate}/both.pem ssl-min-ver TLSv1.3 curves X25519" if row.tls else "",
        scheme="https" if row.tls else "http",
        log_global="  log stdout format raw local0" if work.log else "",
        log_defaults="  log global\n  option httplog" if work.log else ""))
    return ["haproxy", "-db", "-f", str(path)]  # -db: one process, in the foreground


def weir(work, program, reuse="always", store=None):
    row = work.row
    rate, burst = ("1/1h", 1) if row.denied else (f"{AMPLE}/1s", AMPLE)
    tls = (f', tls: {{certificate: "{work.certificate}/crt.pem", private_key: "{work.certificate}/key.pem", '
           'min_version: "1.3", groups: [X25519]}') if row.tls else ""
    limits = ", limits: [{policy: bench, key: api_key}]" if row.limited else ""
    identities = WEIR_TOKEN.format(algorithm=row.token, tokens=work.tokens) if row.token else WEIR_API_KEY
    path = work.directory / "weir.yaml"
    path.write_text(WEIR.format(
        port=work.port, upstream_port=work.upstream_port, reuse=reuse, tls=tls,
        log=f'{{path: "{work.directory}/access.log", format: {work.log}}}' if work.log else '{path: "off"}',
        limits=WEIR_LIMITS.format(identities=identities, rate=rate, burst=burst) if row.limited else "",
        store=store or (REDIS_STORE.format(port=work.redis_port, more="") if row.redis else ""),
        routes="\n".join(f"  - {{match: {{path: {prefix}**}}, upstream: service{limits}}}"
                         for prefix in prefixes(row))))
    return [program, "serve", "--config", str(path)]


def weir_safe(work, program):
    return weir(work, program, reuse="safe")


def weir_memory(work, program):
    return weir(work, program, store="store: {type: memory}")


def weir_leases(work, program):
    return weir(work, program, store=REDIS_STORE.format(port=work.redis_port, more=", leases: {share: 50}"))


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
    commands = {"nginx": ["nginx", "-v"], "nginx_lua": ["nginx", "-v"], "haproxy": ["haproxy", "-v"],
                "redis": ["redis-server", "--version"]}
    return commands.get(name, [program, "version"])

"""The tables of script/bench: their rows, and the peers that are compared."""

import dataclasses

import peers
from peers import Row


@dataclasses.dataclass(frozen=True)
class Table:
    about: str
    rows: dict   # by name
    peers: dict  # by name; ratios are to the first


def by_name(*rows):
    return {row.name: row for row in rows}


TABLES = {
    "embedded": Table("nginx and HAProxy beside Weir's own store, the default", by_name(
        Row("plain", "no limits"),
        Row("one_key", "limited, 1 key", limited=True),
        Row("many_keys", "limited, 100,000 keys", limited=True, keys=100_000),
        Row("denied", "429, limit used up", limited=True, denied=True),
    ), {"nginx": peers.nginx, "haproxy": peers.haproxy, "weir": peers.weir}),
    "redis": Table("nginx with Lua beside Weir, each with a Redis", by_name(
        Row("one_key", "limited in Redis, 1 key", limited=True, redis=True),
        Row("many_keys", "limited in Redis, 100,000 keys", limited=True, redis=True, keys=100_000),
        Row("denied", "429 by Redis, limit used up", limited=True, redis=True, denied=True),
    ), {"nginx_lua": peers.nginx_lua, "weir": peers.weir}),
    "leases": Table("Weir's own store beside Weir with leases in a Redis", by_name(
        Row("one_key", "limited, 1 hot key", limited=True, redis=True),
        Row("hot_keys", "limited, 16 hot keys", limited=True, redis=True, keys=16),
    ), {"weir_memory": peers.weir_memory, "weir_leases": peers.weir_leases}),
    "jwt": Table("HAProxy's jwt_verify beside Weir, which remembers verifications", by_name(
        Row("api_key", "limited by API key", limited=True, keys=64),
        Row("rs256", "limited by the subject of a token, RS256, 64 tokens", limited=True, keys=64, token="RS256",
            beside="api_key"),
        Row("es256", "limited by the subject of a token, ES256, 64 tokens", limited=True, keys=64, token="ES256",
            beside="api_key"),
        Row("rs256_new", "RS256, 20,000 tokens: none is remembered", limited=True, keys=20_000, token="RS256"),
        Row("es256_new", "ES256, 20,000 tokens: none is remembered", limited=True, keys=20_000, token="ES256"),
    ), {"haproxy": peers.haproxy, "weir": peers.weir}),
    "reuse": Table("Weir with upstream connections per client connection (reuse: safe) beside shared ones", by_name(
        Row("kept", "kept client connections"),
        Row("closed", "a client connection for each request", mode="close"),
    ), {"weir": peers.weir, "weir_safe": peers.weir_safe}),
    "edges": Table("nginx and HAProxy beside Weir: new connections, tunnels, many routes, many connections, TLS", by_name(
        Row("kept", "keep-alive connections"),
        Row("c512", "512 keep-alive connections", connections=512, beside="kept"),
        Row("churn", "a connection per request", mode="close", beside="kept"),
        Row("tunnel", "32-byte messages through tunnels", mode="tunnel"),
        Row("route", "1 route", routes=1),
        Row("routes", "1,000 routes", routes=1_000, beside="route"),
        Row("many_routes", "10,000 routes", routes=10_000, beside="route"),
        Row("tls", "TLS, keep-alive connections", tls=True, beside="kept"),
        Row("handshakes", "TLS, a handshake per request", tls=True, mode="close", beside="churn"),
    ), {"nginx": peers.nginx, "haproxy": peers.haproxy, "weir": peers.weir}),
}

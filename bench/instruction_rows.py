"""The rows of script/bench instructions: a configuration of Weir, and the requests sent to it."""

import dataclasses
import json

import tokens

KEYS = 100_000
AMPLE = {"algorithm": "gcra", "rate": "1000000/1s", "burst": 1_000_000}
USED_UP = {"algorithm": "gcra", "rate": "1/1h", "burst": 1}  # by the first request


@dataclasses.dataclass(frozen=True)
class Row:
    name: str
    title: str
    status: int = 200
    policy: dict | None = None  # of the only limit, keyed by X-API-Key
    limit: tuple = ()           # further keys of this limit, with their values
    keys: int = 1               # different values of X-API-Key; each is used before it is measured
    redis: bool = False
    log: bool = False
    spans: tuple = ()  # keys of telemetry.otlp.spans, with their values; empty: no export
    token: str | None = None  # the algorithm of the only token; the limit is keyed by its subject
    routes: tuple = ()  # fixed answers; empty: one route to the upstream
    target: str = "/bench"


def fixed(path):
    """As few values as possible: a configuration has at most 100,000."""
    return {"match": {"path": path}, "respond": {"status": 200}}


def distinct_routes(count):
    return tuple(fixed(f"/segment{number}/**") for number in range(count))


def shared_routes(count):
    """All of them share everything but the last segment."""
    return tuple(fixed(f"/v1/shared/prefix/item{number}") for number in range(count))


ROWS = {row.name: row for row in (
    Row("plain", "no limits"),
    Row("many_keys", "limited, 100,000 keys", policy=AMPLE, keys=KEYS),
    Row("one_key", "limited by API key", policy=AMPLE),
    Row("in_progress", "limited in progress, by API key", policy={"algorithm": "concurrency", "limit": 20}),
    Row("charged", "charged by the status of the response", policy=AMPLE,
        limit=(("charge", {"status_not": ["500-599"]}),)),
    Row("rs256", "limited by the subject of a token (RS256, remembered)", policy=AMPLE, token="RS256"),
    Row("es256", "limited by the subject of a token (ES256, remembered)", policy=AMPLE, token="ES256"),
    Row("denied", "429, limit used up", policy=USED_UP, status=429),
    Row("not_sampled", "no limits, spans exported, this request not", spans=(("sample", 0),)),
    Row("sampled", "no limits, a span of each request", spans=(("sample", 1),)),
    Row("denied_spans", "429, limit used up, a span of each request", policy=USED_UP, status=429, spans=(("sample", 0),)),
    Row("redis", "limited in Redis", policy=AMPLE, redis=True),
    Row("log", "limited, access log as JSON", policy=AMPLE, log=True),
    Row("one_route", "fixed answer, 1 route", routes=distinct_routes(1), target="/segment0/x"),
    Row("distinct_routes", "fixed answer, the last of 10,000 routes with different first segments",
        routes=distinct_routes(10_000), target="/segment9999/x"),
    Row("shared_routes", "fixed answer, the last of 10,000 routes that share all but the last segment",
        routes=shared_routes(10_000), target="/v1/shared/prefix/item9999"),
)}


def configuration(row, upstream_port, redis_port, log_path):
    """As JSON, which is YAML too. One worker; the store's timeout is far above what callgrind slows it down by."""
    settings = {
        "listen": [{"address": "127.0.0.1:0"}],
        "admin": "off",
        "workers": 1,
        "access_log": {"path": str(log_path), "format": "json"} if row.log else "off",
        "routes": list(row.routes) or [{"match": {"path": "/**"}, "upstream": "service"}],
    }
    if not row.routes:
        settings["upstreams"] = {"service": {"servers": [{"url": f"http://127.0.0.1:{upstream_port}"}]}}
    if row.policy:
        settings["identities"] = {"api_key": {"header": "x-api-key"}}
        if row.token:
            tokens.write(row.token, 1, log_path.parent)
            jwks = {"file": str(log_path.parent / "jwks.json")}
            settings["jwt_providers"] = {"idp": {"algorithms": [row.token], "jwks": jwks}}
            settings["identities"] = {"api_key": {"jwt": {"provider": "idp", "claim": "sub"}}}
        settings["policies"] = {"bench": row.policy}
        for route in settings["routes"]:
            route["limits"] = [{"policy": "bench", "key": "api_key", **dict(row.limit)}]
    if row.spans:
        # All spans wait until the end, so that what is measured is the part of the worker.
        spans = {**dict(row.spans), "interval": "10m", "batch": 8192, "queue": 8192}
        settings["telemetry"] = {"otlp": {"endpoint": "http://127.0.0.1:9", "spans": spans, "metrics": "off"}}
    if row.redis:
        settings["store"] = {"type": "redis", "redis": {"url": f"redis://127.0.0.1:{redis_port}",
                                                        "connect_timeout": "10s", "timeout": "10s"}}
    return json.dumps(settings)


def request(row, number):
    """The bytes of the number-th request. The step shares no factor with the number of keys, so all of them come before
    one comes again."""
    credentials = f"X-API-Key: key-{number * 61_803 % row.keys:06}"
    if row.token:
        credentials = "Authorization: Bearer " + tokens.signed(row.token, 1)["tokens"][0]
    return (f"GET {row.target} HTTP/1.1\r\nHost: bench.example\r\nUser-Agent: bench\r\nAccept: */*\r\n"
            f"{credentials}\r\n\r\n").encode()

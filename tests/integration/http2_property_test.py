"""Random requests get the same decisions, responses and log lines over HTTP/1.1 and over HTTP/2."""

import json
import random
import re

from harness.case import Case, configuration, scaled
from harness.http2 import Http2Client
from harness.waiting import eventually

POLICIES = {"few": {"algorithm": "fixed_window", "rate": "3/1h"},
            "many": {"algorithm": "sliding_log", "rate": "20/1h"},
            "hidden": {"algorithm": "fixed_window", "rate": "15/1h", "headers": False},
            "failed": {"algorithm": "fixed_window", "rate": "2/1h"}}
IDENTITIES = {"client": {"client_address": {}}, "key": {"header": "x-key"}, "session": {"cookie": "sid"},
              "token": {"query": "token"}, "tenant": {"all_of": [{"header": "x-tenant"}, {"path": "id"}]}}
ROUTES = [
    {"name": "fixed", "match": {"path": "/fixed"}, "respond": {"status": 200, "body": "fixed"},
     "limits": [{"policy": "many", "key": "client"}]},
    {"name": "keyed", "match": {"path": "/keyed", "methods": ["GET", "POST"]}, "upstream": "main",
     "limits": [{"policy": "few", "key": "key", "otherwise": "client"}]},
    {"name": "required", "match": {"path": "/required"}, "upstream": "main",
     "limits": [{"policy": "few", "key": "session", "required": True}]},
    {"name": "query", "match": {"path": "/query/**"}, "upstream": "main",
     "limits": [{"policy": "hidden", "key": "token", "otherwise": "key"}]},
    {"name": "tenant", "match": {"path": "/tenants/{id}"}, "upstream": "main",
     "limits": [{"policy": "few", "key": "tenant"}]},
    {"name": "charged", "match": {"path": "/charged"}, "upstream": "main",
     "limits": [{"policy": "failed", "key": "client", "charge": {"status": [404]}}]},
    {"name": "hosted", "match": {"host": "other.test", "path": "/**"}, "respond": {"body": "other"},
     "limits": [{"policy": "many", "key": "client"}]},
]
METHODS = ["GET", "GET", "GET", "POST", "HEAD", "OPTIONS", "DELETE", "get", "TRACE"]
PATHS = ["/fixed", "/keyed", "/required", "/query/a", "/query/a?token=1", "/query/b?token=1&token=2", "/tenants/1",
         "/tenants/2", "/charged", "/none", "/Keyed", "//keyed", "/a/../keyed", "/keyed;v=1", "/%6beyed", "/keyed/",
         "/query/%2e%2e", "/a\\b", "/keyed?x", "/" + "a" * 9000]
FIELDS = [("x-key", "a"), ("x-key", "b"), ("x_key", "a"), ("x-tenant", "t"), ("cookie", "sid=1"), ("cookie", "sid=2"),
          ("cookie", "a=b"), ("x-forwarded-for", "192.0.2.1"), ("accept", "text/html"), ("max-forwards", "0"),
          ("max-forwards", "5"), ("x-status", "404"), ("x-large", "a" * 3000), ("user-agent", "random/1"),
          ("x-request-id", "one"), ("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")]
NO_HOST = "a..b"
# What belongs to a connection, a moment or a version.
OWN_FIELDS = {"date", "x-request-id", "connection", "transfer-encoding", "retry-after", "ratelimit-reset"}
TIMES = re.compile(rb"(t=|retry in |\"retry_after\":)\d+")
OWN_MEMBERS = {"time", "duration_us", "upstream_us", "decision_us", "decided_at", "queue_us", "bytes_out",
               "request_id", "protocol", "upstream_server", "bytes_in",
               "retry_after_ms"}


def service(exchange):
    status = exchange["X-Status"] or "200"
    exchange.answer(exchange.read_body(), f"{status} Status", [("X-Seen", exchange["Host"])])


def without_times(text):
    """Two instances begin their windows at different instants."""
    return TIMES.sub(rb"\1N", text)


def a_request(choices):
    method = choices.choice(METHODS)
    fields = choices.sample(FIELDS, choices.randrange(4))
    body = choices.choice([b"", b"body", b"x" * 100_000]) if method == "POST" else None
    host = choices.choice(["weir.test"] * 4 + ["other.test", "weir.test:80", NO_HOST])
    return method, choices.choice(PATHS), fields, body, host


def as_http1(client, method, path, fields, body, host):
    """Crumbs of a cookie are one field in HTTP/1 (RFC 6265 section 5.4)."""
    crumbs = [value for name, value in fields if name == "cookie"]
    fields = [pair for pair in fields if pair[0] != "cookie"]
    if crumbs:
        fields.append(("cookie", "; ".join(crumbs)))
    return client.request(method, path, [("Host", host), *fields], body)


class Property(Case):
    def instance(self):
        up = self.upstream(service)
        return self.start(configuration(
            upstreams={"main": {"servers": [{"url": up.url}]}}, policies=POLICIES, identities=IDENTITIES,
            routes=ROUTES, access_log={"path": "-"}, identity_secret="the same"))

    def lines(self, weir, count):
        eventually(lambda: len(weir.stdout.splitlines()) >= count, f"{count} lines of the log")
        return [{name: value for name, value in json.loads(line).items() if name not in OWN_MEMBERS}
                for line in weir.stdout.splitlines()]

    @staticmethod
    def seen(response):
        fields = sorted((name.lower(), without_times(value.encode())) for name, value in response.fields.lines
                        if name.lower() not in OWN_FIELDS)
        return response.status, fields, without_times(response.body)

    def test_random_requests(self):
        choices = random.Random(9113)
        for _ in range(scaled(8)):
            first, second = self.instance(), self.instance()
            with Http2Client(second.address) as client:
                count = scaled(60)
                for number in range(count):
                    method, path, fields, body, host = request = a_request(choices)
                    with self.subTest(number=number, request=request[:3], host=host):
                        with first.connect() as connection:
                            expected = as_http1(connection, *request)
                        found = client.request(method, path, [
                            *fields, *([("content-length", str(len(body)))] if body is not None else [])],
                            body, authority=host)
                        if host == NO_HOST:  # the detail names Host, or the authority
                            self.assertEqual(found.status, expected.status)
                        else:
                            self.assertEqual(self.seen(found), self.seen(expected))
                for expected, found in zip(self.lines(first, count), self.lines(second, count)):
                    self.assertEqual(found, expected)

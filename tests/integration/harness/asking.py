"""Another proxy, configured by a file of deploy/, that sends Weir a subrequest before each request.

`AskingProxy` has the tests that every proxy must pass. A subclass starts its proxy, and lists the
features that the proxy does not have.
"""

import socket
import tempfile
import threading
from pathlib import Path

from .case import Case, configuration
from .client import Connection, chunked
from .limit_fields import limit_fields
from .message import Truncated
from .programs import Listening
from .services import free_port, is_listening
from .upstream import Upstream
from .waiting import eventually

DEPLOY = Path(__file__).resolve().parents[3] / "deploy"
DECIDING = {"client_address": {"trusted_proxies": ["127.0.0.1/32"]}}


def window(rate):
    return {"algorithm": "fixed_window", "rate": rate}


ROUTES = [
    {"name": "search", "match": {"path": "/v1/search", "methods": ["POST"]}, "decide": True,
     "limits": [{"policy": "search"}]},
    {"name": "served", "match": {"path": "/fixed"}, "respond": {"status": 200, "body": "here"}},
    {"name": "keyed", "match": {"path": "/keyed/{user}"}, "decide": True,
     "limits": [{"policy": "search", "key": "api_key", "required": True}]},
    {"name": "hosted", "match": {"host": "other.test"}, "decide": True,
     "limits": [{"policy": "search"}]},
    {"name": "watched", "match": {"path": "/open/**"}, "decide": True},
    {"name": "rest", "match": {"path": "/**"}, "decide": True, "limits": [{"policy": "rest"}]},
]
IDENTITIES = {"client": {"client_address": {}}, "api_key": {"header": "x-api-key"}}


def deciding(**sections):
    usual = {"policies": {"search": window("1/1h"), "rest": window("2/1h")},
             "identities": IDENTITIES, "routes": ROUTES, **DECIDING}
    return configuration(**{**usual, **sections})


def api(exchange):
    if "Expect" in exchange.fields:
        exchange.send(b"HTTP/1.1 100 Continue\r\n\r\n")
    exchange.answer(exchange.read_body() or b"api")


class AskingProxy(Case):
    passes_denials_on = True  # with all fields of Weir; else with the fields of the draft
    passes_refusals_on = True  # Weir's 401, too
    passes_all_fields_on = True  # of the request, to Weir
    own_refusals = ()  # statuses of the proxy itself, for a request that Weir would deny

    def setUp(self):
        self.api = Upstream(api)
        self.addCleanup(self.api.stop)
        self.weir = self.start(deciding())
        directory = tempfile.TemporaryDirectory(prefix="weir-asking-")
        self.addCleanup(directory.cleanup)
        self.root = Path(directory.name)
        self.root.chmod(0o755)  # what was started by root may serve as another user
        self.begin(self.weir.address)

    def begin(self, weir, patience="60s", **options):
        """Starts the proxy anew, with Weir at this address. Where Weir does answer, a slow machine
        is not to look like a Weir that does not."""
        self.port = free_port()
        command, environment = self.command("%s:%d" % weir, patience, **options)
        proxy = Listening(command, lambda: is_listening(self.port), environment)
        self.addCleanup(proxy.stop)

    def command(self, weir, patience, **options):
        """The command line and the environment for it."""
        raise NotImplementedError

    def get(self, *fields, method="GET", target="/a", body=None, source=None):
        with Connection(("127.0.0.1", self.port), source=source) as client:
            return client.request(method, target, fields=list(fields), body=body)

    def test_what_weir_allows_is_served_and_the_rest_is_denied(self):
        answers = [self.get() for _ in range(3)]
        self.assertEqual([answer.status for answer in answers], [200, 200, 429])
        self.assertEqual(answers[0].body, b"api")
        self.assertEqual([limit_fields(answer).state["rest"]["r"] for answer in answers], [1, 0, 0])
        self.assertEqual(limit_fields(answers[0]).policies["rest"]["q"], 2)
        self.assertGreater(limit_fields(answers[2]).retry_after, 3000)
        problem = self.assert_problem(answers[2], 429)
        self.assertEqual(answers[2]["Cache-Control"], "no-store")
        if self.passes_denials_on:
            self.assertEqual(problem["violated-policies"], ["rest"])
            self.assertEqual([limit_fields(answer).remaining for answer in answers], [1, 0, 0])
        self.assertEqual(len(self.api.requests), 2)

    def test_routes_see_the_clients_method_path_and_host(self):
        search = {"method": "POST", "target": "/v1/search?q=a%2Fb&c"}
        self.assertEqual(set(limit_fields(self.get(**search)).state), {"search"})
        self.assertEqual(self.get(**search).status, 429)
        self.assertEqual(self.get(target="/v1/search").status, 200)
        self.assertEqual(self.api.requests[0].words[:2], ["POST", "/v1/search?q=a%2Fb&c"])
        # Weir has an answer of its own for this path, if it is asked for it directly.
        self.assertEqual(self.get(target="/fixed").body, b"api")
        hosted = self.get(("Host", "other.test"), source="127.0.0.4")
        self.assertEqual(set(limit_fields(hosted).state), {"search"})

    def test_each_client_has_its_own_quota_whatever_it_says(self):
        forged = (("X-Forwarded-For", "203.0.113.9"), ("Forwarded", "for=203.0.113.9"),
                  ("X-Real-IP", "203.0.113.9"))
        for source in "127.0.0.2", "127.0.0.3":
            statuses = [self.get(*fields, source=source).status for fields in ((), (), (), forged)]
            self.assertEqual(statuses, [200, 200, 429, 429], source)

    def test_a_client_cannot_name_another_request(self):
        other = (("X-Forwarded-Uri", "/open/a"), ("X-Original-URI", "/open/a"),
                 ("X-Original-Method", "GET"), ("X-Forwarded-Method", "GET"),
                 ("X-Forwarded-Host", "open.test"))
        for fields in (other, other[:1] + other[2:], other[1:]):
            statuses = [self.get(*fields, method="POST", target="/v1/search").status
                        for _ in range(2)]
            self.assertEqual(statuses[-1], 429)

    def test_identities_reach_weir(self):
        def ask(key):
            return self.get(("X-Api-Key", key), target="/keyed/ann").status

        self.assertEqual([ask("one"), ask("one"), ask("two")], [200, 429, 200])
        anonymous = self.get(target="/keyed/ann")
        if self.passes_refusals_on:
            self.assert_problem(anonymous, 401)
        self.assertGreaterEqual(anonymous.status, 400)
        self.assertEqual(len(self.api.requests), 2)

    def test_bodies_pass_by(self):
        large = bytes(range(256)) * 8192
        answer = self.get(method="POST", target="/open/large", body=large)
        self.assertEqual((answer.status, len(answer.body)), (200, len(large)))
        self.assertTrue(answer.body == large)
        with Connection(("127.0.0.1", self.port)) as client:
            for _ in range(2):
                answer = client.request("PUT", "/open/chunks", body=chunked(b"abcdefg", [3, 4]),
                                        fields=[("Transfer-Encoding", "chunked")])
                self.assertEqual((answer.status, answer.body), (200, b"abcdefg"))
        for status in 200, 429:
            self.assertEqual(self.get(method="POST", target="/v1/search", body=b"small").status,
                             status)
        self.assertEqual(len(self.api.requests), 4)

    def test_a_client_that_waits_for_100_is_told(self):
        with Connection(("127.0.0.1", self.port)) as client:
            client.send(b"POST /open/a HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n"
                        b"Content-Length: 5\r\n\r\n")
            self.assertEqual(client.read_head().status, 100)
            client.send(b"hello")
            self.assertEqual(client.read().body, b"hello")

    def test_a_denied_upload_is_not_waited_for(self):
        self.assertEqual(self.get(method="POST", target="/v1/search").status, 200)
        with Connection(("127.0.0.1", self.port)) as client:
            client.send(b"POST /v1/search HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n"
                        b"Content-Length: 100000000\r\n\r\n")
            self.assertEqual(client.read().status, 429)

    def test_a_request_of_any_size_is_asked_about(self):
        """The subrequest is a little larger than the request: if it does not fit, the request is refused."""
        self.assertEqual(self.get(method="POST", target="/v1/search").status, 200)
        for size in 8000, *range(14900, 15400, 20), 16300, 33000, 100000, 1000000:
            try:
                self.assertGreaterEqual(
                    self.get(("X-Large", "a" * size), method="POST", target="/v1/search").status,
                    400, size)
            except (ConnectionError, Truncated):
                pass  # refused before it was read whole
        self.assertEqual(len(self.api.requests), 1)

    def test_nothing_that_a_client_adds_lets_it_pass(self):
        self.assertEqual(self.get(method="POST", target="/v1/search").status, 200)
        for fields in ((("Connection", "upgrade"), ("Upgrade", "websocket"),
                        ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==")),
                       (("Connection", "close, x-original-uri, x-forwarded-uri, x-forwarded-for"),),
                       (("TE", "trailers"), ("Connection", "te")),
                       (("RateLimit", '"rest";r=9'), ("Weir-Answered", "yes")),
                       (("Range", "bytes=0-0"), ("If-None-Match", "*")),
                       (("X-Http-Method-Override", "GET"), ("X-Original-Url", "/open/a"))):
            self.assertIn(self.get(*fields, method="POST", target="/v1/search").status, (429, *self.own_refusals),
                          fields)
        # nginx drops such names and Envoy does not pass them on; the others ask Weir, which refuses them.
        status = 400 if self.passes_refusals_on and self.passes_all_fields_on else 429
        for name in ("X_Original_URI", "X_Forwarded_Uri"):
            self.assertEqual(self.get((name, "/open/a"), method="POST", target="/v1/search").status,
                             status, name)
        for target in ("http://weir.test/v1/search", "/v1/./search", "/open/../v1/search",
                       "/%761/search"):
            self.assertEqual(self.get(method="POST", target=target).status, 429, target)
        self.assertEqual(len(self.api.requests), 1)

    def test_head(self):
        with Connection(("127.0.0.1", self.port)) as client:
            answers = [client.request("HEAD", "/a") for _ in range(3)]
            self.assertEqual([answer.status for answer in answers], [200, 200, 429])
            if answers[-1].fields.has_token("Connection", "close"):
                self.assertTrue(client.is_ended())
            else:
                self.assertEqual(client.get("/open/a").body, b"api")

    def lose_weir(self):
        self.weir.stop()
        eventually(lambda: not is_listening(self.weir.port), "Weir has gone")

    def begin_with_silent_weir(self, **options):
        """One that takes connections and never answers, and the patience that is in deploy/."""
        listener = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listener.close)
        self.begin(listener.getsockname(), patience="200ms", **options)


HOLDING = {
    "policies": {"logins": {"algorithm": "sliding_log", "rate": "2/1h"},
                 "slots": {"algorithm": "concurrency", "limit": 1}},
    "routes": [{"match": {"path": "/login"}, "decide": True,
                "limits": [{"policy": "logins", "charge": {"status": [401]}}]},
               {"match": {"path": "/**"}, "decide": True, "limits": [{"policy": "slots"}]}]}


class HoldTests:
    """For a proxy that reports the end of a request to Weir."""

    def begin_holding(self):
        self.gate = threading.Event()
        self.addCleanup(self.gate.set)
        self.status = "200 OK"
        self.api.behaviour = self.serve
        self.weir = self.start(deciding(**HOLDING, admin={"address": "127.0.0.1:0"}))
        self.begin(self.weir.address)

    def serve(self, exchange):
        if exchange.target == "/slow":
            self.gate.wait(60)
        exchange.answer(b"api", self.status)

    def await_reports(self):
        """Until the requests so far are reported."""
        with self.weir.connect_admin() as admin:
            eventually(lambda: b"\nweir_holds_awaiting_report 0\n" in admin.get("/metrics").body, "the report")

    def reported(self, *arguments, **options):
        """The status of a request whose report Weir has."""
        status = self.get(*arguments, **options).status
        self.await_reports()
        return status

    def statuses_of_logins(self, status, count):
        self.status = status
        return [self.reported(method="POST", target="/login", body=b"a body of the client") for _ in range(count)]

    def test_a_slot_is_held_until_the_response_has_ended(self):
        self.begin_holding()
        with Connection(("127.0.0.1", self.port)) as client:
            client.send(b"GET /slow HTTP/1.1\r\nHost: a\r\n\r\n")
            eventually(lambda: self.api.requests, "the request has arrived")
            self.assertEqual(self.get().status, 429)
            self.gate.set()
            self.assertEqual(client.read().status, 200)
            eventually(lambda: self.get().status == 200, "the slot is free again")
        for _ in range(20):
            eventually(lambda: self.get().status == 200, "the slot is free again")

    def test_a_client_that_leaves_gives_its_slot_back(self):
        self.begin_holding()
        with Connection(("127.0.0.1", self.port)) as client:
            client.send(b"GET /slow HTTP/1.1\r\nHost: a\r\n\r\n")
            eventually(lambda: self.api.requests, "the request has arrived")
        eventually(lambda: self.get().status == 200, "the slot is free again")

    def test_a_client_that_leaves_is_charged(self):
        self.begin_holding()
        self.api.behaviour = lambda exchange: self.gate.wait(60)
        for count in 1, 2:
            with Connection(("127.0.0.1", self.port)) as client:
                client.send(b"POST /login HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n")
                eventually(lambda: len(self.api.requests) == count, "the request has arrived")
            self.await_reports()
        self.gate.set()
        self.assertEqual(self.get(method="POST", target="/login").status, 429)

    def test_only_failed_logins_are_charged(self):
        self.begin_holding()
        self.assertEqual(self.statuses_of_logins("200 OK", 5), [200] * 5)
        self.assertEqual(self.statuses_of_logins("401 Unauthorized", 3), [401, 401, 429])

    def test_a_request_without_a_server_is_reported_with_the_status_of_the_proxy(self):
        self.begin_holding()
        self.api.stop()
        statuses = [self.reported(method="POST", target="/login") for _ in range(6)]
        self.assertTrue(set(statuses) <= {502, 503}, statuses)

    def statuses_with_costs(self, count, **options):
        """A client that names a cost of its own, if each request costs 40 and reserves 21 of 100."""
        self.api.behaviour = lambda exchange: exchange.answer(fields=[("X-Usage-Tokens", "40")])
        self.weir = self.start(deciding(
            policies={"tokens": window("100/1h")},
            routes=[{"decide": True, "limits": [
                {"policy": "tokens", "reserve": 21, "cost_from": [{"header": "x-usage-tokens"}]}]}],
            admin={"address": "127.0.0.1:0"}))
        self.begin(self.weir.address, **options)
        return [self.reported(("X-Usage-Tokens", "0")) for _ in range(count)]

    def test_the_cost_is_that_of_the_response(self):
        self.assertEqual(self.statuses_with_costs(3, with_costs=True), [200, 200, 429])

    def test_a_cost_that_is_not_reported_is_what_was_held(self):
        self.assertEqual(self.statuses_with_costs(5), [200] * 4 + [429])

    def test_a_client_cannot_report(self):
        self.begin_holding()
        with self.weir.connect() as other:
            hold = other.get("/login")["Weir-Hold"]
        forged = (("Weir-Hold", hold), ("Weir-Status", "200"))
        self.status = "401 Unauthorized"
        statuses = []
        for _ in range(2):
            statuses.append(self.get(*forged, method="POST", target="/login").status)
        self.assertEqual(statuses, [401, 429])
        with self.weir.connect() as other:
            self.assertEqual(other.get("/login", dict(forged)).status, 204)

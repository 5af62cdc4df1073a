"""External authorization over gRPC: a real Envoy asks Weir about each request, and calls of other clients."""

import random
import re
import threading
import time

from harness.asking import DEPLOY
from harness.case import configuration, scaled
from harness.client import Connection, request_bytes
from harness.envoy import Envoy, cluster, listener, typed
from harness.exposition import labelled
from harness.grpc_case import Outcome, client_library
from harness.http2 import Http2Client
from harness.issuers import SECRET, signed
from harness.limit_fields import limit_fields
from harness.redis_case import SECRET as IDENTITY_SECRET
from harness.rls_case import ADMIN, RlsCase
from harness.services import free_port
from harness.upstream import answer

CHECK = "/envoy.service.auth.v3.Authorization/Check"
TRUSTED = {"trusted_proxies": ["127.0.0.1/32"]}


def window(count=1):
    return {"algorithm": "fixed_window", "rate": f"{count}/1h"}


def route(name, limits=(), decide=True, **match):
    """One that decides for another proxy, or answers by itself."""
    mode = {"decide": True} if decide else {"respond": {"status": 200, "headers": {"X-Route": name}}}
    return {"name": name, "match": match or {"path": "/**"}, "limits": list(limits), **mode}


class AuthorizationCase(RlsCase):
    """Weir whose listener of the service follows that of the proxy."""

    def serve_routes(self, *routes, policies=None, identities=None, redis=None, **sections):
        config = configuration(
            admin=ADMIN, policies=policies or {"one": window()}, routes=list(routes), client_address=TRUSTED,
            identities={"client": {"client_address": {}}, "api_key": {"header": "x-api-key"}, **(identities or {})},
            rate_limit_service={"listen": [{"address": "127.0.0.1:0"}]})
        if redis is not None:
            store = {"timeout": "100ms", "connect_timeout": "100ms", "on_failure": "deny", "url": redis.url}
            config |= {"identity_secret": IDENTITY_SECRET, "store": {"type": "redis", "redis": store}}
        self.weir = self.start({**config, **sections})
        self.service_port = self.weir.addresses[-1][1]


class BehindEnvoy(AuthorizationCase):
    def begin(self, *routes, allows_failures=False, envoy=None, **options):
        """An upstream, Weir, and Envoy before both."""
        def behaviour(exchange):
            exchange.read_body()
            exchange.answer(b"served")

        self.api = self.upstream(behaviour)
        self.serve_routes(*routes, **options)
        self.envoy(allows_failures, **(envoy or {}))

    def envoy(self, allows_failures=False, **options):
        ext_authz = typed("extensions.filters.http.ext_authz.v3.ExtAuthz", transport_api_version="V3",
                          failure_mode_allow=allows_failures, **options,
                          grpc_service={"envoy_grpc": {"cluster_name": "weir"}, "timeout": "30s"})
        port = free_port()
        started = Envoy({"static_resources": {
            "listeners": [listener(port, [("envoy.filters.http.ext_authz", ext_authz)],
                                   {"routes": [{"match": {"prefix": "/"}, "route": {"cluster": "api"}}]},
                                   use_remote_address=True, upgrade_configs=[{"upgrade_type": "websocket"}])],
            "clusters": [cluster("api", self.api.port),
                         cluster("weir", self.service_port, http2=True)]}}, port)
        self.addCleanup(started.stop)
        self.port = port

    def ask(self, target="/", *fields, method="GET", source=None, body=b""):
        with Connection(("127.0.0.1", self.port), source=source) as client:
            return client.request(method, target, list(fields), body)

    def statuses(self, *requests):
        return [self.ask(*request).status for request in requests]

    def test_an_admitted_request_reaches_the_upstream_with_the_fields_of_its_route(self):
        self.begin(route("all", [{"policy": "one"}], decide=False))
        answer = self.ask("/a?b=c", ("X-Route", "of the client"))
        self.assertEqual((answer.status, answer.body), (200, b"served"))
        self.assertEqual(limit_fields(answer).state["one"]["r"], 0)
        request, = self.api.requests
        self.assertEqual(request.target, "/a?b=c")
        self.assertEqual(request["X-Route"], "all")

    def test_a_denied_request_gets_the_response_of_weir(self):
        self.begin(route("all", [{"policy": "one"}]), denied={"body": "slow down\n", "content_type": "text/plain"})
        self.ask()
        denied = self.ask()
        self.assertEqual((denied.status, denied.body, denied["Content-Type"]), (429, b"slow down\n", "text/plain"))
        self.assertGreater(int(denied["Retry-After"]), 0)
        self.assertEqual(limit_fields(denied).state["one"]["r"], 0)
        self.assertEqual(len(self.api.requests), 1)

    def test_a_denial_with_the_status_503_is_one_where_failures_are_allowed(self):
        self.begin(route("all", [{"policy": "one"}]), allows_failures=True,
                   policies={"one": {**window(), "status": 503}})
        self.assertEqual(self.statuses(("/",), ("/",)), [200, 503])

    def test_a_header_identifies_the_client(self):
        self.begin(route("all", [{"policy": "one", "key": "api_key", "required": True}]))
        ann, bob = ("X-Api-Key", "ann"), ("X-Api-Key", "bob")
        self.assertEqual(self.statuses(("/", ann), ("/", ann), ("/", bob)), [200, 429, 200])
        self.assertEqual(self.ask().status, 401)

    def test_raw_headers_show_one_that_comes_twice(self):
        limits = [{"policy": "one", "key": "api_key", "required": True}]
        self.begin(route("all", limits), envoy={"encode_raw_headers": True})
        ann = ("X-Api-Key", "ann")
        self.assertEqual(self.statuses(("/", ann), ("/", ann), ("/", ann, ("X-Api-Key", "other"))), [200, 429, 400])
        self.envoy()  # it joins them, which is another value
        self.assertEqual(self.ask("/", ann, ("X-Api-Key", "other")).status, 200)

    def test_the_address_of_the_client_is_that_of_envoys_peer(self):
        self.begin(route("all", [{"policy": "one"}]))
        forged = ("X-Forwarded-For", "192.0.2.1")
        self.assertEqual([self.ask("/", *fields, source=source).status for source, *fields in (
            ("127.0.0.2",), ("127.0.0.2",), ("127.0.0.2", forged), ("127.0.0.3",))], [200, 429, 429, 200])

    def test_a_trusted_proxy_before_envoy_names_the_client(self):
        self.begin(route("all", [{"policy": "one"}]),
                   client_address={"trusted_proxies": ["127.0.0.1/32", "127.0.0.5/32"]})

        def forwarded_for(text):  # Envoy writes another address for the peer 127.0.0.1
            return self.ask("/", ("X-Forwarded-For", text), source="127.0.0.5").status

        self.assertEqual([forwarded_for("192.0.2.1"), forwarded_for("192.0.2.9, 192.0.2.1"),
                          forwarded_for("192.0.2.2")], [200, 429, 200])

    def test_without_trust_in_envoy_all_its_clients_are_one(self):
        self.begin(route("all", [{"policy": "one"}]), client_address={})
        self.assertEqual([self.ask(source=source).status for source in ("127.0.0.2", "127.0.0.3")], [200, 429])

    def test_a_token_identifies_the_client(self):
        self.begin(route("all", [{"policy": "one", "key": "user", "required": True}]),
                   identities={"user": {"jwt": {"provider": "idp", "claim": "sub"}}},
                   jwt_providers={"idp": {"algorithms": ["HS256"], "secret": SECRET}})

        def token(user, **options):
            return "Authorization", "Bearer " + signed({"sub": user, "exp": int(time.time()) + 3600}, **options)

        self.assertEqual(self.statuses(*[("/", token(user)) for user in ("ann", "ann", "bob")]), [200, 429, 200])
        refused = self.ask("/", token("eve", secret="another secret"))
        self.assertEqual(refused.status, 401)
        self.assertIn("invalid_token", refused["WWW-Authenticate"])

    def test_routes_are_found_by_method_path_and_host(self):
        policies = {name: window(9) for name in ("post", "user", "host", "rest")}
        self.begin(route("post", [{"policy": "post"}], methods=["POST"], path="/v1/orders"),
                   route("user", [{"policy": "user"}], decide=False, path="/users/{user}"),
                   route("host", [{"policy": "host"}], host="other.test"),
                   route("rest", [{"policy": "rest"}], path="/v1/**"), policies=policies)

        def policy(*asked, **options):
            return set(limit_fields(self.ask(*asked, **options)).state)

        self.assertEqual(policy("/v1/orders?a", method="POST"), {"post"})
        self.assertEqual(policy("/v1/orders"), {"rest"})
        self.assertEqual(policy("/users/ann"), {"user"})
        self.assertEqual(policy("/nowhere", ("Host", "other.test")), {"host"})
        self.assertEqual(self.ask("/nowhere").status, 404)
        self.assertEqual(policy("/v1/orders", method="HEAD"), {"rest"})

    def test_a_path_that_could_be_read_in_two_ways_gets_the_decision_of_a_listener(self):
        policies = {name: window(99) for name in ("search", "rest")}
        self.begin(route("search", [{"policy": "search"}], path="/v1/search"),
                   route("rest", [{"policy": "rest"}]), policies=policies, client_address={})
        for target in ("/v1/search", "/v1/search/", "/v1/./search", "/v1/x/../search", "/v1//search", "//v1/search",
                       "/v1%2Fsearch", "/v1/%73earch", "/v1/SEARCH", "/v1/search;a=b", "/v1/search%00",
                       "/v1/%2e%2e/v1/search", "/v1\\search", "/..", "/v1/search?a=/../b"):
            with self.subTest(target):
                expected, found = self.connect(self.weir).get(target), self.ask(target)
                self.assertEqual(found.status, expected.status)
                self.assertEqual(found["RateLimit-Policy"], expected["RateLimit-Policy"])

    def test_a_client_cannot_describe_another_request(self):
        policies = {name: window(9) for name in ("search", "rest")}
        self.begin(route("search", [{"policy": "search"}], path="/v1/search"),
                   route("rest", [{"policy": "rest"}]), policies=policies)
        # From an address that is trusted, as if a trusted proxy had passed them on.
        answer = self.ask("/v1/search", ("X-Original-URI", "/"), ("X-Forwarded-Uri", "/"), source="127.0.0.1")
        self.assertEqual(set(limit_fields(answer).state), {"search"})

    def test_no_request_of_a_client_is_a_failure(self):
        self.begin(route("all", [{"policy": "one"}]), allows_failures=True)
        self.assertEqual(self.ask().status, 200)
        long = [(f"X-{number}", "v" * 7000) for number in range(7)]
        many = [(f"X-{number}", "v") for number in range(90)]
        requests = [("/", long), ("/", many), ("/", [("X-Bytes", "\xff\xfe")]), ("/" + "a" * 40_000, []), ("/\xe9", [])]
        for raw in False, True:
            self.envoy(True, encode_raw_headers=raw)
            for target, fields in requests:
                answer = self.ask(target, *fields)
                self.assertGreaterEqual(answer.status, 400, (target[:20], len(fields)))
                self.assertLess(answer.status, 500)
        self.assertEqual(len(self.api.requests), 1)

    def test_a_handshake_of_a_websocket_is_decided(self):
        self.begin(route("all", [{"policy": "one"}]))
        fields = [("Connection", "Upgrade"), ("Upgrade", "websocket"), ("Sec-WebSocket-Version", "13"),
                  ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==")]
        self.assertEqual(self.ask("/", *fields).status, 200)
        self.assertEqual(self.ask("/", *fields).status, 429)

    def test_a_body_in_chunks_is_decided(self):
        self.begin(route("all", [{"policy": "one"}]))
        with Connection(("127.0.0.1", self.port)) as client:
            client.send(b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n")
            self.assertEqual(client.read().status, 200)
        self.assertEqual(self.api.requests[0].body, b"ab")

    def test_a_denied_grpc_call_behind_envoy_fails_with_a_status(self):
        self.begin(route("all", [{"policy": "one"}]))
        self.ask()
        channel = client_library().insecure_channel(f"127.0.0.1:{self.port}")
        self.addCleanup(channel.close)
        with self.assertRaises(client_library().RpcError) as failed:
            channel.unary_unary("/shop.Cart/Add")(b"", timeout=30)
        outcome = Outcome(failed.exception)
        self.assertEqual(outcome.code, "UNAVAILABLE")
        self.assertGreater(int(outcome.metadata["retry-after"]), 0)
        self.assertEqual(len(self.api.requests), 1)

    def test_without_weir_envoy_decides(self):
        self.begin(route("all", [{"policy": "one"}]))
        self.ask()
        self.weir.stop()
        self.assertEqual(self.ask().status, 403)
        self.envoy(allows_failures=True)
        self.assertEqual(self.statuses(("/",), ("/",)), [200, 200])

    def test_a_store_that_cannot_decide_is_a_failure_for_envoy(self):
        redis = self.redis()
        self.begin(route("all", [{"policy": "one"}]), redis=redis, policies={"one": window(9)})
        self.await_redis(self.weir)
        self.assertEqual(self.ask().status, 200)
        redis.stop()
        self.assertEqual(self.ask().status, 403)
        self.envoy(allows_failures=True)
        self.assertEqual(self.statuses(("/",), ("/",)), [200, 200])

    def test_many_requests_at_once_are_counted_exactly(self):
        self.begin(route("all", [{"policy": "fifty"}]), policies={"fifty": window(50)})
        clients = [Connection(("127.0.0.1", self.port)) for _ in range(20)]
        statuses = []
        for _ in range(5):
            for client in clients:
                client.send(request_bytes("GET", "/"))
            statuses += [client.read().status for client in clients]
        for client in clients:
            client.close()
        self.assertEqual((statuses.count(200), statuses.count(429)), (50, 50))

    def test_the_access_log_has_the_request(self):
        log = {"path": "access.log"}
        self.begin(route("all", [{"policy": "one"}]), access_log=log)
        self.ask("/a", ("User-Agent", "test"), source="127.0.0.2")
        line, = self.log_lines(self.weir, 1)
        self.assertEqual({name: line[name] for name in ("method", "path", "route", "status", "client", "user_agent")},
                         {"method": "GET", "path": "/a", "route": "all", "status": 200, "client": "127.0.0.2",
                          "user_agent": "test"})

    def test_the_file_in_deploy(self):
        self.api = self.upstream(answer(b"served"))
        self.serve_routes(route("all", [{"policy": "one"}]))
        self.port = free_port()
        text = (DEPLOY / "envoy" / "envoy-grpc.yaml").read_text()
        for number, port in (8000, self.port), (3000, self.api.port), (8081, self.service_port):
            self.assertEqual(text.count(f"port_value: {number}"), 1)
            text = text.replace(f"port_value: {number}", f"port_value: {port}")
        # A busy machine may be slower.
        text = text.replace("timeout: 0.2s", "timeout: 30s").replace("connect_timeout: 0.05s", "connect_timeout: 30s")
        self.addCleanup(Envoy(text, self.port).stop)
        self.assertEqual(self.statuses(("/",), ("/",)), [200, 429])


def varint(number):
    low, rest = number & 127, number >> 7
    return bytes([low | 128]) + varint(rest) if rest else bytes([low])


def part(number, data):
    """A field of Protocol Buffers with text, bytes or a message."""
    data = data.encode() if isinstance(data, str) else data
    return varint(number << 3 | 2) + varint(len(data)) + data


def check_request(method="GET", path="/", host="a.test", headers=(), source="192.0.2.1", more=b""):
    http = b"".join(part(3, part(1, name) + part(2, value)) for name, value in headers)
    http += part(2, method) + part(4, path) + part(5, host) + more
    return part(1, part(1, part(1, part(1, part(2, source)))) + part(4, part(2, http)))


class Calls(AuthorizationCase):
    """Calls of Check that a client makes itself."""

    def setUp(self):
        super().setUp()
        # A path of its own, so that no other request uses up the policy.
        self.serve_routes(
            route("one", [{"policy": "one"}], path="/one"),
            {"name": "cost", "match": {"path": "/cost"}, "upstream": "main",
             "limits": [{"policy": "nine", "reserve": 3, "cost_from": [{"header": "X-Cost"}]}]},
            route("slot", [{"policy": "slot"}], False, path="/slot"),
            route("kept", [{"policy": "slot"}], path="/kept"), route("rest"),
            policies={"one": window(), "nine": window(9), "slot": {"algorithm": "concurrency", "limit": 1}},
            upstreams={"main": {"servers": [{"url": "http://127.0.0.1:1"}]}})
        self.client = self.client_of(self.weir)

    def check(self, data):
        """"allowed", the HTTP status of the denial, or the status of gRPC of a call that failed."""
        outcome = self.client.call(CHECK, data)
        if outcome.response is None:
            return outcome.code
        denial = re.search(rb"\x12.{1,3}\x0a\x03\x08(.)(.)", outcome.response, re.DOTALL)
        return denial[1][0] & 127 | denial[2][0] << 7 if denial else "allowed"

    def assert_serves(self):
        self.assertEqual(self.check(check_request()), "allowed")

    def test_a_call_is_answered(self):
        self.assertEqual([self.check(check_request(path="/one")) for _ in range(2)], ["allowed", 429])

    def test_a_cost_of_the_response_is_what_was_reserved(self):
        self.assertEqual([self.check(check_request(path="/cost")) for _ in range(4)], ["allowed"] * 3 + [429])

    def test_a_slot_ends_with_the_answer_or_with_the_lease(self):
        self.assertEqual([self.check(check_request(path="/slot")) for _ in range(3)], ["allowed"] * 3)
        self.assertEqual([self.check(check_request(path="/kept")) for _ in range(2)], ["allowed", 429])

    def test_a_request_that_is_not_valid_is_denied(self):
        for status, made in (
                (400, check_request(method="")), (400, check_request(path="")), (400, check_request(host="")),
                (400, check_request(method="A B")), (400, check_request(path="/\x00")),
                (400, check_request(path="/\r\nX-A: b")), (400, check_request(path=b"/\xff")),
                (400, check_request(headers=[("", "v")])), (400, check_request(headers=[("a:b", "v")])),
                (400, check_request(headers=[("a", "b\nc")])), (400, check_request(headers=[("a", b"\xff")])),
                (400, check_request(headers=[(f"x-{i}", "") for i in range(257)])),
                (431, check_request(headers=[("a", "b" * 65_536)])), (400, b"\xff\xff"), (400, check_request()[:-1])):
            self.assertEqual(self.check(made), status, made[:80])
        self.assertEqual(self.check(b""), "INVALID_ARGUMENT")
        self.assert_serves()

    def test_what_is_unusual_is_decided(self):
        for made in (check_request(headers=[("Upper-Case", "v")]), check_request(headers=[(":path", "/one")] * 3),
                     check_request(headers=[(f"x-{i}", "v") for i in range(256)]), check_request(source="nowhere"),
                     check_request(source=""), check_request(method="HEAD"), check_request(method="OPTIONS"),
                     check_request(more=part(99, "unknown") + part(11, "body")), check_request(path="/?" + "q" * 1000)):
            self.assertEqual(self.check(made), "allowed", made[:80])

    def test_messages_that_are_damaged_do_no_harm(self):
        chance = random.Random(7)
        whole = check_request(path="/a?b", headers=[("x-api-key", "ann"), ("cookie", "a=b")] * 3)
        for _ in range(scaled(1500)):
            damaged = bytearray(whole)
            for _ in range(chance.randrange(1, 6)):
                damaged[chance.randrange(len(damaged))] = chance.randrange(256)
            self.check(bytes(damaged[:chance.randrange(1, len(damaged) + 1)]))
            self.check(chance.randbytes(chance.randrange(1, 200)))
        self.assert_serves()

    def test_calls_at_once_are_counted_exactly(self):
        method = self.client.channel.unary_unary(CHECK)
        calls = [method.future(check_request(path="/one"), timeout=60) for _ in range(scaled(400))]
        self.assertEqual(sum(b"\x08\x08" not in call.result() for call in calls), 1)

    def test_calls_that_are_cut_do_no_harm(self):
        data = check_request(headers=[("a", "b" * 5000)])
        body = b"\0" + len(data).to_bytes(4, "big") + data
        fields = [("content-type", "application/grpc"), ("te", "trailers")]
        for cut in (0, 3, 5, 100, len(body) - 1, len(body)):
            with Http2Client(self.weir.addresses[-1]) as client:
                for _ in range(scaled(20)):
                    stream = client.open("POST", CHECK, fields, ends=False)
                    client.send_data(stream, body[:cut], ends=False)
                    client.reset(stream)
                whole = client.open("POST", CHECK, fields, ends=False)
                client.send_data(whole, body)
                self.assertEqual(client.read(whole)["grpc-status"] or "0", "0")
                left = client.open("POST", CHECK, fields, ends=False)
                client.send_data(left, body[:cut], ends=False)
        self.assert_serves()

    def test_calls_go_on_during_reloads(self):
        answers, ends = [], threading.Event()

        def call():
            while not ends.is_set():
                answers.append(self.check(check_request()))

        callers = [threading.Thread(target=call) for _ in range(4)]
        for caller in callers:
            caller.start()
        for _ in range(5):
            self.reload()
        ends.set()
        for caller in callers:
            caller.join()
        self.assertEqual(set(answers), {"allowed"})

    def test_the_metrics_have_the_request(self):
        self.check(check_request(path="/one"))
        self.check(check_request(path="/one"))
        samples = self.scrape()
        for code in "200", "429":
            self.assertEqual(labelled(samples, "weir_requests_total", route="one", code=code), 1)

"""A real Envoy asks Weir for its rate limits."""

import base64
import json
import signal
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace

from harness.client import Connection, request_bytes
from harness.envoy import Envoy, cluster, listener, typed
from harness.issuers import SECRET, signed
from harness.reload_case import copied
from harness.rls_case import RlsCase, domain, limit
from harness.rls_messages import descriptor
from harness.services import free_port
from harness.waiting import eventually

JWT = "envoy.filters.http.jwt_authn"


def header(name, key):
    return {"request_headers": {"header_name": name, "descriptor_key": key}}


def jwt_filter():
    key = base64.urlsafe_b64encode(SECRET.encode()).decode().rstrip("=")
    keys = '{"keys": [{"kty": "oct", "alg": "HS256", "k": "%s"}]}' % key
    provider = {"issuer": "idp", "local_jwks": {"inline_string": keys}, "payload_in_metadata": "payload"}
    return JWT, typed("extensions.filters.http.jwt_authn.v3.JwtAuthentication", providers={"idp": provider},
                      rules=[{"match": {"prefix": "/"}, "requires": {"provider_name": "idp"}}])


class BehindEnvoy(RlsCase):
    def begin(self, *limits, rate_limits, file=None, filters=(), answer=(), **options):
        """Weir with these limits, an upstream that answers with the fields `answer`, and Envoy before both."""
        self.client = self.serve_limits(file or domain(*limits), **options.pop("weir", {}))

        def behaviour(exchange):
            exchange.read_body()
            exchange.answer(b"served", fields=answer)

        self.api = self.upstream(behaviour)
        self.service_port = self.weir.addresses[-1][1]
        self.envoy(rate_limits, filters, **options)

    def envoy(self, rate_limits, filters=(), in_filter=False, ports=(), health_checks=(), grpc=None,
              **options):
        """`ports`: those of several instances of Weir."""
        options = {"domain": "d", "timeout": "60s", "enable_x_ratelimit_headers": "DRAFT_VERSION_03", **options}
        limited = {"rate_limits": rate_limits}
        service = {"transport_api_version": "V3",
                   "grpc_service": {"envoy_grpc": grpc or {"cluster_name": "weir"}}}
        filters = [*filters, ("envoy.filters.http.ratelimit", typed(
            "extensions.filters.http.ratelimit.v3.RateLimit", rate_limit_service=service, **options,
            **(limited if in_filter else {})))]
        port = free_port()
        routes = [{"match": {"prefix": "/"}, "route": {"cluster": "api", **({} if in_filter else limited)}}]
        started = Envoy({"static_resources": {
            "listeners": [listener(port, filters, {"routes": routes}, use_remote_address=True,
                                   access_log=[self.access_log()])],
            "clusters": [cluster("api", self.api.port),
                         cluster("weir", *(ports or [self.service_port]), http2=True,
                                 health_checks=list(health_checks))]}}, port)
        self.addCleanup(started.stop)
        self.port, self.envoy_process = port, started

    def access_log(self):
        directory = tempfile.TemporaryDirectory(prefix="weir-envoy-log-")
        self.addCleanup(directory.cleanup)
        self.log = Path(directory.name) / "log"
        line = "%RESPONSE_CODE% %DYNAMIC_METADATA(envoy.filters.http.ratelimit)%\n"
        return {"name": "envoy.access_loggers.file", "typed_config": typed(
            "extensions.access_loggers.file.v3.FileAccessLog", path=str(self.log),
            log_format={"text_format_source": {"inline_string": line}})}

    def get(self, *fields, source=None, target="/"):
        with self.connect_to_envoy(source) as client:
            return client.request("GET", target, list(fields))

    def connect_to_envoy(self, source=None):
        return Connection(("127.0.0.1", self.port), source=source)

    def test_a_client_does_not_reach_the_service_on_an_address_of_the_proxy(self):
        address = {"address": f"127.0.0.1:{free_port()}"}
        self.client = self.serve_limits(
            domain(limit("user", 2)), service={"listen": [address]}, listen=[address],
            client_address={"trusted_proxies": ["127.0.0.1/32"]}, routes=[{"respond": {"body": "of the proxy"}}])
        self.api = SimpleNamespace(port=self.weir.addresses[-1][1])
        self.service_port = self.api.port
        self.envoy([{"actions": [header("x-user", "user")]}],
                   grpc={"cluster_name": "weir", "skip_envoy_headers": True})
        answers = [self.get(("X-User", "ann"), source="127.0.0.2") for _ in range(3)]
        self.assertEqual([answer.status for answer in answers], [200, 200, 429])
        body = {"domain": "d", "descriptors": [{"entries": [{"key": "user", "value": "bob"}]}]}
        for forged in [], [("X-Forwarded-For", "127.0.0.1")]:
            with self.connect_to_envoy("127.0.0.2") as client:
                answer = client.request("POST", "/json", forged, json.dumps(body).encode())
            self.assertEqual(answer.body, b"of the proxy")
        self.assertEqual(self.client.ask("d", descriptor(("user", "bob"), hits_addend=0)).remaining, [2])

    def test_a_header_is_a_descriptor_and_its_limit_denies(self):
        self.begin(limit("user", 2), rate_limits=[{"actions": [header("x-user", "user")]}])
        answers = [self.get(("X-User", "ann")) for _ in range(3)]
        self.assertEqual([answer.status for answer in answers], [200, 200, 429])
        self.assertEqual(answers[0].body, b"served")
        self.assertEqual([answer["X-RateLimit-Remaining"] for answer in answers], ["1", "0", "0"])
        self.assertEqual([answer["RateLimit-Remaining"] for answer in answers], ["1", "0", "0"])
        self.assertIn("2, 2;w=3600", answers[0]["X-RateLimit-Limit"])
        self.assertEqual(answers[2]["X-Envoy-RateLimited"], "true")
        self.assertGreater(int(answers[2]["Retry-After"]), 0)
        self.assertEqual(self.get(("X-User", "bob")).status, 200)
        self.assertEqual(self.get().status, 200)  # no header, no descriptor, no call
        self.assertEqual(len(self.api.requests), 4)

    def test_the_address_of_the_client_is_a_descriptor(self):
        self.begin(limit("remote_address", 1), rate_limits=[{"actions": [{"remote_address": {}}]}])
        forged = ("X-Forwarded-For", "192.0.2.1")
        self.assertEqual([self.get(source="127.0.0.2").status, self.get(forged, source="127.0.0.2").status], [200, 429])
        self.assertEqual(self.get(source="127.0.0.3").status, 200)
        self.assertEqual(self.client.ask("d", [("remote_address", "127.0.0.3")]).code, "OVER_LIMIT")

    def test_several_actions_are_one_descriptor_and_several_limits_are_several(self):
        self.begin(file=domain({"key": "generic_key", "value": "api", "descriptors": [limit("path", 2)]},
                               limit("user", 5)),
                   rate_limits=[{"actions": [{"generic_key": {"descriptor_value": "api"}}, header(":path", "path")]},
                                {"actions": [header("x-user", "user")]}])
        self.assertEqual([self.get(("X-User", "ann")).status for _ in range(3)], [200, 200, 429])
        self.assertEqual(self.get(("X-User", "ann"), target="/other").status, 200)
        # Descriptors are charged together or not at all.
        self.assertEqual(self.client.ask("d", descriptor(("user", "ann"), hits_addend=0)).remaining, [2])

    def test_a_limit_in_the_metadata_of_the_request_is_stated(self):
        self.begin(limit("user", 9), rate_limits=[{
            "actions": [{"generic_key": {"descriptor_value": "stated"}}],
            "limit": {"dynamic_metadata": {"metadata_key": {
                "key": JWT, "path": [{"key": "payload"}, {"key": "limit"}]}}}}], filters=[jwt_filter()])
        claims = {"iss": "idp", "sub": "ann", "exp": int(time.time()) + 3600,
                  "limit": {"requests_per_unit": 1, "unit": "DAY"}}
        token = ("Authorization", "Bearer " + signed(claims))
        answers = [self.get(token) for _ in range(2)]
        self.assertEqual([answer.status for answer in answers], [200, 429])
        self.assertIn("1, 1;w=86400", answers[0]["X-RateLimit-Limit"])

    def test_a_claim_of_a_token_is_a_descriptor(self):
        claim = {"metadata": {"descriptor_key": "user", "metadata_key": {
            "key": JWT, "path": [{"key": "payload"}, {"key": "sub"}]}}}
        self.begin(limit("user", 1), rate_limits=[{"actions": [claim]}], filters=[jwt_filter()])

        def get(user):
            claims = {"iss": "idp", "sub": user, "exp": int(time.time()) + 3600}
            return self.get(("Authorization", "Bearer " + signed(claims))).status

        self.assertEqual([get("ann"), get("ann"), get("bob")], [200, 429, 200])

    def test_the_cost_of_a_response_is_charged_when_its_stream_is_done(self):
        actions = [header("x-user", "user")]
        look = {"actions": actions, "hits_addend": {"number": 0}}
        charge = {"actions": actions, "hits_addend": {"format": "%RESP(X-Cost)%"}, "apply_on_stream_done": True}
        # In the filter: Envoy 1.40 ignores the hits_addend of a route.
        self.begin(limit("user", 10), answer=[("X-Cost", "7")], rate_limits=[look, charge], in_filter=True)
        look = descriptor(("user", "ann"), hits_addend=0)
        self.assertEqual(self.get(("X-User", "ann")).status, 200)
        eventually(lambda: self.client.ask("d", look).remaining == [3], "the first cost is charged")
        self.assertEqual(self.get(("X-User", "ann")).status, 200)
        eventually(lambda: self.client.ask("d", look).remaining == [0], "the second cost uses up the limit")
        self.assertEqual(self.get(("X-User", "bob")).status, 200)

    def test_the_policy_that_denied_is_in_the_metadata_of_the_request(self):
        self.begin(limit("user", 1, metadata={"tier": "low"}), rate_limits=[{"actions": [header("x-user", "user")]}])
        for _ in range(2):
            self.get(("X-User", "ann"))
        self.envoy_process.process.stop()  # writes the log
        lines = [line.split(" ", 1) for line in self.log.read_text().splitlines()]
        self.assertEqual([(code, json.loads(found)) for code, found in lines],
                         [("200", {"metadata": {"tier": "low"}}), ("429", {"policy": "d.user"})])

    def test_without_weir_requests_are_served(self):
        self.begin(limit("user", 1), rate_limits=[{"actions": [header("x-user", "user")]}])
        self.assertEqual(self.get(("X-User", "ann")).status, 200)
        self.weir.stop()
        self.assertEqual([self.get(("X-User", "ann")).status for _ in range(2)], [200, 200])

    def test_without_weir_requests_are_denied_if_so_configured(self):
        self.begin(limit("user", 1), rate_limits=[{"actions": [header("x-user", "user")]}], failure_mode_deny=True)
        self.assertEqual(self.get(("X-User", "ann")).status, 200)
        self.weir.stop()
        self.assertEqual(self.get(("X-User", "ann")).status, 500)

    def test_a_store_that_cannot_decide_is_a_failure_for_envoy(self):
        redis = self.redis()
        rate_limits = [{"actions": [header("x-user", "user")]}]
        self.begin(limit("user", 1), rate_limits=rate_limits, failure_mode_deny=True,
                   weir={"redis": redis, "store": {"timeout": "100ms", "connect_timeout": "100ms"}})
        self.assertEqual(self.get(("X-User", "ann")).status, 200)
        redis.stop()
        self.assertEqual(self.get(("X-User", "bob")).status, 500)
        self.envoy(rate_limits)
        self.assertEqual(self.get(("X-User", "bob")).status, 200)

    def kill_weir_during_a_request(self, status, **options):
        """The request, and those until Weir is back, have this status. The counts are in Redis."""
        redis, ann = self.redis(), ("X-User", "ann")
        self.begin(limit("user", 2, "year"), rate_limits=[{"actions": [header("x-user", "user")]}], **options,
                   weir={"redis": redis, "service": {"listen": [{"address": f"127.0.0.1:{free_port()}"}]}})
        self.assertEqual(self.get(ann).status, 200)
        redis.pause()
        with self.connect_to_envoy() as client:
            client.send(request_bytes("GET", "/", [ann]))
            eventually(lambda: self.gauge(self.weir, "weir_store_in_flight") > 0, "Redis is asked")
            self.weir.is_stopped = True
            self.weir.kill()
            self.assertEqual(client.read().status, status)
        self.assertEqual([self.get(ann).status for _ in range(3)], [status] * 3)
        redis.resume()
        self.weir = self.start(self.weir.configuration)
        self.await_redis(self.weir)
        eventually(lambda: self.get(ann).status == 429, "the limit denies")

    def test_requests_are_served_when_weir_is_killed(self):
        self.kill_weir_during_a_request(200)

    def test_requests_are_denied_when_weir_is_killed_if_so_configured(self):
        self.kill_weir_during_a_request(500, failure_mode_deny=True)

    def two_instances(self, **sections):
        """Envoy in front of two, with health checks; returns the second one."""
        rate_limits = [{"actions": [header("x-user", "user")]}]
        ports = [free_port(), free_port()]
        self.begin(limit("user", 1_000_000), rate_limits=rate_limits,
                   weir={"service": {"listen": [{"address": f"127.0.0.1:{ports[0]}"}]}, **sections})
        config = copied(self.weir.configuration)
        config["rate_limit_service"]["listen"] = [{"address": f"127.0.0.1:{ports[1]}"}]
        other = self.start(config)
        check = {"grpc_health_check": {}, "timeout": "5s", "interval": "0.1s", "no_traffic_interval": "0.1s",
                 "healthy_threshold": 1, "unhealthy_threshold": 1}
        self.envoy(rate_limits, ports=ports, health_checks=[check], failure_mode_deny=True)
        eventually(self.all_served, "Envoy uses both instances")
        return other

    def all_served(self):
        """Each instance gets half of the requests, if Envoy uses both."""
        return {self.get(("X-User", "ann")).status for _ in range(8)} == {200}

    def test_health_checks_find_an_instance_that_has_stopped_and_one_that_is_back(self):
        other = self.two_instances()
        self.weir.stop()
        eventually(self.all_served, "Envoy uses the other instance only")
        self.start(self.weir.configuration)
        other.stop()
        eventually(self.all_served, "Envoy uses the first instance again")

    def test_no_request_fails_while_an_instance_stops_after_a_delay(self):
        other = self.two_instances(shutdown_delay="4s")
        other.signal(signal.SIGTERM)
        while other.process.poll() is None:
            self.assertTrue(self.all_served())
        self.assertTrue(self.all_served())
        self.assertEqual(other.wait(), 0)

    def test_many_requests_at_once_are_counted_exactly(self):
        self.begin(limit("user", 50), rate_limits=[{"actions": [header("x-user", "user")]}])
        clients = [self.connect_to_envoy() for _ in range(20)]
        statuses = []
        for _ in range(5):
            for client in clients:
                client.send(request_bytes("GET", "/", [("X-User", "ann")]))
            statuses += [client.read().status for client in clients]
        for client in clients:
            client.close()
        self.assertEqual((statuses.count(200), statuses.count(429)), (50, 50))

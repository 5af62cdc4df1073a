"""The protocol of the rate limit service: gRPC, its health checks, and JSON over HTTP/1.1."""

import struct

from harness.certificates import Authority
from harness.client import request_bytes
from harness.grpc_case import client_library
from harness.http2 import Http2Client
from harness.rls_case import RlsCase, domain, limit
from harness.rls_client import METHOD
from harness.rls_messages import request


class Protocol(RlsCase):
    """The calls and requests that the listener serves."""

    def setUp(self):
        super().setUp()
        self.client = self.serve_limits(domain(limit("user", 2)))

    def test_health(self):
        for service in "", "ratelimit", "envoy.service.ratelimit.v3.RateLimitService":
            self.assertEqual(self.client.check(service), "SERVING", service)
        self.assertEqual(self.client.check("no.such.Service"), "NOT_FOUND")

    def test_watch_begins_with_the_state(self):
        for service, state in ("", "SERVING"), ("no.such.Service", "SERVICE_UNKNOWN"):
            call = self.client.watch(service)
            self.assertEqual(self.client.health(next(call)), state)
            call.cancel()

    def test_unknown_methods_are_unimplemented(self):
        for path in ("/envoy.service.ratelimit.v3.RateLimitService/Other", "/shop.Cart/Add",
                     "/envoy.service.ratelimit.v2.RateLimitService/ShouldRateLimit"):
            self.assertEqual(self.client.call(path, b"").code, "UNIMPLEMENTED", path)

    def test_what_cannot_be_read_is_an_invalid_argument(self):
        whole = request("d", [("user", "ann")]).SerializeToString()
        for data in b"\xff\xff", whole[:-1], b"\x0a\x01\xff":  # the last: a domain that is not UTF-8
            self.assertEqual(self.client.send(data).grpc_status, "INVALID_ARGUMENT", data)

    def test_unknown_fields_are_ignored(self):
        data = request("d", [("user", "ann")]).SerializeToString() + b"\xfa\x3f\x01x"
        self.assertEqual(self.client.send(data).remaining, [1])

    def test_what_is_too_much_is_refused(self):
        large = request("d", [("user", "x" * 65_537)])
        self.assertEqual(self.client.send(large).grpc_status, "RESOURCE_EXHAUSTED")
        for made in (request("d", *[[("user", str(i))] for i in range(65)]),
                     request("d", [(f"k{i}", "v") for i in range(65)])):
            self.assertEqual(self.client.send(made).grpc_status, "INVALID_ARGUMENT", made.ByteSize())
        self.assertEqual(len(self.client.ask("d", *[[("other", str(i))] for i in range(64)]).statuses), 64)
        limits = [[("user", str(i))] for i in range(17)]
        self.assertEqual(len(self.client.ask("d", *limits[:16]).statuses), 16)
        self.assertNotEqual(self.client.ask("d", *limits).grpc_status, "OK")

    def test_many_calls_on_one_connection(self):
        made = request("d", [("user", "many")]).SerializeToString()
        calls = [self.client.channel.unary_unary(METHOD).future(made, timeout=60) for _ in range(300)]
        self.assertEqual(sum(b"\x08\x01" == call.result()[:2] for call in calls), 2)

    def test_json(self):
        asked = {"domain": "d", "descriptors": [{"entries": [{"key": "user", "value": "json"}]}]}
        answers = [self.ask_json(asked) for _ in range(3)]
        self.assertEqual([answer.status for answer in answers], [200, 200, 429])
        self.assertEqual({answer["Content-Type"] for answer in answers}, {"application/json"})
        bodies = [answer.json() for answer in answers]
        self.assertEqual([body["overallCode"] for body in bodies], ["OK", "OK", "OVER_LIMIT"])
        status = bodies[0]["statuses"][0]
        self.assertRegex(status.pop("durationUntilReset"), r"^\d+(\.\d+)?s$")
        self.assertEqual(status, {"code": "OK", "currentLimit": {"requestsPerUnit": 2, "unit": "HOUR"},
                                  "limitRemaining": 1})
        self.assertNotIn("limitRemaining", bodies[1]["statuses"][0])  # proto3 JSON leaves out 0
        self.assertIn({"key": "ratelimit-limit", "value": "2"},
                      [{**one, "key": one["key"].lower()} for one in bodies[0]["responseHeadersToAdd"]])

    def test_a_client_that_waits_for_100_sends_its_json(self):
        body = b'{"domain": "d", "descriptors": [{"entries": [{"key": "user", "value": "waits"}]}]}'
        head = request_bytes("POST", "/json", [("Content-Length", str(len(body))), ("Expect", "100-continue")])
        with self.connect_to(self.weir.addresses[-1]) as client:
            for _ in range(2):
                client.send(head)
                self.assertEqual(client.read_head().status, 100)
                client.send(body)
                answer = client.read("POST")
                self.assertEqual((answer.status, answer.interim), (200, []))
            client.send(head + body)  # it does not wait
            answer = client.read("POST")
            self.assertEqual((answer.status, answer.interim), (429, []))

    def test_a_request_without_a_body_to_read_gets_no_100(self):
        wait = [("Content-Length", "5"), ("Expect", "100-continue")]
        for method, path, status in ("POST", "/other", 404), ("PUT", "/json", 405):
            with self.connect_to(self.weir.addresses[-1]) as client:
                client.send(request_bytes(method, path, wait))
                answer = client.read(method)
                self.assertEqual((answer.status, answer.interim), (status, []))

    def test_a_client_of_http2_that_waits_for_100_sends_its_json(self):
        with Http2Client(self.weir.addresses[-1]) as client:
            stream = client.open("POST", "/json", {"expect": "100-continue"}, ends=False)
            client.read_until(lambda: client.streams[stream].interim)
            client.send_data(stream, b'{"domain": "d", "descriptors": [{"entries": [{"key": "a", "value": "b"}]}]}')
            answer = client.read(stream)
        self.assertEqual((answer.status, [status for status, _ in answer.interim]), (200, [100]))

    def test_json_and_grpc_count_together(self):
        self.ask_json({"domain": "d", "descriptors": [{"entries": [{"key": "user", "value": "both"}]}],
                       "hitsAddend": 2})
        self.assertEqual(self.client.ask("d", [("user", "both")]).code, "OVER_LIMIT")

    def test_json_takes_both_spellings_of_a_name_and_numbers_in_quotes(self):
        for left, hits in (1, {"hitsAddend": "1"}), (0, {"hits_addend": 1}):
            body = self.ask_json({"domain": "d", "descriptors": [
                {"entries": [{"key": "user", "value": "names"}], **hits}]}).json()
            self.assertEqual(body["statuses"][0].get("limitRemaining", 0), left)

    def test_json_that_cannot_be_read_is_400(self):
        for body in (b"", b"{", b"[]", {"domain": "d"}, {"descriptors": [{"entries": [{"key": "a", "value": "b"}]}]},
                     {"domain": "d", "unknown": 1}, {"domain": 1}, {"domain": "d", "descriptors": 1},
                     {"domain": "d", "descriptors": [{"entries": [{"key": "a"}]}], "hitsAddend": -1}):
            self.assertEqual(self.ask_json(body).status, 400, body)

    def test_healthcheck(self):
        with self.connect_to(self.weir.addresses[-1]) as client:
            answer = client.get("/healthcheck")
            self.assertEqual((answer.status, answer.body), (200, b"OK"))
            self.assertEqual(client.get("/other").status, 404)


class Deadlines(RlsCase):
    def ask_late(self, connection, data):
        """A call whose deadline passes before its message arrives."""
        stream = connection.open("POST", METHOD, {"content-type": "application/grpc", "te": "trailers",
                                                  "grpc-timeout": "1n"}, ends=False)
        connection.ping()
        connection.send_data(stream, b"\0" + struct.pack(">I", len(data)) + data)
        return connection.read(stream)

    def test_a_late_call_has_the_same_status_whether_it_is_admitted_or_denied(self):
        self.serve_limits(domain(limit("user", 2)), access_log={"path": "access.log"})
        with Http2Client(self.weir.addresses[-1]) as connection:
            data = request("d", [("user", "ann")]).SerializeToString()
            answers = [self.ask_late(connection, data) for _ in range(3)]
        self.assertEqual([(answer["grpc-status"], answer["grpc-message"]) for answer in answers],
                         [("4", "the deadline of the call has passed")] * 3)
        self.assertNotIn("grpc-retry-pushback-ms", answers[2].fields)
        lines = self.log_lines(self.weir, 3)
        self.assertEqual([line["decision"] for line in lines], ["allowed", "allowed", "denied"])
        self.assertEqual([line["grpc_status"] for line in lines], [4, 4, 4])
        self.assertEqual(self.gauge(self.weir, "weir_grpc_responses_total", route="rate_limit_service",
                                    grpc_status="4"), 3)


    def test_a_late_call_that_the_store_does_not_decide_has_the_same_status(self):
        redis = self.redis()
        self.serve_limits(domain(limit("user", 2)), redis=redis)
        redis.stop()
        with Http2Client(self.weir.addresses[-1]) as connection:
            answer = self.ask_late(connection, request("d", [("user", "ann")]).SerializeToString())
        self.assertEqual((answer["grpc-status"], answer["grpc-message"]), ("4", "the deadline of the call has passed"))


class Encrypted(RlsCase):
    def test_calls_over_tls(self):
        authority = Authority()
        self.addCleanup(authority.cleanup)
        files = authority.issue("weir", "DNS:weir.test").files
        self.serve_limits(domain(limit("user", 1)),
                          service={"listen": [{"address": "127.0.0.1:0", "tls": files}]})
        grpc = client_library()
        with open(authority.file, "rb") as file:
            credentials = grpc.ssl_channel_credentials(file.read())
        with grpc.secure_channel(f"127.0.0.1:{self.weir.addresses[-1][1]}", credentials,
                                 [("grpc.ssl_target_name_override", "weir.test")]) as channel:
            made = request("d", [("user", "ann")]).SerializeToString()
            answers = [channel.unary_unary(METHOD)(made, timeout=30)[:2] for _ in range(2)]
        self.assertEqual(answers, [b"\x08\x01", b"\x08\x02"])

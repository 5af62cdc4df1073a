"""gRPC: Weir's own answers to calls."""

import base64
import json
import threading

from harness.case import configuration, limited, scaled
from harness.grpc_case import GrpcCase, client_library
from harness.http2 import CANCEL
from harness.http2_case import Http2Case, Http2UpstreamCase
from harness.upstream import raw

ONE = {"one": {"algorithm": "gcra", "rate": "1/1h", "burst": 1}}
SUCCESS = {"status": 200, "content_type": "application/grpc", "headers": {"grpc-status": "0"}, "body": ""}
KEYED = {"key": {"header": "x-key"}}
ADMIN = {"address": "127.0.0.1:0"}
CALL = [("content-type", "application/grpc"), ("te", "trailers")]


class Answers(Http2Case):
    """As bytes on the wire."""

    def ask(self, config, path="/shop.Cart/Add", fields=CALL, count=1):
        self.weir = self.start(config)
        client = self.speak(self.weir)
        for _ in range(count):
            response = client.request("POST", path, fields, b"\0\0\0\0\0")
        return response

    def test_a_denial_is_a_head_that_ends_the_stream(self):
        response = self.ask(limited(ONE, [{"policy": "one"}], access_log={}), count=2)
        self.assertEqual((response.status, response.body), (200, b""))
        self.assertEqual(response["content-type"], "application/grpc")
        self.assertEqual(response["grpc-status"], "8")
        self.assertEqual(response["grpc-message"], 'quota "one" exceeded; retry in 3600 s')
        self.assertEqual(response["grpc-retry-pushback-ms"], "3600000")
        self.assertEqual(response["retry-after"], "3600")
        self.assertEqual(response["ratelimit"], '"one";r=0;t=3600')
        self.assertIsNone(response.fields.get("content-length"))
        self.assertEqual(response.trailers.lines, [])
        details = response["grpc-status-details-bin"]
        self.assertNotIn("=", details)
        details = base64.b64decode(details + "=" * (-len(details) % 4))
        self.assertTrue(details.startswith(b"\x08\x08\x12"), details)
        # 3600 s as a google.protobuf.Duration in google.rpc.RetryInfo.
        self.assertTrue(details.endswith(b"google.rpc.RetryInfo\x12\x05\x0a\x03\x08\x90\x1c"), details)

    def test_the_code_of_a_denial_is_configured(self):
        response = self.ask(limited(ONE, [{"policy": "one"}], grpc={"denied_code": 14}), count=2)
        self.assertEqual(response["grpc-status"], "14")

    def test_requests_of_other_types_get_http(self):
        for media_type in "application/grpc-web", "application/json":
            response = self.ask(limited(ONE, [{"policy": "one"}]), fields={"content-type": media_type}, count=2)
            self.assert_problem(response, 429)
            self.assertIsNone(response.fields.get("grpc-status"))

    def test_http1_gets_http(self):
        weir = self.start(limited(ONE, [{"policy": "one"}]))
        connection = self.connect(weir)
        connection.request("POST", "/", dict(CALL), b"")
        self.assert_problem(connection.request("POST", "/", dict(CALL), b""), 429)

    def test_a_proxy_that_asks_gets_http(self):
        route = {"match": {"path": "/**"}, "decide": True, "limits": [{"policy": "one"}]}
        config = limited(ONE, [], routes=[route], client_address={"trusted_proxies": ["127.0.0.1"]})
        self.assert_problem(self.ask(config, count=2), 429)

    def test_a_configured_response_of_success_is_sent_as_it_is(self):
        response = self.ask(configuration(routes=[{"respond": SUCCESS}]))
        self.assertEqual((response.status, response["grpc-status"]), (200, "0"))
        self.assertIsNone(response.fields.get("grpc-message"))

    def test_the_fields_of_a_route_are_added_as_to_an_error(self):
        config = limited(ONE, [{"policy": "one"}])
        config["routes"][0]["response_headers"] = {"set": {"x-route": "all"}}
        self.assertEqual(self.ask(config, count=2)["x-route"], "all")

    def test_a_request_that_is_refused_before_it_has_a_route(self):
        response = self.ask(configuration(routes=[{"respond": {}}]), path="/" + "x" * 9000)
        self.assertEqual((response.status, response["grpc-status"]), (200, "2"))


def outcome(head, trailers=None):
    """An upstream that answers a call with these fields, and with the trailers after a message."""
    def behaviour(exchange):
        exchange.read_body()
        lines = "".join(f"{name}: {value}\r\n" for name, value in head.items())
        if trailers is None:
            exchange.send(f"HTTP/1.1 200 OK\r\n{lines}Content-Length: 0\r\n\r\n".encode())
            return
        end = "".join(f"{name}: {value}\r\n" for name, value in trailers.items())
        exchange.send(f"HTTP/1.1 200 OK\r\n{lines}Transfer-Encoding: chunked\r\n\r\n"
                      f"5\r\n\0\0\0\0\0\r\n0\r\n{end}\r\n".encode())

    return behaviour


GRPC = {"content-type": "application/grpc"}


class Outcomes(Http2Case):
    def log_line(self, behaviour, fields=CALL, **sections):
        self.serve(behaviour, access_log={}, **sections)
        self.client.request("POST", "/shop.Cart/Add", fields, b"\0\0\0\0\0")
        return self.log_lines(1)[0]

    def test_the_log_has_the_status_of_the_upstream(self):
        for behaviour, logged in ((outcome(GRPC, {"grpc-status": "5"}), 5),
                                  (outcome(GRPC, {"grpc-status": "0"}), 0),
                                  (outcome({**GRPC, "grpc-status": "16"}), 16),
                                  (outcome({**GRPC, "grpc-status": "0"}, {"grpc-status": "13"}), 13),
                                  (outcome(GRPC, {"grpc-status": "99"}), 2),
                                  (outcome(GRPC, {}), 2)):
            line = self.log_line(behaviour)
            self.assertEqual((line["status"], line["grpc_status"]), (200, logged))

    def test_a_response_without_a_status_has_that_of_its_http_status(self):
        def behaviour(exchange):
            exchange.read_body()
            exchange.send(b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n")

        self.assertEqual(self.log_line(behaviour)["grpc_status"], 14)

    def test_other_requests_have_none(self):
        line = self.log_line(outcome(GRPC, {"grpc-status": "5"}), {"content-type": "application/json", "te": "trailers"})
        self.assertIsNone(line["grpc_status"])

    def test_a_response_that_is_cut_has_none(self):
        def behaviour(exchange):
            exchange.read_body()
            exchange.send(b"HTTP/1.1 200 OK\r\nContent-Type: application/grpc\r\n"
                          b"Transfer-Encoding: chunked\r\n\r\n5\r\n\0\0\0\0\0\r\n")
            exchange.close()

        line = self.log_line(behaviour)
        self.assertEqual((line["status"], line["grpc_status"], line["aborted_by"]), (200, None, "upstream"))

    def test_an_own_answer_has_the_status_that_was_sent(self):
        weir = self.weir = self.start(limited(ONE, [{"policy": "one"}], access_log={}, admin=ADMIN))
        client = self.speak(weir)
        for _ in range(3):
            client.request("POST", "/", CALL)
        lines = self.log_lines(3)
        self.assertEqual([(line["status"], line["grpc_status"], line["decision"]) for line in lines[1:]],
                         [(200, 8, "denied")] * 2)
        metrics = self.connect_admin(weir).get("/metrics").body.decode()
        self.assertIn('weir_grpc_responses_total{route="all",grpc_status="8"} 2\n', metrics)
        self.assertIn('weir_requests_total{route="all",code="429"} 2\n', metrics)

    def test_a_call_is_charged_by_its_outcome(self):
        statuses = iter(["0", "16", "0", "16"])

        def behaviour(exchange):
            outcome(GRPC, {"grpc-status": next(statuses)})(exchange)

        upstream = self.upstream(behaviour)
        config = limited({"two": {"algorithm": "sliding_log", "rate": "2/1h"}}, [])
        config["upstreams"] = {"main": {"servers": [{"url": upstream.url}]}}
        config["routes"] = [{"upstream": "main", "limits": [{"policy": "two", "charge": {"grpc_status": [16]}}]}]
        client = self.speak(self.start(config))
        seen = []
        for _ in range(5):
            response = client.request("POST", "/", CALL, b"\0\0\0\0\0")
            seen.append(response.trailers.get("grpc-status") or response["grpc-status"])
        self.assertEqual(seen, ["0", "16", "0", "16", "8"])


class Deadlines(Http2Case):
    def ask(self, grpc_timeout, **sections):
        upstream, _ = self.late_upstream()
        config = configuration(upstream.url, access_log={}, **sections)
        self.weir = self.start(config)
        self.client = self.speak(self.weir)
        return self.client.request("POST", "/", [*CALL, ("grpc-timeout", grpc_timeout)], b"\0\0\0\0\0")

    def test_a_call_ends_at_its_deadline(self):
        response = self.ask("50m", main={"response_timeout": "1h"})
        self.assertEqual((response["grpc-status"], response["grpc-message"]),
                         ("4", "the deadline of the call has passed"))
        line = self.log_lines(1)[0]
        self.assertEqual((line["status"], line["grpc_status"], line["aborted_by"]), (200, 4, None))

    def test_the_timeout_of_the_upstream_may_be_shorter(self):
        response = self.ask("1H", main={"response_timeout": "100ms"})
        self.assertEqual((response["grpc-status"], response["grpc-message"]),
                         ("14", "the upstream did not answer in time"))

    def test_the_deadline_is_that_of_the_whole_call(self):
        upstream = self.upstream(raw(b"HTTP/1.1 200 OK\r\ncontent-type: application/grpc\r\n"
                                     b"transfer-encoding: chunked\r\n\r\n5\r\n\0\0\0\0\0\r\n", close=False))
        self.weir = self.start(configuration(upstream.url, access_log={}))
        client = self.speak(self.weir)
        response = client.request("POST", "/", [*CALL, ("grpc-timeout", "300m")], b"\0\0\0\0\0")
        self.assertEqual((response.status, response.body), (200, b"\0" * 5))
        self.assertIsNotNone(response.reset)
        line = self.log_lines(1)[0]
        self.assertEqual((line["status"], line["grpc_status"], line["aborted_by"]), (200, None, "client"))

    def test_a_short_deadline_does_not_avoid_a_charge(self):
        limits = [{"policy": "one", "charge": {"grpc_status": [0]}}]
        response = self.ask("50m", policies=ONE, routes=[{"upstream": "main", "limits": limits}])
        self.assertEqual(response["grpc-status"], "4")
        line = self.log_lines(1)[0]
        self.assertEqual((line["cost"], line["settled_by"]), (1, "aborted"))

    def limited(self, policy, **limit):
        """A limit for each call, and an upstream that answers when `may_answer` is set."""
        self.up, self.may_answer = self.late_upstream()
        self.weir = self.start(configuration(self.up.url, policies={"one": policy}, access_log={}, routes=[
            {"upstream": "main", "limits": [{"policy": "one", **limit}]}]))
        self.client = self.speak(self.weir)

    def call(self, grpc_timeout, body=b"\0\0\0\0\0", ends=True):
        stream = self.client.open("POST", "/", [*CALL, ("grpc-timeout", grpc_timeout)], ends=False)
        self.client.send_data(stream, body, ends=ends)
        return stream

    def assert_ends_at_its_deadline(self, stream):
        response = self.client.read(stream)
        self.assertEqual((response["grpc-status"], response["grpc-message"]),
                         ("4", "the deadline of the call has passed"))

    def test_the_wait_for_a_slot_ends_at_the_deadline(self):
        self.limited({"algorithm": "concurrency", "limit": 1, "queue": 2, "max_wait": "1h"})
        first = self.call("1H")
        self.up.await_requests(1)
        self.assert_ends_at_its_deadline(self.call("50m"))
        self.may_answer.set()
        self.client.read(first)
        self.assertEqual(len(self.up.requests), 1)

    def test_the_wait_for_a_turn_ends_at_the_deadline(self):
        self.limited({"algorithm": "leaky_bucket", "rate": "1/1h", "queue": 2, "max_delay": "10h"})
        self.may_answer.set()
        self.client.read(self.call("1H"))
        self.assert_ends_at_its_deadline(self.call("50m"))
        self.assertEqual(len(self.up.requests), 1)

    def test_the_wait_for_a_body_that_a_limit_reads_ends_at_the_deadline(self):
        self.limited({"algorithm": "gcra", "rate": "10/1h"}, reserve={"json": "/max_tokens", "default": 1})
        self.assert_ends_at_its_deadline(self.call("50m", ends=False))
        self.assertEqual(self.up.requests, [])


class DeadlinesOfServers(Http2UpstreamCase):
    """Servers that end a call by themselves at its deadline. They count from a later arrival than Weir does."""

    def start_server(self, end, **sections):
        def behaviour(exchange):
            if exchange["grpc-timeout"] is None:
                return exchange.answer(200)
            threading.Event().wait(int(exchange["grpc-timeout"].rstrip("m")) / 1000)
            end(exchange)

        self.begin(behaviour, access_log={}, **sections)
        self.client = self.speak(self.weir)

    def call(self):
        return self.client.request("POST", "/", [*CALL, ("grpc-timeout", "20m")], b"\0\0\0\0\0")

    def test_a_server_that_resets_the_call_is_not_at_fault(self):
        """Three failures would eject it. Weir resets a call whose own timer was faster: those do not count here."""
        self.start_server(lambda exchange: exchange.reset(CANCEL), upstream={"retries": 0})
        ended_by_server = calls = 0
        while ended_by_server < 8:
            self.assertEqual(self.call()["grpc-status"], "4")
            self.assertEqual(self.client.get("/").status, 200)  # what Weir has sent before it has arrived
            ended_by_server += self.up.requests[-2].reset_by_peer is None
            calls += 1
            self.assertLess(calls, 500, "Weir ends nearly all calls")
        self.assertEqual({line["upstream_error"] for line in self.log_lines(2 * calls)}, {None})

    def test_a_status_of_the_server_does_not_avoid_a_charge(self):
        self.start_server(lambda exchange: exchange.head(
            200, {"content-type": "application/grpc", "grpc-status": "4"}, ends=True), policies=ONE, routes=[
                {"upstream": "main", "limits": [{"policy": "one", "charge": {"grpc_status": [16]}}]}])
        self.assertEqual(self.call()["grpc-status"], "4")
        line = self.log_lines(1)[0]
        self.assertEqual((line["cost"], line["settled_by"]), (1, "aborted"))


class Clients(GrpcCase):
    """As a client of gRPC reports them."""

    def test_a_denied_call(self):
        config = limited(ONE, [{"policy": "one"}])
        config["routes"][0]["respond"] = SUCCESS
        channel = self.channel(self.start(config))
        self.call(channel)
        denied = self.call(channel)
        self.assertEqual(denied.code, "RESOURCE_EXHAUSTED")
        self.assertEqual(denied.details, 'quota "one" exceeded; retry in 3600 s')
        self.assertEqual(denied.metadata["retry-after"], "3600")
        self.assertEqual(denied.metadata["ratelimit"], '"one";r=0;t=3600')
        self.assertIn(b"google.rpc.RetryInfo", denied.metadata["grpc-status-details-bin"])

    def test_a_call_without_the_identity_that_is_required(self):
        limits = [{"policy": "one", "key": "key", "required": True}]
        channel = self.channel(self.start(limited(ONE, limits, KEYED)))
        outcome = self.call(channel)
        self.assertEqual(outcome.code, "UNAUTHENTICATED")
        self.assertIn("www-authenticate", outcome.metadata)

    def test_a_method_that_no_route_serves(self):
        config = configuration(routes=[{"match": {"path": "/other/**"}, "respond": {}}])
        outcome = self.call(self.channel(self.start(config)))
        self.assertEqual(outcome.code, "UNIMPLEMENTED")

    def test_a_service_that_is_down(self):
        config = configuration("http://127.0.0.1:1", main={"retries": 0})
        outcome = self.call(self.channel(self.start(config)))
        self.assertEqual((outcome.code, outcome.details), ("UNAVAILABLE", "the upstream cannot be reached"))

    def test_a_message_that_is_too_large(self):
        config = configuration(self.upstream().url, downstream={"max_body": 1024})
        outcome = self.call(self.channel(self.start(config)), message=b"x" * 2048)
        self.assertEqual(outcome.code, "UNKNOWN")

    def test_a_page_for_maintenance(self):
        respond = {"status": 503, "body": "back at noon \u00e9\n", "content_type": "text/plain"}
        outcome = self.call(self.channel(self.start(configuration(routes=[{"respond": respond}]))))
        self.assertEqual((outcome.code, outcome.details), ("UNAVAILABLE", "back at noon \u00e9"))


class Services(GrpcCase):
    """A client and a server of gRPC, with Weir between them."""

    def serve_calls(self, method, **sections):
        self.up = self.service(method)
        route = {"upstream": "main", **sections.pop("route", {})}
        config = configuration(self.up.url, access_log={}, main={"protocol": "http2"}, **sections)
        config["routes"] = [route]
        self.weir = self.start(config)
        return self.channel(self.weir)

    def test_a_call_with_metadata_in_both_directions(self):
        def method(request, context):
            context.send_initial_metadata([("x-head", "1")])
            context.set_trailing_metadata([("x-tail", dict(context.invocation_metadata())["x-user"])])
            return request.upper()

        outcome = self.call(self.serve_calls(method), message=b"abc", metadata=[("x-user", "ada")])
        self.assertEqual((outcome.code, outcome.response), ("OK", b"ABC"))
        self.assertEqual((outcome.metadata["x-head"], outcome.metadata["x-tail"]), ("1", "ada"))
        self.assertEqual(self.log_lines(1)[0]["grpc_status"], 0)

    def test_streams_of_many_messages(self):
        """gRPC updates both windows for each message: more often than any other client."""
        channel = self.serve_calls(None)
        count = 3000
        replies, taken = channel.stream_stream("/shop.Cart/Echo"), threading.Semaphore()

        def messages():
            for number in range(count):
                taken.acquire()  # each reply before the next message
                yield b"%020d" % number

        for number, reply in enumerate(replies(messages(), timeout=scaled(60))):
            self.assertEqual(reply, b"%020d" % number)
            taken.release()
        self.assertEqual(number + 1, count)
        received = channel.unary_stream("/shop.Cart/Count")(b"20000", timeout=scaled(60))
        self.assertEqual(sum(len(message) for message in received), 20 * 20000)

    def test_an_error_of_the_service(self):
        def method(_, context):
            context.abort(client_library().StatusCode.NOT_FOUND, "no such cart")

        outcome = self.call(self.serve_calls(method))
        self.assertEqual((outcome.code, outcome.details), ("NOT_FOUND", "no such cart"))
        self.assertEqual(self.log_lines(1)[0]["grpc_status"], 5)

    def test_failed_logins_are_limited(self):
        def method(request, context):
            if request != b"right":
                context.abort(client_library().StatusCode.UNAUTHENTICATED, "wrong")
            return b"welcome"

        limit = {"policy": "two", "charge": {"grpc_status": [16]}}
        channel = self.serve_calls(method, policies={"two": {"algorithm": "sliding_log", "rate": "2/1h"}},
                                   route={"limits": [limit]})
        outcomes = [self.call(channel, message=message) for message in (b"right", b"a", b"right", b"b", b"right")]
        self.assertEqual([outcome.code for outcome in outcomes],
                         ["OK", "UNAUTHENTICATED", "OK", "UNAUTHENTICATED", "RESOURCE_EXHAUSTED"])
        self.assertEqual(self.up.calls, 4)

    def test_a_deadline_reaches_the_service(self):
        def method(_, context):
            return b"soon" if context.time_remaining() < 60 else b"late"  # gRPC rounds it up

        self.assertEqual(self.call(self.serve_calls(method), timeout=20).response, b"soon")

    def test_a_client_that_retries_obeys_the_pushback(self):
        """Without the pushback it would retry after its own time, of milliseconds, and be denied again."""
        options = [("grpc.service_config", json.dumps({"methodConfig": [{"name": [{}], "retryPolicy": {
            "maxAttempts": 2, "initialBackoff": "0.001s", "maxBackoff": "0.002s", "backoffMultiplier": 1,
            "retryableStatusCodes": ["RESOURCE_EXHAUSTED"]}}]}))]
        self.serve_calls(lambda *_: b"", policies={"one": {"rate": "1/1s", "burst": 1}},
                         route={"limits": [{"policy": "one"}]})
        channel = self.channel(self.weir, options)
        self.assertEqual([self.call(channel).code for _ in range(2)], ["OK", "OK"])
        self.assertEqual([line["grpc_status"] for line in self.log_lines(3)], [0, 8, 0])

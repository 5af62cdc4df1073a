"""Streams that a server of HTTP/2 refuses, resets or cuts by a GOAWAY: each is reported by its name."""

import contextlib
import json

from harness.case import configuration
from harness.http2 import CANCEL, ENHANCE_YOUR_CALM, INTERNAL_ERROR, NO_ERROR, REFUSED_STREAM
from harness.http2_case import Http2UpstreamCase
from harness.services import free_port
from harness.upstream import raw

RESET = "the upstream reset the stream before its answer was complete (HTTP/2 {})"
GOAWAY = "the upstream ended its connection before its answer was complete (HTTP/2 GOAWAY, {})"
REFUSED = "the upstream refused the request (HTTP/2 REFUSED_STREAM)"
CLOSED = "the upstream closed the connection before its answer was complete"

HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\npart"


def resets(code):
    return lambda exchange: exchange.reset(code)


def says_goaway(code, last=None, closes=False):
    """`last`: the last stream that it processes; None: that of the request."""
    def behaviour(exchange):
        exchange.connection.goaway(exchange.stream if last is None else last, code)
        if closes:
            exchange.connection.close()

    return behaviour


def closes(exchange):
    exchange.connection.close()


def begins(end=lambda exchange: None, closes=False):
    """A response that has begun when it is cut."""
    def behaviour(exchange):
        with exchange.connection.together():
            exchange.head(200, {"content-length": "9"})
            exchange.data(b"part")
            end(exchange)
        if closes:
            exchange.connection.close()

    return behaviour


class Cuts(Http2UpstreamCase):
    def test_each_end_has_its_own_text_and_its_own_word_in_the_log(self):
        # (behaviour, detail, in the log, requests that the server gets with one retry of a POST)
        rows = (
            (resets(REFUSED_STREAM), REFUSED, "refused_stream", 2),
            (resets(CANCEL), RESET.format("CANCEL"), "reset:CANCEL", 1),
            (resets(INTERNAL_ERROR), RESET.format("INTERNAL_ERROR"), "reset:INTERNAL_ERROR", 1),
            (resets(NO_ERROR), RESET.format("NO_ERROR"), "reset:NO_ERROR", 1),
            (resets(77), RESET.format("UNKNOWN"), "reset:UNKNOWN", 1),
            (says_goaway(ENHANCE_YOUR_CALM, last=0), GOAWAY.format("ENHANCE_YOUR_CALM"),
             "goaway:ENHANCE_YOUR_CALM", 2),
            (says_goaway(NO_ERROR, closes=True), GOAWAY.format("NO_ERROR"), "goaway:NO_ERROR", 1),
            (says_goaway(INTERNAL_ERROR, closes=True), GOAWAY.format("INTERNAL_ERROR"), "goaway:INTERNAL_ERROR", 1),
            (closes, CLOSED, "closed", 1),
        )
        for behaviour, detail, logged, requests in rows:
            with self.subTest(logged=logged):
                self.begin(behaviour, upstream={"retries": 1}, access_log={})
                response = self.client.request("POST", "/", {"Content-Length": "1"}, b"x")
                self.assert_problem(response, 502)
                self.assertEqual(json.loads(response.body)["detail"], detail)
                [line] = self.log_lines(1)
                self.assertEqual((line["status"], line["aborted_by"], line["upstream_error"]), (502, None, logged))
                self.assertEqual(line["upstream_server"], f"127.0.0.1:{self.up.port}")
                self.assertEqual(len(self.up.requests), requests)

    def test_the_log_names_what_cut_a_response_that_had_begun(self):
        rows = ((begins(resets(CANCEL)), "reset:CANCEL"),
                (begins(closes=True), "closed"),
                (begins(resets(REFUSED_STREAM)), "refused_stream"),
                (begins(says_goaway(INTERNAL_ERROR), closes=True), "goaway:INTERNAL_ERROR"),
                (begins(says_goaway(NO_ERROR, last=0)), "goaway:NO_ERROR"))
        for behaviour, logged in rows:
            with self.subTest(logged=logged):
                self.begin(behaviour, upstream={"retries": 1}, access_log={})
                response = self.speak(self.weir).get()
                self.assertEqual((response.status, response.body, response.reset), (200, b"part", INTERNAL_ERROR))
                [line] = self.log_lines(1)
                self.assertEqual((line["status"], line["aborted_by"], line["upstream_error"]),
                                 (200, "upstream", logged))
                self.assertEqual(len(self.up.requests), 1)

    def test_a_call_has_the_text_in_its_message(self):
        self.begin(resets(INTERNAL_ERROR), access_log={})
        response = self.speak(self.weir).request("POST", "/", {"content-type": "application/grpc"}, b"\0\0\0\0\0")
        self.assertEqual((response["grpc-status"], response["grpc-message"]), ("14", RESET.format("INTERNAL_ERROR")))
        [line] = self.log_lines(1)
        self.assertEqual((line["status"], line["grpc_status"], line["upstream_error"]),
                         (200, 14, "reset:INTERNAL_ERROR"))

    def test_a_failure_that_a_retry_has_fixed_is_not_logged(self):
        ends = iter([resets(REFUSED_STREAM), lambda exchange: exchange.answer(200)])
        self.begin(lambda exchange: next(ends)(exchange), access_log={})
        self.assertEqual(self.client.request("POST", "/", {"Content-Length": "1"}, b"x").status, 200)
        [line] = self.log_lines(1)
        self.assertEqual((line["status"], line["upstream_error"]), (200, None))
        self.assertEqual(len(self.up.requests), 2)


class Others(Http2UpstreamCase):
    def test_the_failures_of_any_upstream_are_logged(self):
        silent, _ = self.late_upstream()
        up = {"closed": self.upstream(lambda exchange: exchange.close()).url,
              "invalid": self.upstream(raw(b"SSH-2.0\r\n")).url,
              "cut": self.upstream(raw(HEAD)).url,
              "timeout": silent.url,
              "unreachable": f"http://127.0.0.1:{free_port()}"}
        config = configuration(up["closed"], access_log={})
        config["upstreams"] = {name: {"servers": [{"url": url}], "retries": 0, "response_timeout": "100ms"}
                               for name, url in up.items()}
        config["routes"] = [{"match": {"path": f"/{name}"}, "upstream": name} for name in up]
        self.weir = self.start(config)
        for name in up:
            with contextlib.suppress(OSError):
                self.connect(self.weir).get(f"/{name}")
        logged = {line["path"]: (line["status"], line["upstream_error"]) for line in self.log_lines(len(up))}
        self.assertEqual(logged, {"/closed": (502, "closed"), "/invalid": (502, "invalid"), "/cut": (200, "closed"),
                                  "/timeout": (504, "timeout"), "/unreachable": (502, "unreachable")})

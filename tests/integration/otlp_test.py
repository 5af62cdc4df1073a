"""The export of spans and metrics by OTLP: what a collector gets, and that requests do not notice it."""

import json
import re
import signal
import threading

from harness.case import Case, limited
from harness.certificates import Authority
from harness.collector import Collector, RealProcess, attributes, points, reply, validate
from harness.exposition import labelled, parse
from harness.waiting import eventually

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
PARENT = "00f067aa0ba902b7"
KEY = "key-that-nobody-may-see"
SOON = "100ms"


class Otlp(Case):
    def collector(self, **options):
        collector = Collector(**options)
        self.addCleanup(collector.stop)
        return collector

    def configuration(self, otlp, **sections):
        return limited(
            {"p": {"algorithm": "fixed_window", "rate": "2/1h"}}, [], {"key": {"header": "x-api-key"}},
            **{"upstreams": {"main": {"servers": [{"url": self.up.url}]}},
               "admin": {"address": "127.0.0.1:0"},
               "access_log": {"path": "access.log"},
               **({"telemetry": {"otlp": otlp}} if otlp else {}),
               "routes": [{"name": "limited", "match": {"path": "/limited/**"}, "upstream": "main",
                           "limits": [{"policy": "p", "key": "key"}]},
                          {"name": "fixed", "match": {"path": "/fixed"}, "respond": {"body": "x"}},
                          {"name": "gone", "match": {"path": "/gone"}, "respond": {"status": 503}}],
               **sections})

    def begin(self, url, spans=None, metrics="off", otlp=None, **sections):
        self.up = self.upstream()
        spans = spans if spans == "off" else {"sample": 0, "interval": SOON, **(spans or {})}
        config = self.configuration({"endpoint": url, "spans": spans, "metrics": metrics, **(otlp or {})}, **sections)
        self.weir = self.start(config)
        self.client = self.connect(self.weir)
        return self.weir

    def scrape(self):
        with self.connect_admin(self.weir) as admin:
            return parse(admin.get("/metrics").body.decode())

    def dropped(self, which="spans"):
        return labelled(self.scrape(), "weir_telemetry_dropped_total", signal=which)

    def exports(self, result, which="spans"):
        return labelled(self.scrape(), "weir_telemetry_exports_total", signal=which, result=result)

    def logged(self, count):
        file = self.weir.directory / "access.log"
        eventually(lambda: file.exists() and file.read_text().count("\n") >= count, f"{count} lines")
        return [json.loads(line) for line in file.read_text().splitlines()]

    def stop(self):
        self.client.close()
        self.weir.signal(signal.SIGTERM)
        self.assertEqual(self.weir.wait(), 0)


class Spans(Otlp):
    def test_a_denied_request_has_a_span_and_an_admitted_one_has_none(self):
        collector = self.collector()
        self.begin(collector.url, client_address={"trusted_proxies": []})
        fields = {"X-Api-Key": KEY, "User-Agent": "probe/1"}
        statuses = [self.client.get("/limited/a?token=" + KEY, fields).status for _ in range(3)]
        self.assertEqual(statuses, [200, 200, 429])
        [span] = collector.await_spans(1)
        line = self.logged(3)[2]
        found = attributes(span)
        self.assertLessEqual({
            "http.request.method": "GET", "url.scheme": "http", "url.path": "/limited/a",
            "http.route": "/limited/**", "http.response.status_code": 429, "network.protocol.version": "1.1",
            "client.address": "127.0.0.1", "user_agent.original": "probe/1", "rate_limit.decision": "denied",
            "rate_limit.policy": "p", "rate_limit.cost": 1, "rate_limit.remaining": 0, "rate_limit.store": "memory",
            "rate_limit.identity": line["identity"], "rate_limit.identity_kind": "key", "weir.route": "limited",
            "weir.request_id": line["request_id"]}.items(), found.items())
        self.assertEqual((span["name"], span["kind"]), ("GET /limited/**", 2))
        self.assertNotIn("status", span)
        self.assertNotIn("parentSpanId", span)
        self.assertEqual(line["trace_id"], span["traceId"])
        self.assertLess(int(span["startTimeUnixNano"]), int(span["endTimeUnixNano"]) + 1)
        self.assertNotIn(KEY, json.dumps(collector.documents))
        self.assertEqual([request.fields.all("traceparent") for request in self.up.requests], [[], []])
        [request] = collector.requests
        self.assertEqual(request["Content-Type"], "application/json")
        self.assertEqual(self.exports("ok"), 1)
        resource = attributes(collector.of("/v1/traces")[0]["resourceSpans"][0]["resource"])
        self.assertEqual(resource["service.name"], "weir")
        self.assertEqual(set(resource), {"service.name", "service.version", "service.instance.id"})

    def test_the_upstream_continues_the_trace_from_the_span(self):
        collector = self.collector()
        self.begin(collector.url)
        for flags, more in [("01", {"tracestate": "a=b"}), ("00", {"tracestate": "a=b"})]:
            self.client.get("/limited/x", {"X-Api-Key": flags, "traceparent": f"00-{TRACE}-{PARENT}-{flags}", **more})
        [span] = collector.await_spans(1)
        self.assertEqual((span["traceId"], span["parentSpanId"]), (TRACE, PARENT))
        sent = [(request["traceparent"], request["tracestate"]) for request in self.up.requests]
        self.assertEqual(sent, [(f"00-{TRACE}-{span['spanId']}-01", "a=b"), (f"00-{TRACE}-{PARENT}-00", "a=b")])
        self.assertEqual([line["trace_id"] for line in self.logged(2)], [TRACE, TRACE])

    def test_a_sampled_request_begins_a_trace(self):
        collector = self.collector()
        self.begin(collector.url, spans={"sample": 1})
        self.client.get("/limited/x", {"X-Api-Key": "a", "tracestate": "a=b"})
        [span] = collector.await_spans(1)
        [request] = self.up.requests
        self.assertEqual(request["traceparent"], f"00-{span['traceId']}-{span['spanId']}-01")
        self.assertNotIn("tracestate", request.fields)
        self.assertEqual(attributes(span)["weir.upstream"], "main")

    def test_a_server_error_is_an_error_and_an_unknown_client_does_not_decide(self):
        collector = self.collector()
        self.begin(collector.url, spans={"sample": 1, "parent": "trusted"})
        self.client.get("/gone", {"traceparent": f"00-{TRACE}-{PARENT}-00"})
        [span] = collector.await_spans(1)
        self.assertEqual(span["status"], {"code": 2})
        self.assertEqual(attributes(span)["error.type"], "503")
        self.assertEqual(span["parentSpanId"], PARENT)

    def test_the_end_exports_what_waits(self):
        collector = self.collector()
        self.begin(collector.url, spans={"sample": 1, "interval": "10m", "batch": 2, "queue": 100},
                   metrics={"interval": "1h"})
        for _ in range(5):
            self.client.get("/fixed")
        eventually(lambda: len(collector.spans) == 4, "two full batches")
        self.stop()
        self.assertEqual(len(collector.spans), 5)
        self.assertEqual(len(collector.of("/v1/metrics")), 1)
        self.assertEqual(points(collector.metrics["weir_requests_total"]),
                         {frozenset({("route", "fixed"), ("code", "200")}): 5})

    def test_a_reload_begins_and_ends_the_export(self):
        collector = self.collector()
        self.up = self.upstream()
        config = self.configuration(None)
        weir = self.weir = self.start(config)
        self.client = self.connect(weir)
        self.client.get("/fixed")
        for count, otlp in enumerate([{"endpoint": collector.url, "spans": {"sample": 1, "interval": SOON},
                                       "resource": {"service.name": "edge"}}, None], 1):
            weir.write({**config, **({"telemetry": {"otlp": otlp}} if otlp else {})})
            weir.signal(signal.SIGHUP)
            eventually(lambda: weir.stderr.count("configuration reloaded") == count, "the reload")
            self.client.get("/fixed")
            if otlp:
                collector.await_spans(1)
        self.stop()
        self.assertEqual(len(collector.spans), 1)
        resource = attributes(collector.of("/v1/traces")[0]["resourceSpans"][0]["resource"])
        self.assertEqual(resource["service.name"], "edge")


class Metrics(Otlp):
    def test_the_metrics_are_those_of_the_scrape(self):
        collector = self.collector()
        self.begin(collector.url, spans="off", metrics={"interval": "1s"})
        for _ in range(3):
            self.client.get("/limited/a", {"X-Api-Key": KEY})
        self.client.get("/fixed")
        name = "weir_requests_total"
        eventually(lambda: name in collector.metrics and sum(points(collector.metrics[name]).values()) == 4,
                   "four requests")
        self.assertEqual(points(collector.metrics[name]),
                         {frozenset({("route", "limited"), ("code", "200")}): 2,
                          frozenset({("route", "limited"), ("code", "429")}): 1,
                          frozenset({("route", "fixed"), ("code", "200")}): 1})
        families = {re.sub(r"_seconds_(bucket|sum|count)$", "_seconds", sample) for sample, _ in self.scrape()}
        self.assertEqual(set(collector.metrics), families)
        [histogram] = [point for point in collector.metrics["weir_request_duration_seconds"]["histogram"]["dataPoints"]
                       if attributes(point) == {"route": "limited"}]
        self.assertEqual(histogram["count"], "3")
        self.assertEqual(sum(map(int, histogram["bucketCounts"])), 3)
        self.assertEqual(len(histogram["bucketCounts"]), len(histogram["explicitBounds"]) + 1)
        self.assertEqual(collector.spans, [])


class Documents(Otlp):
    def test_the_documents_are_the_published_messages(self):
        collector = self.collector()
        self.begin(collector.url, spans={"sample": 1}, metrics={"interval": "1s"}, tracing={"generate": True},
                   otlp={"resource": {"deployment.environment.name": 'a"b\\ü'}})
        for fields in [{}, {"traceparent": f"00-{TRACE}-{PARENT}-03"}, {"User-Agent": "\u00ff\"\\"}]:
            for path in ["/limited/%C3%A9%22?x=1", "/fixed", "/gone", "/nowhere"]:
                self.client.get(path, {"X-Api-Key": KEY, **fields})
        collector.await_spans(12)
        eventually(lambda: "weir_requests_total" in collector.metrics, "metrics")
        self.stop()
        sizes = validate(list(collector.documents))
        self.assertEqual(len(sizes), len(collector.documents))
        self.assertTrue(all(size > 100 for size in sizes), sizes)


class RealCollector(Otlp):
    def test_a_collector_of_opentelemetry_takes_spans_and_metrics(self):
        with RealProcess() as collector:
            self.begin(collector.url, metrics={"interval": "1s"})
            for _ in range(3):
                self.client.get("/limited/a", {"X-Api-Key": KEY})
            eventually(lambda: "rate_limit.decision: Str(denied)" in collector.log, "the span")
            eventually(lambda: "-> Name: weir_requests_total" in collector.log, "the metrics")
            log = collector.log
            for text in ["Name           : GET /limited/**", "Kind           : Server", "rate_limit.policy: Str(p)",
                         "http.response.status_code: Int(429)", "AggregationTemporality: Cumulative",
                         "IsMonotonic: true", "-> Name: weir_request_duration_seconds", "DataType: Histogram",
                         "service.name: Str(weir)"]:
                self.assertIn(text, log)
            self.stop()
            self.assertEqual(self.weir.stderr.count("telemetry.otlp"), 0)


class Failures(Otlp):
    def test_a_collector_that_is_down_costs_spans_and_no_request(self):
        collector = self.collector()
        collector.stop()
        self.begin(collector.url, spans={"sample": 1, "interval": "10m", "batch": 4, "queue": 8})
        for _ in range(50):
            self.assertEqual(self.client.get("/fixed").status, 200)
        eventually(lambda: self.exports("failed") >= 2, "two attempts")
        # The queue is full, and a batch may have left it while the requests came.
        dropped = self.dropped()
        self.assertTrue(50 - 8 - 4 <= dropped <= 50 - 8, dropped)
        self.assertEqual(self.weir.stderr.count("telemetry.otlp: cannot export spans to " + collector.url), 1)
        again = self.collector(port=collector.upstream.port)
        eventually(lambda: "telemetry.otlp: spans can be exported again" in self.weir.stderr, "the end of the failure")
        self.assertEqual(self.dropped(), dropped)
        self.stop()
        self.assertEqual(len(again.spans), 50 - dropped)

    def test_a_request_is_sent_again_after_retry_after_and_never_after_400(self):
        collector = self.collector()
        collector.behaviour = reply(status="503 Busy", fields=[("Retry-After", "1")])
        self.begin(collector.url, spans={"sample": 1})
        self.client.get("/fixed")
        eventually(lambda: len(collector.requests) >= 2, "another attempt")
        self.assertEqual(collector.documents[0], collector.documents[1])
        collector.behaviour = reply(b'{"message": "bad span"}', "400 Bad Request")
        eventually(lambda: self.dropped() == 1, "the span is given up")
        self.assertIn("it answered 400 (bad span); the spans are dropped", self.weir.stderr)
        count = len(collector.requests)
        collector.behaviour = None
        self.client.get("/gone")
        eventually(lambda: len(collector.requests) > count, "the next span")
        self.assertEqual(collector.documents[-1][1]["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["name"],
                         "GET /gone")

    def test_a_partial_success_is_logged_once(self):
        collector = self.collector()
        collector.behaviour = reply(b'{"partialSuccess": {"rejectedSpans": "1", "errorMessage": "too old"}}')
        self.begin(collector.url, spans={"sample": 1})
        for count in [1, 2]:
            self.client.get("/fixed")
            eventually(lambda: self.dropped() == count, "a rejected span")
        self.assertEqual(self.weir.stderr.count("the collector has rejected 1 of the spans: too old"), 1)

    def test_a_collector_that_does_not_answer_holds_up_neither_requests_nor_the_end(self):
        may_answer = threading.Event()
        self.addCleanup(may_answer.set)
        collector = self.collector()
        collector.behaviour = lambda exchange: may_answer.wait() and reply()(exchange)
        self.begin(collector.url, spans={"sample": 1, "batch": 1, "queue": 4}, shutdown_timeout="1s")
        for _ in range(20):
            self.assertEqual(self.client.get("/fixed").status, 200)
        eventually(lambda: self.dropped() > 0, "spans are dropped")
        self.stop()
        self.assertIn("spans were not exported before the end", self.weir.stderr)

    def test_a_second_signal_ends_the_last_export(self):
        may_answer = threading.Event()
        self.addCleanup(may_answer.set)
        collector = self.collector()
        collector.behaviour = lambda exchange: may_answer.wait() and reply()(exchange)
        self.begin(collector.url, spans={"sample": 1, "interval": "10m"}, otlp={"timeout": "1m"},
                   shutdown_timeout="1h")
        self.client.get("/fixed")
        self.client.close()
        self.weir.signal(signal.SIGTERM)
        eventually(lambda: collector.requests, "the last export")
        self.weir.signal(signal.SIGTERM)
        self.assertEqual(self.weir.wait(), 0)


class Secured(Otlp):
    def test_https_with_headers_from_a_file(self):
        authority = Authority()
        self.addCleanup(authority.cleanup)
        certificate = authority.issue("collector", "IP:127.0.0.1")
        collector = self.collector(tls=authority.server_context(certificate))
        secret = authority.directory / "token"
        secret.write_text("Bearer " + KEY + "\n")
        self.begin(collector.url + "/tenant", spans={"sample": 1},
                   otlp={"tls": {"ca": authority.file}, "headers": {"Authorization": f"file:{secret}"}})
        self.client.get("/fixed")
        eventually(lambda: collector.requests, "an export")
        [request] = collector.requests
        self.assertEqual((request.target, request["Authorization"]), ("/tenant/v1/traces", "Bearer " + KEY))
        with self.connect_admin(self.weir) as admin:
            self.assertNotIn(KEY, admin.get("/v1/config").body.decode())
        self.assertNotIn(KEY, self.weir.stderr)

"""X-Request-Id: who names a request, and who learns the name."""

import json
import re

from harness.case import Case, limited
from harness.waiting import eventually

UUID_V7 = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"


class RequestIds(Case):
    def begin(self, **more):
        self.up = self.upstream()
        self.weir = self.start(limited(
            {"p": {"algorithm": "fixed_window", "rate": "2/1h"}}, [], {"key": {"header": "x-api-key"}},
            upstreams={"main": {"servers": [{"url": self.up.url}]}},
            access_log={"path": "access.log"},
            routes=[{"name": "limited", "match": {"path": "/limited"}, "upstream": "main",
                     "limits": [{"policy": "p", "key": "key"}]},
                    {"name": "fixed", "match": {"path": "/fixed"}, "respond": {"body": "x"}},
                    {"name": "ask", "match": {"path": "/ask"}, "decide": True}],
            **more))
        self.client = self.connect(self.weir)

    def logged(self, count):
        file = self.weir.directory / "access.log"
        eventually(lambda: file.exists() and file.read_text().count("\n") >= count, f"{count} lines")
        return [json.loads(line) for line in file.read_text().splitlines()]

    def test_an_untrusted_client_does_not_name_its_request(self):
        self.begin()
        ids = []
        for target, status in [("/limited", 200), ("/limited", 200), ("/limited", 429), ("/fixed", 200),
                               ("/ask", 200), ("/nowhere", 404)]:
            response = self.client.get(target, {"X-Api-Key": "k", "X-Request-Id": "theirs"})
            self.assertEqual(response.status, status)
            [own] = response.fields.all("x-request-id")
            self.assertRegex(own, UUID_V7)
            ids.append(own)
        self.assertEqual(len(set(ids)), len(ids))
        self.assertEqual(ids, sorted(ids, key=lambda own: own[:13]))
        self.assertEqual([line["request_id"] for line in self.logged(6)], ids)
        self.assertEqual([request.fields.all("x-request-id") for request in self.up.requests],
                         [[own] for own in ids[:2]])

    def test_a_fixed_response_may_have_its_own(self):
        weir = self.start(limited({}, [], routes=[
            {"match": {"path": "/**"}, "respond": {"headers": {"X-Request-ID": "fixed"}}}]))
        response = self.connect(weir).get("/")
        self.assertEqual(response.fields.all("x-request-id"), ["fixed"])

    def test_a_request_without_a_trace_begins_one_if_configured(self):
        self.begin(tracing={"generate": True})
        theirs = f"00-{TRACE}-00f067aa0ba902b7-01"
        for fields in [{}, {"traceparent": "no", "tracestate": "a=b"}, {"traceparent": theirs, "tracestate": "a=b"}]:
            self.client.get("/limited", {"X-Api-Key": str(len(self.up.requests)), **fields})
        sent = [request.fields.all("traceparent") for request in self.up.requests]
        for [own] in sent[:2]:
            self.assertRegex(own, r"^00-[0-9a-f]{32}-[0-9a-f]{16}-01$")
        self.assertEqual(sent[2], [theirs])
        self.assertEqual([request.fields.all("tracestate") for request in self.up.requests], [[], [], ["a=b"]])
        traces = [own[3:35] for [own] in sent]
        self.assertEqual(len(set(traces)), 3)
        self.assertEqual([line["trace_id"] for line in self.logged(3)], traces)

    def test_a_malformed_request_has_an_id_too(self):
        self.begin()
        self.client.send(b"GET /fixed HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n")
        response = self.client.read()
        self.assertEqual(response.status, 400)
        [own] = response.fields.all("x-request-id")
        self.assertRegex(own, UUID_V7)
        self.assertEqual([line["request_id"] for line in self.logged(1)], [own])

    def test_a_trusted_proxy_names_a_request_if_the_name_is_valid(self):
        self.begin(client_address={"trusted_proxies": ["127.0.0.1"]})
        names = ["edge-17", "a" * 128, "a" * 129, 'a"b', "a b"]
        for name in names:
            response = self.client.get("/fixed", {"X-Request-Id": name,
                                                  "traceparent": f"00-{TRACE}-00f067aa0ba902b7-01"})
            [own] = response.fields.all("x-request-id")
            if name in names[:2]:
                self.assertEqual(own, name)
            else:
                self.assertRegex(own, UUID_V7)
        lines = self.logged(len(names))
        self.assertEqual([line["request_id"] for line in lines[:2]], names[:2])
        self.assertEqual({line["trace_id"] for line in lines}, {TRACE})

    def test_the_first_of_several_names_counts(self):
        self.begin(client_address={"trusted_proxies": ["127.0.0.1"]})
        for names, valid in ((["edge-1", "edge-2"], True), (["a b", "edge-2"], False)):
            response = self.client.get("/limited", [("X-Request-Id", name) for name in names] + [("X-Api-Key", "k")])
            [own] = response.fields.all("x-request-id")
            self.assertEqual(own == names[0], valid)
            self.assertNotEqual(own, names[1])
            self.assertEqual(self.up.requests[-1].fields.all("x-request-id"), [own])

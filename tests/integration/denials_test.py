"""The response to a denied request: what a policy and the section `denied` set, and preflight requests."""

import json

from harness.case import Case, configuration, limited
from harness.reload_case import ReloadCase
from harness.waiting import eventually

LIMIT = {"policy": "p", "key": "client"}
PROBLEM = "application/problem+json"
PREFLIGHT = [("Origin", "https://app.example"), ("Access-Control-Request-Method", "PUT")]


def once(**keys):
    return {"algorithm": "fixed_window", "rate": "1/1h", **keys}


class DenialCase(Case):
    def begin(self, policy, limits=None, **sections):
        self.weir = self.start(limited({"p": policy}, limits or [LIMIT], **sections))
        self.client = self.connect(self.weir)

    def denied(self, policy, fields=(), **sections):
        self.begin(policy, **sections)
        self.assertEqual(self.client.get("/").status, 200)
        return self.client.get("/", fields)


class OwnResponse(DenialCase):
    def test_a_policy_sets_body_media_type_and_fields(self):
        response = self.denied(once(
            status=503, content_type="application/json", body='{"error": "slow_down"}',
            headers={"Link": "<https://example.com/limits>; rel=help",
                     "Access-Control-Allow-Origin": "*"}))
        self.assertEqual((response.status, response.json()), (503, {"error": "slow_down"}))
        self.assertEqual(response["Content-Type"], "application/json")
        self.assertEqual(response["Link"], "<https://example.com/limits>; rel=help")
        self.assertEqual(response["Access-Control-Allow-Origin"], "*")
        self.assertEqual(response["Cache-Control"], "no-store")
        self.assertTrue(3590 <= int(response["Retry-After"]) <= 3600)
        self.assertEqual(response["RateLimit-Remaining"], "0")
        self.assertNotIn("Vary", response.fields)

    def test_fields_are_on_denials_only(self):
        self.begin(once(headers={"x-denied": "yes"}))
        self.assertNotIn("x-denied", self.client.get("/").fields)
        self.assertEqual(self.client.get("/")["x-denied"], "yes")

    def test_the_section_denied_is_the_default(self):
        defaults = {"status": 503, "content_type": "text/html", "body": "<p>busy</p>",
                    "headers": {"x-a": "default", "x-b": "default"}}
        response = self.denied(once(), denied=defaults)
        self.assertEqual((response.status, response.body), (503, b"<p>busy</p>"))
        self.assertEqual(response["Content-Type"], "text/html")
        response = self.denied(once(status=429, body={PROBLEM: "default"},
                                    headers={"X-B": "own", "cache-control": "private"}),
                               denied=defaults)
        self.assert_problem(response, 429)
        self.assertEqual([response.fields.all(name) for name in ("x-a", "x-b", "cache-control")],
                         [["default"], ["own"], ["private"]])

    def test_a_decision_for_another_proxy_has_the_same_response(self):
        route = {"decide": True, "limits": [LIMIT]}
        response = self.denied(once(body={"text/html": "<p>slow"}, headers={"x-denied": "yes"}),
                               [("Accept", "text/html")], routes=[route])
        self.assertEqual((response.status, response.body, response["x-denied"]),
                         (429, b"<p>slow", "yes"))


class Reloaded(ReloadCase):
    def test_a_reload_changes_the_response_and_keeps_the_count(self):
        def config(body, **sections):
            return limited({"p": once(body=body)}, [LIMIT], **sections)

        client = self.connect(self.serve(config("before")))
        self.assertEqual([client.get("/").status for _ in range(2)], [200, 429])
        self.reload(config("after"), changed=["policies.p"])
        self.assertEqual(client.get("/").body, b"after")
        self.reload(config("after", denied={"headers": {"x-a": "b"}}), changed=["denied"])
        self.assertEqual(client.get("/")["x-a"], "b")


class ByAccept(DenialCase):
    BODIES = {"application/json": '{"slow": true}', "text/html; charset=utf-8": "<p>slow</p>"}

    def test_accept_chooses_and_the_answer_varies(self):
        self.denied(once(body=self.BODIES))
        for accept, expected in [
            (None, "application/json"),
            ("*/*", "application/json"),
            ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
             "text/html; charset=utf-8"),
            ("text/*", "text/html; charset=utf-8"),
            ("text/html;q=0.2, application/json;q=0.1", "text/html; charset=utf-8"),
            ("text/html;q=0, */*;q=0.1", "application/json"),
            (PROBLEM, PROBLEM),
            ("application/problem+json;q=0.9, application/json;q=0.8", PROBLEM),
            ("image/png", PROBLEM),
            ("nonsense", PROBLEM),
        ]:
            with self.subTest(accept=accept):
                response = self.client.get("/", [("Accept", accept)] if accept else [])
                self.assertEqual(response["Content-Type"], expected)
                self.assertEqual(response.fields.all("Vary"), ["Accept"])
                if expected == PROBLEM:
                    problem = self.assert_problem(response, 429)
                    self.assertEqual(problem["violated-policies"], ["p"])
                else:
                    self.assertEqual(response.body.decode(), self.BODIES[expected])

    def test_the_problem_document_can_come_first(self):
        response = self.denied(once(body={PROBLEM: "default", "text/html": "<p>"},
                                    headers={"Vary": "Origin"}))
        self.assert_problem(response, 429)
        self.assertEqual(response.fields.all("Vary"), ["Origin, Accept"])
        self.assertEqual(self.client.get("/", [("Accept", "text/html")]).body, b"<p>")


class Preflight(DenialCase):
    def preflight(self, fields=PREFLIGHT):
        return self.client.request("OPTIONS", "/", fields)

    def test_it_is_neither_charged_nor_denied(self):
        self.begin(once(), access_log={"path": "log"})
        for _ in range(3):
            response = self.preflight()
            self.assertEqual(response.status, 200)
            self.assertNotIn("RateLimit", response.fields)
        self.assertEqual(self.client.get("/").status, 200)
        self.assertEqual(self.client.get("/").status, 429)
        self.assertEqual(self.preflight().status, 200)
        file = self.weir.directory / "log"
        lines = eventually(lambda: file.exists() and len(file.read_text().splitlines()) == 6
                           and [json.loads(line) for line in file.read_text().splitlines()],
                           "six lines")
        self.assertEqual([line["decision"] for line in lines],
                         [None, None, None, "allowed", "denied", None])
        self.assertEqual({line["policy"] for line in lines if line["method"] == "OPTIONS"}, {None})

    def test_a_policy_can_charge_it(self):
        policies = {"p": once(charge_preflight=True), "q": once()}
        weir = self.start(limited(policies, [LIMIT, {"policy": "q"}]))
        self.client = self.connect(weir)
        response = self.preflight()
        self.assertEqual((response.status, response["RateLimit"]), (200, '"p";r=0;t=3600'))
        self.assertEqual(self.preflight().status, 429)

    def test_it_needs_no_identity(self):
        upstream = self.upstream()
        routes = [{"upstream": "main",
                   "limits": [{"policy": "p", "key": "api_key", "required": True}]}]
        weir = self.start(configuration(upstream.url, policies={"p": once()}, routes=routes,
                                        identities={"api_key": {"header": "x-api-key"}}))
        self.client = self.connect(weir)
        self.assertEqual(self.preflight().status, 200)
        self.assertEqual(self.client.get("/").status, 401)
        self.assertEqual(len(upstream.requests), 1)

    def test_that_of_the_original_request_counts_for_another_proxy(self):
        self.begin(once(), routes=[{"decide": True, "limits": [LIMIT]}],
                   client_address={"trusted_proxies": ["127.0.0.1"]})
        asked = [("X-Original-Method", "OPTIONS"), ("X-Original-URI", "/x"), *PREFLIGHT]
        self.assertEqual([self.client.get("/", asked).status for _ in range(3)], [200] * 3)
        self.assertEqual([self.client.get("/").status for _ in range(2)], [200, 429])

"""docs/openapi.yaml: a valid document, with the endpoints that the server has, and what each of them answers."""

import json
import os
import re
import signal
import subprocess
import sys
import unittest
from pathlib import Path
from urllib.parse import urlencode

from harness.case import Case, configuration, limited
from harness.client import request_bytes
from harness.openapi import OpenApi
from harness.override_case import in_an_hour
from harness.redis import Redis
from harness.scarce import ScarceMemory
from harness.status_events import Events
from harness.waiting import eventually

ADMIN = {"address": "127.0.0.1:0"}
TOKEN = "token-of-the-operator"
ROOT = Path(__file__).resolve().parents[2]
VALIDATE = "import sys, yaml, openapi_spec_validator as v; v.validate(yaml.safe_load(open(sys.argv[1])))"
POLICIES = {"per_key": {"algorithm": "fixed_window", "rate": "2/10h"},
            "seen": {"algorithm": "attributed_window", "rate": "5/10h", "attributes": ["header:user-agent"]},
            "slots": {"algorithm": "concurrency", "limit": 2, "queue": 1},
            "trial": {"algorithm": "gcra", "rate": "1/1h", "mode": "shadow"}}
PLANS = {"plans": {"free": {}, "gold": {"per_key": {"rate": "7/10h"}, "slots": "unlimited"}}, "default_plan": "free",
         "plan_from": [{"header": "x-plan"}]}
PUBLIC = {"/healthz", "/readyz"}
API = OpenApi()


def limits_of(key, policy="per_key", **query):
    return "/v1/limits?" + urlencode({"policy": policy, "identity": "api_key", "key": key, **query})


class TheDocument(unittest.TestCase):
    def test_its_references_and_names(self):
        self.assertEqual(API.document["openapi"], "3.1.0")
        references = set(re.findall(r'\$ref: "([^"]+)"', API.text))
        for reference in references:
            API.at(reference)
        for kind, named in API.document["components"].items():
            for name in named:
                if kind != "securitySchemes":
                    self.assertIn(f"#/components/{kind}/{name}", references, "nothing uses it")
        tags = {tag["name"] for tag in API.document["tags"]}
        ids = []
        for (path, method), operation in API.operations().items():
            self.assertLessEqual(set(operation["tags"]), tags)
            self.assertTrue(operation["summary"] and operation["responses"], path)
            if method == "get":
                self.assertIn((path, "head"), API.operations())
                self.assertEqual(API.parameters(path, "get"), API.parameters(path, "head"))
            if method != "head":
                ids.append(operation["operationId"])
        self.assertEqual(len(ids), len(set(ids)))

    def test_its_schemas(self):
        for place, schema in API.schemas():
            with self.subTest(place):
                API.check_schema(schema)

    def test_objects_are_closed(self):
        """But for the configuration, which has a schema of its own, and parts of objects that are closed."""
        def open_objects(place, value):
            if isinstance(value, list):
                return [one for i, item in enumerate(value) for one in open_objects(f"{place}/{i}", item)]
            if not isinstance(value, dict):
                return []
            found = [one for key, item in value.items() for one in open_objects(f"{place}/{key}", item)]
            is_object = "object" in value.get("type", ())
            is_open = is_object and not {"additionalProperties", "unevaluatedProperties"} & set(value)
            return found + ([place] if is_open else [])

        self.assertEqual(open_objects("", API.document["components"]["schemas"]),
                         ["/Configuration/properties/config", "/ShadowMembers", "/OverrideMembers"])

    def test_an_answer_that_differs_is_found(self):
        class Answer:
            status = 200
            fields = {"Date": ""}
            kind = "application/json"
            body = b'{"state":"ready"}'

            def __getitem__(self, name):
                return {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff",
                        "Content-Type": self.kind}.get(name)

        self.assertEqual(API.check("/readyz", "get", Answer()), ("/readyz", "get", "200"))
        for wrong in ({"status": 201}, {"kind": "application/json; charset=utf-8"}, {"fields": {}},
                      {"body": b'{"state":"ready","more":1}'}, {"body": b'{"state":"steady"}'}, {"body": b"{}"}):
            answer = Answer()
            vars(answer).update(wrong)
            with self.subTest(wrong), self.assertRaises(AssertionError):
                API.check("/readyz", "get", answer)

    def test_a_validator_of_openapi_accepts_it(self):
        """openapi-spec-validator is not in Debian 12: script/bootstrap documents installs it."""
        pythons = [str(ROOT / "build" / "documents" / "bin" / "python3"), sys.executable]
        known = [python for python in pythons if os.path.exists(python) and subprocess.run(
            [python, "-c", "import yaml, openapi_spec_validator"], capture_output=True).returncode == 0]
        if not known:
            self.skipTest("openapi-spec-validator is missing: run script/bootstrap documents")
        done = subprocess.run([known[0], "-c", VALIDATE, str(ROOT / "docs" / "openapi.yaml")],
                              capture_output=True, text=True, timeout=120)
        self.assertEqual((done.returncode, done.stderr), (0, ""))


class AnswersCase(Case):
    def setUp(self):
        self.seen = set()

    def ask(self, weir, method, target, fields=(), body=None):
        """The answer, which has to be as the document describes it."""
        with self.connect_admin(weir) as admin:
            response = admin.request(method, target, fields, body)
        path = target.partition("?")[0]
        self.seen.add(API.check(path, method.lower(), response))
        return response

    def expect(self, status, weir, method, target, fields=(), body=None):
        """The same; and for GET also that of HEAD."""
        response = self.ask(weir, method, target, fields, body)
        self.assertEqual(response.status, status, (method, target, response.body))
        if method == "GET":
            head = self.ask(weir, "HEAD", target, fields)
            self.assertEqual((head.status, head["Content-Type"]), (status, response["Content-Type"]))
        return response

    def put(self, weir, status=200, **members):
        body = {"identity": "api_key", "key": "a", **members}
        response = self.expect(status, weir, "PUT", "/v1/overrides", body=json.dumps(body).encode())
        if status == 200:
            schema = API.operations()["/v1/overrides", "put"]["requestBody"]["content"]["application/json"]["schema"]
            self.assertEqual(API.problems(schema, body), [])
        return response

    def sections(self, **more):
        upstream = self.upstream()
        limits = [{"policy": name, "key": "api_key"} for name in POLICIES]
        routes = [{"name": "all", "match": {"path": "/**"}, "upstream": "main", "limits": limits}]
        return limited(POLICIES, [], {"api_key": {"header": "x-api-key"}}, routes=routes, identity_secret="a-secret",
                       upstreams={"main": {"servers": [{"url": upstream.url}]}}, **{"admin": ADMIN, **PLANS, **more})

    def send(self, weir, key, count):
        with weir.connect() as client:
            return [client.get("/", {"X-Api-Key": key, "User-Agent": "curl"}).status for _ in range(count)]


class Endpoints(AnswersCase):
    def test_the_document_has_those_of_the_server(self):
        weir = self.start(configuration(self.upstream().url, admin=ADMIN))
        with self.connect_admin(weir) as admin:
            problem = self.assert_problem(admin.get("/no-such-endpoint"), 404)
        _, _, names = problem["detail"].partition("; the endpoints are ")
        self.assertEqual(sorted(names.split(", ")), sorted(API.document["paths"]))
        for path, methods in API.methods().items():
            with self.connect_admin(weir) as admin:
                response = admin.request("PATCH", path)
            self.assert_problem(response, 405)
            self.assertEqual(set(response["Allow"].split(", ")), methods, path)

    def test_the_document_has_the_parameters_and_members_of_the_server(self):
        weir = self.start(self.sections())
        for path, method in API.operations():
            with self.subTest(path=path, method=method):
                response = self.ask(weir, method.upper(), path + "?no_such=1")
                has_checked = path.startswith("/v1/")
                self.assertEqual(response.status, 400 if has_checked else 200)
                if not has_checked or method == "head":
                    continue
                wrong, _, known = response.json()["detail"].partition("; ")
                self.assertEqual(wrong, 'unknown parameter "no_such"')
                names = API.parameters(path, method)
                self.assertEqual(sorted(known.removeprefix("known are ").split(", ")),
                                 sorted(names or ["this request has no parameters"]))
        members = API.document["components"]["schemas"]["OverrideRequest"]["properties"]
        for name in members:
            detail = self.put(weir, 422, **{name: []}).json()["detail"]
            self.assertNotIn("unknown", detail)
        detail = self.put(weir, 422, no_such=1).json()["detail"]
        self.assertEqual(sorted(detail.partition("; known are ")[2].split(", ")), sorted(members))

    def test_its_version_is_that_of_the_program(self):
        weir = self.start(configuration(self.upstream().url, admin=ADMIN))
        self.assertEqual(self.ask(weir, "GET", "/v1/status").json()["version"], API.document["info"]["version"])


class Answers(AnswersCase):
    def test_each_answer_of_the_document(self):
        """Each endpoint, method and status is seen, and each body is as its schema."""
        self.check_refusals()
        self.check_answers_of_an_instance_alone()
        self.check_reloads()
        self.check_redis()
        self.check_streams()
        self.check_draining()
        without_memory = {("/v1/status", method, "503") for method in ("get", "head")}  # see NoMemory
        self.assertEqual(API.outcomes() - self.seen, without_memory)

    def check_refusals(self):
        """Those of each endpoint alike."""
        open_weir = self.start(self.sections())
        guarded = self.start(self.sections(admin={**ADMIN, "token": TOKEN}))
        for path, method in API.operations():
            with self.subTest(path=path, method=method):
                def refused(weir, fields, status, path=path, method=method):
                    response = self.ask(weir, method.upper(), path, fields)
                    self.assertEqual(response.status, status)

                refused(open_weir, [("Host", "127.0.0.1"), ("Host", "127.0.0.1")], 400)
                refused(open_weir, [("X-Long", "x" * 9000)], 431)
                if API.is_public(path, method):
                    continue
                refused(open_weir, [("Host", "attacker.example")], 403)
                refused(guarded, [("Authorization", "Bearer wrong")], 401)
        for path, operation in API.document["paths"].items():
            is_page = {} in operation["get"].get("security", [])
            public = path in PUBLIC or is_page
            if "events" not in path:
                self.expect(200 if public else 401, guarded, "GET", path)
        self.assertEqual({path for path, method in API.operations() if API.is_public(path, method)}, PUBLIC)

    def check_answers_of_an_instance_alone(self):
        weir = self.start(self.sections())
        self.assertEqual(self.send(weir, "a", 3), [200, 200, 429])
        for path in ("/healthz", "/readyz", "/metrics", "/v1/config", "/v1/reload", "/", "/v1/status", "/v1/overrides"):
            self.expect(200, weir, "GET", path)
        self.check_limits(weir, "memory")
        top = self.expect(200, weir, "GET", "/v1/top?by=denied&n=2").json()
        self.assertEqual(len(top["keys"]), 1)
        self.expect(422, weir, "GET", "/v1/top?by=hits")
        eventually(lambda: "top" in self.ask(weir, "GET", "/v1/status").json(), "top keys in the status")
        for number in range(16):
            self.put(weir, key="many", policy=f"p{number}" if number > 3 else list(POLICIES)[number], unlimited=True,
                     status=200 if number < 4 else 422)
        self.put(weir, 422, rate="1/0s", policy="per_key")
        self.expect(413, weir, "PUT", "/v1/overrides", body=b" " * 20_000)

    def check_limits(self, weir, store):
        """The numbers in force of each kind."""
        for policy in POLICIES:
            state = self.expect(200, weir, "GET", limits_of("a", policy)).json()
            self.assertEqual((state["store"], state["numbers"]["from"]), (store, "policy"))
            self.assertEqual("entries" in state, policy == "seen")
        self.assertEqual(self.ask(weir, "GET", limits_of("a", plan="gold")).json()["numbers"]["from"], "plan")
        self.assertEqual(self.ask(weir, "GET", limits_of("a", "slots", plan="gold")).json()["numbers"],
                         {"unlimited": True, "from": "plan"})
        by_hash = "/v1/limits?policy=per_key&key=hash:" + state["hash"]
        self.assertNotIn("identity", self.ask(weir, "GET", by_hash).json())
        for members in ({"rate": "9/1h", "until": in_an_hour(), "note": "launch"}, {"deny": True}, {"plan": "gold"},
                        {"unlimited": True, "until": in_an_hour()}):
            self.put(weir, policy="per_key", **members)
            state = self.expect(200, weir, "GET", limits_of("a")).json()
            numbers = state["numbers"]
            if "deny" in members:
                self.assertIsNone(state["retry_after"])
            self.assertEqual((numbers["from"], "ends_after" in numbers), ("override", "until" in members))
            listed = self.expect(200, weir, "GET", "/v1/overrides?identity=api_key&key=a").json()["overrides"]
            self.assertEqual([one["policy"] for one in listed], ["per_key"])
        self.put(weir, policy="slots", limit=5)
        self.put(weir, plan="gold", note="for all policies")
        self.assertIn("warning", self.put(weir, identity="client", key="192.0.2.1", deny=True).json())
        self.expect(204, weir, "DELETE", "/v1/overrides?identity=api_key&key=a&policy=per_key")
        self.expect(404, weir, "DELETE", "/v1/overrides?identity=api_key&key=a&policy=per_key")
        for method, target in (("DELETE", "/v1/overrides"), ("GET", "/v1/overrides?policy=no"),
                               ("GET", limits_of("a", "no")), ("DELETE", limits_of("a", "no"))):
            self.expect(422, weir, method, target)
        self.expect(204, weir, "DELETE", limits_of("a"))

    def check_full(self):
        policies = {f"p{number}": {"algorithm": "gcra", "rate": "1/1h"} for number in range(17)}
        weir = self.start(limited(policies, [{"policy": "p0", "key": "api_key"}], {"api_key": {"header": "x-api-key"}},
                                  admin=ADMIN))
        for number in range(17):
            self.put(weir, policy=f"p{number}", unlimited=True, status=409 if number == 16 else 200)

    def check_reloads(self):
        self.check_full()
        config = self.sections()
        weir = self.start(config)
        report = self.expect(200, weir, "POST", "/v1/reload").json()
        self.assertEqual(report["changed"], [])
        routes = [{"name": f"r{number}", "match": {"path": f"/{number}"}, "respond": {}} for number in range(120)]
        weir.write({**config, "workers": 2, "routes": routes + config["routes"]})
        report = self.expect(200, weir, "POST", "/v1/reload").json()
        self.assertEqual(report["restart_needed"], ["workers"])
        self.assertGreater(report["changed_omitted"], 0)
        weir.write({**config, "policies": {**POLICIES, "per_key": {"algorithm": "fixed_window", "rate": "1/10h"}}})
        self.expect(400, weir, "POST", "/v1/reload?shadow=1")
        self.expect(202, weir, "POST", "/v1/reload?shadow=1h&max_flips=0.25%25")
        self.assertEqual(self.send(weir, "a", 2), [200, 200])
        shown = eventually(lambda: (now := self.ask(weir, "GET", "/v1/reload").json())["keys"] and now, "flips")
        self.assertEqual((shown["state"], shown["max_flips"], shown["flips"]), ("shadow", "0.25%", 1))
        self.expect(200, weir, "GET", "/v1/config")
        self.expect(200, weir, "POST", "/v1/reload")
        self.assertEqual(self.expect(200, weir, "GET", "/v1/reload").json()["state"], "dropped")
        for text in ("routes: [", "policies: {a: {rate: x}}"):
            weir.write(text)
            self.expect(422, weir, "POST", "/v1/reload")
        self.expect(200, weir, "GET", "/v1/status")

    def check_redis(self):
        redis = Redis().start()
        self.addCleanup(redis.close)
        settings = {"url": redis.url, "timeout": "10s", "connect_timeout": "10s", "on_failure": "deny"}
        policies = {name: {**policy, "on_failure": "deny"} for name, policy in POLICIES.items()}
        policies["slots"]["on_failure"] = "local"
        weir = self.start({**self.sections(store={"type": "redis", "redis": settings}), "policies": policies})
        eventually(lambda: "degraded" not in self.ask(weir, "GET", "/readyz").json(), "redis is connected")
        self.assertEqual(self.send(weir, "a", 3), [200, 200, 429])
        self.check_limits(weir, "redis")
        for path in ("/metrics", "/v1/config", "/v1/status"):
            self.expect(200, weir, "GET", path)
        redis.stop()
        eventually(lambda: "degraded" in self.ask(weir, "GET", "/readyz").json(), "redis is lost")
        self.assertGreaterEqual(self.ask(weir, "GET", "/readyz").json()["replicas"], 1)
        for method, target in (("GET", limits_of("a")), ("DELETE", limits_of("a")), ("GET", "/v1/overrides"),
                               ("DELETE", "/v1/overrides?identity=api_key&key=a")):
            self.expect(503, weir, method, target)
        self.put(weir, 503, deny=True)
        self.expect(200, weir, "GET", "/v1/status")

    def check_streams(self):
        """The events are those of /v1/status; one stream too many is refused."""
        weir = self.start(self.sections())
        status = API.operations()["/v1/status", "get"]["responses"]["200"]["content"]["application/json"]["schema"]
        streams = [Events(self.connect_admin(weir)) for _ in range(32)]
        for stream in streams[:2]:
            for _ in range(2):
                self.assertEqual(API.problems(status, stream.next()), [])
        self.expect(503, weir, "GET", "/v1/status/events")
        path, head = "/v1/status/events", streams[0].head
        self.assertEqual((head.status, head["Content-Type"]), (200, "text/event-stream"))
        head.body = b"data: "
        self.seen.add(API.check(path, "get", head))
        streams.clear()
        other = self.start(self.sections())
        self.assertEqual(self.ask(other, "HEAD", path).status, 200)

    def check_draining(self):
        upstream, may_answer = self.late_upstream()
        weir = self.start({**self.sections(), "upstreams": {"main": {"servers": [{"url": upstream.url}]}}})
        client = self.connect(weir)
        client.send(request_bytes("GET", "/"))
        upstream.await_requests(1)
        weir.signal(signal.SIGTERM)
        eventually(lambda: self.ask(weir, "GET", "/readyz").status == 503, "readyz reports that it drains")
        self.assertEqual(self.expect(503, weir, "GET", "/readyz").json()["state"], "draining")
        for method, target in (("GET", limits_of("a")), ("DELETE", limits_of("a")), ("GET", "/v1/overrides"),
                               ("DELETE", "/v1/overrides?key=a"), ("GET", "/v1/top"), ("POST", "/v1/reload")):
            self.expect(503, weir, method, target)
        self.put(weir, 503, deny=True)
        for path in ("/healthz", "/metrics", "/v1/config", "/v1/reload", "/", "/v1/status"):
            self.expect(200, weir, "GET", path)
        may_answer.set()
        self.assertEqual(client.read().status, 200)
        self.assertEqual(weir.wait(), 0)


class NoMemory(AnswersCase):
    def test_the_status_is_unavailable(self):
        memory = ScarceMemory()
        self.addCleanup(memory.close)
        routes = [{"name": f"r{number}", "match": {"path": f"/{number}"}, "respond": {}} for number in range(100)]
        weir = self.start(configuration(routes=routes, admin=ADMIN), environment=memory.environment)
        with memory.at_most(20_000):
            self.expect(503, weir, "GET", "/v1/status")
        self.expect(200, weir, "GET", "/v1/status")

"""What a route changes: fields of requests and responses, the path for the upstream, and redirects."""

import json

from harness.case import Case, configuration
from harness.upstream import answer, echo
from harness.waiting import eventually


class ChangesCase(Case):
    def begin(self, behaviour=echo, routes=None, **route):
        self.up = self.upstream(behaviour)
        sections = {"policies": {"p": {"algorithm": "fixed_window", "rate": "1/1h"}}}
        routes = routes or [{"upstream": "main", **route}]
        self.weir = self.start(configuration(self.up.url, **sections, routes=routes,
                                             access_log={"path": "log"}))
        self.client = self.connect(self.weir)

    def sent(self, fields=(), target="/", method="GET", **more):
        """The request as it reached the upstream."""
        self.assertEqual(self.client.request(method, target, fields, **more).status, 200)
        return self.up.requests[-1]

    def lines(self, count):
        file = self.weir.directory / "log"
        return eventually(lambda: file.exists() and len(file.read_text().splitlines()) >= count
                          and [json.loads(line) for line in file.read_text().splitlines()],
                          f"{count} lines")


class RequestFields(ChangesCase):
    def test_fields_are_set_added_and_removed(self):
        self.begin(request_headers={"set": {"X-Tenant": "acme"}, "add": {"x-tag": "weir"},
                                    "remove": ["x-debug", "Accept-Language"]})
        fields = self.sent([("x-tenant", "forged"), ("X-TENANT", "again"), ("X-Tag", "own"),
                            ("X-Debug", "1"), ("accept-language", "de"), ("X-Kept", "k")]).fields
        self.assertEqual(fields.all("x-tenant"), ["acme"])
        self.assertEqual(fields.all("x-tag"), ["own", "weir"])
        self.assertEqual(fields.all("x-debug") + fields.all("accept-language"), [])
        self.assertEqual(fields.get("X-Kept"), "k")

    def test_a_host_replaces_that_of_the_client(self):
        self.begin(request_headers={"set": {"Host": "internal.example:8080"}})
        fields = self.sent().fields
        self.assertEqual(fields.all("host"), ["internal.example:8080"])
        self.assertEqual(fields.get("X-Forwarded-Host"), "weir.test")
        self.client.send(b"GET / HTTP/1.0\r\n\r\n")
        self.assertEqual(self.client.read().status, 200)
        self.assertEqual(self.up.requests[-1].fields.all("host"), ["internal.example:8080"])

    def test_another_spelling_of_a_set_or_removed_field_is_refused(self):
        self.begin(request_headers={"set": {"X-Tenant": "acme"}, "remove": ["x-debug"]})
        for name in ("X_Tenant", "x.debug"):
            response = self.client.get("/", [(name, "1")])
            self.assert_problem(response, 400)

    def test_limits_see_the_request_as_it_came(self):
        self.up = self.upstream()
        route = {"upstream": "main", "limits": [{"policy": "p", "key": "user"}],
                 "request_headers": {"set": {"x-user": "constant"}}}
        self.weir = self.start(configuration(
            self.up.url, identities={"user": {"header": "x-user"}}, routes=[route],
            policies={"p": {"algorithm": "fixed_window", "rate": "1/1h"}}))
        self.client = self.connect(self.weir)
        self.assertEqual([self.client.get("/", [("x-user", name)]).status for name in "aab"],
                         [200, 429, 200])
        self.assertEqual([request.fields.get("x-user") for request in self.up.requests],
                         ["constant"] * 2)


class ResponseFields(ChangesCase):
    EDITS = {"set": {"X-Old": "new"}, "add": {"Link": "<a>"}, "remove": ["x-secret"]}
    ANSWER = [("x-old", "1"), ("X-Old", "2"), ("Link", "<b>"), ("X-Secret", "s"), ("X-Kept", "k")]

    def assert_edited(self, response):
        self.assertEqual(response.fields.all("x-old"), ["new"])
        self.assertEqual(response.fields.all("link"), ["<b>", "<a>"])
        self.assertEqual(response.fields.all("x-secret"), [])
        self.assertEqual(response["X-Kept"], "k")

    def test_fields_are_set_added_and_removed(self):
        self.begin(answer(b"body", fields=self.ANSWER), response_headers=self.EDITS)
        self.assert_edited(self.client.get("/"))
        self.assert_edited(self.client.request("HEAD", "/"))

    def test_answers_of_weir_have_the_fields_that_fit_them(self):
        edits = {"set": {"Strict-Transport-Security": "max-age=1", "Cache-Control": "public",
                         "Content-Type": "text/x"}}
        policies = {"p": {"algorithm": "fixed_window", "rate": "1/1h",
                          "headers": {"strict-transport-security": "own"}},
                    "q": {"algorithm": "fixed_window", "rate": "1/1h"}}
        up = self.upstream(answer(b"x", fields=[("Cache-Control", "private")]))
        gone = self.upstream()
        gone.stop()
        weir = self.start(configuration(
            policies=policies,
            upstreams={"main": {"servers": [{"url": up.url}]},
                       "gone": {"servers": [{"url": gone.url}]}},
            routes=[{"match": {"path": "/p"}, "upstream": "main", "response_headers": edits,
                     "limits": [{"policy": "p"}]},
                    {"match": {"path": "/q"}, "upstream": "main", "response_headers": edits,
                     "limits": [{"policy": "q"}]},
                    {"match": {"path": "/gone"}, "upstream": "gone", "response_headers": edits},
                    {"match": {"path": "/fixed"}, "respond": {"headers": {"x-a": "b"}},
                     "response_headers": edits}]))
        client = self.connect(weir)

        def shown(path):
            response = client.get(path)
            return (response.status, response["Strict-Transport-Security"],
                    response["Cache-Control"], response["Content-Type"])

        problem = "application/problem+json"
        self.assertEqual(shown("/p"), (200, "max-age=1", "public", "text/x"))
        self.assertEqual(shown("/p"), (429, "own", "no-store", problem))
        self.assertEqual(shown("/q"), (200, "max-age=1", "public", "text/x"))
        self.assertEqual(shown("/q"), (429, "max-age=1", "no-store", problem))
        self.assertEqual(shown("/gone"), (502, "max-age=1", None, problem))
        self.assertEqual(shown("/fixed"), (200, "max-age=1", "public", "text/plain"))


class Paths(ChangesCase):
    def targets(self, route, targets):
        self.begin(**route)
        for target in targets:
            self.sent(target=target)
        return [request.target for request in self.up.requests]

    def test_a_prefix_is_removed(self):
        cases = {"/api/x?q": "/x?q", "/api": "/", "/api/": "/", "/api?a=b": "/?a=b",
                 "/api/a%20b/%C3%A9": "/a%20b/%C3%A9", "/api//evil.example/": "/evil.example/",
                 "/api/x/../y": "/y", "/api/x;v=1": "/x;v=1",
                 "http://weir.test/api/absolute": "/absolute"}
        self.assertEqual(self.targets({"match": {"path": "/api/**"}, "strip_prefix": "/api"}, cases),
                         list(cases.values()))
        self.assertEqual([line["path"] for line in self.lines(2)][:2], ["/api/x", "/api"])

    def test_a_path_is_written_with_captured_segments(self):
        cases = {"/users/7/orders/a?x": "/v2/orders/7/a?x", "/users/a%2eb/orders": "/v2/orders/a%2eb",
                 "/users/%3Fq%23/orders/": "/v2/orders/%3Fq%23/"}
        route = {"match": {"path": "/users/{id}/orders/**"}, "path": "/v2/orders/{id}/**"}
        self.assertEqual(self.targets(route, cases), list(cases.values()))

    def test_identities_use_the_path_of_the_client(self):
        self.up = self.upstream()
        route = {"upstream": "main", "match": {"path": "/t/{tenant}/**"}, "strip_prefix": "/t",
                 "limits": [{"policy": "p", "key": "tenant"}]}
        weir = self.start(configuration(
            self.up.url, identities={"tenant": {"path": "tenant"}}, routes=[route],
            policies={"p": {"algorithm": "fixed_window", "rate": "1/1h"}}))
        client = self.connect(weir)
        self.assertEqual([client.get(path).status for path in ("/t/a/1", "/t/a/2", "/t/b/1")],
                         [200, 429, 200])
        self.assertEqual([request.target for request in self.up.requests], ["/a/1", "/b/1"])


class Repeated(Case):
    def test_another_server_gets_the_same_head(self):
        def hang_up(exchange):
            exchange.read_body()
            exchange.reset()

        route = {"upstream": "main", "match": {"path": "/api/**"}, "strip_prefix": "/api",
                 "request_headers": {"set": {"x-a": "b"}}}
        one, two = self.upstream(hang_up), self.upstream()
        servers = [{"url": upstream.url} for upstream in (one, two)]
        weir = self.start(configuration(upstreams={"main": {"servers": servers}}, routes=[route],
                                        access_log={"path": "log"}))
        client = self.connect(weir)
        eventually(lambda: client.request("PUT", "/api/x?q", body=b"b").status == 200
                   and one.requests, "both were asked")
        for upstream in (one, two):
            request = upstream.requests[-1]
            self.assertEqual((request.target, request.fields.all("x-a")), ("/x?q", ["b"]))
        file = weir.directory / "log"
        eventually(lambda: file.exists() and file.read_text(), "a line")
        servers = {json.loads(line)["upstream_server"] for line in file.read_text().splitlines()}
        self.assertEqual(servers, {f"127.0.0.1:{two.port}"})


class Responds(Case):
    def test_a_redirect(self):
        weir = self.start(configuration(routes=[
            {"match": {"path": "/old"},
             "respond": {"status": 308, "headers": {"Location": "https://example.com/new",
                                                    "cache-control": "max-age=60"}}},
            {"respond": {"status": 503, "body": "{}", "content_type": "application/json",
                         "headers": {"retry-after": 60}}}]))
        client = self.connect(weir)
        for method in ("GET", "HEAD"):
            response = client.request(method, "/old")
            self.assertEqual((response.status, response["Location"], response["Cache-Control"]),
                             (308, "https://example.com/new", "max-age=60"))
        response = client.get("/")
        self.assertEqual((response.status, response["Retry-After"], response.json()),
                         (503, "60", {}))


class Logged(ChangesCase):
    def test_the_server_and_the_time_until_the_retry(self):
        self.begin(limits=[{"policy": "p"}])
        for _ in range(2):
            self.client.get("/")
        allowed, denied = self.lines(2)
        self.assertEqual((allowed["upstream_server"], allowed["retry_after_ms"]),
                         (f"127.0.0.1:{self.up.port}", None))
        self.assertEqual(denied["upstream_server"], None)
        self.assertTrue(3_590_000 < denied["retry_after_ms"] <= 3_600_000)

"""Which route takes a request: the first one that matches."""

from harness.case import Case, configuration


def respond(name, **match):
    route = {"name": name, "respond": {"status": 200, "body": name}}
    return {**route, "match": match} if match else route


class Routing(Case):
    def begin(self, *routes):
        self.client = self.connect(self.start(configuration(routes=list(routes))))

    def assert_taken(self, expected, target="/", method="GET", fields=()):
        response = self.client.request(method, target, fields)
        taken = response.body.decode() if response.status == 200 else response.status
        self.assertEqual(taken, expected, f"{method} {target} {fields}")

    def test_the_first_match_wins(self):
        self.begin(respond("a", path="/a"), respond("b", path="/**"), respond("c", path="/c"))
        self.assert_taken("a", "/a")
        self.assert_taken("b", "/c")

    def test_no_match_is_404(self):
        self.begin(respond("a", path="/a"))
        self.assert_problem(self.client.get("/b"), 404)

    def test_paths(self):
        self.begin(respond("exact", path="/exact"), respond("one", path="/v1/*"),
                   respond("deep", path="/v2/**"),
                   respond("user", path="/users/{id}"),
                   respond("post", path="/users/{id}/posts/{post}"))
        for target, expected in [
            ("/exact", "exact"), ("/exact?query=1", "exact"), ("/exact/", 404), ("/exac", 404),
            ("/EXACT", 404),
            ("/v1/a", "one"), ("/v1/a?b/c", "one"), ("/v1/a/b", 404), ("/v1", 404),
            ("/v2/a", "deep"), ("/v2/a/b/c", "deep"), ("/v2x", 404),
            ("/users/7", "user"), ("/users/7/posts/8", "post"), ("/users/7/posts", 404),
            ("/users", 404),
        ]:
            self.assert_taken(expected, target)

    def test_another_spelling_of_a_path_is_no_other_route(self):
        self.begin(respond("login", path="/a/login"), respond("rest", path="/**"))
        for target in ["/a/login", "//a/login", "/a//login", "/./a/login", "/x/../a/login",
                       "/a/%6cogin", "/%61/login", "/a/login?x=//y"]:
            self.assert_taken("login", target)
        # The normal form takes the request; paths_test has the limits of other readings.
        for target in ["/a/login/", "/a/login;v=1", "/A/login"]:
            self.assert_taken("rest", target)
        for target in ["/x/%2e%2E/a/login", "/a/login%2f"]:
            self.assert_taken(400, target)

    def test_hosts(self):
        self.begin(respond("api", host="api.example.com"), respond("any", host="*.example.com"))
        for host, expected in [
            ("api.example.com", "api"), ("API.Example.COM", "api"), ("api.example.com:8080", "api"),
            ("www.example.com", "any"), ("example.com", 404), ("api.example.com.evil.test", 404),
            ("notexample.com", 404),
        ]:
            self.assert_taken(expected, fields={"Host": host})
        self.assert_taken("api", "http://api.example.com/x", fields={"Host": "api.example.com"})

    def test_methods(self):
        self.begin(respond("read", methods=["GET", "HEAD"]), respond("write", methods=["POST"]))
        self.assert_taken("read", method="GET")
        self.assert_taken("write", method="POST")
        self.assert_taken(404, method="DELETE")
        self.assert_taken(400, method="get")

    def test_headers(self):
        self.begin(respond("beta", headers={"x-beta": "1"}), respond("rest"))
        self.assert_taken("beta", fields={"X-Beta": "1"})
        self.assert_taken("rest", fields={"X-Beta": "2"})
        self.assert_taken("rest", fields={"X-Beta": "11"})
        self.assert_taken("rest")

    def test_all_conditions_must_hold(self):
        self.begin(respond("all", host="a.test", path="/a", methods=["GET"], headers={"x-a": "1"}))
        self.assert_taken("all", "/a", fields={"Host": "a.test", "X-A": "1"})
        self.assert_taken(404, "/b", fields={"Host": "a.test", "X-A": "1"})
        self.assert_taken(404, "/a", fields={"Host": "b.test", "X-A": "1"})
        self.assert_taken(404, "/a", fields={"Host": "a.test"})
        self.assert_taken(404, "/a", "POST", {"Host": "a.test", "X-A": "1"})

    def test_upstreams_by_route(self):
        one = self.upstream(lambda exchange: exchange.answer(b"one"))
        two = self.upstream(lambda exchange: exchange.answer(b"two"))
        client = self.connect(self.start(configuration(
            upstreams={"one": {"servers": [{"url": one.url}]},
                       "two": {"servers": [{"url": two.url}]}},
            routes=[{"match": {"path": "/1/**"}, "upstream": "one"},
                    {"match": {"path": "/2/**"}, "upstream": "two"}])))
        for _ in range(3):
            self.assertEqual(client.get("/1/x").body, b"one")
            self.assertEqual(client.get("/2/x").body, b"two")


class FixedAnswers(Case):
    def test_status_body_and_type_are_as_configured(self):
        client = self.connect(self.start(configuration(routes=[
            {"match": {"path": "/json"},
             "respond": {"status": 202, "body": '{"a": 1}', "content_type": "application/json"}},
            {"match": {"path": "/empty"}, "respond": {"status": 204}},
            {"match": {"path": "/plain"}, "respond": {"body": "hi"}}])))
        response = client.get("/json")
        self.assertEqual((response.status, response["Content-Type"], response.json()),
                         (202, "application/json", {"a": 1}))
        self.assertIn("Date", response.fields)
        response = client.get("/empty")
        self.assertEqual((response.status, "Content-Length" in response.fields), (204, False))
        response = client.get("/plain")
        self.assertEqual((response.status, response["Content-Type"], response.body),
                         (200, "text/plain", b"hi"))
        response = client.request("HEAD", "/plain")
        self.assertEqual((response.status, response["Content-Length"]), (200, "2"))
        response = client.request("POST", "/plain", body=b"x" * 1000)
        self.assertEqual(response.body, b"hi")

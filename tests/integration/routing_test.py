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

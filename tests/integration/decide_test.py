"""Routes that decide for another proxy, asked directly, and the files in deploy/."""

from harness.asking import DEPLOY, deciding
from harness.case import Case
from harness.limit_fields import limit_fields
from harness.weir import run


class Asked(Case):
    def begin(self, **sections):
        self.weir = self.start(deciding(**sections))
        self.client = self.connect(self.weir)

    def ask(self, *fields, method="GET", target="/ask"):
        return self.client.request(method, target, fields=list(fields))

    def test_the_original_request_finds_the_route(self):
        self.begin()
        about = (("X-Original-Method", "POST"), ("X-Original-URI", "/v1/search?q=a"))
        first, second = self.ask(*about), self.ask(*about)
        self.assertEqual((first.status, first.body), (200, b""))
        self.assertEqual(set(limit_fields(first).state), {"search"})
        self.assert_problem(second, 429)
        self.assertIn("Retry-After", second.fields)
        # Another spelling is the same route, another method is not.
        self.assertEqual(self.ask(about[0], ("X-Original-URI", "/v1/./search")).status, 429)
        self.assertEqual(self.ask(("X-Original-Method", "GET"), about[1]).status, 200)

    def test_other_routes_see_the_request_as_it_came(self):
        self.begin()
        self.assertEqual(self.ask(("X-Original-URI", "/v1"), target="/fixed").body, b"here")

    def test_without_the_fields_it_is_asked_about_itself(self):
        self.begin()
        self.assertEqual(self.ask(method="POST", target="/v1/search").status, 200)
        self.assertEqual(self.ask(method="POST", target="/v1/search").status, 429)

    def test_an_untrusted_client_cannot_describe_another_request(self):
        self.begin(client_address={})
        about = (("X-Original-Method", "POST"), ("X-Original-URI", "/v1/search"))
        self.assertEqual(set(limit_fields(self.ask(*about)).state), {"rest"})

    def test_two_answers_to_one_question_are_refused(self):
        self.begin()
        answer = self.ask(("X-Original-URI", "/v1"), ("X-Forwarded-Uri", "/v2"))
        self.assert_problem(answer, 400)

    def test_an_original_target_is_bounded_as_any_other(self):
        self.begin(downstream={"max_target": "256B"})
        self.assertEqual(self.ask(("X-Original-URI", "/" + "a" * 255)).status, 200)
        self.assert_problem(self.ask(("X-Original-URI", "/" + "a" * 256)), 414)


    def test_a_question_of_traefik(self):
        """Everything the client sent, and what ForwardAuth overwrites."""
        self.begin()
        about = (("Host", "127.0.0.1:8080"), ("X-Forwarded-Method", "POST"),
                 ("X-Forwarded-Uri", "/v1/search?q"), ("X-Forwarded-Proto", "http"))
        statuses = [self.ask(*about, ("X-Forwarded-Host", host), ("X-Forwarded-For", client),
                             target="/").status
                    for client in ("192.0.2.1", "192.0.2.2") for host in ("a.test:8000", "b.test")]
        self.assertEqual(statuses, [200, 429] * 2)
        elsewhere = self.ask(("X-Forwarded-Method", "GET"), ("X-Forwarded-Uri", "/"),
                             ("X-Forwarded-Host", "other.test:8000"))
        self.assertEqual(set(limit_fields(elsewhere).state), {"search"})

    def test_a_question_of_envoy(self):
        """Its own method, target and Host are the client's; Envoy's address comes last."""
        self.begin(client_address={"trusted_proxies": ["127.0.0.1", "10.9.8.7"]})
        statuses = [self.ask(("X-Forwarded-For", f"203.0.113.9, {client}, 10.9.8.7"),
                             ("X-Envoy-Internal", "true"), ("Content-Length", "0"),
                             method="POST", target="/v1/search?q").status
                    for client in ("192.0.2.1", "192.0.2.1", "192.0.2.2")]
        self.assertEqual(statuses, [200, 429, 200])


class Files(Case):
    def test_the_configuration_in_deploy_is_one(self):
        checked = run("check", str(DEPLOY / "weir.yaml"))
        self.assertEqual((checked.returncode, checked.stderr), (0, ""), checked.stdout)

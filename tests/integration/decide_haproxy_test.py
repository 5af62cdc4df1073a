"""HAProxy with the configuration in deploy/haproxy sends Weir a subrequest per request."""

from harness import asking
from harness.limit_fields import limit_fields
from harness.waiting import eventually

class BehindHaproxy(asking.HoldTests, asking.AskingProxy):
    backend_lines = ""

    def command(self, weir, patience, with_costs=False, **environment):
        files = asking.DEPLOY / "haproxy"
        settings = self.root / "haproxy.cfg"
        settings.write_text((files / "haproxy.cfg").read_text(encoding="utf-8").replace(
            "  server api ", f"{self.backend_lines}  server api "), encoding="utf-8")
        if with_costs:
            script = (files / "weir.lua").read_text(encoding="utf-8")
            changed = self.root / "costs.lua"
            changed.write_text(script.replace("cost_fields = {}", 'cost_fields = { "x-usage-tokens" }'), encoding="utf-8")
            environment["WEIR_LUA"] = str(changed)
        return ["haproxy", "-db", "-f", str(settings)], {
            "PROXY": f"127.0.0.1:{self.port}", "API": f"127.0.0.1:{self.api.port}", "WEIR": weir,
            "WEIR_TIMEOUT": patience, "WEIR_ASKED_AT": f"abns@weir-test-{self.port}",
            "WEIR_LUA": str(files / "weir.lua"), **environment}

    def begin_without_weir(self, **environment):
        self.lose_weir()
        # A refused connection is tried again after up to a second of its timeout.
        self.begin(self.weir.address, patience="200ms", **environment)

    def test_without_weir_all_is_served(self):
        self.begin_without_weir()
        self.assertEqual([self.get().status for _ in range(3)], [200] * 3)
        self.assertEqual(limit_fields(self.get()).state, {})
        self.begin_with_silent_weir()
        self.assertEqual(self.get(method="POST", body=b"upload").body, b"upload")

    def test_without_weir_all_is_denied_if_so_configured(self):
        self.begin_without_weir(WEIR_ON_SILENCE="deny")
        answer = self.get()
        self.assertEqual((answer.status, answer["Retry-After"]), (503, "1"))
        self.begin_with_silent_weir(WEIR_ON_SILENCE="deny")
        self.assertEqual(self.get().status, 503)
        self.assertEqual(self.api.requests, [])

    def test_an_error_in_the_script_lets_nobody_pass(self):
        script = (asking.DEPLOY / "haproxy" / "weir.lua").read_text(encoding="utf-8")
        broken = self.root / "weir.lua"
        broken.write_text(script.replace("local fields = {}", "error()"), encoding="utf-8")
        self.begin(self.weir.address, WEIR_LUA=str(broken))
        self.assertEqual(self.get().status, 503)
        self.assertEqual(self.api.requests, [])

    def test_weir_is_asked_again_when_it_is_back(self):
        self.begin_without_weir()
        self.assertEqual(self.get().status, 200)
        self.weir = self.start(asking.deciding(
            listen=[{"address": f"127.0.0.1:{self.weir.port}"}]))
        eventually(lambda: limit_fields(self.get(target="/v1/a")).state, "the answers have limits")

    def test_a_response_that_haproxy_replaces_is_reported_with_its_own_status(self):
        self.backend_lines = "  http-response return status 404\n"
        self.begin_holding()
        self.assertEqual(self.statuses_of_logins("401 Unauthorized", 4), [404] * 4)

    def test_a_request_without_a_server_is_reported_with_the_status_of_the_proxy(self):
        self.backend_lines = "  retries 0\n"  # each would take a second
        super().test_a_request_without_a_server_is_reported_with_the_status_of_the_proxy()

    def test_what_the_api_says_of_limits_gives_way(self):
        self.api.behaviour = lambda exchange: exchange.answer(
            fields=[("RateLimit", "its own"), ("RateLimit-Policy", "its own"), ("X-Own", "kept")])
        answer = self.get()
        self.assertEqual(limit_fields(answer).state["rest"]["r"], 1)
        self.assertEqual(answer["X-Own"], "kept")

    def test_nobody_else_learns_how_weir_is_asked(self):
        self.get(("Connection", "x-api-key"))
        for message in (self.api.requests[0], self.get(), self.get()):
            self.assertNotIn("Weir-Answered", message.fields)
            self.assertNotIn("X-Original-URI", message.fields)

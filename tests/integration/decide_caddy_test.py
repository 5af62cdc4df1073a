"""Caddy with the configuration in deploy/caddy sends Weir a subrequest per request."""

from harness import asking


class BehindCaddy(asking.AskingProxy):
    def command(self, weir, patience, denies=False):
        file = asking.DEPLOY / "caddy" / "Caddyfile"
        if denies:
            site, _, _ = file.read_text(encoding="utf-8").partition("# While Weir does not answer")
            file = self.root / "Caddyfile"
            file.write_text(site + "}\n", encoding="utf-8")
        return ["caddy", "run", "--adapter", "caddyfile", "--config", str(file)], {
            "SITE": f"http://:{self.port}", "API": f"127.0.0.1:{self.api.port}", "WEIR": weir,
            "WEIR_TIMEOUT": patience,
            "CADDY_ADMIN": f"unix/{self.root}/admin.sock",
            "XDG_DATA_HOME": str(self.root), "XDG_CONFIG_HOME": str(self.root)}

    def test_without_weir_all_is_served(self):
        self.lose_weir()
        self.assertEqual([self.get().status for _ in range(3)], [200] * 3)
        self.begin_with_silent_weir()
        answer = self.get(method="POST", target="/b?c", body=b"upload")
        self.assertEqual((answer.status, answer.body), (200, b"upload"))
        self.assertEqual(self.api.requests[-1].words[:2], ["POST", "/b?c"])

    def test_without_weir_all_is_denied_if_so_configured(self):
        self.lose_weir()
        self.begin(self.weir.address, denies=True)
        self.assertEqual(self.get().status, 502)
        self.assertEqual(self.api.requests, [])

    def test_a_failing_api_is_not_asked_twice(self):
        self.api.behaviour = lambda exchange: exchange.close()
        self.assertEqual(self.get(method="POST", body=b"once").status, 502)
        self.assertEqual(len(self.api.requests), 1)

    def test_nothing_is_said_of_limits_where_there_are_none(self):
        answer = self.get(target="/open/a")
        self.assertEqual([name for name, _ in answer.fields.lines if "limit" in name.lower()], [])

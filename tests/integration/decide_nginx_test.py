"""nginx with the configuration in deploy/nginx sends Weir a subrequest per request."""

from harness import asking


class BehindNginx(asking.HoldTests, asking.AskingProxy):
    passes_denials_on = False
    passes_refusals_on = False

    def command(self, weir, patience, without="", with_costs=False):
        site = (asking.DEPLOY / "nginx" / "weir.conf").read_text(encoding="utf-8")
        for written, here in (("127.0.0.1:8080", weir),
                              ("127.0.0.1:8000", f"127.0.0.1:{self.port}"),
                              ("http://127.0.0.1:3000", self.api.url), ("200ms", patience),
                              (without, ""), ("# proxy_set_header", "proxy_set_header" if with_costs else "#")):
            self.assertIn(written, site)
            site = site.replace(written, here)
        root = self.root
        (root / "nginx.conf").write_text(
            f"daemon off; pid {root}/pid; worker_processes 1; events {{}}\n"
            f"http {{ access_log off; client_body_temp_path {root}/b; proxy_temp_path {root}/p;\n"
            f"fastcgi_temp_path {root}/f; uwsgi_temp_path {root}/u; scgi_temp_path {root}/s;\n"
            f"client_max_body_size 0; {site} }}\n", encoding="utf-8")
        return ["nginx", "-p", str(root), "-c", str(root / "nginx.conf"), "-e", "stderr"], {}

    def test_other_refusals_are_503(self):
        self.assertEqual(self.get(target="/keyed/ann").status, 503)
        self.assertEqual(self.api.requests, [])

    def test_an_answer_with_many_limits_is_one(self):
        policies = {f"{i:02}" + "\\"* 126: asking.window("100/1h") for i in range(15)} | {"last": asking.window("2/1h")}
        self.weir = self.start(asking.deciding(
            policies=policies, response_headers={"partition_key": True},
            routes=[{"decide": True, "limits": [{"policy": name} for name in policies]}]))
        self.begin(self.weir.address)
        self.assertEqual([self.get().status for _ in range(4)], [200, 200, 429, 429])

    def test_a_request_of_http_1_0_needs_no_host(self):
        for status in 200, 200, 429:
            with asking.Connection(("127.0.0.1", self.port)) as client:
                self.assertEqual(client.request("GET", "/a", version="1.0").status, status)

    def test_without_weir_all_is_served(self):
        self.lose_weir()
        self.assertEqual([self.get().status for _ in range(3)], [200] * 3)
        self.begin_with_silent_weir()
        self.assertEqual(self.get(method="POST", body=b"upload").body, b"upload")

    def test_without_weir_all_is_denied_if_so_configured(self):
        self.lose_weir()
        self.begin(self.weir.address, without="error_page 502 504 = @weir_silent;")
        self.assertEqual(self.get().status, 503)
        self.assertEqual(self.api.requests, [])

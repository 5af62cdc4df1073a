"""Envoy with the configuration in deploy/envoy sends Weir a subrequest per request."""

from harness import asking
from harness.envoy import built


class BehindEnvoy(asking.AskingProxy):
    passes_all_fields_on = False
    own_refusals = (400, 403)  # of fields that Connection names, and of an upgrade

    def command(self, weir, patience, denies=False):
        site = (asking.DEPLOY / "envoy" / "envoy.yaml").read_text(encoding="utf-8")
        host, _, port = weir.partition(":")
        for written, here in (("port_value: 8000}", f"port_value: {self.port}}}"),
                              ("port_value: 3000}", f"port_value: {self.api.port}}}"),
                              ("address: 127.0.0.1, port_value: 8080", f"address: {host}, port_value: {port}"),
                              ("http://127.0.0.1:8080", f"http://{weir}"),
                              ("timeout: 0.2s", f"timeout: {patience.replace('200ms', '0.2s')}"),
                              *([("failure_mode_allow: true", "failure_mode_allow: false")] if denies else [])):
            self.assertIn(written, site)
            site = site.replace(written, here)
        file = self.root / "envoy.yaml"
        file.write_text(site, encoding="utf-8")
        return [built(), "-c", str(file), "--concurrency", "1", "--log-level", "error",
                "--base-id", str(self.port)], {}

    def test_without_weir_all_is_served(self):
        self.lose_weir()
        self.assertEqual([self.get().status for _ in range(3)], [200] * 3)
        self.begin_with_silent_weir()
        self.assertEqual(self.get(method="POST", body=b"upload").body, b"upload")

    def test_without_weir_all_is_denied_if_so_configured(self):
        self.lose_weir()
        self.begin(self.weir.address, denies=True)
        self.assertEqual(self.get().status, 403)
        self.assertEqual(self.api.requests, [])

"""A running instance whose configuration is replaced."""

import json
import signal

from .case import Case
from .exposition import labelled, parse
from .waiting import eventually

ADMIN = {"address": "127.0.0.1:0"}


class ReloadCase(Case):
    def serve(self, config, **options):
        """Started with an admin server, which reports when a reload is over."""
        self.weir = self.start(with_admin(config), **options)
        return self.weir

    def write(self, config):
        self.weir.write(with_admin(config) if isinstance(config, dict) else config)

    def post(self, fields=()):
        with self.connect_admin(self.weir) as admin:
            return admin.request("POST", "/v1/reload", fields)

    def reload(self, config=None, changed=None):
        """Applied, or the test fails. Returns the report."""
        if config is not None:
            self.write(config)
        response = self.post()
        self.assertEqual(response.status, 200, response.body)
        report = response.json()
        if changed is not None:
            self.assertEqual(sorted(report["changed"]), sorted(changed))
        return report

    def reload_fails(self, config=None):
        """Refused, or the test fails. Returns the problems."""
        if config is not None:
            self.write(config)
        response = self.post()
        return self.assert_problem(response, 422)["problems"]

    def scrape(self):
        with self.connect_admin(self.weir) as admin:
            return parse(admin.get("/metrics").body.decode())

    def reloads(self, result="ok"):
        return labelled(self.scrape(), "weir_config_reloads_total", result=result)

    def await_reloads(self, count):
        """The answers change a moment before the metric does."""
        eventually(lambda: self.reloads() >= count, f"{count} reloads")
        self.assertEqual(self.reloads(), count)

    def hang_up(self, result="ok"):
        """SIGHUP, until the metric counts it."""
        before = self.reloads(result)
        self.weir.signal(signal.SIGHUP)
        eventually(lambda: self.reloads(result) > before, f"a reload that ends with {result}")


def with_admin(config):
    return {**config, "admin": ADMIN} if config.get("admin", "off") == "off" else config


def copied(config):
    return json.loads(json.dumps(config))

"""Weirs that fetch the keys of token providers from servers that a test controls."""

import time

from harness.case import limited
from harness.certificates import Authority
from harness.exposition import labelled
from harness.issuers import pyjwt
from harness.key_server import KeyServer
from harness.preload import fast_clock
from harness.reload_case import ReloadCase
from harness.waiting import eventually

MANY = {"p": {"algorithm": "fixed_window", "rate": "1000000/1h"}}


class UrlCase(ReloadCase):
    @classmethod
    def setUpClass(cls):
        cls.issuer = pyjwt()
        cls.addClassCleanup(cls.issuer.stop)
        cls.key = {kid: cls.issuer.make_key(kid, "ES256") for kid in "abcx"}
        cls.ca = Authority()
        cls.addClassCleanup(cls.ca.cleanup)

    def key_server(self, *kids, **options):
        server = KeyServer(*(self.key[kid] for kid in kids), **options)
        self.addCleanup(server.stop)
        return server

    def token(self, kid):
        return self.issuer.token(kid, "ES256", {"sub": "alice", "exp": int(time.time()) + 3600})

    def configuration(self, **urls):
        """A provider for each name, with a header of its own."""
        providers, identities = {}, {}
        for name, jwks in urls.items():
            providers[name] = {"header": f"x-{name}", "algorithms": ["ES256"], "jwks": jwks}
            identities[f"user-{name}"] = {"jwt": {"provider": name, "claim": "sub"}}
        limits = [{"policy": "p", "key": identity} for identity in identities]
        return limited(MANY, limits, identities, jwt_providers=providers, workers=2)

    def serve(self, config, environment=None):
        """Between fetches at least a second passes, here a quarter of one."""
        return super().serve(config, environment=environment or fast_clock(4))

    def begin(self, server, **jwks):
        """One provider, idp."""
        jwks = {"url": server.url, "refresh": "1d", "cooldown": "1s", "timeout": "20s", **jwks}
        self.jwks = jwks
        self.serve(self.configuration(idp=jwks))

    def get(self, kid, provider="idp"):
        """On a connection of its own, so that any worker may serve it."""
        fields = {f"x-{provider}": self.token(kid)} if kid else {}
        with self.connect(self.weir) as client:
            return client.get("/", fields)

    def status(self, kid, provider="idp"):
        return self.get(kid, provider).status

    def await_status(self, kid, status, provider="idp"):
        eventually(lambda: self.status(kid, provider) == status, f"{kid} is answered {status}")
        # By every worker.
        self.assertEqual([self.status(kid, provider) for _ in range(10)], [status] * 10)

    def fetches(self, result, provider="idp"):
        return labelled(self.scrape(), "weir_jwks_fetches_total", provider=provider, result=result)

    def degraded(self):
        with self.connect_admin(self.weir) as admin:
            response = admin.get("/readyz")
            self.assertEqual((response.status, response.json()["state"]), (200, "ready"))
            return response.json().get("degraded", [])

"""The status page beside a real Redis and an issuer of tokens. Skipped without chromium."""

import time

from harness.case import limited
from harness.issuers import pyjwt
from harness.key_server import KeyServer
from harness.page_case import PageCase
from harness.redis_case import RedisCase, answering, sharing
from harness.waiting import eventually

ADMIN = {"address": "127.0.0.1:0"}
THREE_AN_HOUR = {"algorithm": "fixed_window", "rate": "3/1h"}


class Shared(PageCase, RedisCase):
    def test_the_redis_server_and_the_leases(self):
        server = self.redis()
        policies = {"leased": {"algorithm": "fixed_window", "rate": "1000000/1d"}, "exact": THREE_AN_HOUR}
        weir = self.start(sharing(server.url, policies, routes=[answering("/leased", "leased"),
                                                                answering("/exact", "exact")],
                                  redis={"leases": {"share": 20}}, admin=ADMIN, workers=1))
        self.await_redis(weir)
        page, node = self.live(weir), f"127.0.0.1:{server.port}"
        self.assertEqual(self.send(weir, "/exact", 4), [200] * 3 + [429])
        eventually(lambda: self.send(weir, "/leased", 100) and page.facts("store")["decided from leases"] != "0",
                   "the hot key is leased")
        self.await_cell(page, "holds", "leased", "requests queued", "\u2013")
        leased = self.cell(page, "holds", "leased", "units leased")
        self.assertGreater(int(leased.replace(",", "")), 0)
        self.assertNotIn("exact", page.rows("holds"))
        self.assertEqual([self.cell(page, "nodes", node, column) for column in ("state", "breaker")],
                         ["up", "closed"])
        self.assertNotEqual(self.cell(page, "nodes", node, "in flight, at most"), "0")
        self.assertEqual([page.facts("store")[name] for name in ("type", "state", "instances", "that differ")],
                         ["redis", "up", "1", "0"])
        server.stop()
        self.await_cell(page, "nodes", node, "state", "down")
        self.assertEqual(page.facts("store")["state"], "down")
        server.start()
        self.await_cell(page, "nodes", node, "state", "up")
        self.assert_clean(page)


class TokenKeys(PageCase):
    def test_their_age_and_why_the_last_fetch_failed(self):
        issuer = pyjwt()
        self.addCleanup(issuer.stop)
        server = KeyServer(issuer.make_key("a", "ES256"))
        issuer.make_key("b", "ES256")
        self.addCleanup(server.stop)
        provider = {"header": "x-token", "algorithms": ["ES256"],
                    "jwks": {"url": server.url, "cooldown": "1s"}}
        weir = self.start(limited({"p": THREE_AN_HOUR}, [{"policy": "p", "key": "user"}], admin=ADMIN,
                                  identities={"user": {"jwt": {"provider": "idp", "claim": "sub"}}},
                                  jwt_providers={"idp": provider}))
        page = self.live(weir)
        self.await_cell(page, "keys", "idp", "problem", "\u2013")
        self.assertRegex(self.cell(page, "keys", "idp", "age"), r"^\d+ s$")
        server.behaviour = lambda exchange: exchange.answer(b"no", "500 Broken")
        # A token with another key makes Weir fetch the keys.
        token = issuer.token("b", "ES256", {"sub": "alice", "exp": int(time.time()) + 3600})
        with weir.connect() as client:
            eventually(lambda: client.get("/", {"x-token": token}) and
                       "500" in self.cell(page, "keys", "idp", "problem"), "the page shows why")
        self.assertNotEqual(self.cell(page, "keys", "idp", "failed"), "0")
        self.assert_clean(page)

"""A configuration that decides in shadow: applied, dropped with its keys, replaced, refused; with memory and Redis."""

import json
import signal
import subprocess
import tempfile
import threading
import time
from pathlib import Path

from harness.case import limited
from harness.exposition import labelled
from harness.http2 import Http2Client
from harness.issuers import pyjwt
from harness.key_server import KeyServer
from harness.redis import Redis
from harness.reload_case import ReloadCase
from harness.rls_client import METHOD, Answer, RlsClient
from harness.rls_messages import request
from harness.waiting import eventually
from harness.weir import binary

KUADRANT = "/kuadrant.service.ratelimit.v1.RateLimitService"
SECRET = "key-that-is-never-shown"


class ShadowCase(ReloadCase):
    def config(self, rate, **policy):
        return limited({"per_key": {"algorithm": "fixed_window", "rate": rate, **policy}},
                       [{"policy": "per_key", "key": "key"}], {"key": {"header": "x-key"}},
                       **{"workers": 2, "identity_secret": "a-secret", **self.sections()})

    def sections(self):
        return {}

    def ask(self, key, count=1):
        """Each request on a connection of its own, so that both workers get some."""
        statuses = []
        for _ in range(count):
            with self.connect(self.weir) as client:
                statuses.append(client.get("/", [("X-Key", key)]).status)
        return statuses

    def shadow(self, config, query):
        self.write(config)
        with self.connect_admin(self.weir) as admin:
            return admin.request("POST", f"/v1/reload?{query}")

    def begin(self, config, query):
        response = self.shadow(config, query)
        self.assertEqual(response.status, 202, response.body)
        self.assertEqual(sorted(response.json()), ["hash", "until"])
        return response.json()

    def admin_json(self, path):
        with self.connect_admin(self.weir) as admin:
            return admin.get(path).json()

    def state(self):
        return self.admin_json("/v1/reload")

    def await_state(self, state):
        eventually(lambda: self.state()["state"] == state, f"a shadow that is {state}")
        return self.state()

    def results(self):
        scrape = self.scrape()
        return {result: labelled(scrape, "weir_shadow_reloads_total", result=result)
                for result in ("done", "dropped", "replaced")}

    def check_overrides(self, ask, denied):
        """`ask`: asks with a key, returns the status."""
        overrides = {"rate": ({"rate": "9/1h"}, 200), "unlimited": ({"unlimited": True}, 200),
                     "deny": ({"deny": True}, denied)}
        for key, (effect, _) in overrides.items():
            with self.connect_admin(self.weir) as admin:
                put = admin.request("PUT", "/v1/overrides", [("Content-Type", "application/json")],
                                    json.dumps({"identity": "key", "key": key, "policy": "per_key", **effect}).encode())
            self.assertEqual(put.status, 200, put.body)
        for key, (_, status) in overrides.items():
            with self.subTest(override=key):
                skipped = self.state()["skipped"]
                self.assertEqual([ask(key), ask(key)], [status] * 2)
                eventually(lambda skipped=skipped: self.state()["skipped"] == skipped + 2, "two that are skipped")
                self.assertEqual(self.state()["decisions"], 0)
        self.assertEqual(ask("another"), 200)
        eventually(lambda: self.state()["decisions"] == 1, "one that is compared")
        self.assertEqual(self.state()["skipped"], 6)


class Outcomes(ShadowCase):
    def test_few_flips_apply_it(self):
        self.serve(self.config("5/1h"))
        self.assertEqual(self.state(), {"state": "none"})
        begun = self.begin(self.config("2/1h"), "shadow=4s&max_flips=50%25")
        self.assertEqual(self.ask(SECRET, 4), [200] * 4)
        eventually(lambda: self.state()["decisions"] == 4, "4 decisions")
        shown = self.admin_json("/v1/config")["shadow_reload"]
        self.assertEqual({**shown, "state": "shadow"}, {
            "state": "shadow", **begun, "max_flips": "50%", "decisions": 4, "flips": 2, "skipped": 0})
        done = self.await_state("done")
        self.assertEqual((done["decisions"], done["flips"]), (4, 2))
        self.assertEqual(self.results(), {"done": 1, "dropped": 0, "replaced": 0})
        self.assertEqual(self.reloads(), 1)
        self.assertEqual(self.admin_json("/v1/config")["hash"], begun["hash"])
        self.assertEqual(self.ask(SECRET), [429])  # the use counted so far stays
        self.assertIn("2 of 4 decisions would have flipped; applying the configuration", self.weir.stderr)

    def test_many_flips_drop_it_and_show_ten_keys(self):
        self.serve(self.config("5/1h"))
        self.begin(self.config("1/1h"), "shadow=4s&max_flips=10%25")
        for i in range(12):
            self.ask(f"{SECRET}-{i}", 3 if i == 0 else 2)
        dropped = self.await_state("dropped")
        self.assertEqual((dropped["decisions"], dropped["flips"]), (25, 13))
        self.assertEqual([key["flips"] for key in dropped["keys"]], [2] + [1] * 9)
        for key in dropped["keys"]:
            self.assertEqual((key["identity"], key["policy"], key["candidate"], key["error"]),
                             ("key", "per_key", "denied", 0))
            self.assertRegex(key["hash"], "^[0-9a-f]{32}$")
        self.assertEqual(self.reloads(), 0)
        self.assertEqual(self.results(), {"done": 0, "dropped": 1, "replaced": 0})
        scrape = self.scrape()
        self.assertEqual(labelled(scrape, "weir_shadow_reload_active"), 0)
        self.assertEqual(labelled(scrape, "weir_shadow_reload_decisions_total"), 25)
        self.assertEqual(labelled(scrape, "weir_shadow_reload_flips_total"), 13)
        self.assertEqual(self.ask(f"{SECRET}-0"), [200])
        for text in (json.dumps(dropped), json.dumps(self.admin_json("/v1/config")), self.weir.stderr):
            self.assertNotIn(SECRET, text)
        self.assertIn("13 of 25 decisions would have flipped, more than 10%", self.weir.stderr)


class OutcomesWithRedis(Outcomes):
    def setUp(self):
        self.redis = Redis().start()
        self.addCleanup(self.redis.close)

    def sections(self):
        return {"store": {"type": "redis", "redis": {"url": self.redis.url}}}


class Tokens(ShadowCase):
    """Requests whose identity is a claim of a token, with keys that both configurations fetch."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.issuer = pyjwt()
        cls.addClassCleanup(cls.issuer.stop)
        cls.key = cls.issuer.make_key("a", "ES256")

    def key_server(self):
        server = KeyServer(self.key)
        self.addCleanup(server.stop)
        return server

    def config(self, rate, url):
        return limited({"per_user": {"algorithm": "fixed_window", "rate": rate}},
                       [{"policy": "per_user", "key": "user"}], {"user": {"jwt": {"provider": "idp", "claim": "sub"}}},
                       jwt_providers={"idp": {"algorithms": ["ES256"], "jwks": {"url": url}}}, workers=2)

    def ask_as(self, user):
        token = self.issuer.token("a", "ES256", {"sub": user, "exp": int(time.time()) + 3600})
        with self.connect(self.weir) as client:
            return client.get("/", [("Authorization", f"Bearer {token}")]).status

    def begin_with(self, url):
        server = self.key_server()
        self.serve(self.config("1000/1h", server.url))
        eventually(lambda: self.ask_as("nobody") == 200, "the keys are there")
        self.begin(self.config("1/1h", url or server.url), "shadow=1h&max_flips=100%25")

    def test_they_are_compared_when_the_keys_are_there(self):
        self.begin_with(None)

        def compared():
            self.assertEqual(self.ask_as(SECRET), 200)
            return (now := self.state())["decisions"] >= 3 and now

        shown = eventually(compared, "three requests that are compared")
        self.assertEqual(shown["flips"], shown["decisions"] - 1)
        [key] = shown["keys"]
        self.assertEqual((key["identity"], key["policy"], key["candidate"]), ("user", "per_user", "denied"))
        self.assertNotIn(SECRET, json.dumps(shown))

    def test_they_are_skipped_while_the_candidate_has_no_keys(self):
        hangs, may_end = self.key_server(), threading.Event()
        self.addCleanup(may_end.set)
        hangs.behaviour = lambda exchange: may_end.wait() and exchange.close()
        self.begin_with(hangs.url)

        def skipped():
            self.assertEqual(self.ask_as(SECRET), 200)
            return (now := self.state())["skipped"] >= 3 and now

        shown = eventually(skipped, "three requests that are not compared")
        self.assertEqual((shown["decisions"], shown["flips"]), (0, 0))


class Bodies(ShadowCase):
    """Requests of HTTP/2, whose body states what to reserve."""

    def config(self, rate):
        config = super().config(rate)
        config["upstreams"] = {"main": {"servers": [{"url": self.up.url}]}}
        config["routes"] = [{"upstream": "main", "limits": [
            {"policy": "per_key", "key": "key", "reserve": {"json": "/units", "default": 1}}]}]
        return config

    def test_reserves_with_and_without_a_length(self):
        self.up = self.upstream()
        self.serve(self.config("100/1h"))
        self.begin(self.config("8/1h"), "shadow=1h&max_flips=100%25")
        body = json.dumps({"units": 9}).encode()
        client = Http2Client(self.weir.address)
        self.addCleanup(client.close)
        for flips, length in enumerate(({"content-length": str(len(body))}, {}), 1):
            self.assertEqual(client.request("POST", "/", {"x-key": SECRET, **length}, body).status, 200)
            eventually(lambda flips=flips: self.state()["decisions"] == flips, "a request that is compared")
            self.assertEqual(self.state()["flips"], flips)


class Calls(ShadowCase):
    """Calls of the rate limit service, which share the policy of the requests."""

    def sections(self):
        return {"rate_limit_service": {"listen": [{"address": "127.0.0.1:0"}], "descriptors": [
            {"domain": "edge", "entries": {"api_key": "*"}, "policy": "per_key", "key": ["api_key"]}]}}

    def call(self, key=SECRET):
        body = json.dumps({"domain": "edge", "descriptors": [{"entries": [{"key": "api_key", "value": key}]}]})
        with self.connect_to(self.weir.addresses[-1]) as client:
            return client.request("POST", "/json", [("Content-Type", "application/json")], body.encode()).status

    def test_they_are_compared(self):
        self.serve(self.config("5/1h"))
        self.begin(self.config("1/1h"), "shadow=4s&max_flips=50%25")
        self.assertEqual([self.call() for _ in range(3)] + [self.call("another")], [200] * 4)
        dropped = self.await_state("done")
        self.assertEqual((dropped["decisions"], dropped["flips"], dropped["skipped"]), (4, 2, 0))
        [key] = dropped["keys"]
        self.assertEqual((key["identity"], key["policy"], key["candidate"], key["flips"]),
                         ("descriptor", "per_key", "denied", 2))
        self.assertNotIn(SECRET, json.dumps(dropped))
        self.assertIn("2 of 4 decisions would have flipped; applying the configuration", self.weir.stderr)
        self.assertEqual(self.call(), 429)

    def test_flips_of_calls_drop_it(self):
        self.serve(self.config("5/1h"))
        self.begin(self.config("1/1h"), "shadow=2s&max_flips=0%25")
        self.assertEqual([self.call() for _ in range(3)], [200] * 3)
        self.assertEqual(self.await_state("dropped")["flips"], 2)
        self.assertEqual(self.call(), 200)

    def test_methods_in_protocol_buffers(self):
        self.serve(self.config("5/1h"))
        self.begin(self.config("1/1h"), "shadow=1h&max_flips=100%25")
        client = RlsClient(self.weir.addresses[-1][1])
        self.addCleanup(client.close)
        made = request("edge", [("api_key", SECRET)])
        for method in METHOD, f"{KUADRANT}/CheckRateLimit", f"{KUADRANT}/Report":
            self.assertEqual(Answer(client.call(method, made.SerializeToString())).code, "OK")
        eventually(lambda: self.state()["decisions"] == 3, "three calls that are compared")
        self.assertEqual(self.state()["flips"], 1)  # the check

    def test_under_an_override(self):
        sections = self.sections()
        sections["rate_limit_service"]["descriptors"][0]["identity"] = "key"  # overrides need its name
        self.serve({**self.config("5/1h"), **sections})
        self.begin({**self.config("1/1h"), **sections}, "shadow=1h")
        self.check_overrides(self.call, 429)


class NotCompared(ShadowCase):
    """What the comparison does not decide is counted, so no configuration passes as if it had been compared."""

    def test_reservations(self):
        service = {"listen": [{"address": "127.0.0.1:0"}], "reservations": True, "descriptors": [
            {"domain": "edge", "entries": {"api_key": "*"}, "policy": "per_key", "key": ["api_key"]}]}
        self.serve({**self.config("5/1h"), "rate_limit_service": service})
        self.begin({**self.config("1/1h"), "rate_limit_service": service}, "shadow=1h")
        client = RlsClient(self.weir.addresses[-1][1])
        self.addCleanup(client.close)
        units = b"\x18\x02"  # amount: 2
        outcome = client.call(f"{KUADRANT}/Reserve", request("edge", [("api_key", SECRET)]).SerializeToString() + units)
        self.assertEqual(outcome.code, "OK", outcome.details)
        eventually(lambda: self.state()["skipped"] == 1, "a reservation that is not compared")
        self.assertEqual(self.state()["decisions"], 0)

    def test_requests_under_an_override(self):
        self.serve(self.config("5/1h"))
        self.begin(self.config("1/1h"), "shadow=1h")
        self.check_overrides(lambda key: self.ask(key)[0], 403)


    def test_a_configuration_that_could_not_be_compared_is_dropped(self):
        self.serve(self.config("5/1h"))
        with self.connect_admin(self.weir) as admin:
            override = {"identity": "key", "key": SECRET, "unlimited": True}
            put = admin.request("PUT", "/v1/overrides", [("Content-Type", "application/json")],
                                json.dumps(override).encode())
        self.assertEqual(put.status, 200, put.body)
        self.begin(self.config("1/1h"), "shadow=2s&max_flips=100%25")
        self.assertEqual(self.ask(SECRET, 3) + self.ask("another"), [200] * 4)
        dropped = self.await_state("dropped")
        self.assertEqual((dropped["decisions"], dropped["flips"], dropped["skipped"]), (1, 0, 3))
        self.assertIn("more requests were skipped than compared", dropped["reason"])
        self.assertEqual(self.results(), {"done": 0, "dropped": 1, "replaced": 0})
        self.assertEqual(self.reloads(), 0)


class Lists(ShadowCase):
    """An address list of a file, which is replaced while it is in use."""

    def config(self, rate, office):
        return {**super().config(rate), "address_lists": {"office": {"file": str(office)}}, "routes": [
            {"match": {"path": "/**"}, "respond": {"status": 200},
             "limits": [{"policy": "per_key", "key": "key", "unless": {"address": "office"}}]}]}

    def test_a_list_that_changes(self):
        directory = tempfile.TemporaryDirectory(prefix="weir-list-")
        self.addCleanup(directory.cleanup)
        office = Path(directory.name) / "office.txt"
        office.write_text("127.0.0.1\n")
        self.serve(self.config("1/1h", office))
        self.begin(self.config("2/1h", office), "shadow=1h&max_flips=100%25")
        self.assertEqual(self.ask(SECRET, 3), [200] * 3)
        eventually(lambda: self.state()["decisions"] == 3, "3 decisions")
        for number in range(3):
            written = office.with_suffix(".new")
            written.write_text(f"192.0.2.{number}\n")
            written.rename(office)
            eventually(lambda number=number: labelled(self.scrape(), "weir_file_reloads_total", kind="address_list",
                                                      result="ok") > number, "the list is read again")
            before = self.state()["decisions"]
            self.ask(f"{SECRET}-{number}", 4)
            eventually(lambda before=before: self.state()["decisions"] == before + 4, "4 decisions more")
        self.assertEqual(self.ask(SECRET, 2), [200, 429])  # it is not in the list any more
        self.assertEqual(self.state()["state"], "shadow")


class Replaced(ShadowCase):
    def test_by_another_shadow_and_by_a_reload(self):
        self.serve(self.config("5/1h"))
        first = self.begin(self.config("4/1h"), "shadow=1h")
        second = self.begin(self.config("3/1h"), "shadow=1h&max_flips=0%25")
        self.assertNotEqual(first["hash"], second["hash"])
        shown = self.state()
        self.assertEqual((shown["state"], shown["hash"], shown["max_flips"]), ("shadow", second["hash"], "0%"))
        self.assertEqual(self.results()["replaced"], 1)
        self.reload_fails("routes: [")
        self.assertEqual(self.state()["state"], "shadow")
        self.reload(self.config("2/1h"))
        dropped = self.state()
        self.assertEqual((dropped["state"], dropped["reason"]), ("dropped", "replaced by another reload"))
        self.assertEqual(self.results(), {"done": 0, "dropped": 0, "replaced": 2})
        self.assertEqual(self.ask(SECRET, 3), [200, 200, 429])

    def test_by_a_signal(self):
        self.serve(self.config("5/1h"))
        self.begin(self.config("4/1h"), "shadow=1h")
        self.weir.signal(signal.SIGHUP)
        self.await_state("dropped")

    def test_the_program_ends_during_a_shadow(self):
        self.serve(self.config("5/1h"))
        self.begin(self.config("4/1h"), "shadow=1h")
        self.ask(SECRET, 3)
        self.assertEqual(self.weir.stop(), None)


class Refused(ShadowCase):
    def test_a_file_with_problems_and_parameters_that_cannot_be_read(self):
        self.serve(self.config("5/1h"))
        self.assert_problem(self.shadow("policies: {a: {rate: x}}", "shadow=10m"), 422)
        for query, part in (("shadow=10", "shadow: expected a duration"), ("shadow=", "shadow: expected a duration"),
                            ("shadow=999ms", "from 1s to 1d"), ("shadow=25h", "from 1s to 1d"),
                            ("max_flips=1", "max_flips needs shadow"), ("shadow=1m&max_flips=101", "0% to 100%"),
                            ("shadow=1m&max_flips=-1", "0% to 100%"), ("shadow=1m&max_flips=0.00001", "four decimals"),
                            ("shadow=1m&shadow=1m", "appears twice"), ("shadows=1m", "unknown parameter")):
            with self.subTest(query=query):
                problem = self.assert_problem(self.shadow(self.config("5/1h"), query), 400)
                self.assertIn(part, problem["detail"])
        self.assertEqual(self.state(), {"state": "none"})


class Command(ShadowCase):
    def command(self, *arguments):
        host, port = self.weir.admin_address
        return subprocess.run([binary(), "reload", "--admin", f"http://{host}:{port}", *arguments],
                              capture_output=True, text=True, timeout=60)

    def test_it_prints_the_answer_or_what_is_wrong(self):
        self.serve(self.config("5/1h"))
        self.write(self.config("6/1h"))
        plain = self.command()
        self.assertEqual((plain.returncode, json.loads(plain.stdout)["changed"]), (0, ["policies.per_key"]))
        begun = self.command("--shadow", "1h", "--max-flips", "0.5%")
        self.assertEqual((begun.returncode, begun.stderr), (0, ""))
        self.assertEqual(json.loads(begun.stdout)["until"], self.state()["until"])
        self.write("policies: {p: {rate: x}}\nroutes: [")
        wrong = self.command()
        self.assertEqual((wrong.returncode, wrong.stdout), (1, ""))
        self.assertRegex(wrong.stderr, r"(?m)^\S*weir.yaml:\d+:\d+: \S")
        self.assertTrue(wrong.stderr.endswith("the configuration has problems; the running one stays as it is\n"))
        for arguments, part in ((["--shadow", "1x"], "--shadow: expected a duration"),
                                (["--shadow", "1m", "--max-flips", "x"], "--max-flips: expected a percentage"),
                                (["--max-flips", "1%"], "--max-flips requires --shadow")):
            wrong = self.command(*arguments)
            self.assertEqual(wrong.returncode, 2)
            self.assertIn(part, wrong.stderr)

"""What the keys of a policy and of a limit do, alone and together."""

import base64
import json
import re
import time
from email.utils import parsedate_to_datetime

from harness.case import Case, limited
from harness.limit_fields import limit_fields
from harness.waiting import eventually

CLIENT = {"policy": "p", "key": "client"}


def window(rate, **keys):
    return {"algorithm": "fixed_window", "rate": rate, **keys}


class PolicyCase(Case):
    def begin(self, policies, limits, **sections):
        self.weir = self.start(limited(policies, limits, **sections))
        self.client = self.connect(self.weir)

    def statuses(self, count):
        return [self.client.get("/").status for _ in range(count)]


class Visibility(PolicyCase):
    def test_a_hidden_policy_alone_leaves_no_field(self):
        self.begin({"p": window("1/1h", headers=False)}, [CLIENT])
        response = self.client.get("/")
        for name in ("RateLimit", "RateLimit-Policy", "RateLimit-Limit", "RateLimit-Remaining",
                     "RateLimit-Reset"):
            self.assertNotIn(name, response.fields)
        self.assertEqual(self.client.get("/").status, 429)

    def test_the_standard_and_the_legacy_fields_are_chosen_apart(self):
        triple = {"Limit", "Remaining", "Reset"}
        for options, standard, prefix in [
            ({"standard": True, "legacy": "none"}, True, None),
            ({"standard": False, "legacy": "ratelimit"}, False, "RateLimit-"),
            ({"standard": True, "legacy": "x_ratelimit"}, True, "X-RateLimit-"),
            ({"standard": False, "legacy": "none"}, False, None),
        ]:
            with self.subTest(options=options):
                self.begin({"p": window("5/1h")}, [CLIENT], response_headers=options)
                names = {name for name, _ in self.client.get("/").fields.lines
                         if "ratelimit" in name.lower()}
                expected = {"RateLimit", "RateLimit-Policy"} if standard else set()
                self.assertEqual(names,
                                 expected | ({prefix + word for word in triple} if prefix
                                             else set()))

    def test_fields_are_on_every_answer_of_a_limited_route(self):
        upstream = self.upstream(lambda exchange: exchange.answer(b"no", "404 Not Found"))
        route = {"upstream": "main", "limits": [CLIENT]}
        self.begin({"p": window("5/1h")}, [],
                   upstreams={"main": {"servers": [{"url": upstream.url}]}}, routes=[route])
        response = self.client.get("/")
        self.assertEqual((response.status, limit_fields(response).remaining), (404, 4))
        upstream.stop()
        response = self.client.get("/")
        self.assertEqual((response.status, limit_fields(response).remaining), (502, 3))


class Shadow(PolicyCase):
    def test_a_shadow_policy_never_denies(self):
        self.begin({"p": window("1/1h", mode="shadow")}, [CLIENT])
        self.assertEqual(self.statuses(3), [200, 200, 200])
        # The response has no fields about a limit that is not enforced.
        names = {name.lower() for name, _ in self.client.get("/").fields.lines}
        self.assertFalse({name for name in names if name.startswith("ratelimit")}, names)


class BesideTheUpstreams(PolicyCase):
    FIELDS = ("RateLimit: \"up\";r=9", "ratelimit-policy: \"up\";q=9", "RateLimit-Limit: 9",
              "RateLimit-Remaining: 9", "RateLimit-Reset: 9", "X-RateLimit-Limit: 8",
              "Retry-After: 7")

    def forward(self, policy):
        """Name and value of each field about limits, by path."""
        fields = [line.split(": ") for line in self.FIELDS]
        upstream = self.upstream(lambda exchange: exchange.answer(b"", fields=fields))
        routes = [{"upstream": "main", "match": {"path": "/limited"}, "limits": [CLIENT]},
                  {"upstream": "main"}]
        self.begin({"p": policy}, [], routes=routes,
                   upstreams={"main": {"servers": [{"url": upstream.url}]}})

        def limits_of(path):
            return sorted(f"{name}: {value}" for name, value in self.client.get(path).fields.lines
                          if "ratelimit" in name.lower() or name == "Retry-After")

        return limits_of("/limited"), limits_of("/free")

    def test_ours_replace_those_of_the_same_name_in_routes_with_limits(self):
        limited_route, free = self.forward(window("5/1h"))
        self.assertEqual(free, sorted(self.FIELDS))
        self.assertEqual([line for line in limited_route if not line.startswith("RateLimit-Reset")],
                         ["RateLimit-Limit: 5", "RateLimit-Policy: \"p\";q=5;w=3600",
                          "RateLimit-Remaining: 4", "RateLimit: \"p\";r=4;t=3600",
                          "Retry-After: 7", "X-RateLimit-Limit: 8"])

    def test_a_hidden_policy_replaces_nothing(self):
        limited_route, _ = self.forward(window("5/1h", headers=False))
        self.assertEqual(limited_route, sorted(self.FIELDS))


class PartitionKey(PolicyCase):
    def test_it_is_the_identity_of_the_access_log(self):
        self.begin({"p": window("5/1h")}, [CLIENT], response_headers={"partition_key": True},
                   identity_secret="an-identity-secret-of-this-test.", access_log={"path": "log"})
        response = self.client.get("/")
        keys = [re.search(r";pk=:([^:]*):$", response[name])[1]
                for name in ("RateLimit", "RateLimit-Policy")]
        file = self.weir.directory / "log"
        line = json.loads(eventually(lambda: file.exists() and file.read_text(), "a line"))
        self.assertEqual([base64.b64decode(key).hex() for key in keys], [line["identity"]] * 2)


class Cost(PolicyCase):
    def test_the_policys_cost_and_the_limits_own(self):
        self.begin({"p": window("10/1h", cost=4)}, [CLIENT])
        self.assertEqual([limit_fields(self.client.get("/")).remaining for _ in range(3)],
                         [6, 2, 2])
        self.begin({"p": window("10/1h", cost=4)}, [{**CLIENT, "cost": 5}])
        self.assertEqual(self.statuses(3), [200, 200, 429])

    def test_overdraft_admits_once_and_drains(self):
        self.begin({"p": window("5/1h")}, [{**CLIENT, "cost": 3, "overdraft": True}])
        remaining = [limit_fields(self.client.get("/")).remaining for _ in range(3)]
        self.assertEqual(remaining, [2, 0, 0])
        self.assertEqual(self.client.get("/").status, 200)


class Denials(PolicyCase):
    def denied(self, policy, **sections):
        self.begin({"p": policy}, [CLIENT], **sections)
        self.assertEqual(self.client.get("/").status, 200)
        return self.client.get("/")

    def test_a_status_of_its_own(self):
        problem = self.assert_problem(self.denied(window("1/1h", status=503)), 503)
        self.assertEqual(problem["title"], "Service Unavailable")

    def test_a_body_of_its_own(self):
        response = self.denied(window("1/1h", body="slow down\n"))
        self.assertEqual((response.status, response.body), (429, b"slow down\n"))
        self.assertTrue(response["Content-Type"].startswith("text/plain"))
        self.assertIn("Retry-After", response.fields)
        self.assertEqual(response["Cache-Control"], "no-store")

    def test_retry_after_as_a_date_that_is_not_too_early(self):
        before = time.time()
        response = self.denied(window("1/1h"), retry_after="http_date")
        after = time.time()
        at = parsedate_to_datetime(response["Retry-After"]).timestamp()
        self.assertTrue(before + 3600 <= at <= after + 3602, f"{at - before} s ahead")
        self.assertRegex(response["Retry-After"], r"^\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT$")

    def test_jitter_adds_up_to_its_bound_and_never_takes_away(self):
        first = self.denied(window("1/1h"), retry_after_jitter="100s")
        waits = [int(first["Retry-After"])] + [int(self.client.get("/")["Retry-After"])
                                               for _ in range(60)]
        self.assertGreater(len(set(waits)), 10)
        self.assertTrue(all(3590 <= seconds <= 3700 for seconds in waits), waits)
        self.assertEqual(self.client.get("/").json()["status"], 429)

    def test_a_denial_of_head_has_no_body(self):
        self.denied(window("1/1h"))
        response = self.client.request("HEAD", "/")
        self.assertEqual((response.status, response.body), (429, b""))
        self.assertTrue(re.fullmatch(r"\d+", response["Retry-After"]))
        self.assertEqual(self.client.get("/").status, 429)

    def test_a_denied_request_never_reaches_the_upstream(self):
        upstream = self.upstream()
        self.begin({"p": window("2/1h")}, [],
                   upstreams={"main": {"servers": [{"url": upstream.url}]}},
                   routes=[{"upstream": "main", "limits": [CLIENT]}])
        self.assertEqual(self.statuses(5), [200, 200, 429, 429, 429])
        self.assertEqual(len(upstream.requests), 2)


class Counting(PolicyCase):
    def test_routes_that_share_a_policy_share_its_count(self):
        route = {"respond": {"body": "x"}, "limits": [CLIENT]}
        self.begin({"p": window("2/1h")}, [], routes=[
            {"match": {"path": "/a"}, **route}, {"match": {"path": "/b"}, **route}])
        self.assertEqual([self.client.get(path).status for path in ("/a", "/b", "/a", "/b")],
                         [200, 200, 429, 429])

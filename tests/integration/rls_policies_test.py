"""The rate limit service with policies of the configuration: how they decide calls, and counts shared with the proxy."""

import json
import tempfile

from harness.case import limited
from harness.override_case import in_an_hour
from harness.rls_case import ADMIN, RlsCase
from harness.rls_client import METHOD
from harness.rls_messages import message, request
from harness.waiting import eventually


def codes(answers):
    return [answer.code for answer in answers]


class Descriptors(RlsCase):
    """`descriptors`: policies of Weir for descriptors."""

    def serve(self, rate="2/1h", **options):
        entry = {"domain": "d", "entries": {"api": "orders", "user": "*"}, "policy": "orders", "key": ["user"]}
        return self.serve_limits(policies={"orders": {"algorithm": "gcra", "rate": rate, "burst": 2}},
                                 service={"descriptors": [entry], **options.pop("service", {})}, **options)

    def test_a_policy_applies_to_its_entries_in_any_order(self):
        client = self.serve()
        orders = ("api", "orders")
        self.assertEqual(client.ask("d", [orders, ("user", "ann")]).code, "OK")
        self.assertEqual(client.ask("d", [("user", "ann"), orders]).code, "OK")
        self.assertEqual(client.ask("d", [orders, ("user", "ann")]).code, "OVER_LIMIT")
        self.assertEqual(client.ask("d", [orders, ("user", "bob")]).code, "OK")
        for entries in [("api", "carts"), ("user", "ann")], [orders], [orders, ("user", "ann"), ("more", "1")]:
            self.assertEqual(client.ask("d", entries).statuses[0].limit, None, entries)

    def test_two_instances_with_one_redis_share_the_counts(self):
        redis = self.redis()
        one = self.serve(redis=redis)
        two = self.serve(redis=redis)
        entries = [("api", "orders"), ("user", "ann")]
        self.assertEqual([client.ask("d", entries).code for client in (one, two, one, two)],
                         ["OK", "OK", "OVER_LIMIT", "OVER_LIMIT"])

    def serve_policy(self, policy, **options):
        entry = {"domain": "d", "entries": {"user": "*"}, "policy": "p", "key": ["user"]}
        return self.serve_limits(policies={"p": policy}, service={"descriptors": [entry]}, **options)

    def test_a_leaky_bucket_delays_calls(self):
        client = self.serve_policy({"algorithm": "leaky_bucket", "rate": "20/1s", "queue": 5},
                                   access_log={"path": "access.log"})
        for _ in range(3):
            self.assertEqual(client.ask("d", [("user", "ann")]).code, "OK")
        body = {"domain": "d", "descriptors": [{"entries": [{"key": "user", "value": "bob"}]}]}
        for _ in range(2):
            self.assertEqual(self.ask_json(body).status, 200)
        lines = self.log_lines(self.weir, 5)
        delayed = [line for line in lines if line["decision"] == "delayed"]
        self.assertTrue(all(line["delay_us"] > 0 for line in delayed))
        for line in lines:
            self.assertGreaterEqual(line["duration_us"], line["delay_us"])

    def test_a_call_whose_turn_comes_after_its_deadline_is_answered_at_once(self):
        client = self.serve_policy({"algorithm": "leaky_bucket", "rate": "1/1h", "queue": 5})
        self.assertEqual(client.ask("d", [("user", "ann")]).code, "OK")
        late = client.ask("d", [("user", "ann")])
        self.assertEqual((late.grpc_status, late.details),
                         ("DEADLINE_EXCEEDED", "the deadline of the call has passed"))

    def test_a_policy_with_leases_admits_its_quota(self):
        quota = 300
        client = self.serve_policy(
            {"algorithm": "fixed_window", "rate": f"{quota}/260d"}, workers=1,
            redis={"url": self.redis().url, "leases": {"share": 20}})
        data = request("d", [("user", "ann")]).SerializeToString()
        ask = client.channel.unary_unary(METHOD)
        passed = 0

        def ask_at_once():
            nonlocal passed
            answers = [future.result() for future in [ask.future(data, timeout=60) for _ in range(20)]]
            now = sum(message("RateLimitResponse").FromString(answer).overall_code == 1 for answer in answers)
            passed += now
            return now

        def leases():
            return self.gauge(self.weir, "weir_leases", policy="p")

        eventually(lambda: ask_at_once() == 0 or leases() > 0, "the key has a lease")
        self.assertLess(passed, quota)
        eventually(lambda: ask_at_once() == 0 and leases() == 0, "the quota is used up and no lease is left")
        self.assertEqual(passed, quota)


class Beside(RlsCase):
    """The service beside the proxy in one process."""

    def test_a_policy_and_a_key_are_one_count_for_both(self):
        config = limited({"p": {"algorithm": "fixed_window", "rate": "2/1h"}}, [{"policy": "p", "key": "api_key"}],
                         {"api_key": {"header": "x-api-key"}}, admin=ADMIN)
        config["rate_limit_service"] = {"listen": [{"address": "127.0.0.1:0"}], "descriptors": [
            {"domain": "d", "entries": {"user": "*"}, "policy": "p", "key": ["user"], "identity": "api_key"}]}
        weir = self.start(config)
        client = self.client_of(weir)
        with self.connect(weir) as proxy:
            self.assertEqual(proxy.get("/", {"X-Api-Key": "ann"}).status, 200)
        self.assertEqual(codes(client.ask("d", [("user", "ann")]) for _ in range(2)), ["OK", "OVER_LIMIT"])

    def test_the_plan_of_a_key_applies(self):
        with tempfile.NamedTemporaryFile("w", prefix="weir-plans-", suffix=".tsv") as file:
            file.write("ann\tgold\n")
            file.flush()
            client = self.serve_limits(
                identities={"api_key": {"header": "x-api-key"}},
                policies={"p": {"algorithm": "fixed_window", "rate": "1/1h"}},
                plans={"gold": {"p": {"rate": "3/1h"}}, "basic": {"p": {"rate": "2/1h"}}},
                plan_from=[{"file": file.name, "key": "api_key"}], default_plan="basic",
                service={"descriptors": [{"domain": "d", "entries": {"user": "*"}, "policy": "p", "key": ["user"],
                                          "identity": "api_key"}]})
            for user, quota in ("ann", 3), ("bob", 2):
                answers = [client.ask("d", [("user", user)]) for _ in range(quota + 1)]
                self.assertEqual(codes(answers), ["OK"] * quota + ["OVER_LIMIT"])
                self.assertEqual({answer.statuses[0].limit for answer in answers}, {(quota, "HOUR")})

    def test_an_override_of_the_policy_applies(self):
        config = limited({"p": {"algorithm": "fixed_window", "rate": "1/1h"}}, [{"policy": "p", "key": "api_key"}],
                         {"api_key": {"header": "x-api-key"}}, admin=ADMIN)
        config["rate_limit_service"] = {"listen": [{"address": "127.0.0.1:0"}], "descriptors": [
            {"domain": "d", "entries": {"user": "*"}, "policy": "p", "key": ["user"], "identity": "api_key"}]}
        weir = self.start(config)
        client = self.client_of(weir)
        with self.connect_admin(weir) as admin:
            override = {"identity": "api_key", "key": "ann", "policy": "p", "rate": "3/1h", "until": in_an_hour()}
            put = admin.request("PUT", "/v1/overrides", {"Content-Type": "application/json"},
                                json.dumps(override).encode())
            self.assertEqual(put.status, 200, put.body)
        found = eventually(lambda: [answer for answer in [client.ask("d", [("user", "ann")])]
                                    if answer.statuses[0].limit[0] == 3], "the override applies")
        self.assertEqual(found[0].code, "OK")

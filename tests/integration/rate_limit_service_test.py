"""The rate limit service: what each key of a file does, what its answers contain, and its failures."""

import json
import time

from harness.rls_case import MOST_REMAINING, RlsCase, domain, limit
from harness.rls_messages import descriptor
from harness.waiting import eventually

HOUR = 3600


def codes(answers):
    return [answer.code for answer in answers]


class Limits(RlsCase):
    """What a file with limits decides."""

    def ask(self, client, key, value="1", count=1, **options):
        """The overall codes of so many requests with one entry."""
        return codes(client.ask("d", [(key, value)], **options) for _ in range(count))

    def test_a_limit_of_a_key_counts_each_value(self):
        client = self.serve_limits(domain(limit("user")))
        answers = [client.ask("d", [("user", "ann")]) for _ in range(3)]
        self.assertEqual(codes(answers), ["OK", "OK", "OVER_LIMIT"])
        self.assertEqual([answer.codes for answer in answers], [["OK"], ["OK"], ["OVER_LIMIT"]])
        self.assertEqual([answer.remaining for answer in answers], [[1], [0], [0]])
        self.assertEqual({answer.statuses[0].limit for answer in answers}, {(2, "HOUR")})
        self.assertEqual(self.ask(client, "user", "bob"), ["OK"])
        self.assertEqual(self.ask(client, "user", "", 3), ["OK", "OK", "OVER_LIMIT"])

    def test_the_window_ends_with_the_hour_of_the_clock(self):
        client = self.serve_limits(domain(limit("user"), limit("team", unit="DAY")))
        before = time.time()
        hour, day = client.ask("d", [("user", "ann")], [("team", "a")]).statuses
        elapsed = time.time() - before
        for status, length in (hour, HOUR), (day, 24 * HOUR):
            self.assertLessEqual((before + status.reset) % length, elapsed + 2)

    def test_the_statuses_are_in_the_order_of_the_descriptors(self):
        client = self.serve_limits(domain(limit("a", 5), limit("b", 1), limit("c", 7, "day")))
        both = [("b", "1")], [("nothing", "1")], [("c", "1")], [("a", "1")]
        first, second = client.ask("d", *both), client.ask("d", *both)
        self.assertEqual([status.limit for status in first.statuses], [(1, "HOUR"), None, (7, "DAY"), (5, "HOUR")])
        self.assertEqual(first.codes, ["OK"] * 4)
        self.assertEqual(second.codes, ["OVER_LIMIT", "OK", "OK", "OK"])
        self.assertEqual((first.code, second.code), ("OK", "OVER_LIMIT"))

    def test_a_denied_request_charges_nothing(self):
        client = self.serve_limits(domain(limit("one", 1), limit("many", 10)))
        for _ in range(3):
            client.ask("d", [("one", "1")], [("many", "1")])
        self.assertEqual(client.ask("d", [("many", "1")]).remaining, [8])

    def test_charge_reference_charges_each_descriptor_by_itself(self):
        client = self.serve_limits(domain(limit("one", 1), limit("many", 10)), service={"charge": "reference"})
        for _ in range(3):
            client.ask("d", [("one", "1")], [("many", "1")])
        self.assertEqual(client.ask("d", [("many", "1")]).remaining, [6])

    def test_what_matches_nothing_is_ok_without_a_limit(self):
        client = self.serve_limits(domain(limit("user", value="ann"), {"key": "bare"}))
        for name, entries in ("d", [("other", "1")]), ("d", [("user", "bob")]), ("d", [("bare", "1")]), (
                "d", [("user", "ann"), ("deeper", "1")]), ("unknown", [("user", "ann")]), ("d", []):
            answer = client.ask(name, entries)
            self.assertEqual((answer.code, answer.codes), ("OK", ["OK"]), entries)
            status = answer.statuses[0]
            self.assertEqual((status.limit, status.remaining, status.reset), (None, 0, None), entries)

    def test_without_a_domain_or_descriptors_a_call_fails_as_with_the_reference(self):
        client = self.serve_limits(domain(limit("user")))
        for answer, details in ((client.ask("", [("user", "ann")]), "rate limit domain must not be empty"),
                                (client.ask("d"), "rate limit descriptor list must not be empty")):
            self.assertEqual((answer.grpc_status, answer.details), ("UNKNOWN", details))

    def test_a_value_is_preferred_to_a_wildcard_and_this_to_the_key(self):
        client = self.serve_limits(domain(limit("path", 3), limit("path", 4, value="/v1*"),
                                          limit("path", 5, value="/*/x"), limit("path", 6, value="/v1/y")))
        found = {value: client.ask("d", [("path", value)]).statuses[0].limit[0]
                 for value in ("/v1/y", "/v1/z", "/v1", "/v2/x", "/v1/x", "/other", "")}
        self.assertEqual(found, {"/v1/y": 6, "/v1/z": 4, "/v1": 4, "/v2/x": 5, "/v1/x": 4, "/other": 3, "": 3})

    def test_values_of_a_wildcard_share_a_count_with_share_threshold(self):
        shared = limit("path", 3, value="/v1*", share_threshold=True)
        client = self.serve_limits(domain(shared, limit("host", 3, value="a*")))
        self.assertEqual([self.ask(client, "path", f"/v1/{i}")[0] for i in range(4)], ["OK"] * 3 + ["OVER_LIMIT"])
        self.assertEqual([self.ask(client, "host", f"a{i}")[0] for i in range(4)], ["OK"] * 4)

    def test_nested_descriptors_match_the_entries_in_order(self):
        client = self.serve_limits(domain({"key": "tenant", "descriptors": [
            limit("user", 3), {"key": "team", "value": "a", "descriptors": [limit("user", 4)]}]}))

        def found(*entries):
            status = client.ask("d", list(entries)).statuses[0]
            return status.limit and status.limit[0]

        self.assertEqual(found(("tenant", "x"), ("user", "u")), 3)
        self.assertEqual(found(("tenant", "x"), ("team", "a"), ("user", "u")), 4)
        self.assertIsNone(found(("tenant", "x"), ("team", "b"), ("user", "u")))
        self.assertIsNone(found(("user", "u"), ("tenant", "x")))
        self.assertIsNone(found(("tenant", "x")))
        # All entries are the key of the count.
        self.assertEqual(client.ask("d", [("tenant", "y"), ("user", "u")]).remaining, [2])

    def test_a_limit_replaces_others_of_the_request(self):
        client = self.serve_limits(domain(limit("all", 1, name="base"),
                                          limit("vip", 5, name="vip", replaces=[{"name": "base"}])))
        for left in 4, 3:
            answer = client.ask("d", [("all", "1")], [("vip", "1")])
            self.assertEqual((answer.code, answer.remaining), ("OK", [0, left]))
            self.assertEqual([status.limit and status.limit[0] for status in answer.statuses], [None, 5])
            self.assertEqual(answer.statuses[1].name, "vip")
        self.assertEqual(self.ask(client, "all", count=2), ["OK", "OVER_LIMIT"])

    def test_unlimited(self):
        client = self.serve_limits(domain({"key": "user", "rate_limit": {"unlimited": True}}))
        answer = client.ask("d", [("user", "ann")])
        status = answer.statuses[0]
        self.assertEqual((answer.code, status.code, status.limit, status.remaining),
                         ("OK", "OK", None, MOST_REMAINING))

    def test_a_limit_of_zero_denies_everything(self):
        client = self.serve_limits(domain(limit("user", 0)))
        answer = client.ask("d", [("user", "ann")])
        self.assertEqual((answer.code, answer.remaining, answer.statuses[0].limit), ("OVER_LIMIT", [0], (0, "HOUR")))

    def test_shadow_mode_counts_and_does_not_deny(self):
        client = self.serve_limits(domain(limit("user", 1, shadow_mode=True)))
        answers = [client.ask("d", [("user", "ann")]) for _ in range(3)]
        self.assertEqual(codes(answers), ["OK"] * 3)
        self.assertEqual([answer.codes[0] for answer in answers], ["OK"] * 3)
        self.assertEqual({answer.statuses[0].limit for answer in answers}, {(1, "HOUR")})

    def test_quota_mode_denies_if_all_quotas_are_used_up(self):
        client = self.serve_limits(domain(limit("a", 1, quota_mode=True), limit("b", 2, quota_mode=True),
                                          limit("c", 9)))
        every = [("a", "1")], [("b", "1")], [("c", "1")]
        answers = [client.ask("d", *every) for _ in range(3)]
        self.assertEqual(codes(answers), ["OK", "OK", "OVER_LIMIT"])
        self.assertEqual([answer.codes for answer in answers],
                         [["OK"] * 3, ["OVER_LIMIT", "OK", "OK"], ["OVER_LIMIT", "OVER_LIMIT", "OK"]])

    def test_shadow_mode_is_stronger_than_quota_mode(self):
        client = self.serve_limits(domain(limit("a", 1, shadow_mode=True, quota_mode=True)))
        answers = [client.ask("d", [("a", "1")]) for _ in range(2)]
        self.assertEqual([(answer.code, answer.codes) for answer in answers], [("OK", ["OK"])] * 2)

    def test_domains_are_apart(self):
        client = self.serve_limits(domain(limit("user", 1)), domain(limit("user", 1), name="e"))
        self.assertEqual([client.ask(name, [("user", "1")]).code for name in ("d", "e", "d", "e")],
                         ["OK", "OK", "OVER_LIMIT", "OVER_LIMIT"])

    def test_a_changed_file_applies_after_a_reload(self):
        client = self.serve_limits(domain(limit("user", 1)))
        self.assertEqual(self.ask(client, "user", count=2), ["OK", "OVER_LIMIT"])
        self.write_limits(domain(limit("user", 5)))
        self.reload()
        self.assertEqual(client.ask("d", [("user", "new")]).statuses[0].limit, (5, "HOUR"))

    def test_a_second_file_with_the_domain_is_refused(self):
        client = self.serve_limits(domain(limit("user", 1)))
        self.write_limits(domain(limit("team", 1)), "1.yaml")
        self.assertIn("already that of file", json.dumps(self.reload_fails()))
        self.assertEqual(self.ask(client, "user", count=2), ["OK", "OVER_LIMIT"])

    def test_a_changed_file_applies_by_itself(self):
        client = self.serve_limits(domain(limit("user", 1)))
        self.write_limits(domain(limit("user", 5)))
        eventually(lambda: client.ask("d", [("user", "ann")]).statuses[0].limit == (5, "HOUR"), "the file is read")

    def test_a_wrong_file_is_refused_and_the_old_limits_stay(self):
        client = self.serve_limits(domain(limit("user", 1)))
        self.write_limits(domain(limit("user", 5, "fortnight")))
        problems = self.reload_fails()
        self.assertIn("fortnight", json.dumps(problems))
        self.assertEqual(client.ask("d", [("user", "ann")]).statuses[0].limit, (1, "HOUR"))


class Hits(RlsCase):
    """The cost of a request."""

    def setUp(self):
        super().setUp()
        self.client = self.serve_limits(domain(limit("user", 10), limit("team", 10)))

    def left(self, *descriptors, hits_addend=None):
        return self.client.ask("d", *descriptors, hits_addend=hits_addend).remaining

    def test_absent_and_zero_are_one(self):
        self.assertEqual(self.left([("user", "a")]), [9])
        self.assertEqual(self.left([("user", "a")], hits_addend=0), [8])
        self.assertEqual(self.left([("user", "a")], hits_addend=5), [3])

    def test_those_of_a_descriptor_replace_those_of_the_request(self):
        own = descriptor(("user", "a"), hits_addend=3)
        self.assertEqual(self.left(own, [("team", "a")], hits_addend=2), [7, 8])

    def test_a_zero_of_a_descriptor_looks_and_charges_nothing(self):
        look = descriptor(("user", "a"), hits_addend=0)
        self.assertEqual(self.left(look), [10])
        self.assertEqual(self.left([("user", "a")], hits_addend=10), [0])
        # A look asks for room: a client that charges afterwards would otherwise never be denied.
        answer = self.client.ask("d", look)
        self.assertEqual((answer.code, answer.remaining), ("OVER_LIMIT", [0]))

    def test_negative_hits_give_back(self):
        self.assertEqual(self.left([("user", "a")], hits_addend=10), [0])
        answer = self.client.ask("d", descriptor(("user", "a"), hits_addend=4, negative=True))
        self.assertEqual((answer.code, answer.remaining), ("OK", [4]))
        self.assertEqual(self.left([("user", "a")]), [3])

    def test_more_hits_than_are_left_are_denied(self):
        self.assertEqual(self.left([("user", "a")], hits_addend=8), [2])
        self.assertEqual(self.client.ask("d", [("user", "a")], hits_addend=3).code, "OVER_LIMIT")
        # They use up the limit, as with the reference: what has been used is not undone.
        self.assertEqual(self.client.ask("d", [("user", "a")]).code, "OVER_LIMIT")

    def test_the_fields_of_a_denial_agree_with_its_status(self):
        for redis in None, self.redis():
            with self.subTest(redis=redis is not None):
                client = self.serve_limits(domain(limit("user", 10)), redis=redis)
                client.ask("d", [("user", "a")], hits_addend=8)
                denied = client.ask("d", [("user", "a")], hits_addend=3)
                self.assertEqual((denied.code, denied.remaining, denied.headers["ratelimit-remaining"]),
                                 ("OVER_LIMIT", [0], "0"))
                self.assertIn(";r=0;", denied.headers["ratelimit"])

    def test_a_look_that_denies_charges_nothing(self):
        for redis in None, self.redis():
            with self.subTest(redis=redis is not None):
                client = self.serve_limits(domain(limit("user", 1), limit("team", 9)), redis=redis)
                client.ask("d", [("user", "a")])
                denied = client.ask("d", [("team", "a")], descriptor(("user", "a"), hits_addend=0))
                self.assertEqual((denied.codes, denied.remaining), (["OK", "OVER_LIMIT"], [9, 0]))
                self.assertEqual(client.ask("d", descriptor(("team", "a"), hits_addend=0)).remaining, [9])

    def test_a_refund_shows_what_is_left_where_denied_hits_are_counted(self):
        client = self.serve_limits(domain(limit("user", 10)), redis=self.redis(), service={"charge": "reference"})
        client.ask("d", [("user", "a")], hits_addend=15)
        left = [client.ask("d", descriptor(("user", "a"), hits_addend=4, negative=True)).remaining for _ in range(2)]
        self.assertEqual(left, [[0], [3]])
        self.assertEqual(client.ask("d", descriptor(("user", "a"), hits_addend=0)).remaining, [3])

    def test_a_descriptor_may_state_its_limit(self):
        stated = descriptor(("anything", "a"), limit=(2, "DAY"))
        answers = [self.client.ask("d", stated) for _ in range(3)]
        self.assertEqual(codes(answers), ["OK", "OK", "OVER_LIMIT"])
        self.assertEqual({answer.statuses[0].limit for answer in answers}, {(2, "DAY")})
        answer = self.client.ask("unknown", stated)
        self.assertEqual((answer.code, answer.statuses[0].limit), ("OK", None))
        answer = self.client.ask("d", descriptor(("user", "z"), limit=(3, "MINUTE")))
        self.assertEqual(answer.statuses[0].limit, (3, "MINUTE"))


class Answers(RlsCase):
    """Fields and metadata beside the statuses."""

    def test_headers_are_those_of_the_limit_with_the_least_left(self):
        client = self.serve_limits(domain(limit("a", 5), limit("b", 2)))
        for left in "1", "0":
            headers = client.ask("d", [("a", "1")], [("b", "1")]).headers
            self.assertEqual((headers["ratelimit-limit"], headers["ratelimit-remaining"]), ("2", left))
            self.assertLessEqual(int(headers["ratelimit-reset"]), HOUR)
            self.assertIn("ratelimit-policy", headers)
        denied = client.ask("d", [("a", "1")], [("b", "1")])
        self.assertEqual((denied.headers["ratelimit-limit"], denied.headers["ratelimit-remaining"]), ("2", "0"))

    def test_headers_can_be_turned_off(self):
        client = self.serve_limits(domain(limit("a", 1)), service={"headers": {"standard": False, "legacy": "none"}})
        self.assertEqual([name for _ in range(2) for name in client.ask("d", [("a", "1")]).headers
                          if name.startswith("ratelimit")], [])

    def test_without_a_limit_there_are_no_headers(self):
        client = self.serve_limits(domain(limit("a", 5)))
        self.assertEqual(client.ask("d", [("b", "1")]).headers, {})

    def test_a_denial_names_its_policy_in_the_dynamic_metadata(self):
        client = self.serve_limits(
            domain(limit("a", 9)), policies={"logins": {"algorithm": "fixed_window", "rate": "1/1h"}},
            service={"descriptors": [{"domain": "d", "entries": {"user": "*"}, "policy": "logins", "key": ["user"]}]})
        both = [("a", "1")], [("user", "ann")]
        self.assertEqual(client.ask("d", *both).code, "OK")
        denied = client.ask("d", *both)
        self.assertEqual((denied.code, denied.codes), ("OVER_LIMIT", ["OK", "OVER_LIMIT"]))
        self.assertEqual(denied.dynamic_metadata, {"policy": "logins"})
        self.assertIsNone(client.ask("d", [("a", "1")]).dynamic_metadata)

    def test_the_metadata_of_limits_that_admit_is_passed_on(self):
        client = self.serve_limits(domain(limit("a", 1, metadata={"tier": {"name": "low"}, "n": [1, True]})))
        answers = [client.ask("d", [("a", "1")]) for _ in range(2)]
        self.assertEqual(answers[0].dynamic_metadata, {"metadata": {"tier": {"name": "low"}, "n": [1, True]}})
        self.assertEqual(answers[1].dynamic_metadata, {"policy": "d.a"})


class Shared(RlsCase):
    """Counts in Redis."""

    def test_two_instances_share_the_limits_of_files(self):
        redis = self.redis()
        files = domain(limit("user", 3), limit("path", 3, value="/*", share_threshold=True))
        one = self.serve_limits(files, redis=redis)
        two = self.serve_limits(files, redis=redis)
        self.assertEqual([client.ask("d", [("user", "ann")]).remaining[0] for client in (one, two, one)], [2, 1, 0])
        self.assertEqual(two.ask("d", [("user", "ann")]).code, "OVER_LIMIT")
        self.assertEqual([client.ask("d", [("path", f"/{i}")]).remaining[0] for i, client in enumerate((one, two))],
                         [2, 1])

    def test_values_do_not_reach_redis_in_the_clear(self):
        redis = self.redis()
        client = self.serve_limits(domain(limit("user")), redis=redis)
        client.ask("d", [("user", "ann-who-is-secret")])
        self.assertNotIn(b"ann-who-is-secret", redis.contents())

    def lose_redis(self, on_failure, **options):
        redis = self.redis()
        client = self.serve_limits(domain(limit("user", 1)), redis=redis, **options,
                                   store={"on_failure": on_failure, "timeout": "100ms", "connect_timeout": "100ms"})
        self.assertEqual(client.ask("d", [("user", "ann")]).code, "OK")
        redis.stop()
        return client

    def test_without_redis_deny_is_unavailable(self):
        client = self.lose_redis("deny")
        self.assertEqual(client.ask("d", [("user", "bob")]).grpc_status, "UNAVAILABLE")
        self.assertEqual(client.ask("d", [("nothing", "1")]).code, "OK")

    def test_without_redis_allow_is_ok(self):
        client = self.lose_redis("allow", access_log={"path": "access.log"})
        self.assertEqual(codes(client.ask("d", [("user", "bob")]) for _ in range(3)), ["OK"] * 3)
        line = self.log_lines(self.weir, 4)[-1]
        self.assertEqual((line["decision"], line["store"]), ("allowed", "local"))

    def test_without_redis_local_counts_in_this_instance(self):
        client = self.lose_redis("local")
        self.assertEqual(codes(client.ask("d", [("user", "bob")]) for _ in range(2)), ["OK", "OVER_LIMIT"])

    def test_without_redis_a_look_that_denies_charges_nothing(self):
        redis = self.redis()
        client = self.serve_limits(domain(limit("user", 1), limit("team", 9)), redis=redis,
                                   store={"on_failure": "local", "timeout": "100ms", "connect_timeout": "100ms"})
        redis.stop()
        look = descriptor(("user", "bob"), hits_addend=0)
        self.assertEqual([client.ask("d", *asked).code for asked in ([[("user", "bob")]], [[("team", "a")], look])],
                         ["OK", "OVER_LIMIT"])
        self.assertEqual(client.ask("d", descriptor(("team", "a"), hits_addend=0)).remaining, [9])


class Records(RlsCase):
    """Metrics and the access log."""

    def ask_three_times(self, **options):
        client = self.serve_limits(domain(limit("user", 2), limit("path", 9, value="/x")), **options)
        for _ in range(3):
            client.ask("d", [("user", "ann-who-is-secret")], [("path", "/x")])

    def test_policies_are_named_after_the_descriptors(self):
        self.ask_three_times()
        for outcome, count in ("allowed", 2), ("denied", 1):
            self.assertEqual(self.gauge(self.weir, "weir_decisions_total", policy="d.user", outcome=outcome), count)
        self.assertEqual(self.gauge(self.weir, "weir_decisions_total", policy="d.path_/x", outcome="allowed"), 3)

    def test_the_metrics_of_the_reference(self):
        self.ask_three_times(service={"reference_metrics": True})
        for name, count in ("total_hits", 3), ("within_limit", 2), ("over_limit", 1), ("near_limit", 1):
            self.assertEqual(self.gauge(self.weir, f"ratelimit_service_rate_limit_{name}", domain="d", key1="user",
                                        key2=""), count, name)

    def test_a_line_of_the_log_has_the_decision_and_no_value(self):
        self.ask_three_times(access_log={"path": "access.log"})
        lines = self.log_lines(self.weir, 3)
        self.assertEqual([line["decision"] for line in lines], ["allowed", "allowed", "denied"])
        self.assertEqual([line["grpc_status"] for line in lines], [0, 0, 0])
        self.assertEqual([one["policy"] for one in lines[2]["denied_by"]], ["d.user"])
        self.assertNotIn("ann-who-is-secret", json.dumps(lines))

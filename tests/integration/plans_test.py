"""Plans: limits with other numbers for some clients, by a field of a trusted proxy."""

from harness.exposition import labelled
from harness.plan_case import API_KEY, BY_HEADER, POLICIES, PlanCase
from harness.redis_case import RedisCase, sharing
from harness.reload_case import copied
from harness.waiting import eventually


class Numbers(PlanCase):
    def test_a_plan_replaces_the_numbers_and_the_response_shows_them(self):
        self.begin([{"policy": "p", "key": "api_key"}, {"policy": "q", "key": "api_key"}])
        self.assertEqual(self.policy_of(key="none"), {"p": (3, 2), "q": (2, 1)})
        self.assertEqual(self.policy_of("free", key="free"), {"p": (3, 2), "q": (2, 1)})
        # The burst of q is written, so a plan that sets only the rate keeps it.
        self.assertEqual(self.policy_of("gold", key="gold"), {"p": (5, 4), "q": (2, 1)})
        self.assertEqual(self.policy_of("internal", key="internal"), {"q": (2, 1)})

    def test_a_rate_sets_the_burst_unless_the_policy_writes_one(self):
        self.begin([{"policy": "plain", "key": "api_key"}],
                   {"plain": {"algorithm": "gcra", "rate": "2/1h"}},
                   plans={"gold": {"plain": {"rate": "7/1h"}}, "low": {"plain": {"burst": 1}},
                          "both": {"plain": {"rate": "9/1h", "burst": 4}}})
        self.assertEqual(self.policy_of("gold"), {"plain": (7, 6)})
        self.assertEqual(self.policy_of("low", key="b"), {"plain": (1, 0)})
        self.assertEqual(self.policy_of("both", key="c"), {"plain": (4, 3)})

    def test_every_algorithm_and_setting(self):
        day = "260d"
        policies = {
            "fixed": {"algorithm": "fixed_window", "rate": f"3/{day}"},
            "log": {"algorithm": "sliding_log", "rate": f"3/{day}"},
            "sliding": {"algorithm": "sliding_window", "rates": [f"3/{day}", "9/300d"]},
            "bucket": {"algorithm": "token_bucket", "rate": f"3/{day}", "burst": 3},
            "arrival": {"algorithm": "gcra", "rate": f"3/{day}"},
            "attributed": {"algorithm": "attributed_window", "rate": f"3/{day}", "attributes": ["method"]},
            "leaky": {"algorithm": "leaky_bucket", "rate": "1000/1s", "queue": 0},
            "slots": {"algorithm": "concurrency", "limit": 3, "queue": 5},
        }
        plans = {"gold": {"fixed": {"rate": f"6/{day}"}, "log": {"rate": f"7/{day}"},
                          "sliding": {"rates": ["8/200d", f"10/{day}"]},
                          "bucket": {"burst": 9}, "leaky": {"queue": 4, "max_delay": "1s"},
                          "arrival": {"rate": f"11/{day}"}, "attributed": {"rate": f"12/{day}"},
                          "slots": {"limit": 13}}}
        self.begin([{"policy": name, "key": "api_key"} for name in policies], policies, plans=plans)
        quota = {name: found[0] for name, found in self.policy_of("gold").items()}
        self.assertEqual(quota, {"fixed": 6, "log": 7, "sliding": 8, "bucket": 9, "leaky": 5, "arrival": 11,
                                 "attributed": 12, "slots": 13})

    def test_retry_after_follows_the_plan(self):
        self.begin(policies={"p": {"algorithm": "gcra", "rate": "1/1h"}},
                   plans={"gold": {"p": {"rate": "1/10s"}}})
        self.assertEqual(self.get("gold").status, 200)
        denied = self.get("gold")
        self.assertEqual(denied.status, 429)
        self.assertIn(int(denied["Retry-After"]), range(1, 11))
        self.assertEqual(denied["RateLimit-Limit"], "1")


class Uses(PlanCase, RedisCase):
    """The use counted so far stays when a client changes plan: for both stores."""

    def begin_with(self, store, **sections):
        if store == "memory":
            return self.begin(**sections)
        config = sharing(self.redis().url, sections.pop("policies", POLICIES),
                         [{"policy": "p", "key": "api_key"}],
                         {"timeout": "10s", "connect_timeout": "10s", "on_failure": "deny"},
                         identities=API_KEY, **{**BY_HEADER, **sections})
        self.serve(config)
        self.await_redis(self.weir)
        self.client = self.connect(self.weir)

    def test_a_change_of_plan_keeps_the_use(self):
        for store in "memory", "redis":
            with self.subTest(store=store):
                self.begin_with(store)
                self.assertEqual(self.policy_of("free", key="b"), {"p": (3, 2)})
                self.assertEqual(self.policy_of("free"), {"p": (3, 2)})
                self.assertEqual(self.policy_of("gold"), {"p": (5, 3)})
                self.assertEqual(self.policy_of("internal"), {})
                self.assertEqual(self.policy_of("gold"), {"p": (5, 2)})
                self.assertEqual(self.get("free").status, 429)
                # What is remembered of a denial under one plan does not deny under another.
                self.assertEqual(self.get("free").status, 429)
                self.assertEqual(self.policy_of("gold"), {"p": (5, 1)})
                self.assertEqual(self.policy_of("gold"), {"p": (5, 0)})
                self.assertEqual(self.get("gold").status, 429)
                self.assertEqual(self.policy_of("gold", key="b"), {"p": (5, 3)})

    def test_tiers_change_with_the_plan(self):
        policies = {"p": {"algorithm": "sliding_window", "rates": ["3/200d", "5/260d"]}}
        plans = {"gold": {"p": {"rate": "9/200d"}}, "free": {}}
        for store in "memory", "redis":
            with self.subTest(store=store):
                self.begin_with(store, policies=policies, plans=plans)
                self.assertEqual([self.get("free").status for _ in range(4)], [200, 200, 200, 429])
                self.assertEqual(self.policy_of("gold"), {"p": (9, 5)})
                self.assertEqual(self.get("free").status, 429)

    def test_a_plan_has_other_slots(self):
        limits = [{"policy": "p", "key": "api_key"}]
        for store in "memory", "redis":
            with self.subTest(store=store):
                service, may_answer = self.late_upstream()
                self.begin_with(store, policies={"p": {"algorithm": "concurrency", "limit": 2}},
                                plans={"free": {}, "gold": {"p": {"limit": 4}}, "internal": {"p": "unlimited"}},
                                upstreams={"slow": {"servers": [{"url": service.url}]}},
                                routes=[{"match": {"path": "/held"}, "upstream": "slow", "limits": limits},
                                        {"respond": {"status": 200}, "limits": limits}])
                self.assertEqual(self.policy_of("free", key="b"), {"p": (2, 1)})
                holding = [self.hold(plan) for plan in ("free", "free")]
                service.await_requests(2)
                self.assertEqual(self.get("free").status, 429)
                # The slots that are taken count under the other plan, too.
                self.assertEqual(self.policy_of("gold"), {"p": (4, 1)})
                holding += [self.hold("gold") for _ in range(2)]
                service.await_requests(4)
                self.assertEqual([self.get(plan).status for plan in ("gold", "free", "internal")], [429, 429, 200])
                may_answer.set()
                self.assertEqual([client.read().status for client in holding], [200] * 4)
                eventually(lambda: self.policy_of("gold") == {"p": (4, 3)}, "the slots are free")

    def hold(self, plan):
        """A request that takes a slot until the service may answer."""
        client = self.connect(self.weir)
        client.send(f"GET /held HTTP/1.1\r\nHost: a\r\nX-Plan: {plan}\r\nX-Api-Key: a\r\n\r\n".encode())
        return client

    def test_a_reload_changes_the_numbers_and_keeps_the_use(self):
        for store in "memory", "redis":
            with self.subTest(store=store):
                self.begin_with(store)
                self.assertEqual(self.policy_of("gold"), {"p": (5, 4)})
                config = copied(self.weir.configuration)
                config["plans"]["gold"]["p"] = {"rate": "8/260d"}
                self.reload(config, changed=["plans.gold"])
                self.assertEqual(self.policy_of("gold"), {"p": (8, 6)})
                config["default_plan"] = "gold"
                self.reload(config, changed=["default_plan"])
                self.assertEqual(self.policy_of(), {"p": (8, 5)})

    def test_the_share_of_an_instance_follows_the_plan(self):
        redis = self.redis()
        config = sharing(redis.url, {"p": {"algorithm": "fixed_window", "rate": "4/260d"}},
                         [{"policy": "p", "key": "api_key"}], {"replicas": 2},
                         identities=API_KEY,
                         **{**BY_HEADER, "plans": {"gold": {"p": {"rate": "8/260d"}}}})
        self.serve(config)
        self.await_redis(self.weir)
        self.client = self.connect(self.weir)
        self.get("gold", key="x")
        redis.stop()
        eventually(lambda: self.policy_of("gold", key="a").get("p", (0, 0))[1] < 4,
                   "the instance decides alone")
        denied = [self.get("gold", key="b").status for _ in range(5)]
        self.assertEqual(denied, [200, 200, 200, 200, 429])
        self.assertEqual([self.get(key="c").status for _ in range(3)], [200, 200, 429])


class Fields(PlanCase):
    def test_only_a_trusted_proxy_names_a_plan(self):
        self.begin(client_address={"trusted_proxies": ["192.0.2.1"]})
        self.assertEqual(self.policy_of("gold"), {"p": (3, 2)})
        self.assertIsNone(self.logged(1)[0]["plan"])

    def test_two_fields_are_refused(self):
        self.begin()
        self.assert_problem(self.get("gold", fields=[("X-Plan", "free")]), 400)
        self.assert_problem(self.get("gold", fields=[("X_Plan", "free")]), 400)

    def test_an_unknown_name_is_the_default_and_is_logged_once(self):
        self.begin(default_plan="internal")
        for _ in range(3):
            self.assertEqual(self.policy_of("platinum"), {})
        self.assertEqual(self.policy_of(" "), {})
        self.assertEqual(self.policy_of("gold"), {"p": (5, 4)})
        self.get('x"\x80' + "y" * 100)
        eventually(lambda: self.weir.stderr.count("no plan is called") == 2, "two names are logged")
        self.assertIn('warning no plan is called "platinum", which a request names (header x-plan); the '
                      "default plan counts. Add it to plans, or correct the proxy that sends it", self.weir.stderr)
        self.assertIn('called "x??' + "y" * 61 + '",', self.weir.stderr)
        self.assertEqual(labelled(self.scrape(), "weir_unknown_plans_total"), 4)
        self.assertEqual([line["plan"] for line in self.logged(5)][:5],
                         ["internal"] * 4 + ["gold"])

    def test_the_log_has_the_plan_of_limited_requests_only(self):
        limits = [{"policy": "p", "key": "api_key"}]
        answer = {"status": 200, "body": ""}
        self.begin(routes=[{"match": {"path": "/free"}, "respond": answer},
                           {"match": {"path": "/q"}, "respond": answer,
                            "limits": [{"policy": "q", "key": "client"}]},
                           {"respond": answer, "limits": limits}],
                   plans={"gold": {"p": {"rate": "1/260d"}}})
        for path in "/free", "/q", "/x", "/x":
            self.client.request("GET", path, [("X-Plan", "gold"), ("X-Api-Key", "a")])
        self.assertEqual([(line["plan"], line["status"]) for line in self.logged(4)],
                         [(None, 200), (None, 200), ("gold", 200), ("gold", 429)])


class Conditions(PlanCase):
    def test_when_and_unless(self):
        self.begin([{"policy": "p", "key": "api_key", "unless": {"plan": ["gold", "internal"]}},
                    {"policy": "q", "key": "api_key", "when": {"plan": ["gold"]}}],
                   plans={"free": {}, "gold": {}, "internal": {}})
        self.assertEqual(self.policy_of(), {"p": (3, 2)})
        self.assertEqual(self.policy_of("free"), {"p": (3, 1)})
        self.assertEqual(self.policy_of("gold"), {"q": (2, 1)})
        self.assertEqual(self.policy_of("internal"), {})
        self.assertEqual([line["plan"] for line in self.logged(4)],
                         [None, "free", "gold", "internal"])

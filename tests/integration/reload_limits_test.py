"""What a reload keeps of limits: counts by the policy's name, whatever else moves."""

from harness.case import limited
from harness.exposition import labelled
from harness.reload_case import ReloadCase, copied
from harness.waiting import eventually

ALGORITHMS = {
    "fixed_window": {"rate": "{}/1d"},
    "sliding_window": {"rate": "{}/1d"},
    "sliding_log": {"rate": "{}/1d"},
    "token_bucket": {"rate": "100/30d", "burst": "{}"},
    "gcra": {"rate": "100/30d", "burst": "{}"},
    "attributed_window": {"rate": "{}/1d", "attributes": ["method"]},
}


def policy(algorithm, count):
    settings = {key: value.format(count) if isinstance(value, str) else value
                for key, value in ALGORITHMS[algorithm].items()}
    return {"algorithm": algorithm, **settings}


def window(count):
    return policy("fixed_window", count)


class Counts(ReloadCase):
    def open(self, policies, limits):
        self.serve(limited(policies, limits, workers=2))
        self.client = self.connect(self.weir)

    def remaining(self, status=200):
        """Of every policy, by name, after a request."""
        response = self.client.get("/")
        self.assertEqual(response.status, status, response)
        items = response["RateLimit"].split(", ")
        return {item.split(";")[0].strip('"'): int(item.split(";r=")[1].split(";")[0])
                for item in items}

    def change(self, policies, limits):
        config = copied(self.weir.configuration)
        config["policies"] = policies
        config["routes"][0]["limits"] = limits
        return self.reload(config)

    def test_policies_before_and_behind_it(self):
        self.open({"p": window(10)}, [{"policy": "p"}])
        self.assertEqual(self.remaining(), {"p": 9})
        self.change({"a": window(50), "p": window(10), "z": window(60)},
                    [{"policy": "a"}, {"policy": "p"}, {"policy": "z"}])
        self.assertEqual(self.remaining(), {"a": 49, "p": 8, "z": 59})
        self.change({"z": window(60), "p": window(10), "a": window(50)},
                    [{"policy": "z"}, {"policy": "p"}, {"policy": "a"}])
        self.assertEqual(self.remaining(), {"a": 48, "p": 7, "z": 58})

    def test_a_policy_that_comes_back_finds_what_it_had(self):
        self.open({"p": window(10), "q": window(20)}, [{"policy": "p"}, {"policy": "q"}])
        self.assertEqual(self.remaining(), {"p": 9, "q": 19})
        self.change({"q": window(20)}, [{"policy": "q"}])
        self.assertEqual(self.remaining(), {"q": 18})
        self.change({"r": window(30), "q": window(20)}, [{"policy": "r"}, {"policy": "q"}])
        self.assertEqual(self.remaining(), {"r": 29, "q": 17})
        self.change({"p": window(10), "q": window(20)}, [{"policy": "p"}, {"policy": "q"}])
        self.assertEqual(self.remaining(), {"p": 8, "q": 16})

    def test_another_name_is_another_policy(self):
        self.open({"p": window(10)}, [{"policy": "p"}])
        self.remaining()
        self.change({"renamed": window(10)}, [{"policy": "renamed"}])
        self.assertEqual(self.remaining(), {"renamed": 9})
        self.change({"p": window(10)}, [{"policy": "p"}])
        self.assertEqual(self.remaining(), {"p": 8})

    def test_a_changed_limit_applies_to_the_next_request_and_keeps_the_use(self):
        for algorithm in ALGORITHMS:
            with self.subTest(algorithm=algorithm):
                self.open({"p": policy(algorithm, 10)}, [{"policy": "p"}])
                for left in 9, 8, 7, 6:
                    self.assertEqual(self.remaining(), {"p": left})
                self.change({"p": policy(algorithm, 20)}, [{"policy": "p"}])
                self.assertIn(self.remaining()["p"], (14, 15))
                self.change({"p": policy(algorithm, 3)}, [{"policy": "p"}])
                self.assertEqual(self.client.get("/").status, 429)
                self.change({"p": policy(algorithm, 100)}, [{"policy": "p"}])
                self.assertGreaterEqual(self.remaining()["p"], 90)

    def test_gcra_counts_in_time_which_another_rate_turns_into_other_units(self):
        self.open({"p": {"algorithm": "gcra", "rate": "10/30d"}}, [{"policy": "p"}])
        for left in 9, 8, 7, 6:
            self.assertEqual(self.remaining(), {"p": left})
        # Four tenths of the time are used: 8 of 20.
        self.change({"p": {"algorithm": "gcra", "rate": "20/30d"}}, [{"policy": "p"}])
        self.assertEqual(self.remaining(), {"p": 11})

    def test_another_algorithm_begins_again(self):
        names = list(ALGORITHMS)
        self.open({"p": policy(names[0], 10)}, [{"policy": "p"}])
        self.assertEqual(self.remaining(), {"p": 9})
        for name in [*names[1:], *names]:
            self.change({"p": policy(name, 10)}, [{"policy": "p"}])
            self.assertEqual(self.remaining(), {"p": 9}, name)
            self.assertEqual(self.remaining(), {"p": 8}, name)

    def test_the_same_use_from_every_worker(self):
        self.open({"p": window(1000)}, [{"policy": "p"}])
        clients = [self.connect(self.weir) for _ in range(8)]
        for turn in range(5):
            for client in clients:
                self.assertEqual(client.get("/").status, 200)
            self.change({f"before{turn}": window(5), "p": window(1000)}, [{"policy": "p"}])
        self.assertEqual(self.remaining(), {"p": 1000 - 41})

    def test_counters_go_on_under_their_names(self):
        self.open({"p": window(10)}, [{"policy": "p"}])
        self.remaining()
        self.change({"a": window(10), "p": window(10)}, [{"policy": "a"}, {"policy": "p"}])
        self.remaining()
        eventually(lambda: labelled(self.scrape(), "weir_requests_total", route="all",
                                    code="200") == 2, "both requests are counted")
        samples = self.scrape()
        allowed = {name: labelled(samples, "weir_decisions_total", policy=name, outcome="allowed")
                   for name in ("a", "p")}
        self.assertEqual(allowed, {"a": 1, "p": 2})
        self.assertEqual(labelled(samples, "weir_connections"), 1)

    def test_identities_may_move_too(self):
        self.open({"p": window(10)}, [{"policy": "p", "key": "client"}])
        self.assertEqual(self.remaining(), {"p": 9})
        config = copied(self.weir.configuration)
        config["identities"] = {"another": {"header": "x-a"}, "client": {"client_address": {}}}
        config["routes"][0]["limits"] = [{"policy": "p", "key": "another", "otherwise": "client"}]
        self.reload(config)
        self.assertEqual(self.remaining(), {"p": 8})

"""The metrics with the names of envoyproxy/ratelimit have its values, after the same requests."""

import json
import os
import random
import urllib.request

from harness.exposition import parse
from harness.random_limits import RandomLimits
from harness.ratelimit_reference import Reference
from harness.rls_case import RlsCase, domain, limit
from harness.services import free_port
from harness.waiting import eventually

SEED = int(os.environ.get("WEIR_TEST_SEED", "1"))
TURNS = 150
FILE = domain(
    limit("user", 10, descriptors=[limit("path", 3, value="/a.html"), limit("path", 4)]),
    limit("path", 5, value="/a:b"), limit("ip", 2, value="192.0.2.1"), limit("quiet", 2, shadow_mode=True),
    {"key": "a", "descriptors": [{"key": "b", "descriptors": [limit("c", 2), limit("d", 2)]}]})
TOTAL = "ratelimit_service_rate_limit_total_hits"


def all_values(key, **more):
    return limit(key, 100, detailed_metric=True, **more)


def one_value(key, **more):
    return limit(key, 100, value_to_metric=True, **more)


# Each key is another case: which values are in the names of hits.
NAMED = domain(
    all_values("detailed"), one_value("by_key"), one_value("by_pattern", value="p*"),
    one_value("exact", value="one"), limit("shared", 100, value="s*", share_threshold=True),
    one_value("shared_with_value", value="s*", share_threshold=True),
    all_values("shared_with_all", value="s*", share_threshold=True, descriptors=[all_values("below")]),
    one_value("parent", descriptors=[limit("child", 100), one_value("valued")]),
    {"key": "plain", "descriptors": [all_values("child"), one_value("valued")]},
    {"key": "any", "value": "a*", "descriptors": [limit("child", 100)]},
    {"key": "seen", "value": "a*", "value_to_metric": True, "descriptors": [limit("child", 100)]},
    all_values("both", value_to_metric=True), limit("pre*", 100))
ASKED = [[("detailed", "x")], [("detailed", "y")], [("detailed", "")], [("detailed", "192.0.2.1:8")], [("detailed", "a.b")],
         [("by_key", "x")], [("by_key", "")], [("by_pattern", "p1")], [("by_pattern", "p2")], [("exact", "one")],
         [("shared", "s1")], [("shared_with_value", "s1")], [("shared_with_value", "s2")], [("shared_with_all", "s1")],
         [("shared_with_all", "s1"), ("below", "x")], [("shared_with_all", "s1"), ("below", "")],
         [("parent", "a"), ("child", "b")], [("parent", "a"), ("valued", "b")], [("parent", ""), ("child", "b")],
         [("plain", "a"), ("child", "b")], [("plain", "a"), ("valued", "b")], [("plain", "a"), ("child", "")],
         [("any", "a1"), ("child", "b")], [("seen", "a1"), ("child", "b")], [("both", "x")], [("prefix", "x")]]


def counted(samples):
    """What both count: the connection is checked by calls of Check, and the reference has only what occurred."""
    return {f"{name}{sorted(label for label in labels if label[1])}": value for (name, labels), value in samples.items()
            if name.startswith("ratelimit_service_") and value and ("grpc_method", "Check") not in labels
            and not name.endswith(("_bucket", "_sum", "_local_cache"))}


class Metrics(RlsCase):
    def serve_both(self, file, **service):
        """Returns the clients of the reference and of Weir."""
        self.port = free_port()
        reference = Reference(file, environment={
            "DISABLE_STATS": "false", "USE_STATSD": "false", "USE_PROMETHEUS": "true",
            "PROMETHEUS_ADDR": f"127.0.0.1:{self.port}", "STATS_FLUSH_INTERVAL": "1s"})
        self.addCleanup(reference.stop)
        return reference.client, self.serve_limits(file, service={"reference_metrics": True, **service})

    def counted_by_reference(self):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/metrics", timeout=10) as answer:
            lines = answer.read().decode().splitlines()
        return counted(parse("\n".join(line for line in lines if "ratelimit_service_" in line) + "\n"))

    def compare_counts(self, is_compared=lambda name: True, message=""):
        """Returns what both have counted."""
        def of(counts):
            return {name: value for name, value in counts.items() if is_compared(name)}

        found = of(counted(self.metrics(self.weir)))
        self.maxDiff = None
        try:
            eventually(lambda: of(self.counted_by_reference()) == found, "the reference has counted the same")
        finally:
            self.assertEqual(found, of(self.counted_by_reference()), message)
        return found

    def test_they_are_those_of_the_reference(self):
        clients = self.serve_both(FILE)
        hits = [(("user", "ann"), 7), (("user", "ann"), 2), (("user", "ann"), 4), (("user", "ann"), 3),
                (("user", "bob"), 10), (("path", "/a:b"), 9), (("ip", "192.0.2.1"), 1), (("ip", "192.0.2.1"), 1),
                (("quiet", "x"), 5), (("quiet", "x"), 1), (("none", "x"), 1)]
        asked = [([entry], count) for entry, count in hits]
        asked += [([("user", "ann"), ("path", "/a.html")], 2), ([("user", "ann"), ("path", "/b")], 3),
                  ([("a", "1"), ("b", "2"), ("c", "3")], 2), ([("a", "1"), ("b", "2"), ("d", "3")], 3)]
        for entries, count in asked:
            for one in clients:
                one.ask("d", entries, hits_addend=count)
        for one in clients:
            self.assertEqual(one.ask("", [("user", "ann")]).grpc_status, "UNKNOWN")
        self.compare_counts()

    def test_hits_are_named_by_values_where_the_file_says_so(self):
        clients = self.serve_both(NAMED)
        for entries in ASKED:
            for one in clients:
                one.ask("d", entries)
        names = self.compare_counts()
        for key in ["detailed_x", "by_key_x", "by_pattern_p1", "shared_s*"]:
            self.assertIn(f"{TOTAL}[('domain', 'd'), ('key1', '{key}')]", names)

    def test_the_names_of_random_limits_are_those_of_the_reference(self):
        seen = 0
        for seed in range(SEED, SEED + 3):
            limits = RandomLimits(random.Random(seed))
            clients = self.serve_both(limits.file, charge="reference")
            for _ in range(TURNS):
                asked = limits.request()
                for one in clients:
                    one.send(asked)
            # Limits that requests state are not counted.
            names = self.compare_counts(lambda name: name.startswith(TOTAL) and "stated" not in name,
                                        f"seed {seed}, file: {json.dumps(limits.file)}")
            seen += len(names)
        self.assertGreater(seen, 30)

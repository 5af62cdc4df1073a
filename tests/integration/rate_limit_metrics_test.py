"""The metrics with the names of envoyproxy/ratelimit have its values, after the same requests."""

import urllib.request

from harness.exposition import parse
from harness.ratelimit_reference import Reference
from harness.rls_case import RlsCase, domain, limit
from harness.services import free_port
from harness.waiting import eventually

FILE = domain(
    limit("user", 10, descriptors=[limit("path", 3, value="/a.html"), limit("path", 4)]),
    limit("path", 5, value="/a:b"), limit("ip", 2, value="192.0.2.1"), limit("quiet", 2, shadow_mode=True),
    {"key": "a", "descriptors": [{"key": "b", "descriptors": [limit("c", 2), limit("d", 2)]}]})


def counted(samples):
    """What both count: the connection is checked by calls of Check, and the reference has only what occurred."""
    return {f"{name}{sorted(label for label in labels if label[1])}": value for (name, labels), value in samples.items()
            if name.startswith("ratelimit_service_") and value and ("grpc_method", "Check") not in labels
            and not name.endswith(("_bucket", "_sum", "_local_cache"))}


class Metrics(RlsCase):
    def test_they_are_those_of_the_reference(self):
        port = free_port()
        reference = Reference(FILE, environment={
            "DISABLE_STATS": "false", "USE_STATSD": "false", "USE_PROMETHEUS": "true", "PROMETHEUS_ADDR": f"127.0.0.1:{port}",
            "STATS_FLUSH_INTERVAL": "1s"})
        self.addCleanup(reference.stop)
        client = self.serve_limits(FILE, service={"reference_metrics": True})
        hits = [(("user", "ann"), 7), (("user", "ann"), 2), (("user", "ann"), 4), (("user", "ann"), 3),
                (("user", "bob"), 10), (("path", "/a:b"), 9), (("ip", "192.0.2.1"), 1), (("ip", "192.0.2.1"), 1),
                (("quiet", "x"), 5), (("quiet", "x"), 1), (("none", "x"), 1)]
        asked = [([entry], count) for entry, count in hits]
        asked += [([("user", "ann"), ("path", "/a.html")], 2), ([("user", "ann"), ("path", "/b")], 3),
                  ([("a", "1"), ("b", "2"), ("c", "3")], 2), ([("a", "1"), ("b", "2"), ("d", "3")], 3)]
        for entries, count in asked:
            for one in reference.client, client:
                one.ask("d", entries, hits_addend=count)
        for one in reference.client, client:
            self.assertEqual(one.ask("", [("user", "ann")]).grpc_status, "UNKNOWN")

        def of_reference():
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
                lines = answer.read().decode().splitlines()
            return counted(parse("\n".join(line for line in lines if "ratelimit_service_" in line) + "\n"))

        found = counted(self.metrics(self.weir))
        self.maxDiff = None
        try:
            eventually(lambda: of_reference() == found, "the reference has counted the same")
        finally:
            self.assertEqual(found, of_reference())

"""The metrics of docs/operations.md are those of running instances, and each has an alert or a use; the alerts name
metrics and labels that exist."""

import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from harness.case import Case, configuration
from harness.debian import package
from harness.exposition import parse
from harness.redis import Redis
from harness.services import free_port
from harness.waiting import eventually

PAGE = Path(__file__).resolve().parents[2] / "docs" / "operations.md"
RULES = re.compile(r"^```yaml prometheus\n(groups:.*?)^```$", re.MULTILINE | re.DOTALL)
ROW = re.compile(r"^\|(.*)\|$", re.MULTILINE)
NAME = re.compile(r"\b(?:weir|process)_\w+")
SELECTOR = re.compile(r'\b((?:weir|process)_\w+)\{([^}]*)\}')
MATCHER = re.compile(r'(\w+)(=~|!=|!~|=)"([^"]*)"')
POLICIES = {"plain": {"algorithm": "gcra", "rate": "1000/1s"},
            "slots": {"algorithm": "concurrency", "limit": 2, "queue": 1},
            "logins": {"algorithm": "fixed_window", "rate": "5/1h"}}


def section(heading):
    text = PAGE.read_text()
    begin = text.index(f"\n## {heading}\n")
    end = text.find("\n## ", begin + 1)
    return text[begin:end]


def rows(text):
    return [[cell.strip() for cell in row.split("|")] for row in ROW.findall(text)]


def documented():
    """{family: (type, labels)}"""
    found = {}
    for cells in rows(section("Metrics")):
        for name in re.findall("`(\\w+)`", cells[0]) if len(cells) > 3 else ():
            found[name] = (cells[1], set(re.findall("`(\\w+)`", cells[2])))
    return found


def rules():
    groups = package("yaml").safe_load(RULES.search(section("Alerts"))[1])["groups"]
    return [rule for group in groups for rule in group["rules"]]


def family(name, known):
    return name if name in known else re.sub("_(bucket|sum|count)$", "", name)


class Documented(Case):
    def configuration(self, **sections):
        """A configuration that has a metric of each kind."""
        limits = [{"policy": name, "key": "key", "otherwise": "client"} for name in POLICIES]
        limits[-1]["charge"] = {"status": [401]}
        return configuration(
            self.up.url, admin={"address": "127.0.0.1:0"}, policies=POLICIES, identity_secret="a-secret",
            identities={"client": {"client_address": {}}, "key": {"header": "x-key"}},
            jwt_providers={"idp": {"algorithms": ["RS256"], "jwks": {"url": f"http://127.0.0.1:{free_port()}/"}}},
            address_lists={"office": ["192.0.2.0/24"]}, plans={"free": {}}, default_plan="free",
            plan_from=[{"file": str(self.plans), "key": "key"}],
            events={"at": [80], "webhook": {"url": f"http://127.0.0.1:{free_port()}/"}},
            rate_limit_service={"listen": [{"address": "127.0.0.1:0"}], "files": [str(self.limits)],
                                "reference_metrics": True},
            telemetry={"otlp": {"endpoint": f"http://127.0.0.1:{free_port()}"}},
            routes=[{"name": "all", "upstream": "main", "limits": limits}], **sections)

    def setUp(self):
        self.up = self.upstream()
        directory = tempfile.TemporaryDirectory(prefix="weir-plans-")
        self.addCleanup(directory.cleanup)
        self.plans = Path(directory.name) / "plans.tsv"
        self.plans.write_text("a\tfree\n")
        self.limits = Path(directory.name) / "limits.yaml"
        self.limits.write_text("domain: edge\ndescriptors: [{key: user, rate_limit: {unit: hour, requests_per_unit: 5}}]")

    def scrape(self, config):
        """({family: type}, its samples), once a request has been answered."""
        weir = self.start(config)
        with weir.connect() as client:
            self.assertEqual(client.get("/", {"X-Key": "a"}).status, 200)

        def text():
            with weir.connect_admin() as admin:
                body = admin.get("/metrics").body.decode()
            return 'weir_requests_total{route="all",code="200"} 1' in body and body

        found = eventually(text, "the request is counted")
        return dict(re.findall("^# TYPE (\\S+) (\\S+)$", found, re.MULTILINE)), parse(found)

    def scrape_all(self):
        redis = Redis().start()
        self.addCleanup(redis.close)
        shared = {"url": redis.url, "timeout": "10s", "connect_timeout": "10s", "leases": {"share": 10},
                  "replicas": "auto"}
        types, samples = {}, {}
        for store in ({"type": "memory"}, {"type": "redis", "redis": shared}):
            its_types, its_samples = self.scrape(self.configuration(store=store))
            types.update(its_types)
            samples.update(its_samples)
        return types, samples

    def test_the_page_has_the_metrics_of_running_instances(self):
        known = documented()
        types, samples = self.scrape_all()
        self.assertEqual(types, {name: kind for name, (kind, _) in known.items()})
        for name, labels in samples:
            own = family(name, known)
            self.assertEqual({label for label, _ in labels} - {"le"}, known[own][1], name)
        self.check_selectors(known, samples)

    def check_selectors(self, known, samples):
        """The labels of an alert exist, and so do values that are not from the configuration or the service."""
        values = {}
        for name, labels in samples:
            for label, value in labels:
                values.setdefault((name, label), set()).add(value)
        for rule in rules():
            for name, selector in SELECTOR.findall(rule["expr"]):
                for label, operator, value in MATCHER.findall(selector):
                    with self.subTest(alert=rule["alert"], label=label):
                        if label == "job":
                            continue
                        self.assertIn(label, known[family(name, known)][1])
                        if label not in ("code", "policy", "route"):
                            self.assertIn(value, values[name, label])


class Alerts(unittest.TestCase):
    def test_each_metric_has_an_alert_or_a_use(self):
        known = documented()
        alerted = {family(name, known) for rule in rules() for name in NAME.findall(rule["expr"])}
        used = {name for cells in rows(section("Alerts")) for name in re.findall("`((?:weir|process)_\\w+)`", cells[0])}
        self.assertEqual(alerted & used, set())
        # The dashboards of envoyproxy/ratelimit use the others.
        self.assertEqual(alerted | used, {name for name in known if NAME.fullmatch(name)})

    def test_names_of_alerts_are_unique(self):
        names = [rule["alert"] for rule in rules()]
        self.assertEqual(len(names), len(set(names)))
        for name in names:
            self.assertRegex(name, "^Weir[A-Z]")

    def test_prometheus_accepts_them(self):
        promtool = shutil.which("promtool")
        if promtool is None:
            self.skipTest("promtool is missing: run script/bootstrap documents")
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            file.write(RULES.search(section("Alerts"))[1])
            file.flush()
            done = subprocess.run([promtool, "check", "rules", file.name], capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

"""The page of `weir replay --report` in headless Chromium: its numbers are those of `--json`. Skipped without
chromium."""

import json
import random
from pathlib import Path

from cli_test import FileCase
from harness.browser import Browser
from harness.weir import run
from status_page_test import CONTRAST

HOSTILE = "<img src=x onerror='window.pwned=1'>&"
CONFIGURATION = """\
listen: [{address: "127.0.0.1:1"}]
identities: {client: {client_address: {}}, agent: {header: user-agent}}
policies:
  "<img src=x onerror='window.pwned=1'>&": {algorithm: gcra, rate: RATE/1s}
  per_agent: {algorithm: fixed_window, rate: 40/1m}
  slots: {algorithm: concurrency, limit: 2}
routes:
  - name: "<img src=x onerror='window.pwned=1'>&"
    match: {path: /**}
    respond: {status: 200}
    limits:
      - {policy: "<img src=x onerror='window.pwned=1'>&", key: client}
      - {policy: per_agent, key: agent}
      - {policy: slots, key: client}
"""
# Every table as {caption: [[cell, ...], ...]}, with its headings as the first row.
TABLES = """Object.fromEntries([...document.querySelectorAll('table')].map(table => [table.caption.textContent,
  [...table.rows].map(row => [...row.cells].map(cell => cell.textContent.trim()))]))"""


def log():
    source = random.Random(5)
    return "".join(
        f'192.0.2.{min(int(source.paretovariate(1)), 99)} - - [01/Jan/2026:12:{i // 600:02}:{i // 10 % 60:02} +0000] '
        f'"GET /{i} HTTP/1.1" 200 5 "-" "<script>window.pwned=1</script>{source.randrange(5)}"\n' for i in range(1200))


class ReportPage(FileCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.browser = Browser()
        cls.addClassCleanup(cls.browser.stop)

    def setUp(self):
        directory = Path(self.file(CONFIGURATION.replace("RATE", "2"))).parent
        (directory / "other.yaml").write_text(CONFIGURATION.replace("RATE", "3"))
        (directory / "access.log").write_text(log())
        result = run("replay", "-c", "weir.yaml", "access.log", "--json", "--suggest", "99", "--compare", "other.yaml",
                     "--report", "report.html", cwd=directory)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.report = json.loads(result.stdout)
        self.address = (directory / "report.html").as_uri()

    def open(self, **options):
        page = self.browser.open(self.address, **options)
        self.addCleanup(page.close)
        return page

    def test_the_numbers_are_those_of_the_json_report(self):
        page = self.open()
        tables = page.evaluate(TABLES)

        def column(caption, name):
            head, *rows = tables[caption]
            return [row[head.index(name)].replace(",", "") for row in rows]

        self.assertEqual(column("Requests by policy and route", "denied"),
                         [str(one["denied"]) for one in self.report["routes"]])
        self.assertEqual(column("Limited keys", "denied"), [str(one["denied"]) for one in self.report["keys"]])
        self.assertEqual(column("Limited keys", "key"),
                         [one["address"] or "hash:" + one["hash"] for one in self.report["keys"]])
        for policy in self.report["other_rates"]:
            caption = policy["policy"] + " at other rates"
            for name, member in (("rate", "rate"), ("denied", "denied"), ("keys limited", "denied_keys")):
                shown = column(caption, name)
                # Higher rates that change nothing are left out.
                self.assertEqual(shown, [str(rate[member]) for rate in policy["rates"][:len(shown)]])
                self.assertEqual({rate["denied"] for rate in policy["rates"][len(shown) - 1:]},
                                 {policy["rates"][-1]["denied"]})
        expected = [rate for one in self.report["suggestions"]["policies"] for rate in (one["rate"], one["smaller"])
                    if rate]
        self.assertEqual(column("Suggestions", "denied"), [str(rate["denied"]) for rate in expected])
        self.assertEqual(column("Suggestions", "setting")[0], "rate: " + expected[0]["rate"])
        comparison = self.report["comparison"]
        self.assertEqual(column("Decisions that flip", "number")[:4],
                         [str(comparison[name]) for name in ("decisions", "flips", "to_denied", "to_admitted")])
        timeline = self.report["timeline"]
        self.assertEqual(column("Periods of the log", "requests"), [str(n) for n in timeline["requests"] if n])
        self.assertEqual(page.evaluate("document.querySelectorAll('#timeline rect.denied').length"),
                         sum(n > 0 for n in timeline["denied"]))
        # The height of the bars is the share of the requests.
        heights = page.evaluate(
            "[...document.querySelectorAll('figure.rates')[0].querySelectorAll('rect.denied')]"
            ".map(bar => Number(bar.getAttribute('height')))")
        first = self.report["other_rates"][0]
        shares = [100 * rate["denied"] / first["requests"] for rate in first["rates"] if rate["denied"]]
        self.assertEqual(len(heights), len(shares))
        for height, share in zip(heights, shares):
            self.assertAlmostEqual(height, max(share, 0.8), delta=0.01)
        self.assertEqual(page.evaluate("document.querySelectorAll('figure.rates rect.choice').length"), 2)

    def test_nothing_runs_or_is_loaded(self):
        for script in (True, False):
            page = self.open(script=script)
            self.assertIn(HOSTILE, page.evaluate("document.body.textContent"))
            self.assertEqual(page.evaluate("document.images.length + document.scripts.length"), 0)
            self.assertEqual(page.evaluate("typeof window.pwned"), "undefined")
            self.assertEqual(page.evaluate("performance.getEntriesByType('resource').length"), 0)
            self.assertEqual(page.problems(), [])
        page = self.open()
        self.assertEqual(page.violations(), [])
        page.evaluate("document.body.append(Object.assign(document.createElement('script'), {text: 'window.ran = 1'}))")
        self.assertEqual(page.evaluate("typeof window.ran"), "undefined")

    def test_it_is_readable_in_light_and_dark_and_on_a_phone(self):
        for options in ({}, {"dark": True}, {"width": 360, "height": 740}):
            page = self.open(**options)
            page.evaluate("document.querySelector('details').open = true")
            ratio, text = page.evaluate(CONTRAST)
            self.assertGreaterEqual(ratio, 4.5, f"the contrast of {text!r}")
            self.assertLessEqual(page.evaluate("document.documentElement.scrollWidth"), options.get("width", 1200))
        self.assertEqual(page.evaluate("[...document.querySelectorAll('table')].filter(table => !table.caption ||"
                                       " table.querySelector('th:not([scope])')).length"), 0)

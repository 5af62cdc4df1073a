"""The status page in headless Chromium, before real traffic. Skipped without chromium."""

import signal
import tempfile
import threading
from pathlib import Path

from harness.case import configuration, limited
from harness.client import request_bytes
from harness.page_case import PageCase
from harness.services import free_port
from harness.waiting import eventually

ADMIN = {"address": "127.0.0.1:0"}
HOSTILE = "<img src=x onerror=\"window.pwned=1\">'&<script>window.pwned=1</script>"

# The smallest contrast of a text with its background (WCAG 2.2, "contrast ratio"), and the text.
CONTRAST = """
(() => {
  const channel = value => value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  const parts = text => text.match(/[\\d.]+/g).map(Number);
  const luminance = ([r, g, b]) =>
    0.2126 * channel(r / 255) + 0.7152 * channel(g / 255) + 0.0722 * channel(b / 255);
  const background = element => {
    for (; element; element = element.parentElement) {
      const color = parts(getComputedStyle(element).backgroundColor);
      if (color.length === 3 || color[3] > 0) return color;
    }
    return [255, 255, 255];
  };
  let least = [Infinity, ''];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.textContent.trim() || !element.checkVisibility()) continue;
    const [low, high] = [luminance(parts(getComputedStyle(element).color)), luminance(background(element))].sort(
      (a, b) => a - b);
    const ratio = (high + 0.05) / (low + 0.05);
    if (ratio < least[0]) least = [ratio, walker.currentNode.textContent];
  }
  return least;
})()
"""


def fixed(policies, **sections):
    """Each policy limits a route of its name, which has a fixed answer."""
    routes = [{"name": name, "match": {"path": f"/{number}"}, "respond": {"body": "x"}, "limits": [{"policy": name}]}
              for number, name in enumerate(policies)]
    return limited(policies, [], routes=routes, **{"admin": ADMIN, **sections})


THREE_AN_HOUR = {"algorithm": "fixed_window", "rate": "3/1h"}


class Numbers(PageCase):
    def test_counts_are_those_of_known_traffic(self):
        up = self.upstream()
        gone = f"127.0.0.1:{free_port()}"
        weir = self.start(limited({"p": THREE_AN_HOUR}, [], admin=ADMIN, routes=[
            {"name": "limited", "match": {"path": "/limited"}, "upstream": "main", "limits": [{"policy": "p"}]},
            {"name": "gone", "match": {"path": "/gone"}, "upstream": "gone"}],
            upstreams={"main": {"servers": [{"url": up.url}]}, "gone": {"servers": [{"url": f"http://{gone}"}]}}))
        page = self.live(weir)
        self.assertEqual(self.send(weir, "/limited", 5), [200] * 3 + [429] * 2)
        self.send(weir, "/gone", 4)
        self.send(weir, "/nowhere", 1)
        self.await_cell(page, "routes", "none", "requests, total", "1")
        for row, column, value in [("limited", "requests, total", "5"), ("limited", "denied, total", "2"),
                                   ("gone", "requests, total", "4"), ("gone", "denied, total", "0")]:
            self.assertEqual(self.cell(page, "routes", row, column), value, (row, column))
        self.assertEqual(self.cell(page, "policies", "p", "decisions, total"), "5")
        self.assertEqual(self.cell(page, "policies", "p", "denied, total"), "2")
        self.assertEqual(self.cell(page, "policies", "p", "share denied"), "40 %")
        self.assertNotIn(self.cell(page, "policies", "p", "denied/s"), ("0", "\u2013"))
        self.assertNotEqual(self.cell(page, "routes", "limited", "p99"), "\u2013")
        self.assertEqual(self.cell(page, "upstreams", "main", "answered, total"), "3")
        self.assertEqual(self.cell(page, "upstreams", "gone", "failed, total"), "4")
        self.await_cell(page, "upstreams", "gone", "servers", f"down: {gone}; 0 up")
        self.assertEqual(self.cell(page, "decisions", "memory", "decisions, total"), "5")
        self.assertEqual(page.facts("store")["keys in memory"], "1")
        # What is denied is first.
        self.assertEqual(list(page.rows("routes"))[0], "limited")
        self.assertFalse(page.is_shown("#plain"))
        # The list of top keys is read every five seconds.
        eventually(lambda: len(page.rows("top")) == 1, "one key is denied")
        [key] = page.rows("top")
        self.assertRegex(key, "^[0-9a-f]{32}$")
        self.assertEqual([self.cell(page, "top", key, column)
                          for column in ("policy", "route", "denied", "requests")],
                         ["p", "limited", "2", "5"])
        self.assert_clean(page)

    def test_charts_follow_the_traffic(self):
        weir = self.start(fixed({"p": THREE_AN_HOUR}))
        page = self.live(weir)
        stop = threading.Event()
        self.addCleanup(stop.set)

        def flood():
            with weir.connect() as client:
                while not stop.is_set():
                    client.get("/0")

        thread = threading.Thread(target=flood)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(stop.set)
        for chart in ("denied", "requests", "duration"):
            eventually(lambda chart=chart: page.text(f"#chart-{chart} b") not in ("0/s", "\u2013", "\u2013/s"),
                       f"the chart {chart} has a number")
            eventually(lambda chart=chart: "L" in page.evaluate(
                f"[...document.querySelectorAll('#chart-{chart} path')].map(path => path.getAttribute('d')).join('')"),
                f"the chart {chart} has a line")
        stop.set()
        thread.join()
        eventually(lambda: page.text("#chart-denied b") == "0/s", "the chart shows the end of the traffic")
        self.assert_clean(page)

    def test_units_of_requests_in_progress(self):
        upstream, may_answer = self.late_upstream()
        weir = self.start(configuration(
            upstream.url, admin=ADMIN, identities={"client": {"client_address": {}}},
            policies={"slots": {"algorithm": "concurrency", "limit": 1, "queue": 5, "max_wait": "30s"}},
            routes=[{"upstream": "main", "limits": [{"policy": "slots"}]}]))
        clients = [self.connect(weir) for _ in range(3)]
        for client in clients:
            client.send(request_bytes("GET", "/"))
        page = self.live(weir)
        self.await_cell(page, "holds", "slots", "units held", "1")
        self.await_cell(page, "holds", "slots", "requests queued", "2")
        may_answer.set()
        for client in clients:
            client.read()
        self.await_cell(page, "holds", "slots", "units held", "0")

    def test_names_are_text(self):
        weir = self.start(fixed({HOSTILE: THREE_AN_HOUR}))
        self.send(weir, "/0", 4)
        for page in (self.live(weir), self.open(weir, script=False)):
            self.assertIn(HOSTILE, page.evaluate("document.body.textContent"))
            self.assertEqual(page.evaluate("document.images.length"), 0)
            self.assertEqual(page.evaluate("document.scripts.length"), 1)
            self.assertEqual(page.evaluate("typeof window.pwned"), "undefined")
        self.assert_clean(page)

    def test_a_reload_and_a_restart(self):
        port = free_port()
        config = fixed({"p": THREE_AN_HOUR}, admin={"address": f"127.0.0.1:{port}"})
        weir = self.start(config)
        page = self.live(weir)
        before = page.facts("configuration")["hash"]
        weir.write({**fixed({"q": THREE_AN_HOUR}), "admin": config["admin"]})
        weir.signal(signal.SIGHUP)
        eventually(lambda: list(page.rows("policies")) == ["q"], "the page has the new policy")
        self.assertEqual(page.facts("configuration")["reloads"], "1")
        self.assertNotEqual(page.facts("configuration")["hash"], before)
        self.assertEqual(page.text("#feed"), "live")
        weir.stop()
        eventually(lambda: page.text("#feed") == "connection lost, connecting again", "the page shows the loss")
        self.start(config)
        self.await_live(page)
        self.assertEqual(page.facts("configuration")["reloads"], "0")
        self.assertEqual(list(page.rows("policies")), ["p"])
        self.assertEqual(page.violations(), [])

    def test_a_reload_in_shadow(self):
        """Its table appears with it, and shows how it ended, with and without JavaScript."""
        config = fixed({"p": THREE_AN_HOUR})
        weir = self.start(config)
        page, plain = self.live(weir), self.open(weir, script=False)
        self.assertEqual(page.rows("shadow"), {})
        self.assertNotIn("Reload in shadow", plain.evaluate("document.body.innerText"))
        weir.write(fixed({"p": {**THREE_AN_HOUR, "rate": "2/1h"}}))
        with weir.connect_admin() as admin:
            begun = admin.request("POST", "/v1/reload?shadow=1h&max_flips=1%25").json()
        self.send(weir, "/0", 3)
        self.await_cell(page, "shadow", "shadow", "flips", "1")
        for column, value in (("decisions", "3"), ("max flips", "1%"), ("until", begun["until"]), ("not compared", "0"),
                              ("configuration", begun["hash"][:12]), ("reason", "\u2013")):
            self.assertEqual(self.cell(page, "shadow", "shadow", column), value, column)
        weir.write(config)
        weir.signal(signal.SIGHUP)
        self.await_cell(page, "shadow", "dropped", "reason", "replaced by another reload")
        self.assert_clean(page)
        plain.go(self.url(weir))
        shown = plain.evaluate("document.body.innerText")
        for text in ("Reload in shadow", begun["until"], "replaced by another reload"):
            self.assertIn(text, shown)

    def test_a_page_that_nobody_sees_has_no_connection(self):
        weir = self.start(fixed({"p": THREE_AN_HOUR}))
        page = self.live(weir)
        page.evaluate("Object.defineProperty(document, 'visibilityState', {value: 'hidden', configurable: true});"
                      "document.dispatchEvent(new Event('visibilitychange'))")
        self.assertTrue(page.evaluate("controller === null"))
        self.send(weir, "/0", 1)
        page.evaluate("delete document.visibilityState; document.dispatchEvent(new Event('visibilitychange'))")
        self.await_cell(page, "routes", "p", "requests, total", "1")


class Token(PageCase):
    def setUp(self):
        self.weir = self.start(fixed({"p": THREE_AN_HOUR}, admin={**ADMIN, "token": "open-sesame"}))

    def enter(self, page, token):
        page.type("#token", token)
        page.press_enter()

    def test_the_page_asks_for_it_and_keeps_it_in_memory(self):
        page = self.open(self.weir)
        eventually(lambda: page.is_shown("#login"), "the page asks for the token")
        self.assertFalse(page.is_shown("#live"))
        self.assertNotIn("Policies", page.evaluate("document.body.innerText"))
        self.assert_clean(page)
        for wrong in ("wrong", "not a token", "caf\u00e9"):
            self.enter(page, wrong)
            eventually(lambda: page.text("#refusal") == "This token is not accepted." and
                       page.evaluate("document.querySelector('#token').value") == "", f"{wrong} is refused")
            self.assertFalse(page.is_shown("#live"))
            page.evaluate("document.querySelector('#refusal').textContent = ''")
        self.enter(page, "open-sesame")
        self.await_live(page)
        self.assertFalse(page.is_shown("#login"))
        self.assertIn("p", page.rows("policies"))
        self.assertEqual(page.violations(), [])
        stored = page.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie, location.href,"
                               " document.documentElement.outerHTML])")
        self.assertNotIn("open-sesame", stored)
        page.go(self.url(self.weir))
        eventually(lambda: page.is_shown("#login"), "it asks again when it is loaded again")

    def test_a_reload_with_another_token_asks_again(self):
        page = self.open(self.weir)
        self.enter(page, "open-sesame")
        self.await_live(page)
        self.weir.write(fixed({"p": THREE_AN_HOUR}, admin={**ADMIN, "token": "changed"}))
        self.weir.signal(signal.SIGHUP)
        eventually(lambda: page.is_shown("#login"), "the page asks for the other token")
        self.enter(page, "changed")
        self.await_live(page)

    def test_without_javascript_it_explains_how_to_save_the_tables(self):
        page = self.open(self.weir, script=False)
        self.assertFalse(page.is_shown("#login"))
        self.assertIn("Authorization: Bearer %s", page.text("#plain pre"))
        self.assertNotIn("Policies", page.text("body"))
        # The file that the command saves shows its tables, in a browser with and without JavaScript.
        with self.weir.connect_admin() as connection:
            saved = connection.get("/", {"Authorization": "Bearer open-sesame"}).body
        with tempfile.TemporaryDirectory() as directory:
            file = Path(directory) / "status.html"
            file.write_bytes(saved)
            for script in (True, False):
                shown = self.browser.open(file.as_uri(), script=script)
                self.addCleanup(shown.close)
                self.assertIn("Policies", shown.text("#plain"))
                self.assertTrue(shown.is_shown("#plain"))


class Appearance(PageCase):
    def setUp(self):
        long = "a_policy_with_a_name_that_is_as_long_as_names_become"
        self.weir = self.start(fixed({long: THREE_AN_HOUR, "p": THREE_AN_HOUR}))
        self.send(self.weir, "/0", 8)

    def assert_readable(self, page):
        ratio, text = page.evaluate(CONTRAST)
        self.assertGreaterEqual(ratio, 4.5, f"the contrast of {text!r}")

    def test_light_and_dark(self):
        page = self.live(self.weir)
        lightness = "getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)"
        self.assertGreater(min(page.evaluate(lightness)), 200)
        self.assert_readable(page)
        page.show_dark(True)
        self.assertLess(max(page.evaluate(lightness)), 60)
        self.assert_readable(page)

    def test_the_prompt_and_the_plain_tables_are_readable(self):
        for dark in (False, True):
            self.assert_readable(self.open(self.weir, script=False, dark=dark))
            page = self.live(self.weir, dark=dark)
            page.evaluate("askForToken('This token is not accepted.')")
            self.assert_readable(page)

    def test_nothing_is_cut_on_a_phone(self):
        for script in (True, False):
            page = self.open(self.weir, width=360, height=740, script=script)
            if script:
                self.await_live(page)
            self.assertLessEqual(page.evaluate("document.documentElement.scrollWidth"), 360)
            self.assertEqual(page.evaluate("[...document.querySelectorAll('.table')].filter("
                                           "frame => frame.scrollWidth > frame.clientWidth).length"), 0)

    def test_tables_have_captions_and_headings(self):
        for page in (self.live(self.weir), self.open(self.weir, script=False)):
            self.assertEqual(page.evaluate("[...document.querySelectorAll('table')].filter(table => !table.caption ||"
                                           " table.querySelector('th:not([scope])')).length"), 0)


class Plain(PageCase):
    def test_the_tables_have_the_numbers_without_javascript(self):
        weir = self.start(fixed({"p": THREE_AN_HOUR}))
        self.send(weir, "/0", 5)
        page = self.open(weir, script=False)

        def row():
            page.go(self.url(weir))
            return page.evaluate("[...document.querySelectorAll('#plain table')][0].rows[1].innerText.split('\\t')")

        eventually(lambda: row()[-2:] == ["2", "5"], "the tables have the counts")
        self.send(weir, "/0", 5)
        eventually(lambda: row()[2] not in ("0", "\u2013"), "and rates, when the page is loaded again")
        self.assertFalse(page.is_shown("#live"))
        self.assertFalse(page.is_shown("#login"))
        self.assertEqual(page.evaluate("document.querySelector('meta[http-equiv=refresh]').content"), "5")
        self.assertEqual(page.problems(), [])


class Policy(PageCase):
    def test_the_page_runs_and_loads_nothing_else(self):
        weir = self.start(fixed({"p": THREE_AN_HOUR}))
        page = self.live(weir)
        self.assert_clean(page)
        foreign = self.upstream()
        attempts = f"""(async () => {{
          const outcomes = [];
          const attempt = async (name, action) => {{
            try {{ await action(); outcomes.push(name); }} catch {{ }}
          }};
          await attempt('fetch', () => fetch('{foreign.url}'));
          await attempt('innerHTML', () => {{ document.createElement('p').innerHTML = '<b>x</b>'; }});
          await attempt('eval', () => setTimeout("window.ran = 1", 0));
          const script = document.createElement('script');
          await attempt('script', () => {{ script.textContent = 'window.ran = 1'; document.body.append(script); }});
          const image = document.createElement('img');
          const failed = new Promise(done => image.onerror = done);
          image.src = '{foreign.url}';
          document.body.append(image);
          await failed;
          return outcomes;
        }})()"""
        self.assertEqual(page.evaluate(attempts), [])
        self.assertEqual(page.evaluate("typeof window.ran"), "undefined")
        self.assertEqual(foreign.requests, [])
        self.assertGreaterEqual(len(page.violations()), 4)

    def test_no_other_page_may_frame_it(self):
        weir = self.start(fixed({"p": THREE_AN_HOUR}))
        with weir.connect_admin() as connection:
            policy = connection.get("/")["Content-Security-Policy"]
        for directive in ("default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'none'"):
            self.assertIn(directive, policy)
        self.assertNotIn("unsafe", policy)

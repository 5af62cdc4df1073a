"""What a variable or a file holds never comes back out of a command, a log or an admin endpoint."""

import json
import os
import re
import signal
import tempfile
from pathlib import Path

from harness.case import Case
from harness.client import request_bytes
from harness.waiting import eventually
from harness.weir import ADMIN, host_and_port, run

# A marker for every scalar that a command prints: found in an output, it names its variable.
TEXTS = {name: f"mk-{name.lower()}-7f3a" for name in (
    "ADMIN_HOST", "HEADER", "QUERY", "COOKIE", "SEGMENT", "NAME", "HOST", "HOOK", "METHOD",
    "SECRET", "SERVER", "CHECK", "BODY", "PREFIX", "USER", "PASSWORD", "REDIS", "TENANT", "GONE", "MOVED", "FIELD")}
TEXTS |= {"TYPE": "text/mk-type-7f3a", "DENIED": "text/mk-denied-7f3a"}
NUMBERS = {
    "RATE": "48612/1h", "TIER": "97213/2h", "BURST": "48619", "COST": "48607", "STATUS": "487",
    "ANSWER": "287", "QUEUE": "48621", "DELAY": "48623ms", "WEIGHT": "983", "INTERVAL": "48649ms",
    "PORT": "48661", "KEYS": "48673", "MAX": "4867700", "SHUTDOWN": "48677s", "TIMEOUT": "48679ms",
    "RETRY": "48731us", "FAILURES": "487", "REPLICAS": "2", "DATABASE": "48733"}
# Computed from them: a share of RATE, the queue and the one that is served, BURST in halves.
COMPUTED = ("24306", "24309", "48622", "24311", "48612")
VARIABLES = TEXTS | NUMBERS
MARKERS = set(TEXTS.values()) | {re.match(r"\d+", value)[0] for value in NUMBERS.values()
                                 if len(value) > 2} | set(COMPUTED)

NAMED = """\
client_address: {trusted_proxies: [192.0.2.1], header: "${CLN}", untrusted_fields: ["${OWN}"]}
identities:
  all: {any_of: [{header: "${HDR}"}, {query: "${QRY}"}, {cookie: "${CKE}"}]}
policies:
  p: {algorithm: fixed_window, rate: 1/1h}
  w: {algorithm: attributed_window, rate: 1/1h, attributes: ["${ATT}"]}
routes:
  - {match: {path: /a}, respond: {}, limits: [{policy: w}]}
  - {match: {path: /b}, upstream: u, request_headers: {remove: [a, "${RMV}"]}}
  - {respond: {}, limits: [{policy: p, key: all}]}
upstreams: {u: {servers: [{url: "http://127.0.0.1:1"}]}}
"""

COMMON = """\
admin: {address: "127.0.0.1:0", hosts: ["${ADMIN_HOST}"]}
listen: [{address: "127.0.0.1:0"}]
downstream: {max_connections: "${MAX}"}
shutdown_timeout: "${SHUTDOWN}"
upstreams:
  api:
    servers: [{url: "http://${SERVER}:${PORT}", weight: "${WEIGHT}"}, {url: "https://127.0.0.1:1"}]
    health_check: {path: "/${CHECK}", interval: "${INTERVAL}"}
identities:
  key: {header: "${HEADER}"}
  mixed: {any_of: [{query: "${QUERY}"}, {all_of: [{cookie: "${COOKIE}"}, {path: "${SEGMENT}"}]}]}
denied: {content_type: "${DENIED}", body: "${BODY}", headers: {x-field: "${FIELD}"}}
policies:
  bucket: {algorithm: gcra, rate: "${RATE}", burst: "${BURST}", status: "${STATUS}", cost: "${COST}"}
  plain: {algorithm: fixed_window, rate: "${RATE}", body: {text/html: "${BODY}"}, headers: {x-field: "${FIELD}"}}
  tiers: {algorithm: sliding_window, rates: ["${RATE}", "${TIER}"]}
  queue: {algorithm: leaky_bucket, rate: 50/1s, queue: "${QUEUE}"}
  delay: {algorithm: leaky_bucket, rate: 50/1s, queue: 10, max_delay: "${DELAY}"}
routes:
  - name: "${NAME}"
    match:
      host: "${HOST}.test"
      path: "/${HOOK}/{${SEGMENT}}"
      methods: ["${METHOD}", GET]
      headers: {x-secret: "${SECRET}", "x.odd-name": "a${SECRET}"}
    upstream: api
    path: "/${MOVED}/{${SEGMENT}}"
    request_headers: {set: {x-tenant: "${TENANT}"}, remove: [x-gone, "${GONE}"]}
    response_headers: {add: {x-field: "${FIELD}"}, remove: ["${GONE}"]}
    limits:
      - {policy: bucket, key: key, otherwise: mixed}
      - {policy: plain, cost: "${COST}"}
      - {policy: tiers}
      - {policy: queue}
      - {policy: delay}
  - match: {path: "/hooks/${HOOK}"}
    respond: {status: "${ANSWER}", body: "${BODY}", content_type: "${TYPE}", headers: {x-field: "${FIELD}"}}
"""
MEMORY = COMMON + 'store: {memory: {max_keys: "${KEYS}"}}\n'
REDIS = COMMON + """\
store:
  type: redis
  redis:
    url: "redis://${USER}:${PASSWORD}@${REDIS}:${PORT}/${DATABASE}"
    key_prefix: "${PREFIX}"
    timeout: "${TIMEOUT}"
    breaker: {failures: "${FAILURES}", retry_after: "${RETRY}"}
    replicas: "${REPLICAS}"
"""


class Shown(Case):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="weir-variables-")
        self.addCleanup(directory.cleanup)
        self.directory = Path(directory.name)

    def run_on(self, text, *arguments):
        file = self.directory / "weir.yaml"
        file.write_text(text)
        return run(*arguments, str(file), env={**os.environ, **VARIABLES})

    def assert_nothing_shown(self, *outputs):
        for output in outputs:
            # A marker of digits is a number of its own: ports and directories contain digits as well.
            found = sorted(marker for marker in MARKERS
                           if re.search(rf"\b{marker}\b" if marker.isdigit() else marker, output))
            self.assertEqual(found, [], output)


class Commands(Shown):
    def test_check_shows_what_is_written(self):
        for text in (MEMORY, REDIS):
            for arguments in (("check",), ("check", "--verbose")):
                checked = self.run_on(text, *arguments)
                self.assertEqual(checked.returncode, 0, checked.stdout)
                self.assert_nothing_shown(checked.stdout, checked.stderr)
        for part in ("route ${NAME}: ${METHOD},GET host ${HOST}.test path /${HOOK}/{${SEGMENT}} "
                     "header x-secret: ${SECRET} header x.odd-name: a${SECRET}",
                     "http://${SERVER}:${PORT} weight ${WEIGHT}, https://127.0.0.1:1",
                     "checks /${CHECK} every ${INTERVAL}",
                     "gcra ${RATE}, (from the environment) at once, answers ${STATUS}, denies with ${DENIED}, denials with headers x-field;",
                     "denies with text/html or application/problem+json by Accept, denials with headers x-field, Vary;",
                     "; path /${MOVED}/{${SEGMENT}}; request headers: write x-tenant; remove x-gone, "
                     "${GONE}; response headers: write x-field; remove ${GONE}\n",
                     "key key (header ${HEADER}), otherwise mixed "
                     "(any of (query ${QUERY}, all of (cookie ${COOKIE}, path ${SEGMENT})))",
                     "; cost ${COST};", "sliding_window ${RATE} + ${TIER},",
                     "leaky_bucket 50/1s,", "waits up to ${DELAY}", "local (from the environment)",
                     "route /hooks/${HOOK}: any method path /hooks/${HOOK}",
                     "respond ${ANSWER} ${TYPE}, a body (from the environment)",
                     "store redis at (from the environment): keys ${PREFIX}*, a decision within "
                     "${TIMEOUT}, left alone for ${RETRY} after ${FAILURES} failures, replicas "
                     "${REPLICAS}"):
            with self.subTest(part=part):
                self.assertIn(part, checked.stdout)

    def test_values_that_are_written_are_shown(self):
        """A variable hides itself and what is computed from it, and nothing else."""
        text = MEMORY.replace('rate: "${RATE}"', "rate: 48612/1h").replace('"${BURST}"', "48619")
        checked = self.run_on(text, "check", "--verbose")
        self.assertEqual(checked.returncode, 0, checked.stdout)
        self.assertIn("gcra 48612/1h, 48619 at once, answers ${STATUS}", checked.stdout)
        self.assertIn("fixed_window 48612/1h, 48612 at once", checked.stdout)

    def test_complaints_show_what_is_written(self):
        """Every scalar in turn holds what it must not hold, and the rest is as it was."""
        for text in (MEMORY, REDIS):
            for name in sorted(set(re.findall(r"\$\{(\w+)\}", text))):
                with self.subTest(name=name):
                    bad = {**VARIABLES, name: f"mk-{name.lower()}-7f3a \x01{{"}
                    file = self.directory / "weir.yaml"
                    file.write_text(text)
                    checked = run("check", "--verbose", str(file), env={**os.environ, **bad})
                    self.assert_nothing_shown(checked.stdout, checked.stderr)
                    for output in (checked.stdout, checked.stderr):
                        self.assertNotIn("7f3a", output)

    def test_numbers_that_cannot_be_used_are_not_shown(self):
        huge = "4861200000000000"
        for text, expected in ((MEMORY, "too large"),
                               (MEMORY.replace('burst: "${BURST}"', "burst: 5"), "too large")):
            file = self.directory / "weir.yaml"
            file.write_text(text)
            checked = run("check", str(file),
                          env={**os.environ, **VARIABLES, "RATE": huge + "/1h"})
            self.assertEqual(checked.returncode, 2)
            self.assertIn(expected, checked.stdout)
            self.assertNotIn("48612", checked.stdout)

    def test_refusals_do_not_show_names(self):
        """A response names what it is about; explain shows the text of the file."""
        names = {"HDR": "mk-hdr-7f3a", "QRY": "mk_qry_7f3a", "CKE": "mk_cke_7f3a",
                 "CLN": "mk-cln-7f3a", "ATT": "query:mk_att_7f3a", "OWN": "mk-own-7f3a",
                 "RMV": "mk-rmv-7f3a"}
        file = self.directory / "weir.yaml"
        file.write_text(NAMED)
        cases = {"HDR": ["-H", "mk.hdr-7f3a: 1", "/"], "QRY": ["/?mk.qry_7f3a=1"],
                 "CKE": ["-H", "Cookie: mk.cke_7f3a=1", "/"], "OWN": ["-H", "mk_own-7f3a: 1", "/"],
                 "RMV": ["-H", "mk_rmv-7f3a: 1", "/"],
                 "CLN": ["-H", "mk_cln-7f3a: 1", "/"], "ATT": ["/a?mk_att_7f3a=1&mk_att_7f3a=2"]}
        for name, (*options, target) in cases.items():
            for form in ([], ["--json"]):
                with self.subTest(name=name, form=form):
                    done = run("explain", "-c", str(file), *form, *options,
                               f"http://x{target}", env={**os.environ, **names})
                    self.assertEqual((done.returncode, done.stderr), (0, ""))
                    verdict = done.stdout[done.stdout.index("verdict"):]
                    self.assertIn("refused", verdict)
                    self.assertIn("${%s}" % name, verdict)
                    self.assertNotIn(names[name].partition(":")[2] or names[name], verdict)

    def test_a_warning_about_a_cost_does_not_show_it(self):
        file = self.directory / "weir.yaml"
        file.write_text(MEMORY)
        checked = run("check", str(file), env={**os.environ, **VARIABLES, "BURST": "48601"})
        self.assertEqual(checked.returncode, 0, checked.stdout)
        self.assertIn("a cost of (from the environment) could never pass", checked.stderr)
        self.assert_nothing_shown(checked.stderr.replace(str(file), ""))
        self.assertNotIn("48601", checked.stderr)

    def test_what_a_file_holds_is_not_shown(self):
        (self.directory / "url").write_text("redis://mk-user-7f3a:mk-password-7f3a@mk-redis-7f3a/48733\n")
        text = re.sub(r"url: \"redis:.*\"", "url: file:url", REDIS)
        checked = self.run_on(text, "check", "--verbose")
        self.assertEqual(checked.returncode, 0, checked.stdout)
        self.assertIn("store redis at (from the environment): keys", checked.stdout)
        self.assert_nothing_shown(checked.stdout, checked.stderr)

    def test_proxy_shows_what_is_written(self):
        for option, name in (("--to", "SERVER"), ("--limit", "SECRET"), ("--key", "SECRET"),
                             ("--listen", "HOST"), ("--admin", "HOST"), ("--redis", "PASSWORD")):
            options = {"--to": "http://127.0.0.1:1", "--limit": "5/s",
                       "--listen": "127.0.0.1:0", option: "${%s} " % name}
            result = run("proxy", *(word for pair in options.items() for word in pair),
                         env={**os.environ, **VARIABLES})
            self.assertEqual(result.returncode, 2, option)
            self.assert_nothing_shown(result.stdout, result.stderr)


class Serving(Shown):
    def test_a_running_instance_shows_what_is_written(self):
        log = "access_log: {path: stdout}\n"
        # The server's name is looked up and its failures are logged: an address in use is a fact.
        text = re.sub(r'"http://\$\{SERVER\}:\$\{PORT\}"', '"http://127.0.0.2:1"', MEMORY + log)
        weir = self.start(text, environment=VARIABLES)
        admin = eventually(lambda: ADMIN.search(weir.stderr), "the admin server is listening")
        weir.admin_address = host_and_port(admin[1])
        client = self.connect(weir)
        hook = "/hooks/" + TEXTS["HOOK"]
        self.assertEqual(client.get(hook).status, 287)
        self.assertEqual(client.get("/none").status, 404)
        weir.signal(signal.SIGHUP)
        weir.signal(signal.SIGUSR1)
        shown = []
        with weir.connect_admin() as admin:
            for target in ("/metrics", "/readyz", "/healthz", "/", "/v1/config", "/none"):
                shown.append(admin.get(target).body.decode())
        self.assertIn('route="/hooks/${HOOK}"', shown[0])
        self.assertIn('route="${NAME}"', shown[0])
        lines = eventually(lambda: len(weir.stdout.splitlines()) >= 2 and weir.stdout.splitlines(),
                           "two lines in the log")
        self.assertEqual(json.loads(lines[0])["route"], "/hooks/${HOOK}")
        client.send(request_bytes("GET", "/none"))
        client.read()
        client.close()
        weir.signal(signal.SIGTERM)
        self.assertEqual(weir.wait(), 0)
        self.assertIn("at most ${SHUTDOWN}", weir.stderr)
        without_dates = "\n".join(line.partition(" ")[2] for line in weir.stderr.splitlines())
        for address in weir.address, weir.admin_address:
            without_dates = without_dates.replace("%s:%d" % address, "ADDRESS")
        self.assert_nothing_shown(without_dates, *shown[1:])
        # Status codes, instants and counts are those of the traffic, and so is the path asked for.
        for output in shown[0], weir.stdout.replace(hook, ""):
            self.assertEqual([text for text in TEXTS.values() if text in output], [])

"""The access log: a line for each request, complete, true, and without secrets."""

import json
import re
import signal
import time
from datetime import datetime

from harness.case import Case, limited
from harness.client import request_bytes
from harness.services import free_port
from harness.waiting import eventually


KEY = "key-that-nobody-may-see"


class LogCase(Case):
    def begin(self, rate="2/1h", mode="enforce", **log):
        self.up = self.upstream()
        servers = {"main": self.up.url, "gone": f"http://127.0.0.1:{free_port()}"}
        self.weir = self.start(limited(
            {"p": {"algorithm": "fixed_window", "rate": rate, "mode": mode}}, [],
            {"key": {"header": "x-api-key"},
             "query": {"query": "api_key"}},
            upstreams={name: {"servers": [{"url": url}]} for name, url in servers.items()},
            access_log={"path": "access.log", **log},
            routes=[{"name": "limited", "match": {"path": "/limited"}, "upstream": "main",
                     "limits": [{"policy": "p", "key": "key"}]},
                    {"name": "by-query", "match": {"path": "/by-query"}, "respond": {"body": "x"},
                     "limits": [{"policy": "p", "key": "query"}]},
                    {"name": "gone", "match": {"path": "/gone"}, "upstream": "gone"}]))
        self.client = self.connect(self.weir)
        self.log_file = self.weir.directory / "access.log"

    def text(self, file=None):
        file = file or self.log_file
        return file.read_text() if file.exists() else ""

    def lines(self, count, file=None):
        eventually(lambda: self.text(file).count("\n") >= count, f"{count} lines in the access log")
        lines = [json.loads(line) for line in self.text(file).splitlines()]
        self.assertEqual(len(lines), count)
        return lines

    def get(self, target="/limited", key=KEY, **fields):
        return self.client.get(target,
                               {"X-Api-Key": key, "User-Agent": "test/1", "X-Request-Id": "r-1",
                                **fields})


class TextLines(LogCase):
    COMBINED = re.compile(r'(\S+) - (\S+) \[([^]]+)\] "([^"]*)" (\d{3}) (\d+) "-" "([^"]*)"\n')

    def test_they_are_in_the_combined_log_format(self):
        self.begin(format="text")
        for _ in range(3):
            self.get("/limited?secret=1")
        self.client.get("/nowhere", {"User-Agent": 'a "b"'})
        eventually(lambda: self.text().count("\n") >= 4, "4 lines in the access log")
        lines = [self.COMBINED.fullmatch(line) for line in self.text().splitlines(keepends=True)]
        self.assertTrue(all(lines), self.text())
        client, users, times, requests, statuses, _, agents = zip(*(m.groups() for m in lines))
        self.assertEqual(set(client), {"127.0.0.1"})
        self.assertEqual(len(set(users[:3])), 1)
        self.assertRegex(users[0], "^[0-9a-f]{32}$")
        self.assertEqual(users[3], "-")
        for text in times:
            logged = datetime.strptime(text, "%d/%b/%Y:%H:%M:%S %z").timestamp()
            self.assertAlmostEqual(logged, time.time(), delta=120)
        self.assertEqual(requests, ("GET /limited HTTP/1.1",) * 3 + ("GET /nowhere HTTP/1.1",))
        self.assertEqual(statuses, ("200", "200", "429", "404"))
        self.assertEqual(agents, ("test/1",) * 3 + (r"a \x22b\x22",))
        self.assertNotIn(KEY, self.text())


class Lines(LogCase):
    def test_an_allowed_request(self):
        self.begin()
        before = time.time()
        body = b"x" * 1000
        fields = {"X-Api-Key": KEY, "User-Agent": 'test/1 "quoted"', "X-Request-Id": "r-1"}
        response = self.client.request("POST", "/limited?a=b", fields, body)
        self.assertEqual(response.status, 200)
        line = self.lines(1)[0]
        at = datetime.fromisoformat(line["time"].replace("Z", "+00:00")).timestamp()
        self.assertTrue(before - 1 <= at <= time.time() + 1, line["time"])
        expected = {"method": "POST", "path": "/limited", "route": "limited", "status": 200,
                    "bytes_in": 1000, "upstream": "main", "decision": "allowed", "policy": "p",
                    "cost": 1, "remaining": 1, "delay_us": 0, "store": "memory",
                    "client": "127.0.0.1", "trace_id": None, "user_agent": 'test/1 "quoted"',
                    "protocol": "HTTP/1.1"}
        self.assertEqual({name: line[name] for name in expected}, expected)
        self.assertGreater(line["bytes_out"], 1000)
        self.assertTrue(0 < line["upstream_us"] <= line["duration_us"])
        self.assertTrue(0 <= line["decision_us"] <= line["duration_us"])
        begun = round(at * 1e6)
        self.assertTrue(begun - 1 <= line["decided_at"] <= begun + line["duration_us"] + 1)

    def test_a_denied_request(self):
        self.begin("1/1h")
        self.get()
        self.assertEqual(self.get().status, 429)
        line = self.lines(2)[1]
        expected = {"method": "GET", "path": "/limited", "route": "limited", "status": 429,
                    "bytes_in": 0, "upstream": None, "upstream_us": None, "decision": "denied",
                    "policy": "p", "cost": 1, "remaining": 0, "store": "memory",
                    "denied_by": [{"policy": "p", "outcome": "denied", "remaining": 0}],
                    "client": "127.0.0.1"}
        self.assertEqual({name: line[name] for name in expected}, expected)

    def test_a_request_that_a_shutdown_cuts(self):
        self.begin()
        self.up.behaviour = lambda exchange: exchange.reader.fill()
        self.client.send(request_bytes("GET", "/limited", {"X-Api-Key": KEY}))
        self.up.await_requests(1)
        self.weir.signal(signal.SIGTERM)
        eventually(lambda: "draining" in self.weir.stderr, "the drain")
        self.weir.signal(signal.SIGTERM)
        self.assertEqual(self.weir.wait(), 0)
        line = self.lines(1)[0]
        self.assertEqual((line["status"], line["aborted_by"]), (444, "shutdown"))

    def test_a_request_without_a_route(self):
        self.begin()
        self.get("/nowhere")
        line = self.lines(1)[0]
        expected = {"method": "GET", "path": "/nowhere", "route": None, "status": 404,
                    "upstream": None, "decision": None, "policy": None, "cost": None,
                    "remaining": None, "store": None, "identity": None}
        self.assertEqual({name: line[name] for name in expected}, expected)

    def test_a_request_whose_upstream_is_gone(self):
        self.begin()
        self.get("/gone")
        line = self.lines(1)[0]
        expected = {"route": "gone", "status": 502, "upstream": "gone", "decision": None,
                    "client": "127.0.0.1"}
        self.assertEqual({name: line[name] for name in expected}, expected)

    def test_a_head_that_could_not_be_read(self):
        self.begin()
        self.client.send(b"garbage \x01\"\\\r\n\r\n")
        self.client.read()
        line = self.lines(1)[0]
        self.assertEqual((line["status"], line["route"]), (400, None))

    def test_on_standard_output_by_default(self):
        weir = self.start({**limited({}, []), "access_log": {}})
        self.connect(weir).get("/seen")
        eventually(lambda: "\n" in weir.stdout, "a line on standard output")
        self.assertEqual(json.loads(weir.stdout)["path"], "/seen")


class Secrets(LogCase):
    def test_no_key_is_ever_written(self):
        self.begin("1/1h")
        for _ in range(2):
            self.get()
            self.get(f"/by-query?api_key={KEY}", key="other")
            self.get(f"/nowhere?api_key={KEY}")
            self.get(f"/gone?api_key={KEY}")
            self.get("/limited", Authorization=f"Bearer {KEY}", Cookie=f"session={KEY}")
        lines = self.lines(10)
        for text in (self.text(), self.weir.stderr, self.weir.stdout):
            self.assertNotIn(KEY, text)
        identities = {line["identity"] for line in lines if line["route"] == "limited"}
        self.assertEqual(len(identities), 1)
        self.assertRegex(identities.pop(), r"^[0-9a-f]{16,}$")

    def test_the_hash_is_keyed_and_stable_pitfall_21(self):
        def identity(secret, key):
            weir = self.start(limited({"p": {"algorithm": "gcra", "rate": "9/1h"}},
                                      [{"policy": "p", "key": "key"}],
                                      {"key": {"header": "x-api-key"}}, identity_secret=secret,
                                      access_log={"path": "access.log"}))
            self.connect(weir).get("/", {"X-Api-Key": key})
            log = weir.directory / "access.log"
            eventually(lambda: log.exists() and "\n" in log.read_text(), "a line in the access log")
            return json.loads(log.read_text())["identity"]

        one, two = "a secret of the first kind", "a secret of the second kind"
        self.assertEqual(identity(one, "a"), identity(one, "a"))
        self.assertNotEqual(identity(one, "a"), identity(two, "a"))
        self.assertNotEqual(identity(one, "a"), identity(one, "b"))


class Volume(LogCase):
    def test_only_denied(self):
        self.begin("1/1h", only="denied")
        for _ in range(3):
            self.get()
        self.get("/nowhere")
        lines = self.lines(2)
        self.assertEqual([line["decision"] for line in lines], ["denied", "denied"])

    def test_a_sample(self):
        self.begin("100000/1h", sample=0.25)
        for _ in range(400):
            self.get("/nowhere")
        self.weir.signal(signal.SIGTERM)
        self.client.close()
        self.assertEqual(self.weir.wait(), 0)
        count = self.text().count("\n")
        # 400 draws of 1/4: 100 on average, 8.7 standard deviation; this is 6 of them.
        self.assertTrue(48 <= count <= 152, count)

    def test_off(self):
        self.begin("1/1h", path="off")
        self.get()
        self.assertEqual(self.weir.stdout, "")


class Files(LogCase):
    def test_sigusr1_reopens(self):
        self.begin()
        self.get("/nowhere")
        self.lines(1)
        rotated = self.weir.directory / "access.log.1"
        self.log_file.rename(rotated)
        self.get("/nowhere")
        self.lines(2, rotated)
        self.weir.signal(signal.SIGUSR1)
        eventually(self.log_file.exists, "the log is opened anew")
        self.get("/nowhere")
        self.lines(1)
        self.assertEqual(self.text(rotated).count("\n"), 2)

    def test_every_line_is_written_before_the_end(self):
        self.begin()
        for _ in range(500):
            self.get("/nowhere")
        self.client.close()
        self.weir.signal(signal.SIGTERM)
        self.assertEqual(self.weir.wait(), 0)
        self.assertEqual(len(self.lines(500)), 500)

    def test_a_full_disk_is_reported_once(self):
        self.begin(path="/dev/full")
        full = "warning access log: cannot write to /dev/full: No space left on device; lines are lost"
        self.client.get("/limited")
        eventually(lambda: full in self.weir.stderr, "the report")
        self.client.get("/limited")
        self.weir.signal(signal.SIGTERM)
        self.assertEqual(self.weir.wait(), 0)
        self.assertEqual(self.weir.stderr.count(full), 1)

    def test_a_log_that_cannot_be_opened_is_an_error_at_start(self):
        with self.assertRaisesRegex(AssertionError,
                                    re.compile(r"ended with [12] at start:.*no-such-directory",
                                               re.S)):
            self.start(limited({}, [], access_log={"path": "/no-such-directory/access.log"}))

"""The base of the tests of the Redis path: servers, requests that the access log distinguishes, and
the conditions that hold after every test."""

import json
import os
import time
from pathlib import Path

from .case import SCALE, Case, limited
from .exposition import labelled, parse
from .redis import Redis, RedisError
from .waiting import eventually

SECRET = "an-identity-secret-of-these-tests"

# A decision is answered at most this much after its timeout; sanitizers make everything slow.
SLACK_US = 5_000 if SCALE == 1 else 100_000
RECOVERY_S = 2.0 * SCALE


def sharing(url, policies, limits=(), redis=None, **sections):
    """A configuration whose limits are shared in the Redis at `url`."""
    sections.setdefault("access_log", {"path": "access.log"})
    return limited(policies, list(limits), sections.pop("identities", None),
                   identity_secret=SECRET,
                   store={"type": "redis", "redis": {"url": url, **(redis or {})}}, **sections)


def answering(path, policy, key="client", **limit):
    """A route of its own that answers 200 under one limit."""
    return {"name": path.strip("/*"), "match": {"path": path},
            "respond": {"status": 200, "body": "fine"},
            "limits": [{"policy": policy, "key": key, **limit}]}


def stolen_us():
    """How long the machine's cores have worked for others than this machine."""
    steal = Path("/proc/stat").read_text().split("\n", 1)[0].split()[8]
    return int(steal) * 1_000_000 // os.sysconf("SC_CLK_TCK")


def waited_us(pid):
    """How long the threads of a process have been ready to run without a core to run on."""
    total = 0
    for stat in Path(f"/proc/{pid}/task").glob("*/schedstat"):
        try:
            total += int(stat.read_text().split()[1])
        except (OSError, IndexError):
            pass
    return total // 1000 + stolen_us()


class RedisCase(Case):
    def setUp(self):
        self.servers = []

    def redis(self, *options, start=True, **more):
        redis = Redis(*options, **more)
        self.addCleanup(redis.close)
        self.servers.append(redis)
        return redis.start() if start else redis

    def tearDown(self):
        """Every key expires, whatever a test did."""
        for redis in self.servers:
            if redis.is_running:
                redis.await_loaded()
                with redis.client() as client:
                    if b"role:slave" in client("INFO", "replication"):
                        continue  # its keys are those of its master
                    immortal = [k for k in redis.keys() if client("PTTL", k) == -1]
                self.assertEqual(immortal, [], "keys without TTL")

    def log_lines(self, weir, count=None):
        file = weir.directory / "access.log"

        def complete():
            text = file.read_text() if file.exists() else ""
            return text if count is None or text.count("\n") >= count else None

        text = eventually(complete, f"{count} lines in the access log")
        return [json.loads(line) for line in text.splitlines()]

    def metrics(self, weir):
        with self.connect_admin(weir) as client:
            return parse(client.get("/metrics").body.decode())

    def gauge(self, weir, name, **labels):
        return labelled(self.metrics(weir), name, **labels)

    def await_redis(self, weir, patience_s=15.0 * SCALE):
        """Until Weir is connected."""
        eventually(lambda: self.gauge(weir, "weir_store_up") == 1, "redis is connected", patience_s)


class Sender:
    """Sends requests one after the other. Records each status; the access log has the decider."""

    def __init__(self, case, weir):
        self.case = case
        self.weir = weir
        self.client = case.connect(weir)
        self.sent = []
        self.allowance_us = []  # time each request's process had no core

    def send(self, route, count=1, **fields):
        """`count` requests to /route/N; their statuses."""
        return [self.answer(route, **fields).status for _ in range(count)]

    def answer(self, route, **fields):
        """The answer to one of them."""
        path = f"/{route}/{len(self.sent)}"
        before = waited_us(self.weir.pid)
        answer = self.client.get(path, {"X-Id": path, **fields})
        self.allowance_us.append(waited_us(self.weir.pid) - before)
        self.sent.append((path, answer.status))
        return answer

    def lines(self):
        """The access log's line of every request, in the order in which they were sent."""
        lines = self.case.log_lines(self.weir, len(self.sent))
        self.case.assertEqual([(line["path"], line["status"]) for line in lines], self.sent)
        return lines

    def assert_bounded(self, timeout_us):
        """No request waits longer for its decision than it may."""
        late = [(line["path"], line["decision_us"], allowance)
                for line, allowance in zip(self.lines(), self.allowance_us)
                if line["decision_us"] > timeout_us + SLACK_US + allowance]
        self.case.assertEqual(late, [])

    def send_until(self, route, store, patience_s):
        """Sends requests until `store` decides, and returns the time that this took."""
        began_at = time.monotonic()
        seen = len(self.sent)
        while True:
            self.send(route)
            if self.lines()[-1]["store"] == store:
                return time.monotonic() - began_at
            if time.monotonic() - began_at > patience_s:
                decided = [line["store"] for line in self.lines()[seen:]]
                raise AssertionError(f"{store} did not decide within {patience_s} s: {decided}")
            time.sleep(0.02)


__all__ = ["RECOVERY_S", "SECRET", "SLACK_US", "Redis", "RedisCase", "RedisError", "Sender",
           "answering", "sharing"]

"""The same random requests to a Weir that counts in its memory and to one that counts in Redis: the
answers are the same, field for field, also those of remembered denials.

Allowed differences, and no others:
- Date.
- Times (t of RateLimit, RateLimit-Reset, Retry-After, the problem's detail) may differ by one
  second: the two decide some milliseconds apart, so one may round up to the next second.
- A sliding_window, a sliding_log or an override's numbers, if a client uses more than three
  different costs on one key within five seconds: what is remembered has the retry times of three,
  and a later Retry-After for another. See ADR 0014. This test makes none: its clients use three.

Windows are so long that nothing recovers while the test runs; tests/unit/store compares what is
remembered with a model while time passes."""

import os
import random
import re
import struct

from concurrency_test import in_threads
from harness.case import limited, scaled
from harness.client import request_bytes
from harness.limit_fields import items
from harness.redis_case import RedisCase, sharing

REQUESTS = scaled(int(os.environ.get("WEIR_TEST_PARITY", "8000")))
SEED = int(os.environ.get("WEIR_TEST_SEED", "14"))
TIMES = {"RateLimit-Reset", "Retry-After"}
ALGORITHMS = ("fixed_window", "attributed_window", "sliding_window", "sliding_log", "token_bucket",
              "gcra", "leaky_bucket")


def policies():
    """Three of each algorithm, one hidden and one a dry run; each with a window of its own."""
    found = {}
    for i, algorithm in enumerate(ALGORITHMS):
        for j, quota in enumerate((7, 12, 20)):
            name = f"{algorithm}_{quota}"
            rate = f"{quota}/{200 + 7 * i + j}d"
            found[name] = {"algorithm": algorithm, "rate": rate}
            if algorithm == "leaky_bucket":
                found[name].update(queue=quota - 1, max_delay="1ms")
            if algorithm == "attributed_window":
                found[name]["attributes"] = ["method"]
            if j == 0 and i % 3 == 0:
                found[name]["headers"] = False
            if j == 1 and i % 3 == 1:
                found[name]["mode"] = "shadow"
            if j == 2 and algorithm in ("fixed_window", "sliding_log"):
                found[name]["count_rejected"] = True
    found["gcra_tight"] = {"algorithm": "gcra", "rate": "3/250d", "burst": 11}
    found["token_tight"] = {"algorithm": "token_bucket", "rate": "7/251d", "burst": 5}
    return found


def routes(chance, names, count=60):
    found = []
    for i in range(count):
        limits = []
        for name in chance.sample(names, chance.choice((1, 1, 2, 3))):
            limit = {"policy": name, "key": chance.choice(("client", "tenant"))}
            limit["cost"] = chance.choice((1, 1, 2, 5)) if chance.random() < 0.97 else 30
            if (limit["cost"] == 5 and not name.startswith("leaky")
                    and chance.random() < 0.5):
                limit["overdraft"] = True
            limits.append(limit)
        found.append({"name": f"r{i}", "match": {"path": f"/r{i}"},
                      "respond": {"status": 200, "body": "fine"}, "limits": limits})
    return found


def seconds(fields):
    """The times of an answer, by name, and the rest without them."""
    times, rest = {}, []
    for name, value in fields:
        if name in ("Date", "X-Request-Id"):
            continue
        if name in TIMES:
            times[name] = int(value)
            value = ""
        elif name == "RateLimit":
            listed = items(value)
            for policy, numbers in listed.items():
                times[policy] = numbers.pop("t", None)
            value = str(listed)
        rest.append((name, value))
    return times, rest


class RedisParity(RedisCase):
    def setUp(self):
        super().setUp()
        chance = random.Random(SEED)
        definitions = policies()
        self.routes = routes(chance, list(definitions))
        common = {
            "identities": {name: {"header": f"x-{name}"} for name in ("client", "tenant")},
            "routes": self.routes,
        }
        self.chance = chance
        in_redis = self.start(sharing(
            self.redis().url, definitions, access_log="off", admin={"address": "127.0.0.1:0"},
            redis={"timeout": "10s", "connect_timeout": "10s", "on_failure": "deny"}, **common))
        self.await_redis(in_redis)
        self.in_redis = in_redis
        in_memory = self.start(limited(definitions, [], common["identities"],
                                       routes=self.routes))
        self.pair = [self.connect(in_memory), self.connect(in_redis)]

    def both(self, request):
        for connection in self.pair:
            connection.send(request)
        return [connection.read() for connection in self.pair]

    def difference(self, memory, redis):
        """What differs and may not; None if nothing does."""
        if memory.status != redis.status:
            return f"status {memory.status} and {redis.status}"
        (times, fields), (other_times, other_fields) = (
            seconds(answer.fields.lines) for answer in (memory, redis))
        if not self.same_body(memory, redis):
            return f"{memory.body!r}\n{redis.body!r}"
        if fields != other_fields:
            lines = ["one: %s: %s" % one for one in fields if one not in other_fields]
            lines += ["other: %s: %s" % one for one in other_fields if one not in fields]
            return "\n".join(lines) or "the order of the fields"
        if times.keys() != other_times.keys():
            return f"{times}\n{other_times}"
        for name, time in times.items():
            if (time is None) != (other_times[name] is None):
                return f"{name}: {time} and {other_times[name]}"
            if time is not None and abs(time - other_times[name]) > 1:
                return f"{name}: {time} and {other_times[name]}"
        return None

    def same_body(self, memory, redis):
        texts = [re.split(r"(\d+)", answer.body.decode()) for answer in (memory, redis)]
        if len(texts[0]) != len(texts[1]):
            return False
        for one, other in zip(*texts):
            if one != other and not (one.isdigit() and other.isdigit()
                                     and abs(int(one) - int(other)) <= 1):
                return False
        return True

    def test_every_field_of_every_answer(self):
        different, denied = [], 0
        for step in range(REQUESTS):
            generation = step // 150
            request = request_bytes("GET", f"/r{self.chance.randrange(len(self.routes))}", {
                "x-client": f"c{generation}-{self.chance.randrange(3)}",
                "x-tenant": f"t{generation}"})
            memory, redis = self.both(request)
            denied += memory.status == 429
            if found := self.difference(memory, redis):
                different.append(f"request {step} of seed {SEED}, {request!r}\n{found}")
        remembered = self.gauge(self.in_redis, "weir_denial_memory_hits_total")
        summary = (f"{len(different)} of {REQUESTS} differ, {denied} denied, "
                   f"{remembered:.0f} of them remembered\n")
        self.assertEqual(different[:5], [], summary)
        self.assertGreater(denied, REQUESTS / 5, summary)
        self.assertGreater(remembered, REQUESTS / 20, summary)


class ChargedDenials(RedisCase):
    """Denials that are charged: many at once cost one call at a time, and each of them counts."""

    CLIENTS = 32

    def setUp(self):
        super().setUp()
        self.server = self.redis()
        self.weir = self.start(sharing(
            self.server.url, {"p": {"algorithm": "fixed_window", "rate": "7/260d",
                                    "count_rejected": True}},
            limits=[{"policy": "p", "key": "client"}], access_log="off",
            admin={"address": "127.0.0.1:0"},
            redis={"timeout": "20s", "connect_timeout": "20s", "on_failure": "deny"}))
        self.await_redis(self.weir)
        self.clients = [self.connect(self.weir) for _ in range(self.CLIENTS)]
        self.server("CONFIG", "RESETSTAT")

    def calls(self):
        stats = self.server("INFO", "commandstats").decode()
        return int(re.search(r"cmdstat_evalsha:calls=(\d+)", stats)[1])

    def charged(self):
        [key] = [key for key in self.server.keys() if key.endswith(b":p:f1")]
        with self.server.client() as client:
            return struct.unpack("<Bdddd", client("GET", key))[4]

    def test_every_one_of_a_flood_is_counted(self):
        each = scaled(200)
        statuses = [[] for _ in self.clients]

        def work(i):
            for _ in range(each):
                statuses[i].append(self.clients[i].get("/").status)

        in_threads(self.CLIENTS, work)
        answered = [status for some in statuses for status in some]
        self.assertEqual(answered.count(200), 7)
        self.assertEqual(answered.count(429), len(answered) - 7)
        self.assertEqual(self.charged(), len(answered))
        self.assertLess(self.calls(), len(answered))

    def test_those_that_wait_for_a_slow_redis_are_rejected_by_one_call(self):
        for _ in range(10):
            self.clients[0].get("/")
        self.assertEqual(self.calls(), 10)
        self.server.pause()
        for client in self.clients:
            client.send(request_bytes("GET", "/"))
        # Weir has read all of them when it has served another request.
        self.connect_admin(self.weir).get("/metrics")
        self.server.resume()
        self.assertEqual([client.read().status for client in self.clients], [429] * self.CLIENTS)
        self.assertLess(self.calls(), 10 + self.CLIENTS / 4)
        self.assertEqual(self.charged(), 10 + self.CLIENTS)

"""Events: a line on the log when a key reaches a percentage of its quota, once in a window and once
over all instances."""

import json
import random
import re
import signal

from harness.case import Case, limited
from harness.clusters import Cluster, slot_of
from harness.redis_case import RedisCase, answering, sharing
from harness.waiting import eventually

EVENT = re.compile(r"policy (\w+): key ([0-9a-f]{32}) has reached (\d+) % of its quota: (\d+) of (\d+) units are used; "
                   r"whole again in (\d+) s")
SLOTS = re.compile(r"policy p: key [0-9a-f]{32} has reached (\d+) % of its quota: (\d+) of 4 units are used\n")
KEY = "key-that-nobody-may-see"


def events_of(weir):
    return EVENT.findall(weir.stderr)


class Events(Case):
    def begin(self, **sections):
        return self.start(limited({"p": {"algorithm": "fixed_window", "rate": "10/1h"}}, [],
                                  {"key": {"header": "x-api-key"}},
                                  access_log={"path": "access.log"},
                                  routes=[{"match": {"path": "/"}, "respond": {"body": "x"},
                                           "limits": [{"policy": "p", "key": "key"}]}], **sections))

    def test_each_percentage_is_logged_once_and_the_key_as_a_hash_only(self):
        weir = self.begin(events={"at": [100, 80]}, admin={"address": "127.0.0.1:0"})
        client = self.connect(weir)
        for key in [KEY, "other"]:
            statuses = [client.get("/", {"X-Api-Key": key}).status for _ in range(13)]
            self.assertEqual(statuses, [200] * 10 + [429] * 3)
        eventually(lambda: len(events_of(weir)) == 4, "four events")
        events = events_of(weir)
        self.assertEqual([event[0] for event in events], ["p"] * 4)
        self.assertEqual([event[2:5] for event in events], [("80", "8", "10"), ("100", "10", "10")] * 2)
        self.assertEqual([len({event[1] for event in events}), events[0][1], events[2][1]],
                         [2, events[1][1], events[3][1]])
        self.assertTrue(all(3500 < int(event[5]) <= 3600 for event in events), events)
        self.assertNotIn(KEY, weir.stderr)
        with self.connect_admin(weir) as admin:
            metrics = admin.get("/metrics").body.decode()
        for at in ["80", "100"]:
            self.assertIn(f'weir_events_total{{policy="p",at="{at}",result="logged"}} 2\n', metrics)
            self.assertIn(f'weir_events_total{{policy="p",at="{at}",result="elsewhere"}} 0\n', metrics)
            self.assertIn(f'weir_events_total{{policy="p",at="{at}",result="dropped"}} 0\n', metrics)
        self.assertNotIn("weir_webhook", metrics)

    def test_events_of_the_last_requests_are_logged_before_the_end(self):
        weir = self.begin(events={"at": [80]})
        client = self.connect(weir)
        for _ in range(8):
            client.get("/", {"X-Api-Key": KEY})
        client.close()
        weir.signal(signal.SIGTERM)
        self.assertEqual(weir.wait(), 0)
        self.assertEqual(len(events_of(weir)), 1)

    def test_a_reload_begins_and_ends_events(self):
        weir = self.begin()
        client = self.connect(weir)
        config = json.loads(weir.file.read_text())
        for _ in range(8):
            client.get("/", {"X-Api-Key": KEY})
        weir.write({**config, "events": {"at": [90]}})
        weir.signal(signal.SIGHUP)
        eventually(lambda: "configuration reloaded" in weir.stderr, "the reload")
        client.get("/", {"X-Api-Key": KEY})
        eventually(lambda: events_of(weir), "an event")
        self.assertEqual([event[2] for event in events_of(weir)], ["90"])

    def test_a_reset_raises_the_events_again(self):
        weir = self.begin(events={"at": [100]}, admin={"address": "127.0.0.1:0"})
        client = self.connect(weir)
        for count in [1, 2]:
            for _ in range(12):
                client.get("/", {"X-Api-Key": KEY})
            eventually(lambda: len(events_of(weir)) == count, "an event")
            with self.connect_admin(weir) as admin:
                self.assertEqual(admin.request("DELETE", f"/v1/limits?policy=p&identity=key&key={KEY}").status, 204)


def algorithm(name, **more):
    return {"algorithm": name, "rate": "20/1d", **more}


# Each admits 20 requests and refills too slowly to matter here.
COUNTING = {
    "fixed_window": algorithm("fixed_window"),
    "attributed_window": algorithm("attributed_window", attributes=["method"]),
    "sliding_window": algorithm("sliding_window"),
    "sliding_log": algorithm("sliding_log"),
    "token_bucket": algorithm("token_bucket"),
    "gcra": algorithm("gcra"),
    "holds": algorithm("gcra"),
}


class SharedEvents(RedisCase):
    def instances(self, redis, count, policies, routes, store=None, **sections):
        store = {"timeout": "10s", "connect_timeout": "10s", "on_failure": "deny", **(store or {})}
        sections.setdefault("events", {"at": [50, 80, 100]})
        weirs = [self.start(sharing(redis.url, policies, routes=routes, admin={"address": "127.0.0.1:0"}, redis=store,
                                    identities={"client": {"client_address": {}}, "key": {"header": "x-api-key"}},
                                    workers=2, **sections)) for _ in range(count)]
        for weir in weirs:
            self.await_redis(weir)
        return weirs

    def ended(self, weirs):
        """The events of all, after the last requests."""
        for weir in weirs:
            weir.signal(signal.SIGTERM)
            self.assertEqual(weir.wait(), 0)
        return [event for weir in weirs for event in events_of(weir)]

    def test_of_three_instances_one_logs_each_percentage_of_every_algorithm(self):
        routes = [answering("/" + name, name) for name in COUNTING if name != "holds"]
        routes.append(answering("/holds", "holds", charge={"status": [200]}))
        weirs = self.instances(self.redis(), 3, COUNTING, routes)
        clients = [self.connect(weir) for weir in weirs]
        for name in COUNTING:
            statuses = [clients[i % 3].get("/" + name).status for i in range(27)]
            self.assertEqual(statuses.count(200), 20, (name, statuses))
        events = self.ended(weirs)
        for name in COUNTING:
            self.assertEqual(sorted(event[2] for event in events if event[0] == name), ["100", "50", "80"], name)

    def test_random_requests_have_the_events_of_a_model(self):
        seed = random.randrange(2**32)
        print("seed", seed)
        draw = random.Random(seed)
        names = ["fixed_window", "sliding_window", "gcra"]
        routes = [answering(f"/{name}/{cost}", name, "key", cost=cost) for name in names for cost in [0, 1, 2, 5]]
        weirs = self.instances(self.redis(), 3, COUNTING, routes)
        clients = [self.connect(weir) for weir in weirs]
        used = {}
        for _ in range(600):
            name, user, cost = draw.choice(names), draw.randrange(6), draw.choice([0, 1, 1, 2, 5])
            status = draw.choice(clients).get(f"/{name}/{cost}", {"X-Api-Key": f"user-{user}"}).status
            used[name, user] = used.get((name, user), 0) + (cost if status == 200 else 0)
        expected = sorted((name, str(at)) for (name, user), units in used.items()
                          for at in [50, 80, 100] if units * 100 >= 20 * at)
        events = self.ended(weirs)
        self.assertEqual(sorted((event[0], event[2]) for event in events), expected)
        self.assertEqual(len({event[:3] for event in events}), len(events))

    def test_a_leaky_bucket_has_events_also_of_requests_that_only_look(self):
        routes = [answering("/fill", "p", cost=17), answering("/look", "p", cost=0)]
        weirs = self.instances(self.redis(), 2, {"p": algorithm("leaky_bucket", queue=19)}, routes)
        clients = [self.connect(weir) for weir in weirs]
        self.assertEqual([client.get(path).status for path in ["/fill", "/look"] for client in clients[:1]], [200] * 2)
        self.assertEqual(clients[1].get("/look").status, 200)
        self.assertEqual(sorted(event[2:5] for event in self.ended(weirs)), [("50", "17", "20"), ("80", "17", "20")])

    def test_slots_have_events(self):
        upstream, may_answer = self.late_upstream()
        routes = [{"match": {"path": "/"}, "upstream": "main", "limits": [{"policy": "p", "key": "client"}]}]
        weirs = self.instances(self.redis(), 2, {"p": {"algorithm": "concurrency", "limit": 4}}, routes,
                               upstreams={"main": {"servers": [{"url": upstream.url}]}})
        clients = [self.connect(weirs[i % 2]) for i in range(4)]
        for i, client in enumerate(clients):
            client.send(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            upstream.await_requests(i + 1)
        eventually(lambda: len(SLOTS.findall(weirs[0].stderr + weirs[1].stderr)) >= 3, "three events")
        may_answer.set()
        for weir in weirs:
            weir.signal(signal.SIGTERM)
            self.assertEqual(weir.wait(), 0)
        events = sorted(SLOTS.findall(weirs[0].stderr + weirs[1].stderr))
        self.assertEqual([percent for percent, _ in events], ["100", "50", "80"])
        self.assertEqual([events[0][1], events[2][1]], ["4", "4"])
        # The instance that reports half may be the one that has seen the next request.
        self.assertIn(events[1][1], ["2", "3", "4"])

    def test_with_leases_one_instance_logs_a_percentage(self):
        policies = {"p": {"algorithm": "gcra", "rate": "2000/1d", "lease": True}}
        weirs = self.instances(self.redis(), 3, policies, [answering("/p", "p")],
                               store={"leases": {"share": 20, "duration": "200ms"}})
        clients = [self.connect(weir) for weir in weirs]
        statuses = [clients[i % 3].get("/p").status for i in range(2100)]
        self.assertLessEqual(statuses.count(200), 2000)
        events = [event[2] for event in self.ended(weirs)]
        self.assertIn("50", events)
        self.assertIn("80", events)
        self.assertEqual(len(set(events)), len(events), events)

    def test_the_mark_in_redis_expires_and_has_no_secret(self):
        redis = self.redis()
        weirs = self.instances(redis, 2, {"p": algorithm("gcra")}, [answering("/p", "p", "key")])
        for weir in weirs:
            client = self.connect(weir)
            for _ in range(8):
                client.get("/p", {"X-Api-Key": KEY})
        key, = eventually(lambda: redis.keys("*:e1"), "a mark")
        hashed = re.fullmatch(rb"weir:\{([0-9a-f]{32})\}:p:e1", key).group(1).decode()
        eventually(lambda: redis("HLEN", key) == 2, "both percentages")
        self.assertEqual(sorted(redis("HKEYS", key)), [b"50", b"80"])
        self.assertTrue(86_000_000 < redis("PTTL", key) <= 86_411_000)
        events = self.ended(weirs)
        self.assertEqual({event[1] for event in events}, {hashed})
        self.assertEqual(sorted(event[2] for event in events), ["50", "80"])

    def test_events_are_counted_by_policy_percentage_and_result(self):
        weirs = self.instances(self.redis(), 2, {"p": algorithm("sliding_log")}, [answering("/p", "p")],
                               events={"at": [50]})

        def counts(result):
            return [self.gauge(weir, "weir_events_total", policy="p", at="50", result=result) for weir in weirs]
        client = self.connect(weirs[0])
        for _ in range(10):
            client.get("/p")
        eventually(lambda: counts("logged") == [1, 0], "the event")
        self.connect(weirs[1]).get("/p")
        eventually(lambda: counts("logged") == [1, 0] and counts("elsewhere") == [0, 1], "one on each")
        self.assertEqual(counts("dropped"), [0, 0])

    def test_a_reset_raises_the_events_again_on_every_instance(self):
        weirs = self.instances(self.redis(), 2, {"p": algorithm("fixed_window")}, [answering("/p", "p", "key")],
                               events={"at": [100]})
        clients = [self.connect(weir) for weir in weirs]

        def use_up(client):
            for _ in range(20):
                client.get("/p", {"X-Api-Key": KEY})
        use_up(clients[0])
        eventually(lambda: len(events_of(weirs[0])) == 1, "the event")
        clients[1].get("/p", {"X-Api-Key": KEY})
        eventually(lambda: self.gauge(weirs[1], "weir_events_total", policy="p", at="100", result="elsewhere") == 1, "it asks")
        for i, other in [(0, 1), (1, 0)]:
            with self.connect_admin(weirs[i]) as admin:
                self.assertEqual(admin.request("DELETE", f"/v1/limits?policy=p&identity=key&key={KEY}").status, 204)
            use_up(clients[other])
            # It may take a second until the other instance asks again.
            eventually(lambda: clients[other].get("/p", {"X-Api-Key": KEY}) and
                       len(events_of(weirs[0]) + events_of(weirs[1])) == 2 + i, "the event again")
        self.assertEqual(len(self.ended(weirs)), 3)

    def test_without_redis_each_instance_reports_rather_than_none(self):
        redis = self.redis()
        weirs = self.instances(redis, 2, {"p": algorithm("gcra")}, [answering("/p", "p")], events={"at": [50]},
                               store={"on_failure": "local", "replicas": 2, "timeout": "50ms"})
        redis.stop()
        for weir in weirs:
            client = self.connect(weir)
            for _ in range(10):
                client.get("/p")
            eventually(lambda: len(events_of(weir)) == 1, "an event")
        self.assertEqual(len(self.ended(weirs)), 2)

    def test_a_redis_that_hangs_delays_the_events_and_not_the_end(self):
        redis = self.redis()
        weir, = self.instances(redis, 1, {"p": algorithm("gcra")}, [answering("/p", "p")], events={"at": [5]},
                               store={"on_failure": "local", "timeout": "50ms"})
        redis.pause()
        self.addCleanup(redis.resume)
        client = self.connect(weir)
        for _ in range(20):
            client.get("/p")
        client.close()
        events = self.ended([weir])
        redis.resume()
        self.assertEqual(len(events), 1)

    def test_in_a_cluster_one_instance_logs_each_percentage(self):
        cluster = Cluster(self)
        config = sharing("redis://unused", {"p": algorithm("gcra")}, routes=[answering("/p", "p", "key")],
                         identities={"key": {"header": "x-api-key"}}, admin={"address": "127.0.0.1:0"},
                         redis={"timeout": "10s", "connect_timeout": "10s", "on_failure": "deny", **cluster.store},
                         events={"at": [80, 100]})
        weirs = [self.start(config) for _ in range(2)]
        for weir in weirs:
            self.await_redis(weir)
        clients = [self.connect(weir) for weir in weirs]
        users = [f"user-{i}" for i in range(8)]
        for user in users:
            for i in range(22):
                clients[i % 2].get("/p", {"X-Api-Key": user})
        marks = eventually(lambda: [key for key in cluster.keys() if key.endswith(b":e1")] if
                           sum(key.endswith(b":e1") for key in cluster.keys()) == len(users) else None, "all marks")
        self.assertGreater(len({slot_of(key) for key in marks}), 1)
        events = self.ended(weirs)
        self.assertEqual(len(events), 2 * len(users))
        self.assertEqual(len({event[1:3] for event in events}), 2 * len(users))

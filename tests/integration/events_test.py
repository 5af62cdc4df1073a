"""Events: a line on the log when a key reaches a percentage of its quota, once in a window and once
over all instances."""

import json
import re
import signal

from harness.case import Case, limited
from harness.redis_case import RedisCase, answering, sharing
from harness.waiting import eventually

EVENT = re.compile(r"policy (\w+): key ([0-9a-f]{32}) has reached (\d+) % of its quota: (\d+) of (\d+) units are used; "
                   r"whole again in (\d+) s")
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
        self.assertIn('weir_events_total{result="logged"} 4\n', metrics)
        self.assertIn('weir_events_total{result="dropped"} 0\n', metrics)

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


class SharedEvents(RedisCase):
    def test_two_instances_log_each_percentage_once(self):
        redis = self.redis()
        policies = {"p": {"algorithm": "fixed_window", "rate": "20/1d"}}
        config = sharing(redis.url, policies, routes=[answering("/p", "p")], admin={"address": "127.0.0.1:0"},
                         redis={"timeout": "10s", "connect_timeout": "10s", "on_failure": "deny"},
                         events={"at": [50, 80, 100]}, workers=2)
        weirs = [self.start(config) for _ in range(2)]
        for weir in weirs:
            self.await_redis(weir)
        clients = [self.connect(weir) for weir in weirs]
        statuses = [clients[i % 2].get("/p").status for i in range(24)]
        self.assertEqual(statuses, [200] * 20 + [429] * 4)
        for weir in weirs:
            weir.signal(signal.SIGTERM)
            self.assertEqual(weir.wait(), 0)
        events = [event for weir in weirs for event in events_of(weir)]
        self.assertEqual(sorted(event[2:4] for event in events), [("100", "20"), ("50", "10"), ("80", "16")])

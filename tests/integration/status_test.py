"""The status as JSON and as events: the numbers after known traffic, reloads, and the end of the process."""

import signal

from harness.case import Case, configuration, limited
from harness.client import request_bytes
from harness.redis_case import RedisCase, sharing
from harness.services import free_port
from harness.status_events import Events
from harness.waiting import eventually

ADMIN = {"address": "127.0.0.1:0"}


def by_name(rows):
    return {row["name"]: row for row in rows}


class StatusCase(Case):
    def status(self, weir, fields=()):
        with weir.connect_admin() as connection:
            return connection.get("/v1/status", fields)

    def events(self, weir, fields=()):
        return Events(self.connect_admin(weir), fields)


class Numbers(StatusCase):
    def test_counts_are_those_of_known_traffic(self):
        up = self.upstream()
        servers = {"main": up.url, "gone": f"http://127.0.0.1:{free_port()}"}
        policies = {"p": {"algorithm": "fixed_window", "rate": "3/1h"},
                    "odd": {"algorithm": "fixed_window", "rate": "1/1h", "status": 403},
                    "watch": {"algorithm": "fixed_window", "rate": "1/1h", "mode": "shadow"}}
        weir = self.start(limited(policies, [], admin=ADMIN, workers=2, routes=[
            {"name": "limited", "match": {"path": "/limited"}, "upstream": "main",
             "limits": [{"policy": "p"}, {"policy": "watch"}]},
            {"name": "odd", "match": {"path": "/odd"}, "respond": {"body": "x"}, "limits": [{"policy": "odd"}]},
            {"name": "gone", "match": {"path": "/gone"}, "upstream": "gone"}],
            upstreams={name: {"servers": [{"url": url}]} for name, url in servers.items()}))
        for target, count in [("/limited", 5), ("/odd", 3), ("/gone", 2), ("/nowhere", 4)]:
            for _ in range(count):
                with weir.connect() as client:
                    client.get(target)
        status = eventually(lambda: (made := self.status(weir).json())["traffic"]["requests"]["total"] == 14 and made,
                            "all requests are counted")
        self.assertGreaterEqual(status["traffic"]["over"], 1)
        self.assertEqual(status["traffic"]["denied"]["total"], 4)
        routes = {name: [row[key]["total"] for key in ("requests", "denied", "client_errors", "server_errors")]
                  for name, row in by_name(status["routes"]).items()}
        self.assertEqual(routes, {"limited": [5, 2, 2, 0], "odd": [3, 2, 2, 0], "gone": [2, 0, 0, 2],
                                  "none": [4, 0, 4, 0]})
        decided = {name: [row[key]["total"] for key in ("decisions", "denied", "shadow_denied")]
                   for name, row in by_name(status["policies"]).items()}
        self.assertEqual(decided["p"], [5, 2, 0])
        self.assertEqual(decided["odd"], [3, 2, 0])
        self.assertEqual(decided["watch"][2], 4)
        upstreams = by_name(status["upstreams"])
        self.assertEqual([upstreams["main"][key]["total"] for key in ("answered", "failed")], [3, 0])
        self.assertEqual([upstreams["gone"][key]["total"] for key in ("answered", "failed")], [0, 2])
        self.assertEqual(by_name(status["decisions"])["memory"]["decisions"]["total"], 8)
        self.assertEqual((status["state"], status["workers"], status["degraded"]), ("ready", 2, []))

    def test_rates_are_the_requests_between_two_events(self):
        weir = self.start(limited({"p": {"algorithm": "fixed_window", "rate": "1/1h"}}, [{"policy": "p"}], admin=ADMIN))
        events = self.events(weir)
        before = events.next()
        client = self.connect(weir)
        for _ in range(50):
            client.get("/")
        after = events.await_event(lambda event: event["traffic"]["requests"]["total"] == 50)
        seconds = after["traffic"]["over"]
        self.assertAlmostEqual(seconds, after["at"] - before["at"], places=3)
        route = by_name(after["routes"])["all"]
        self.assertAlmostEqual(route["requests"]["per_second"], 50 / seconds, places=2)
        self.assertAlmostEqual(route["denied"]["per_second"], 49 / seconds, places=2)
        self.assertGreater(route["duration"]["p99"], 0)

    def test_units_of_requests_in_progress(self):
        upstream, may_answer = self.late_upstream()
        weir = self.start(configuration(
            upstream.url, admin=ADMIN, identities={"client": {"client_address": {}}},
            policies={"slots": {"algorithm": "concurrency", "limit": 1, "queue": 5, "max_wait": "30s"}},
            routes=[{"upstream": "main", "limits": [{"policy": "slots"}]}]))
        clients = [self.connect(weir) for _ in range(3)]
        for client in clients:
            client.send(request_bytes("GET", "/"))
        events = self.events(weir)
        events.await_event(lambda event: (event["policies"][0]["held"], event["policies"][0]["queued"]) == (1, 2))
        may_answer.set()
        for client in clients:
            self.assertEqual(client.read().status, 200)
        events.await_event(lambda event: (event["policies"][0]["held"], event["policies"][0]["queued"]) == (0, 0))


class Streams(StatusCase):
    def test_the_token(self):
        weir = self.start(configuration(self.upstream().url, admin={**ADMIN, "token": "open-sesame"}))
        with weir.connect_admin() as connection:
            for target in ("/v1/status", "/v1/status/events"):
                self.assert_problem(connection.get(target), 401)
        self.assertEqual(self.status(weir, {"Authorization": "Bearer open-sesame"}).status, 200)
        self.assertEqual(self.events(weir, {"Authorization": "Bearer open-sesame"}).next()["state"], "ready")

    def test_a_stream_outlives_a_reload(self):
        weir = self.start(limited({"p": {"algorithm": "gcra", "rate": "10/1s"}}, [{"policy": "p"}], admin=ADMIN))
        events = self.events(weir)
        before = events.next()["configuration"]
        changed = limited({"renamed": {"algorithm": "gcra", "rate": "10/1s"}}, [{"policy": "renamed"}], admin=ADMIN)
        weir.write(changed)
        weir.signal(signal.SIGHUP)
        after = events.await_event(lambda event: event["configuration"]["reloads"] == 1)
        self.assertEqual([row["name"] for row in after["policies"]], ["renamed"])
        self.assertNotEqual(after["configuration"]["hash"], before["hash"])
        weir.write("nonsense")
        weir.signal(signal.SIGHUP)
        failed = events.await_event(lambda event: event["configuration"]["failed_reloads"] == 1)["configuration"]
        self.assertEqual(failed["hash"], after["configuration"]["hash"])
        # Another token ends it.
        weir.write({**changed, "admin": {**ADMIN, "token": "open-sesame"}})
        weir.signal(signal.SIGHUP)
        eventually(lambda: events.next() is None, "the stream ends")

    def test_a_stream_shows_that_the_instance_drains_and_does_not_delay_its_end(self):
        upstream, may_answer = self.late_upstream(b"late but whole")
        weir = self.start(configuration(upstream.url, admin=ADMIN))
        client = self.connect(weir)
        client.send(request_bytes("GET", "/"))
        upstream.await_requests(1)
        events = self.events(weir)
        weir.signal(signal.SIGTERM)
        events.await_event(lambda event: event["state"] == "draining")
        may_answer.set()
        self.assertEqual(client.read().body, b"late but whole")
        eventually(lambda: events.next() is None, "the stream ends with the process")
        self.assertEqual(weir.wait(), 0)


class Redis(RedisCase, StatusCase):
    def test_the_nodes_and_a_lost_redis(self):
        redis = self.redis()
        weir = self.start(sharing(redis.url, {"p": {"algorithm": "gcra", "rate": "10/1s"}}, [{"policy": "p"}],
                                  admin=ADMIN))
        self.await_redis(weir)
        self.connect(weir).get("/")
        events = self.events(weir)
        store = events.await_event(lambda event: event["store"]["up"] and event["store"]["nodes"])["store"]
        self.assertEqual((store["type"], len(store["nodes"])), ("redis", 1))
        node = store["nodes"][0]
        self.assertEqual((node["up"], node["breaker"], node["decisions"]["total"]), (True, "closed", 1))
        events.await_event(lambda event: event["store"]["nodes"][0]["in_flight_limit"] > 0)
        redis.stop()
        lost = events.await_event(lambda event: event["degraded"])
        self.assertFalse(lost["store"]["up"])
        self.connect(weir).get("/")
        local = events.await_event(lambda event: event["store"]["fallbacks"] > 0)
        self.assertGreater(by_name(local["decisions"])["local"]["decisions"]["total"], 0)

"""The webhook of events: what it receives, receivers that fail, and requests that notice nothing."""

import json
import re
import signal
import threading

from harness.case import Case, limited
from harness.certificates import Authority
from harness.exposition import labelled, parse
from harness.redis_case import RedisCase, answering, sharing
from harness.upstream import answer
from harness.waiting import eventually

KEY = "key-that-nobody-may-see"
TOKEN = "t0ken-of-the-receiver"
POLICY = {"p": {"algorithm": "fixed_window", "rate": "10/1h"}}
FAILED = "events.webhook: cannot deliver an event: "


def accept(exchange):
    exchange.read_body()
    exchange.answer(b"thank you")


def hang_up(exchange):
    exchange.read_body()
    exchange.reset()


class WebhookCase(Case):
    def receiver(self, behaviour=accept, **options):
        return self.upstream(behaviour, **options)

    def configuration(self, receiver, at=(50,), url=None, **webhook):
        return limited(POLICY, [], {"key": {"header": "x-api-key"}},
                       routes=[{"match": {"path": "/"}, "respond": {"body": "x"},
                                "limits": [{"policy": "p", "key": "key"}]}],
                       admin={"address": "127.0.0.1:0"},
                       events={"at": list(at), "webhook": {"url": url or receiver.url + "/quota", "timeout": "20s",
                                                           **webhook}})

    def begin(self, receiver, **webhook):
        self.weir = self.start(self.configuration(receiver, **webhook))
        return self.weir

    def use(self, count=5, key=KEY):
        """Sends requests, which are answered whatever the webhook does."""
        with self.connect(self.weir) as client:
            self.assertEqual([client.get("/", {"X-Api-Key": key}).status for _ in range(count)], [200] * count)

    def bodies(self, receiver, count):
        """What arrived, once it is so much."""
        complete = eventually(lambda: [request for request in receiver.requests if request.body] if
                              sum(bool(request.body) for request in receiver.requests) >= count else None,
                              f"{count} requests at the receiver")
        return [json.loads(request.body) for request in complete]

    def metrics(self):
        with self.connect_admin(self.weir) as admin:
            return parse(admin.get("/metrics").body.decode())

    def results(self, result):
        return labelled(self.metrics(), "weir_webhook_events_total", result=result)

    def value(self, name):
        return labelled(self.metrics(), name)

    def logged(self, at="1"):
        return labelled(self.metrics(), "weir_events_total", policy="p", at=at, result="logged")

    def await_result(self, result, count=1):
        eventually(lambda: self.results(result) == count, f"{count} {result}")

    def end(self):
        self.weir.signal(signal.SIGTERM)
        self.assertEqual(self.weir.wait(), 0)


class Delivery(WebhookCase):
    def test_one_post_for_each_event(self):
        receiver = self.receiver()
        self.begin(receiver, at=(50, 80), url=f"{receiver.url}/quota/{TOKEN}?token={TOKEN}",
                   headers={"authorization": "Bearer " + TOKEN, "x-team": "api"})
        self.use(8)
        first, second = sorted(self.bodies(receiver, 2), key=lambda body: body["at"])
        request = receiver.requests[0]
        self.assertEqual((request.method, request.target), ("POST", f"/quota/{TOKEN}?token={TOKEN}"))
        self.assertEqual(request["content-type"], "application/json")
        self.assertEqual(request["authorization"], "Bearer " + TOKEN)
        self.assertEqual(request["x-team"], "api")
        self.assertEqual(set(first), {"id", "time", "instance", "policy", "at", "identity", "key", "used", "quota",
                                      "reset_at"})
        self.assertEqual([(body["policy"], body["at"], body["identity"], body["used"], body["quota"])
                          for body in [first, second]], [("p", 50, "key", 5, 10), ("p", 80, "key", 8, 10)])
        self.assertNotEqual(first["id"], second["id"])
        self.assertRegex(first["id"], r"^[0-9a-f]{8}-[0-9a-f]{4}-7")
        self.assertRegex(first["time"], r"^\d{4}-\d\d-\d\dT")
        self.assertLess(first["time"], first["reset_at"])
        self.assertTrue(first["instance"].endswith(f":{self.weir.pid}"), first)
        self.assertIn(f"key {first['key']} has reached 50 %", self.weir.stderr)
        self.await_result("delivered", 2)
        with self.connect_admin(self.weir) as admin:
            shown = admin.get("/v1/config").body.decode()
            metrics = admin.get("/metrics").body.decode()
        self.assertIn("webhook", shown)
        for secret in [TOKEN, KEY]:
            for text in [shown, metrics, self.weir.stderr, json.dumps(first)]:
                self.assertNotIn(secret, text)
        self.assertEqual(self.value("weir_webhook_failures_total"), 0)
        self.end()
        self.assertEqual(len(receiver.requests), 2)

    def test_events_of_the_last_requests_are_delivered_before_the_end(self):
        receiver = self.receiver()
        self.begin(receiver)
        self.use()
        self.end()
        self.assertEqual(len(self.bodies(receiver, 1)), 1)

    def test_over_tls_the_certificate_is_verified(self):
        ca = Authority()
        self.addCleanup(ca.cleanup)
        receiver = self.receiver(tls=ca.server_context(ca.issue("receiver", "DNS:receiver.test")))
        self.begin(receiver, tls={"ca": ca.file, "server_name": "receiver.test"})
        self.use()
        self.bodies(receiver, 1)
        self.begin(receiver, tls={"ca": ca.file, "server_name": "other.test"})
        self.use()
        eventually(lambda: FAILED + "TLS: its certificate is not accepted" in self.weir.stderr, "a failure")
        self.assertEqual(len(receiver.requests), 1)


class Failures(WebhookCase):
    def test_a_receiver_that_fails_gets_the_same_event_again(self):
        for name, first, reason in [("500", answer(status="500 Oops"), "it answered 500"),
                                    ("429", answer(status="429 Wait", fields=[("Retry-After", "1")]), "it answered 429"),
                                    ("reset", hang_up, "")]:
            with self.subTest(name):
                behaviours = [first, first]

                def behave(exchange):
                    (behaviours.pop() if behaviours else accept)(exchange)

                receiver = self.receiver(behave)
                self.begin(receiver)
                self.use()
                ids = [body["id"] for body in self.bodies(receiver, 3)]
                self.assertEqual(len(set(ids)), 1, ids)
                self.await_result("delivered")
                self.assertEqual(self.value("weir_webhook_failures_total"), 2)
                self.assertEqual(self.value("weir_webhook_pending"), 0)
                eventually(lambda: "events are delivered again" in self.weir.stderr, "the line")
                self.assertEqual(self.weir.stderr.count(FAILED + reason), 1, self.weir.stderr)
                self.end()

    def test_a_receiver_that_is_down_gets_the_events_later(self):
        receiver = self.receiver()
        port = receiver.port
        receiver.stop()
        self.begin(receiver, at=(50, 80))
        self.use(8)
        eventually(lambda: self.value("weir_webhook_failures_total") >= 2, "failures")
        self.use(8, key="another")
        self.assertEqual(self.weir.stderr.count(FAILED + "cannot connect: Connection refused"), 1)
        again = self.receiver(port=port)
        self.assertEqual(sorted((body["at"], body["used"]) for body in self.bodies(again, 4)),
                         [(50, 5), (50, 5), (80, 8), (80, 8)])
        self.await_result("delivered", 4)
        self.assertEqual(self.weir.stderr.count(FAILED), 1)

    def test_a_receiver_that_rejects_an_event_does_not_get_it_again(self):
        redirect = answer(status="302 Found", fields=[("Location", "/elsewhere")])
        for status, behaviour, reason in [
                ("404", answer(status="404 Not Found"), "it answered 404; it is dropped"),
                ("302", redirect, "it answered 302; redirects are not followed, so set the URL that it leads to")]:
            with self.subTest(status):
                receiver = self.receiver(behaviour)
                self.begin(receiver, at=(50, 80))
                self.use(8)
                self.await_result("rejected", 2)
                self.assertEqual(self.weir.stderr.count("events.webhook: an event was not accepted: " + reason), 1,
                                 self.weir.stderr)
                self.end()
                self.assertEqual([request.target for request in receiver.requests], ["/quota"] * 2)

    def test_a_receiver_that_does_not_answer_times_out_and_blocks_nothing(self):
        may_answer = threading.Event()
        self.addCleanup(may_answer.set)

        def stall(exchange):
            exchange.read_body()
            may_answer.wait()

        receiver = self.receiver(stall)
        self.begin(receiver, timeout="100ms")
        for i in range(20):
            self.use(5, key=f"key-{i}")
        eventually(lambda: FAILED + "timed out while" in self.weir.stderr, "a timeout")
        eventually(lambda: self.weir.stderr.count("has reached 50 %") == 20, "all lines")
        self.assertEqual(self.results("delivered"), 0)
        self.end()
        self.assertEqual(re.findall(r"were not delivered before the end: (\d+)", self.weir.stderr), ["20"])

    def test_more_events_than_may_wait_are_dropped_and_counted(self):
        may_answer = threading.Event()
        self.addCleanup(may_answer.set)
        receiver = self.receiver(lambda exchange: may_answer.wait())
        self.begin(receiver, at=(1,), timeout="1m")
        with self.connect(self.weir) as client:
            for i in range(1, 1101):
                self.assertEqual(client.get("/", {"X-Api-Key": f"key-{i}"}).status, 200)
                if i % 100 == 0:  # the log takes them, however slow it is
                    eventually(lambda: self.logged() == i, f"{i} events, got {self.logged()}")
        self.assertEqual(self.value("weir_webhook_pending"), 1028)
        self.assertEqual(self.results("queue_full"), 72)
        self.assertEqual(self.weir.stderr.count("events.webhook: too many events wait"), 1)
        self.weir.signal(signal.SIGTERM)
        eventually(lambda: "draining" in self.weir.stderr, "the end begins")
        self.weir.signal(signal.SIGTERM)  # not a minute for what is left
        self.assertEqual(self.weir.wait(), 0)
        self.assertIn("were not delivered before the end: 1028\n", self.weir.stderr)


class Reload(WebhookCase):
    def reload(self, config):
        count = self.weir.stderr.count("configuration reloaded")
        self.weir.write(config)
        self.weir.signal(signal.SIGHUP)
        eventually(lambda: self.weir.stderr.count("configuration reloaded") > count, "the reload")

    def test_another_receiver_gets_what_waits(self):
        first = self.receiver(answer(status="503 Later", fields=[("Retry-After", "1")]))
        second = self.receiver()
        self.begin(first)
        self.use()
        eventually(lambda: self.value("weir_webhook_failures_total") >= 1, "a failure")
        self.reload(self.configuration(second))
        self.assertEqual(self.bodies(second, 1)[0]["at"], 50)
        self.await_result("delivered")

    def test_without_a_webhook_nothing_is_sent(self):
        receiver = self.receiver()
        self.begin(receiver)
        config = self.configuration(receiver)
        del config["events"]["webhook"]
        self.reload(config)
        self.use()
        eventually(lambda: "has reached 50 %" in self.weir.stderr, "the line")
        with self.connect_admin(self.weir) as admin:
            self.assertNotIn("weir_webhook", admin.get("/metrics").body.decode())
        self.end()
        self.assertEqual(receiver.requests, [])


class Shared(RedisCase):
    def test_of_three_instances_one_posts_an_event(self):
        redis = self.redis()
        receiver = self.upstream(accept)
        config = sharing(redis.url, {"p": {"algorithm": "token_bucket", "rate": "20/1d"}}, routes=[answering("/p", "p")],
                         admin={"address": "127.0.0.1:0"},
                         redis={"timeout": "10s", "connect_timeout": "10s", "on_failure": "deny"},
                         events={"at": [50, 100], "webhook": {"url": receiver.url, "timeout": "20s"}})
        weirs = [self.start(config) for _ in range(3)]
        for weir in weirs:
            self.await_redis(weir)
        clients = [self.connect(weir) for weir in weirs]
        self.assertEqual([clients[i % 3].get("/p").status for i in range(24)].count(200), 20)
        for weir in weirs:
            weir.signal(signal.SIGTERM)
            self.assertEqual(weir.wait(), 0)
        self.assertEqual(sorted(json.loads(request.body)["at"] for request in receiver.requests), [50, 100])
        self.assertEqual(sum(weir.stderr.count("of its quota") for weir in weirs), 2)

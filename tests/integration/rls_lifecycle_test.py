"""The rate limit service under load while it is reloaded and stopped: no call fails."""

import signal

from harness.case import scaled
from harness.reload_case import copied
from harness.rls_case import RlsCase, domain, limit
from harness.rls_client import METHOD
from harness.rls_load import CallLoad
from harness.rls_messages import request
from harness.waiting import eventually


class Reloads(RlsCase):
    def test_reloads_of_the_configuration_and_of_a_file_fail_no_call(self):
        client = self.serve_limits(domain(limit("user", 1_000_000)), workers=2,
                                   policies={"p": {"algorithm": "gcra", "rate": "1000000/1s"}})
        base = copied(self.weir.configuration)
        other = copied(base)
        other["rate_limit_service"] |= {
            "algorithm": "gcra", "charge": "reference", "headers": {"standard": False, "legacy": "none"},
            "descriptors": [{"domain": "d", "entries": {"user": "*"}, "policy": "p", "key": ["user"]}]}
        watch = client.watch()
        self.assertEqual(client.health(next(watch)), "SERVING")
        load = CallLoad(self.weir, 6, reconnecting=1, by_json=1)
        self.addCleanup(load.end)
        load.await_answers(10)
        for i in range(scaled(40)):
            self.write_limits(domain(limit("user", 1_000_000), limit("probe", 10 + i)))
            self.reload(other if i % 2 == 0 else base)
            answer = client.ask("d", [("probe", str(i))])
            self.assertEqual(answer.statuses[0].limit, (10 + i, "HOUR"), answer)
            if i % 10 == 0:
                load.await_answers(20)
                self.write_limits("domain: [")
                self.reload_fails()
        load.await_answers(20)
        load.end()
        self.assertEqual(load.failures, [])
        self.assertTrue(watch.is_active())
        watch.cancel()


class Stops(RlsCase):
    def calls(self, client, count):
        made = request("d", [("user", "ann")]).SerializeToString()
        return [client.channel.unary_unary(METHOD).future(made, timeout=60) for _ in range(count)]

    def test_health_checks_fail_first_where_a_delay_is_set(self):
        client = self.serve_limits(domain(limit("user", 20)), shutdown_delay="1h")
        watch = client.watch()
        self.assertEqual(client.health(next(watch)), "SERVING")
        self.weir.signal(signal.SIGTERM)
        self.assertEqual(client.health(next(watch)), "NOT_SERVING")
        self.assertEqual(client.check(), "NOT_SERVING")
        with self.weir.connect() as other:
            self.assertEqual(other.get("/healthcheck").status, 503)
        self.assertEqual(client.ask("d", [("user", "ann")]).statuses[0].remaining, 19)
        self.assertTrue(watch.is_active())
        self.weir.signal(signal.SIGTERM)
        self.assertEqual(self.weir.wait(), 0)

    def test_calls_in_progress_are_answered_and_counted(self):
        redis = self.redis()
        client = self.serve_limits(domain(limit("user", 20, "year")), redis=redis, shutdown_timeout="600s")
        watch = client.watch()
        self.assertEqual(client.health(next(watch)), "SERVING")
        redis.pause()
        calls = self.calls(client, 50)
        eventually(lambda: self.gauge(self.weir, "weir_store_in_flight") > 0, "Redis is asked")
        self.assertEqual(client.check(), "SERVING")  # after the calls on the same connection
        self.weir.signal(signal.SIGTERM)
        self.assertEqual(client.health(next(watch)), "NOT_SERVING")
        self.assertFalse(any(call.done() for call in calls))
        redis.resume()
        self.assertEqual(sorted(call.result()[:2] for call in calls), [b"\x08\x01"] * 20 + [b"\x08\x02"] * 30)
        self.assertEqual(self.weir.wait(), 0)
        self.assertEqual(client.ask("d", [("user", "ann")]).grpc_status, "UNAVAILABLE")

"""Reloads with limits in Redis: the connection, what is remembered of it, and scripts."""

import signal
import socket

from harness.case import scaled
from harness.checked_load import Load, serve
from harness.client import request_bytes
from harness.exposition import labelled
from harness.redis_case import RedisCase, sharing
from harness.reload_case import ReloadCase, copied
from harness.waiting import eventually

PATIENT = {"timeout": "10s", "connect_timeout": "10s", "on_failure": "deny"}


def window(count):
    return {"algorithm": "fixed_window", "rate": f"{count}/260d"}


class WithRedis(ReloadCase, RedisCase):
    def open(self, policies, limits, redis=None, server=None):
        self.server = server or self.redis()
        config = sharing(self.server.url, policies, limits, {**PATIENT, **(redis or {})},
                         workers=2)
        self.serve(config)
        self.await_redis(self.weir)
        self.client = self.connect(self.weir)

    def change(self, policies, limits):
        config = copied(self.weir.configuration)
        config["policies"] = policies
        config["routes"][0]["limits"] = limits
        return self.reload(config)

    def change_redis(self, **settings):
        config = copied(self.weir.configuration)
        config["store"]["redis"].update(settings)
        return self.reload(config)["changed"]

    def remaining(self):
        response = self.client.get("/")
        self.assertEqual(response.status, 200, response)
        items = response["RateLimit"].split(", ")
        return {item.split(";")[0].strip('"'): int(item.split(";r=")[1].split(";")[0])
                for item in items}

    def value(self, name, **labels):
        return labelled(self.scrape(), name, **labels)

    def test_the_connection_and_the_counts_go_on(self):
        self.open({"p": window(10)}, [{"policy": "p"}])
        self.assertEqual(self.remaining(), {"p": 9})
        connects = self.value("weir_store_connects_total")
        self.change({"a": window(50), "p": window(20)}, [{"policy": "a"}, {"policy": "p"}])
        self.assertEqual(self.remaining(), {"a": 49, "p": 18})
        self.change({"p": window(5)}, [{"policy": "p"}])
        self.assertEqual(self.remaining(), {"p": 2})
        self.assertEqual(self.value("weir_store_connects_total"), connects)
        self.assertEqual(self.value("weir_store_fallbacks_total"), 0)

    def test_policies_that_need_another_script(self):
        self.open({"p": window(10)}, [{"policy": "p"}])
        self.assertEqual(self.remaining(), {"p": 9})
        connects = self.value("weir_store_connects_total")
        policies = {"p": window(10)}
        limits = [{"policy": "p"}]
        for i, algorithm in enumerate(("gcra", "token_bucket", "sliding_log", "sliding_window")):
            policies[algorithm] = {"algorithm": algorithm, "rate": "100/260d"}
            limits.append({"policy": algorithm})
            self.change(policies, limits)
            self.assertEqual(self.remaining()["p"], 8 - 2 * i)
            self.assertEqual(self.remaining()[algorithm], 98)
        self.assertEqual(self.value("weir_store_connects_total"), connects)
        self.assertEqual(self.value("weir_store_fallbacks_total"), 0)
        self.assertEqual(self.value("weir_store_errors_total", kind="script_missing"), 0)
        # They are there for a connection that is made later, too.
        self.server.stop()
        self.server.start()
        self.await_redis(self.weir)
        self.assertEqual(self.remaining()["gcra"], 99)

    def test_the_first_policy_of_all_comes_with_a_reload(self):
        self.open({"p": window(10)}, [])
        self.assertEqual(self.client.get("/").status, 200)
        self.change({"p": window(10)}, [{"policy": "p"}])
        self.assertEqual(self.remaining(), {"p": 9})

    def test_a_remembered_denial_holds_as_long_as_its_policy_does_not_change(self):
        self.open({"p": window(2), "q": window(50)}, [{"policy": "p"}])
        self.remaining(), self.remaining()
        self.assertEqual(self.client.get("/").status, 429)
        hits = self.value("weir_denial_memory_hits_total")
        self.change({"n": window(50), "p": window(2)}, [{"policy": "p"}])
        # The first one may come when the denial needs a confirmation, and then Redis is asked.
        self.assertEqual([self.client.get("/").status for _ in range(2)], [429, 429])
        self.assertGreater(self.value("weir_denial_memory_hits_total"), hits)
        # A raised limit applies to the next decision.
        self.change({"p": window(3)}, [{"policy": "p"}])
        self.assertEqual(self.remaining(), {"p": 0})
        self.assertEqual(self.client.get("/").status, 429)

    def test_the_breaker_applies_to_the_running_connection(self):
        self.open({"p": window(10)}, [{"policy": "p"}],
                  {"breaker": {"failures": 1_000, "retry_after": "1h"}})
        self.assertEqual(self.remaining(), {"p": 9})
        connects = self.value("weir_store_connects_total")
        self.assertEqual(self.change_redis(breaker={"failures": 1, "retry_after": "1h"}),
                         ["store.redis"])
        self.server("CONFIG", "SET", "maxmemory", 1)
        self.assertEqual(self.client.get("/").status, 503)
        self.assertEqual(self.value("weir_store_breaker_state"), 2)
        self.server("CONFIG", "SET", "maxmemory", 0)
        self.assertEqual(self.client.get("/").status, 503)
        # The time for which it is open counts from the failure, with the new value.
        self.change_redis(breaker={"failures": 1, "retry_after": "10ms"})
        eventually(lambda: self.value("weir_store_breaker_state") == 0, "the breaker is closed")
        self.assertEqual(self.remaining(), {"p": 8})
        self.assertEqual(self.value("weir_store_connects_total"), connects)

    def test_replicas_and_on_failure_apply_to_the_running_connection(self):
        self.open({"p": window(10)}, [{"policy": "p"}],
                  {"breaker": {"failures": 1, "retry_after": "1h"}})
        connects = self.value("weir_store_connects_total")
        self.server("CONFIG", "SET", "maxmemory", 1)
        self.assertEqual(self.client.get("/").status, 503)
        self.change_redis(on_failure="local", replicas=2)
        self.assertEqual(self.remaining(), {"p": 4})
        self.change_redis(on_failure="local", replicas=5)
        self.assertEqual(self.remaining(), {"p": 0})
        self.change_redis(on_failure="allow", replicas=5)
        self.assertEqual(self.client.get("/").status, 200)
        self.assertEqual(self.value("weir_store_connects_total"), connects)
        self.assertEqual(self.value("weir_store_breaker_state"), 2)

    def test_another_connection_is_made_before_it_decides(self):
        self.open({"p": window(10)}, [{"policy": "p"}])
        self.assertEqual(self.remaining(), {"p": 9})
        other = self.redis()
        config = copied(self.weir.configuration)
        config["store"]["redis"]["url"] = other.url
        self.assertEqual(self.reload(config)["changed"], ["store.redis"])
        self.assertEqual(self.remaining(), {"p": 9})  # nothing was counted there yet
        self.assertEqual(self.value("weir_store_fallbacks_total"), 0)
        self.assertEqual(self.value("weir_store_up"), 1)
        self.reload(copied(self.weir.configuration))
        self.assertEqual(self.remaining(), {"p": 8})

    def test_a_redis_that_is_not_there_delays_a_reload_no_longer_than_it_may_take_to_connect(self):
        self.open({"p": {**window(10), "on_failure": "allow"}}, [{"policy": "p"}],
                  {"connect_timeout": "200ms"})
        config = copied(self.weir.configuration)
        config["store"]["redis"]["url"] = f"redis://127.0.0.1:{self.upstream().port}"
        self.reload(config)
        self.assertEqual(self.client.get("/").status, 200)
        self.assertEqual(self.value("weir_store_up"), 0)
        self.assertGreaterEqual(self.value("weir_store_fallbacks_total"), 1)
        self.reload(copied(self.weir.configuration))
        self.await_redis(self.weir)
        self.assertEqual(self.remaining(), {"p": 9})

    def test_a_request_that_redis_decides_meanwhile_keeps_its_configuration(self):
        self.open({"p": window(10)}, [{"policy": "p"}])
        self.remaining()
        asked = self.value("weir_store_questions_total")
        self.server.pause()
        try:
            self.client.send(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            eventually(lambda: self.value("weir_store_questions_total") > asked, "Redis is asked")
            config = copied(self.weir.configuration)
            config["policies"]["p"] = window(100)
            config["routes"][0]["respond"]["body"] = "new"
            self.reload(config)
        finally:
            self.server.resume()
        response = self.client.read()
        self.assertEqual((response.status, response.body), (200, b"fine"))
        self.assertEqual(response["RateLimit-Policy"], '"p";q=10;w=22464000')
        self.assertEqual(self.remaining(), {"p": 97})

    def test_a_reload_from_one_broken_redis_to_another_logs_the_reason_again(self):
        self.open({"p": {**window(10), "on_failure": "local"}}, [{"policy": "p"}], {"connect_timeout": "1s"})
        self.server.stop()
        lost = "redis is not reachable"
        eventually(lambda: self.weir.stderr.count(lost) > 0, "the loss is logged")
        before = self.weir.stderr.count(lost)
        with socket.create_server(("127.0.0.1", 0)) as unused:
            port = unused.getsockname()[1]
        self.change_redis(url=f"redis://127.0.0.1:{port}")
        eventually(lambda: self.weir.stderr.count(lost) > before, "the new reason is logged")

    def test_sigterm_while_another_redis_connects_ends_the_process(self):
        self.open({"p": window(10)}, [{"policy": "p"}], {"connect_timeout": "1m"})
        silent = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(silent.close)
        config = copied(self.weir.configuration)
        config["store"]["redis"]["url"] = "redis://127.0.0.1:%d" % silent.getsockname()[1]
        self.write(config)
        with self.connect_admin(self.weir) as admin:
            admin.send(request_bytes("POST", "/v1/reload", {"Host": "localhost"}))
            for _ in range(2):  # each worker connects
                self.addCleanup(silent.accept()[0].close)
            self.assertEqual(self.remaining(), {"p": 9})
            self.weir.signal(signal.SIGTERM)
            self.assert_problem(admin.read(), 503, "draining")
        self.assertEqual(self.weir.wait(), 0)
        self.assertNotIn("configuration reloaded", self.weir.stderr)

    def test_no_request_fails_under_load(self):
        up = self.upstream(serve)
        self.server, other = self.redis(), self.redis()
        huge = {"algorithm": "fixed_window", "rate": "1000000/260d"}
        sections = {"workers": 2, "upstreams": {"main": {"servers": [{"url": up.url}]}}}

        def variant(server, **policies):
            routes = [{"upstream": "main", "limits": [{"policy": name} for name in policies]}]
            return sharing(server.url, policies, (), PATIENT, routes=routes, **sections)

        bucket = {**huge, "algorithm": "token_bucket"}
        variants = [variant(self.server, p=huge), variant(self.server, q=bucket, p=huge),
                    variant(other, p={**huge, "algorithm": "gcra"}), variant(self.server, q=bucket)]
        self.serve(variants[0])
        self.await_redis(self.weir)
        load = Load(self.weir.connect)
        self.addCleanup(load.stop)
        for work in load.keeps_alive, load.connects, load.pipelines, load.uploads:
            load.add(work, 2)
        for i in range(scaled(40)):
            self.reload(variants[(i + 1) % len(variants)])
            if i % 4 == 0:
                load.await_rounds(2)
        load.await_rounds(5)
        load.stop()
        self.assertEqual(load.faults, [])
        self.assertEqual(self.value("weir_store_fallbacks_total"), 0)
        self.assertEqual(self.value("weir_store_up"), 1)

"""Active checks: what they send, who is left out because of them, and when all are."""

import collections
import threading
import time
import unittest

from harness.exposition import labelled, parse
from harness.group import Group
from harness.preload import fast_clock
from harness.waiting import eventually


class HealthChecks(Group):
    # Servers are looked at once a second, so time passes five times as fast.
    CHECK = {"path": "/healthz?deep=1", "interval": "500ms", "timeout": "3s", "rise": 2, "fall": 2}
    FAST = {"main": {"health_check": CHECK}, "environment": fast_clock(5)}

    def setUp(self):
        self.sick = collections.defaultdict(threading.Event)

    def checked(self, name, while_sick=lambda e: e.answer(b"", "500 Internal Server Error"),
                well="204 No Content"):
        """A service whose check fails while self.sick[name] is set; everything else goes well."""

        def behaviour(exchange):
            exchange.read_body()
            if not exchange.target.startswith("/healthz"):
                exchange.answer(name.encode())
            elif self.sick[name].is_set():
                while_sick(exchange)
            else:
                exchange.answer(b"", well)

        return behaviour

    def checked_pair(self, **options):
        return self.pair(self.checked("one", **options), self.checked("two"), **self.FAST)

    def test_what_a_check_sends(self):
        one, two, weir = self.checked_pair()
        check = one.await_requests(1)[0]
        self.assertEqual(check.start, "GET /healthz?deep=1 HTTP/1.1")
        self.assertEqual(check["Host"], one.url.removeprefix("http://"))
        self.assertEqual(check["Connection"], "close")
        self.assertIsNone(check["Content-Length"])
        first = len(two.requests)
        eventually(lambda: len(two.requests) > first + 2, "checks go on")
        self.assertEqual(len({r.connection for r in two.requests}), len(two.requests))

    def test_a_server_that_fails_its_checks_is_left_out_until_it_passes_them(self):
        for name, options in {
                "a 500": {},
                "no answer": {"while_sick": lambda e: e.reader.fill()},
                "no http": {"while_sick": lambda e: (e.send(b"hello\r\n\r\n"), e.close())},
                "a reset": {"while_sick": lambda e: e.reset()},
                "a redirect when well": {"well": "302 Found"}}.items():
            with self.subTest(name):
                self.sick.clear()
                one, _, weir = self.checked_pair(**options)
                client = self.connect(weir)
                self.assertEqual(self.answers(client, 4), {"one": 2, "two": 2})
                self.sick["one"].set()
                eventually(lambda: self.up(weir, one) == 0, "it is left out")
                self.assertEqual(self.answers(client, 10), {"two": 10})
                self.sick["one"].clear()
                eventually(lambda: self.up(weir, one) == 1, "it is used again")
                self.assertEqual(self.answers(client, 10), {"one": 5, "two": 5})

    def test_connections_to_a_server_that_fails_its_checks_are_not_kept(self):
        one, _, weir = self.checked_pair(while_sick=lambda e: e.reset())
        client = self.connect(weir)
        self.answers(client, 2)
        kept = next(r.connection for r in one.requests if r.target == "/")
        self.sick["one"].set()
        eventually(lambda: self.up(weir, one) == 0, "it is left out")
        self.sick["one"].clear()
        eventually(lambda: self.up(weir, one) == 1, "it is used again")
        self.answers(client, 2)
        self.assertNotEqual([r for r in one.requests if r.target == "/"][-1].connection, kept)

    def test_no_healthy_server_is_503(self):
        self.sick["one"].set()
        self.sick["two"].set()
        one, two, weir = self.checked_pair()
        client = self.connect(weir)
        eventually(lambda: self.up(weir, one) == 0 and self.up(weir, two) == 0, "both are out")
        served = [r.target for r in one.requests + two.requests].count("/")
        self.assert_problem(client.get("/"), 503, "no server of the upstream is healthy")
        self.assertEqual([r.target for r in one.requests + two.requests].count("/"), served)
        with weir.connect_admin() as admin:
            samples = parse(admin.get("/metrics").body.decode())
        self.assertEqual(labelled(samples, "weir_upstream_requests_total", upstream="main",
                                  outcome="unhealthy"), 1)
        self.sick["two"].clear()
        eventually(lambda: self.up(weir, two) == 1, "one is used again")
        self.assertEqual(self.answers(client, 4), {"two": 4})

    def test_a_single_server_is_checked_too(self):
        self.sick["one"].set()
        one = self.upstream(self.checked("one"))
        weir = self.group(one, **self.FAST)
        client = self.connect(weir)
        eventually(lambda: client.get("/").status == 503, "it is left out")
        self.sick["one"].clear()
        eventually(lambda: client.get("/").status == 200, "it is used again")

    def test_a_check_that_hangs_does_not_hold_up_the_end(self):
        self.sick["one"].set()
        one, _, weir = self.pair(self.checked("one", while_sick=lambda e: e.reader.fill()),
                                 main={"health_check": {"path": "/healthz", "timeout": "1h"}})
        one.await_requests(1)
        started_at = time.monotonic()
        weir.stop()
        self.assertLess(time.monotonic() - started_at, 15)


if __name__ == "__main__":
    unittest.main()

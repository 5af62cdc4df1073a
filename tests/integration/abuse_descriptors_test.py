"""All descriptors are in use: requests that need one are refused, open connections are served, and
Weir recovers when descriptors are free again."""

import os
import resource
import select
import signal
import threading
import unittest

from harness.abuse import AbuseCase, answer_target, descriptors_of
from harness.case import SCALE
from harness.certificates import Authority, SecureConnection
from harness.client import Truncated, request_bytes
from harness.exposition import labelled, parse
from harness.waiting import eventually

FEW = 300


class FewDescriptors(AbuseCase):
    """The bounds follow from the limit, so that it is never met."""

    def setUp(self):
        self.may_answer = threading.Event()
        self.addCleanup(self.may_answer.set)

        def behaviour(exchange):
            if exchange.target == "/held":
                self.may_answer.wait()
            answer_target(exchange)

        self.up, self.weir = self.guarded(behaviour, descriptors=FEW)
        self.clients = []

    def connect_many(self, count):
        for _ in range(count):
            self.clients.append(self.connect(self.weir))

    def statuses(self):
        """The status of each client's answer, in turn; None if its connection was closed."""
        seen = []
        for client in self.clients:
            try:
                client.send(request_bytes("GET", "/x"))
            except OSError:
                pass  # an answer that was sent before can still be read
            try:
                seen.append(client.read().status)
            except (Truncated, ConnectionError):
                seen.append(None)
        return seen

    def close_all(self):
        for client in self.clients:
            client.close()
        self.clients.clear()
        self.await_connections(self.weir, 0)

    def test_clients_beyond_what_descriptors_allow_are_refused_and_the_others_served(self):
        self.connect_many(FEW)
        statuses = self.statuses()
        self.assertLessEqual(set(statuses), {200, 503, None})
        served = statuses.count(200)
        self.assertGreater(served, 50)
        self.assertLess(served, FEW)
        # Those that came first.
        self.assertEqual(statuses[:served], [200] * served)
        self.assertLess(descriptors_of(self.weir), FEW)
        self.assertEqual(self.metric(self.weir, "weir_connections_refused_total",
                                     reason="max_connections"), FEW - served)
        for client in self.clients[:served]:
            self.assertEqual(client.get("/again").body, b"/again")
        self.close_all()
        self.connect_many(served)
        self.assertEqual(self.statuses(), [200] * served)

    def test_requests_beyond_what_descriptors_allow_are_503_and_upstreams_not_to_blame(self):
        self.connect_many(FEW // 4)
        self.await_connections(self.weir, FEW // 4)
        for client in self.clients:
            client.send(request_bytes("GET", "/held"))
        answered = []

        def refused():
            answered[:] = self.readable()
            return len(answered) + len(self.up.requests) - 1 >= len(self.clients)

        eventually(refused, "each is held or refused")
        for client in answered:
            self.assert_problem(client.read(), 503, "too many connections")
        self.assertTrue(answered)
        held = [client for client in self.clients if client not in answered]
        self.assertGreater(len(held), 30)
        with self.weir.connect_admin() as admin:
            samples = parse(admin.get("/metrics").body.decode())
        self.assertEqual(labelled(samples, "weir_upstream_server_up", upstream="main",
                                  server=self.up.url.removeprefix("http://")), 1)
        for outcome in ("connect_failed", "broken", "unhealthy"):
            self.assertEqual(labelled(samples, "weir_upstream_requests_total", upstream="main",
                                      outcome=outcome), 0)
        self.may_answer.set()
        for client in held:
            self.assertEqual(client.read().status, 200)
        for client in answered:
            self.assertEqual(client.get("/after").body, b"/after")

    def readable(self):
        """The clients for which something has come."""
        ready = select.poll()
        by_number = {client.sock.fileno(): client for client in self.clients}
        for number in by_number:
            ready.register(number, select.POLLIN)
        return [by_number[number] for number, _ in ready.poll(0)]


@unittest.skipIf(SCALE > 1, "a sanitizer's runtime opens a pipe to inspect an object, and reports an error "
                            "if it cannot")
class NoDescriptors(AbuseCase):
    """The limit of the running process is lowered to what it has open."""

    def setUp(self):
        self.one = self.upstream(answer_target)
        self.two = self.upstream(answer_target)
        self.authority = Authority()
        self.addCleanup(self.authority.cleanup)
        first = self.authority.issue("weir", "DNS:weir.test")
        self.weir = self.start({
            "listen": [{"address": "127.0.0.1:0"},
                       {"address": "127.0.0.1:0", "tls": first.files}],
            "admin": {"address": "127.0.0.1:0"}, "workers": 1,
            "access_log": {"path": "access.log"},
            "upstreams": {"one": {"servers": [{"url": self.one.url}]},
                          "two": {"servers": [{"url": self.two.url}]}},
            "routes": [{"match": {"path": "/here"}, "respond": {"status": 200, "body": "here"}},
                       {"match": {"path": "/two/**"}, "upstream": "two"},
                       {"match": {"path": "/**"}, "upstream": "one"}],
        })
        self.client = self.connect(self.weir)
        self.assertEqual(self.client.get("/here").body, b"here")
        self.log = self.weir.directory / "access.log"

    def leave_none(self):
        _, most = resource.prlimit(self.weir.pid, resource.RLIMIT_NOFILE)
        # The limit is a number: the next one to be given out is not allowed any more.
        numbers = [int(name) for name in os.listdir(f"/proc/{self.weir.pid}/fd")]
        free = next(n for n in range(len(numbers) + 1) if n not in numbers)
        resource.prlimit(self.weir.pid, resource.RLIMIT_NOFILE, (free, most))
        self.addCleanup(self.leave_some)

    def leave_some(self):
        _, most = resource.prlimit(self.weir.pid, resource.RLIMIT_NOFILE)
        resource.prlimit(self.weir.pid, resource.RLIMIT_NOFILE, (most, most))

    def logged(self, path):
        """Lines reach the file a little later."""
        eventually(lambda: self.log.exists() and f'"{path}"' in self.log.read_text(),
                   f"{path} is logged")

    def cpu_ticks(self):
        with open(f"/proc/{self.weir.pid}/stat") as stat:
            fields = stat.read().rpartition(")")[2].split()
        return int(fields[11]) + int(fields[12])

    def test_an_idle_upstream_connection_is_given_up_for_another(self):
        self.assertEqual(self.client.get("/one").body, b"/one")
        self.leave_none()
        self.assertEqual(self.client.get("/two/a").body, b"/two/a")
        eventually(lambda: not self.one.open_connections, "the idle one was given up")

    def test_a_request_without_a_descriptor_is_503_and_the_next_one_served(self):
        self.leave_none()
        for _ in range(5):
            self.assert_problem(self.client.get("/one"), 503, "too many connections")
        self.assertFalse(self.one.requests)
        self.leave_some()
        self.assertEqual(self.client.get("/one").body, b"/one")
        self.assertEqual(self.metric(self.weir, "weir_upstream_requests_total", upstream="one",
                                     outcome="connect_failed"), 0)

    def test_who_connects_meanwhile_waits_and_nothing_spins(self):
        self.leave_none()
        waiting = self.connect(self.weir)
        waiting.send(request_bytes("GET", "/waited"))
        before = self.cpu_ticks()
        eventually(lambda: self.weir.stderr.count("cannot be accepted") >= 3,
                   "it is logged about once a second")
        self.assertLess(self.cpu_ticks() - before, os.sysconf("SC_CLK_TCK"))
        self.assertEqual(self.one.requests, [])
        self.leave_some()
        self.assertEqual(waiting.read().body, b"/waited")

    def test_the_log_is_not_reopened_and_the_old_one_stays(self):
        self.assertEqual(self.client.get("/before").body, b"/before")
        self.leave_none()
        self.log.rename(self.log.with_suffix(".1"))
        self.weir.signal(signal.SIGUSR1)
        eventually(lambda: "SIGUSR1: cannot open log file" in self.weir.stderr, "it is logged")
        self.assertIn("Too many open files", self.weir.stderr)
        self.assertEqual(self.client.get("/during").body, b"/during")
        old = self.log.with_suffix(".1")
        eventually(lambda: '"/during"' in old.read_text(), "the old file is written on")
        self.leave_some()
        self.weir.signal(signal.SIGUSR1)
        eventually(self.log.exists, "the new file is there")
        self.assertEqual(self.client.get("/after").body, b"/after")
        self.logged("/after")

    def test_certificates_are_not_read_again_and_the_old_ones_stay(self):
        def serial():
            context = self.authority.client_context()
            with SecureConnection(self.weir.addresses[1], context) as client:
                self.assertEqual(client.get("/secure").body, b"/secure")
                return client.sock.getpeercert()["serialNumber"]

        self.assertEqual(self.client.get("/one").body, b"/one")
        descriptors = descriptors_of(self.weir)
        first = serial()
        self.authority.issue("weir", "DNS:weir.test")
        eventually(lambda: descriptors_of(self.weir) == descriptors, "its connection is gone")
        self.leave_none()
        self.weir.signal(signal.SIGHUP)
        eventually(lambda: "SIGHUP: the configuration was not reloaded" in self.weir.stderr,
                   "it is logged")
        self.assertIn("Too many open files", self.weir.stderr)
        self.leave_some()
        self.assertEqual(serial(), first)
        self.weir.signal(signal.SIGHUP)
        eventually(lambda: serial() != first, "the new one is used")

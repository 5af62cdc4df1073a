"""Handshakes that never end, and more of them than a worker performs at once: they are bounded, and
other clients are served."""

import os
import signal
import socket
import ssl
from pathlib import Path

from harness.abuse import AbuseCase, Crowd, answer_target, raise_descriptor_limit
from harness.case import scaled
from harness.certificates import Authority, SecureConnection, client_hello
from harness.client import request_bytes
from harness.preload import fast_clock
from harness.waiting import eventually

MOST = 8
# However long a busy machine takes to open a crowd, none of its first connections ends before the last is there.
FASTER_END = fast_clock(10)  # handshakes have 5 s once Weir drains
PATIENT = {"head_timeout": "10m", "idle_timeout": "10m"}


class HandshakeCase(AbuseCase):
    @classmethod
    def setUpClass(cls):
        cls.ca = Authority()
        cls.addClassCleanup(cls.ca.cleanup)
        cls.certificate = cls.ca.issue("main", "DNS:weir.test")

    def serve(self, environment=None, **downstream):
        """Weir with a plain listener, the first, and one with TLS."""
        raise_descriptor_limit()
        downstream = {"max_handshakes": MOST, **PATIENT, **downstream}
        self.up, self.weir = self.guarded(
            answer_target, workers=1, downstream=downstream, environment=environment,
            listen=[{"address": "127.0.0.1:0"},
                    {"address": "127.0.0.1:0", "tls": self.certificate.files}])
        return self.weir

    @property
    def tls_address(self):
        return self.weir.addresses[1]

    def secure(self):
        connection = SecureConnection(self.tls_address, self.ca.client_context())
        self.addCleanup(connection.close)
        return connection

    def opened(self, first=b""):
        sock = socket.create_connection(self.tls_address, timeout=60)
        self.addCleanup(sock.close)
        if first:
            sock.sendall(first)
        return sock

    def in_progress(self):
        return self.metric(self.weir, "weir_tls_handshakes_in_progress")

    def ended(self, outcome):
        return self.metric(self.weir, "weir_tls_handshakes_total", outcome=outcome)

    def await_in_progress(self, count):
        eventually(lambda: self.in_progress() == count, f"{count} handshakes are in progress")


def is_closed(sock):
    """Reads up to the end."""
    try:
        while sock.recv(65536):
            pass
    except ConnectionResetError:
        pass
    return True


class Bound(HandshakeCase):
    def test_connections_that_send_nothing_keep_nobody_out(self):
        self.serve()
        silent = [self.opened() for _ in range(10 * MOST)]
        self.await_connections(self.weir, len(silent))
        self.assertEqual(self.secure().get("/").status, 200)
        self.assertEqual((self.in_progress(), self.ended("displaced")), (0, 0))

    def test_one_more_than_the_bound_closes_the_oldest(self):
        first = client_hello()
        self.serve()
        stalled = []
        for count in range(1, MOST + 1):
            stalled.append(self.opened(first))
            self.await_in_progress(count)
        for i in range(3):
            stalled.append(self.opened(first))
            eventually(lambda: self.ended("displaced") == i + 1, "the oldest is displaced")
            self.assertTrue(is_closed(stalled[i]))
        self.assertEqual(self.in_progress(), MOST)
        self.assertEqual(self.secure().get("/").status, 200)
        self.assertEqual((self.ended("completed"), self.ended("displaced")), (1, 4))
        self.assertEqual(self.in_progress(), MOST - 1)
        self.assertIn("more TLS handshakes than downstream.max_handshakes", self.weir.stderr)

    def test_established_connections_do_not_count(self):
        self.serve()
        clients = [self.secure() for _ in range(3 * MOST)]
        for client in clients:
            self.assertEqual(client.get("/").status, 200)
        self.assertEqual((self.ended("completed"), self.ended("displaced")), (3 * MOST, 0))

    def test_a_handshake_that_stalls_ends_with_head_timeout(self):
        self.serve(head_timeout="300ms")
        stalled = [self.opened(client_hello()), self.opened(client_hello()[:20])]
        for sock in stalled:
            self.assertTrue(is_closed(sock))
        # The second one is none: its hello is not complete.
        eventually(lambda: self.ended("timed_out") == 1, "one has timed out")
        self.await_in_progress(0)

    def test_hellos_cut_short_by_their_clients_displace_no_other(self):
        self.serve()
        honest = SlowHandshake(self.opened(), self.ca.client_context())
        honest.send_hello()
        for size in (1, 20):
            for _ in range(2 * MOST):
                with self.opened(client_hello()[:size]) as sock:
                    sock.shutdown(socket.SHUT_WR)
                    self.assertTrue(is_closed(sock))
        honest.complete()
        self.assertEqual((self.ended("failed"), self.ended("displaced")), (0, 0))

    def test_a_client_that_breaks_off_is_counted(self):
        self.serve()
        with self.opened(client_hello()):
            self.await_in_progress(1)
        eventually(lambda: self.ended("failed") == 1, "one has failed")
        self.await_in_progress(0)

    def test_stalled_handshakes_do_not_hold_up_the_end(self):
        self.serve(FASTER_END)
        stalled = [self.opened(client_hello()) for _ in range(MOST)]
        self.await_in_progress(MOST)
        self.weir.signal(signal.SIGTERM)
        for sock in stalled:
            self.assertTrue(is_closed(sock))
        self.assertEqual(self.weir.wait(), 0)
        self.assertNotIn("shutdown_timeout is over", self.weir.stderr)

    def test_a_second_signal_ends_them_at_once(self):
        self.serve()
        stalled = [self.opened(client_hello()) for _ in range(MOST)]
        self.await_in_progress(MOST)
        self.weir.signal(signal.SIGTERM)
        eventually(lambda: "draining" in self.weir.stderr, "it drains")
        self.weir.signal(signal.SIGTERM)
        for sock in stalled:
            self.assertTrue(is_closed(sock))
        self.weir.wait()


class SlowHandshake:
    """A client that answers the server's flight when the test calls complete()."""

    def __init__(self, sock, context):
        self._sock = sock
        self._arrived, self._written = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._arrived, self._written, server_hostname="weir.test")

    def send_hello(self):
        """Returns when the server has answered."""
        self._step()
        self._sock.sendall(self._written.read())
        self._arrived.write(self._sock.recv(65536))

    def complete(self):
        while not self._step():
            self._arrived.write(self._sock.recv(65536))
        self._tls.write(request_bytes("GET", "/"))
        self._sock.sendall(self._written.read())

    def _step(self):
        try:
            self._tls.do_handshake()
        except ssl.SSLWantReadError:
            return False
        return True


class Hellos(HandshakeCase):
    def test_a_part_of_a_hello_displaces_no_other(self):
        hello = client_hello()
        for part in (b"\x16", hello[:5], hello[:-1], records(hello[5:], 1)[:6],
                     records(hello[5:-1], 100)):
            with self.subTest(size=len(part)):
                self.serve()
                slow = [SlowHandshake(self.opened(), self.ca.client_context()) for _ in range(MOST)]
                for handshake in slow:
                    handshake.send_hello()
                parts = [self.opened(part) for _ in range(20)]
                self.await_connections(self.weir, MOST + len(parts))
                # The parts came first, so they have been seen when this one has its turn.
                with self.opened(client_hello()):
                    eventually(lambda: self.ended("displaced") == 1, "a whole hello displaces one")
                for handshake in slow[1:]:
                    handshake.complete()
                eventually(lambda: self.ended("completed") == MOST - 1, "the others complete")
                self.assertEqual(self.ended("displaced"), 1)

    def test_a_hello_in_pieces_is_waited_for(self):
        self.serve()
        for cut in (1, 4, 5, 6, 9, 100):
            sock = self.opened()
            slow = SlowHandshake(Pieces(sock, cut), self.ca.client_context())
            slow.send_hello()
            slow.complete()
        eventually(lambda: self.ended("completed") == 6, "all complete")

    def test_a_hello_in_many_records_is_waited_for(self):
        self.serve()
        for size in (1, 3, 4, 100, 1000):
            sock = self.opened(records(client_hello()[5:], size))
            self.assertEqual(sock.recv(1), b"\x16", "the server's flight")


class Pieces:
    """A socket whose first bytes go one by one, each on its own."""

    def __init__(self, sock, count):
        self._sock, self._count = sock, count
        self._sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def sendall(self, data):
        for i in range(min(self._count, len(data))):
            self._sock.sendall(data[i:i + 1])
        self._sock.sendall(data[self._count:])
        self._count = 0

    def recv(self, size):
        return self._sock.recv(size)


def records(message, size):
    """The message in records of so many bytes."""
    return b"".join(b"\x16\x03\x01" + len(piece).to_bytes(2, "big") + piece
                    for piece in (message[i:i + size] for i in range(0, len(message), size)))


class Flood(HandshakeCase):
    def test_clients_are_served_beside_a_flood_of_handshakes(self):
        self.serve()
        waves, size = scaled(20), 200
        hello = client_hello()
        secure = self.secure()
        most_seen = 0
        with self.bystander(self.weir) as bystander:
            for wave in range(waves):
                crowd = Crowd(self.tls_address, size)
                try:
                    crowd.send(hello)
                    self.assertEqual(secure.get("/").status, 200)
                    self.assertEqual(self.secure().get("/").status, 200)
                    most_seen = max(most_seen, self.in_progress())
                    crowd.collect()
                finally:
                    crowd.close()
            bystander.await_answers()
            self.await_connections(self.weir, 2 + waves)
        self.assertLessEqual(most_seen, MOST)
        ended = {outcome: self.ended(outcome)
                 for outcome in ("completed", "failed", "timed_out", "displaced")}
        self.assertEqual(ended["completed"], 1 + waves, ended)
        self.assertGreater(ended["displaced"], 0, ended)
        self.assertEqual(ended["timed_out"], 0, ended)


COSTLY = "secp384r1"  # a step with it takes ten times as long as with X25519
NICER = 10


class CostlySteps(HandshakeCase):
    """Steps that would hold up the loop of the worker run on a thread of their own."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.certificate = cls.rsa_certificate(2048)  # which TLS 1.2 takes with each group

    @classmethod
    def rsa_certificate(cls, bits):
        return cls.ca.self_signed(f"rsa{bits}", "weir.test", "DNS:weir.test",
                                  key=["RSA", "-pkeyopt", f"rsa_keygen_bits:{bits}"])

    def context(self, curve=None, version=None):
        context = ssl.create_default_context(cafile=self.certificate.file)
        if curve:
            context.set_ecdh_curve(curve)
        if version:
            context.maximum_version = version
        return context

    def get(self, context):
        connection = SecureConnection(self.tls_address, context)
        self.addCleanup(connection.close)
        self.assertEqual(connection.get("/").status, 200)
        return connection

    def threads(self):
        """The niceness of each thread for steps."""
        found = []
        for directory in Path(f"/proc/{self.weir.pid}/task").iterdir():
            name, fields = (directory / "stat").read_text().split("(", 1)[1].rsplit(")", 1)
            if name == "weir-tls":
                found.append(int(fields.split()[16]))
        return found

    def outcomes(self):
        return {outcome: self.ended(outcome)
                for outcome in ("completed", "failed", "timed_out", "displaced")}

    def await_outcomes(self, count):
        eventually(lambda: sum(self.outcomes().values()) == count, f"{count} have ended")
        self.await_in_progress(0)
        self.assertEqual(self.metric(self.weir, "weir_tls_handshakes_waiting"), 0)
        return self.outcomes()

    def test_usual_handshakes_one_after_the_other_need_no_thread(self):
        self.serve()
        for curve in (None, "X25519", "prime256v1"):
            for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
                self.get(self.context(curve, version)).close()
        self.assertEqual(self.threads(), [])

    def test_a_costly_one_runs_on_a_thread_of_lower_priority(self):
        for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
            with self.subTest(version=version.name):
                self.serve()
                for _ in range(3):
                    self.get(self.context(COSTLY, version))
                self.assertEqual(self.threads(), [min(19, os.nice(0) + NICER)])
                self.assertEqual(self.ended("completed"), 3)

    def test_those_that_others_wait_for_run_there_too(self):
        self.serve(max_handshakes=1000)
        waiting = [self.opened() for _ in range(20)]
        self.await_connections(self.weir, len(waiting))
        hello = client_hello()
        self.weir.signal(signal.SIGSTOP)  # so that all are there in one pass of the loop
        for sock in waiting:
            sock.sendall(hello)
        self.weir.signal(signal.SIGCONT)
        for sock in waiting:
            self.assertEqual(sock.recv(1), b"\x16", "the server's flight")
        self.assertEqual(len(self.threads()), 1)

    def test_a_key_that_signs_slowly_is_costly_for_all_groups(self):
        self.certificate = self.rsa_certificate(3072)
        self.serve()
        self.get(self.context())
        self.assertEqual(len(self.threads()), 1)

    def test_a_client_that_is_not_accepted_is_closed_as_ever(self):
        raise_descriptor_limit()
        self.up, self.weir = self.guarded(answer_target, workers=1, listen=[
            {"address": "127.0.0.1:0"},
            {"address": "127.0.0.1:0", "tls": {**self.certificate.files, "groups": ["X25519"]}}])
        with self.assertRaises(ssl.SSLError):
            self.get(self.context(COSTLY))
        eventually(lambda: self.ended("failed") == 1, "one has failed")

    def test_every_outcome_is_counted_once(self):
        self.serve(head_timeout="2s", max_handshakes=1000)
        hello = client_hello(curve=COSTLY)
        count = scaled(100)
        gone = [self.opened(hello) for _ in range(count)]
        for sock in gone:
            sock.close()
        stalled = [self.opened(hello) for _ in range(count)]
        with self.bystander(self.weir) as bystander:
            bystander.await_answers()
            for sock in stalled:
                self.assertTrue(is_closed(sock))
        for _ in range(3):
            self.get(self.context(COSTLY))
        ended = self.await_outcomes(2 * count + 3)
        self.assertEqual(ended["completed"], 3, ended)
        self.assertGreater(ended["timed_out"], 0, ended)

    def test_the_end_waits_for_none_of_them(self):
        for signals in (1, 2):
            with self.subTest(signals=signals):
                self.serve(FASTER_END)
                hello = client_hello(curve=COSTLY)
                socks = [self.opened() for _ in range(scaled(200))]
                self.await_connections(self.weir, len(socks))
                for sock in socks:
                    sock.sendall(hello)
                eventually(lambda: self.in_progress() > 0, "one has begun")
                self.weir.signal(signal.SIGTERM)
                if signals == 2:
                    eventually(lambda: "draining" in self.weir.stderr, "it drains")
                    self.weir.signal(signal.SIGTERM)
                for sock in socks:
                    self.assertTrue(is_closed(sock))
                status = self.weir.wait()
                if signals == 1:
                    self.assertEqual(status, 0)
                self.assertNotIn("shutdown_timeout is over", self.weir.stderr)


class Defaults(HandshakeCase):
    def test_the_bound_is_no_limit_for_usual_crowds(self):
        raise_descriptor_limit()
        self.up, self.weir = self.guarded(
            answer_target, workers=1, downstream=PATIENT,
            listen=[{"address": "127.0.0.1:0"},
                    {"address": "127.0.0.1:0", "tls": self.certificate.files}])
        hello = client_hello()
        stalled = [self.opened(hello) for _ in range(300)]
        self.await_in_progress(len(stalled))
        self.assertEqual(self.ended("displaced"), 0)

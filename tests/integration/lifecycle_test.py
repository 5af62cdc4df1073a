"""From start to end: listeners, signals, draining, and a start that fails."""

import os
import signal
import socket
import subprocess
import tempfile
import threading
import time
import unittest
from pathlib import Path

from harness.case import Case, configuration
from harness.client import Truncated, request_bytes
from harness.services import is_listening
from harness.upstream import answer
from harness.waiting import eventually
from harness.weir import binary, run


def has_ipv6():
    with socket.socket(socket.AF_INET6) as probe:
        try:
            probe.bind(("::1", 0))
        except OSError:
            return False
    return True


class Listeners(Case):
    def directory(self):
        directory = tempfile.TemporaryDirectory(prefix="weir-socket-")
        self.addCleanup(directory.cleanup)
        return Path(directory.name)

    def serve_on(self, *addresses, **sections):
        self.up = self.upstream(answer(b"fine"))
        return self.start(configuration(self.up.url, listen=[{"address": a} for a in addresses],
                                        **sections))

    def test_port_0_picks_a_port_and_logs_it(self):
        weir = self.serve_on("127.0.0.1:0")
        self.assertGreater(weir.port, 0)
        self.assertIn(f"listening on http://127.0.0.1:{weir.port}", weir.stderr)
        self.assertEqual(self.connect(weir).get("/").body, b"fine")

    def test_several_listeners(self):
        weir = self.serve_on("127.0.0.1:0", "127.0.0.1:0", workers=2)
        self.assertEqual(len(set(weir.addresses)), 2)
        for address in weir.addresses:
            self.assertEqual(self.connect_to(address).get("/").body, b"fine")

    @unittest.skipUnless(has_ipv6(), "this machine has no ::1")
    def test_ipv6(self):
        weir = self.serve_on("[::1]:0")
        self.assertIn(f"listening on http://[::1]:{weir.port}", weir.stderr)
        self.assertEqual(self.connect(weir).get("/").body, b"fine")
        self.assertEqual(self.up.requests[-1]["X-Forwarded-For"], "::1")

    def test_a_unix_socket_is_there_while_it_serves(self):
        path = self.directory() / "weir.sock"
        weir = self.serve_on(f"unix:{path}", workers=2)
        self.assertEqual(weir.address, str(path))
        for _ in range(5):
            with weir.connect() as client:
                self.assertEqual(client.get("/").body, b"fine")
        weir.stop()
        self.assertFalse(path.exists())

    def test_a_unix_socket_left_by_a_killed_process_is_replaced(self):
        path = self.directory() / "weir.sock"
        stale = socket.socket(socket.AF_UNIX)
        stale.bind(str(path))
        stale.close()
        weir = self.serve_on(f"unix:{path}")
        self.assertEqual(self.connect(weir).get("/").body, b"fine")

    def test_a_unix_socket_that_somebody_serves_is_left_alone(self):
        path = self.directory() / "weir.sock"
        self.assert_refuses_to_start(self.serve_on(f"unix:{path}"), f"unix:{path}")

    def test_an_address_in_use_is_a_clear_error(self):
        weir = self.serve_on("127.0.0.1:0", workers=2)
        self.assert_refuses_to_start(weir, f"127.0.0.1:{weir.port}")

    def assert_refuses_to_start(self, weir, address):
        """A second Weir on the same address logs why and exits with 1; the first one continues to serve."""
        file = weir.directory / "second.yaml"
        file.write_text(f"listen: [{{address: '{address}'}}]\nadmin: off\n"
                        "routes: [{respond: {body: second}}]\n")
        second = run("serve", "--config", str(file))
        self.assertEqual(second.returncode, 1, second.stderr)
        self.assertIn(address, second.stderr)
        self.assertIn("in use", second.stderr)
        self.assertEqual(self.connect(weir).get("/").body, b"fine")

    def test_an_admin_address_in_use_is_a_clear_error(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            address = "127.0.0.1:{}".format(taken.getsockname()[1])
            with self.assertRaisesRegex(AssertionError,
                                        f"ended with 1 at start:.*(?s:.)*{address}.*in use"):
                self.start(configuration(self.upstream().url, admin={"address": address}))


class Signals(Case):
    def test_an_idle_server_ends_at_once(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGQUIT):
            with self.subTest(signal=number):
                weir = self.start(configuration(self.upstream().url, shutdown_timeout="10m",
                                                workers=2))
                weir.signal(number)
                self.assertEqual(weir.wait(), 0)

    def test_idle_connections_do_not_hold_the_end_up(self):
        _, weir, client = self.proxy(shutdown_timeout="10m")
        self.assertEqual(client.get("/").status, 200)
        silent = self.connect(weir)
        weir.signal(signal.SIGTERM)
        self.assertTrue(client.is_ended())
        self.assertTrue(silent.is_gone())
        self.assertEqual(weir.wait(), 0)

    def test_connections_that_close_just_before_the_end_do_not_hold_it_up(self):
        upstream = self.upstream(answer(b"x"))
        for _ in range(3):
            weir = self.start(configuration(upstream.url, shutdown_timeout="10m", workers=2))
            clients = [self.connect(weir) for _ in range(1000)]
            for client in clients:
                client.get("/")
            for client in clients:
                client.close()
            weir.signal(signal.SIGTERM)
            self.assertEqual(weir.wait(patience_s=30), 0)

    def test_sighup_does_not_end_it(self):
        _, weir, client = self.proxy()
        weir.signal(signal.SIGHUP)
        eventually(lambda: "reload" in weir.stderr.lower(), "the log speaks of the reload")
        self.assertEqual(client.get("/").status, 200)
        with weir.connect() as other:
            self.assertEqual(other.get("/").status, 200)

    def test_sigusr2_is_logged_and_ignored(self):
        _, weir, client = self.proxy()
        weir.signal(signal.SIGUSR2)
        eventually(lambda: "SIGUSR2 is ignored" in weir.stderr, "the log mentions it")
        self.assertEqual(client.get("/").status, 200)

    def test_closed_standard_descriptors_are_not_those_of_a_connection(self):
        with tempfile.TemporaryDirectory() as directory:
            socket_path = Path(directory) / "weir.sock"
            file = Path(directory) / "weir.yaml"
            file.write_text(f"listen: [{{address: 'unix:{socket_path}'}}]\nadmin: off\n"
                            "routes: [{respond: {status: 204}}]\n")
            process = subprocess.Popen(["/bin/sh", "-c", 'exec "$0" serve --config "$1" <&- >&- 2>&-',
                                        binary(), str(file)])
            self.addCleanup(process.kill)
            eventually(socket_path.exists, "the listener")
            for number in range(3):
                self.assertEqual(os.readlink(f"/proc/{process.pid}/fd/{number}"), "/dev/null")
            process.terminate()
            self.assertEqual(process.wait(timeout=30), 0)

    def test_sigusr1_without_a_log_file_does_no_harm(self):
        _, weir, client = self.proxy()
        weir.signal(signal.SIGUSR1)
        self.assertEqual(client.get("/").status, 200)

    def test_a_client_that_breaks_off_does_no_harm(self):
        _, weir, client = self.proxy(lambda exchange: exchange.answer(b"x" * (8 << 20)))
        for _ in range(20):
            with weir.connect(receive_buffer=4096) as leaving:
                leaving.send(request_bytes("GET", "/"))
                leaving.sock.recv(1)
        self.assertEqual(len(client.get("/").body), 8 << 20)


class Draining(Case):
    def stuck(self, **sections):
        """A request that the upstream does not answer until told to."""
        self.may_answer = threading.Event()
        self.addCleanup(self.may_answer.set)

        def behaviour(exchange):
            exchange.read_body()
            self.may_answer.wait()
            exchange.answer(b"late but whole")

        upstream, weir, client = self.proxy(behaviour, **sections)
        client.send(request_bytes("GET", "/"))
        upstream.await_requests(1)
        return weir, client

    def drain(self, weir):
        weir.signal(signal.SIGTERM)
        eventually(lambda: "draining" in weir.stderr, "the server drains")

    def test_a_request_in_flight_is_answered_and_told_to_close(self):
        weir, client = self.stuck(shutdown_timeout="10m")
        self.drain(weir)
        eventually(lambda: not is_listening(weir.address), "the workers drain")
        self.may_answer.set()
        response = client.read()
        self.assertEqual((response.status, response.body), (200, b"late but whole"))
        self.assertTrue(response.fields.has_token("Connection", "close"))
        self.assertTrue(client.is_ended())
        self.assertEqual(weir.wait(), 0)

    def test_a_long_answer_is_sent_to_its_end(self):
        size = 64 << 20
        _, weir, client = self.proxy(lambda exchange: exchange.answer(b"x" * size),
                                     shutdown_timeout="10m")
        client.send(request_bytes("GET", "/"))
        head = client.read_head()
        self.drain(weir)
        received = [0]
        client.reader.body(head, "close",
                           lambda piece: received.__setitem__(0, received[0] + len(piece)))
        self.assertEqual(received[0], size)
        self.assertEqual(weir.wait(), 0)

    def test_new_connections_are_refused_while_it_drains(self):
        weir, client = self.stuck(shutdown_timeout="10m")
        self.drain(weir)
        eventually(lambda: not is_listening(weir.address), "new connections are refused")
        self.may_answer.set()
        self.assertEqual(client.read().status, 200)

    def test_connections_are_accepted_during_shutdown_delay(self):
        _, weir, client = self.proxy(shutdown_delay="1h", shutdown_timeout="10m",
                                     admin={"address": "127.0.0.1:0"})
        admin = self.connect_admin(weir)
        self.assertEqual(admin.get("/readyz").status, 200)
        weir.signal(signal.SIGTERM)
        eventually(lambda: admin.get("/readyz").status == 503, "it is not ready")
        self.assertIn("stopping: accepts connections for another 3600 s", weir.stderr)
        for _ in range(3):
            with self.connect(weir) as other:
                self.assertEqual(other.get("/").status, 200)
        self.assertEqual(client.get("/").status, 200)
        weir.signal(signal.SIGTERM)
        self.assertEqual(weir.wait(), 0)
        self.assertIn("second signal", weir.stderr)

    def test_it_drains_after_shutdown_delay(self):
        weir, client = self.stuck(shutdown_delay="200ms", shutdown_timeout="10m")
        self.drain(weir)
        eventually(lambda: not is_listening(weir.address), "new connections are refused")
        self.may_answer.set()
        self.assertEqual(client.read().status, 200)
        self.assertEqual(weir.wait(), 0)

    def test_shutdown_timeout_ends_what_is_stuck(self):
        weir, client = self.stuck(shutdown_timeout="1s")
        began_at = time.monotonic()
        self.drain(weir)
        self.assertEqual(weir.wait(), 0)
        self.assertGreaterEqual(time.monotonic() - began_at, 0.9)
        self.assertTrue(client.is_gone())

    def test_shutdown_timeout_ends_a_client_that_does_not_read(self):
        _, weir, _ = self.proxy(lambda exchange: exchange.answer(b"x" * (64 << 20)),
                                shutdown_timeout="1s")
        client = self.connect(weir, receive_buffer=65536)
        client.send(request_bytes("GET", "/"))
        client.read_head()
        self.drain(weir)
        self.assertEqual(weir.wait(), 0)

    def test_shutdown_timeout_ends_a_queued_request(self):
        weir = self.start(configuration(
            shutdown_timeout="1s", identities={"client": {"client_address": {}}},
            policies={"p": {"algorithm": "leaky_bucket", "rate": "1/1h", "queue": 5}},
            routes=[{"respond": {"body": "x"}, "limits": [{"policy": "p", "key": "client"}]}]))
        first, second = self.connect(weir), self.connect(weir)
        self.assertEqual(first.get("/").status, 200)
        second.send(request_bytes("GET", "/"))
        self.drain(weir)
        self.assertEqual(weir.wait(), 0)

    def test_a_response_that_is_cut_does_not_look_complete(self):
        """Without a length, the end of an HTTP/1.0 response is that of its connection."""
        def begin(exchange):
            exchange.is_closed = True
            exchange.send(b"HTTP/1.1 200 OK\r\n\r\npart")
            exchange.reader.fill()

        for cut in ("shutdown_timeout", "a second signal"):
            with self.subTest(cut):
                timeout = "200ms" if cut == "shutdown_timeout" else "10m"
                _, weir, client = self.proxy(begin, shutdown_timeout=timeout)
                client.send(request_bytes("GET", "/", version="1.0"))
                self.assertEqual(client.read_head().status, 200)
                while len(client.reader.buffer) < 4:
                    client.reader.fill()
                self.drain(weir)
                if cut == "a second signal":
                    weir.signal(signal.SIGTERM)
                with self.assertRaises(ConnectionResetError):
                    client.sock.recv(4096)
                self.assertEqual(weir.wait(), 0)

    def test_a_second_signal_ends_what_is_stuck(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            weir, client = self.stuck(shutdown_timeout="10m")
            self.drain(weir)
            weir.signal(number)
            self.assertEqual(weir.wait(), 0)
            self.assertTrue(client.is_gone())


class Load:
    """Clients that ask without pause until they are refused, and remember what became of it."""

    def __init__(self, weir, threads):
        self.weir = weir
        self.answered = 0
        self.faults = []
        self.unanswered = []
        self._lock = threading.Lock()
        self.threads = [threading.Thread(target=self._run, args=(i,)) for i in range(threads)]
        for thread in self.threads:
            thread.start()

    def _run(self, i):
        keeps = i % 2 == 0
        client, is_new = None, True
        for turn in range(1_000_000):
            if client is None:
                try:
                    client, is_new = self.weir.connect(), True
                except OSError:
                    return
            target = f"/{i}-{turn}"
            try:
                client.send(request_bytes("GET", target))
                response = client.read()
            except (OSError, Truncated) as failure:
                client.close()
                return self._lost(target, is_new and not client.reader.buffer, failure)
            self._note(target, response)
            is_new = False
            if not keeps or response.fields.has_token("Connection", "close"):
                client.close()
                client = None

    def _note(self, target, response):
        with self._lock:
            self.answered += 1
            if (response.status, response.body) != (200, target.encode()):
                self.faults.append((target, response.start, response.body))

    def _lost(self, target, never_accepted, failure):
        with self._lock:
            (self.unanswered if never_accepted else self.faults).append((target, repr(failure)))

    def join(self):
        for thread in self.threads:
            thread.join()


class DrainingUnderLoad(Case):
    def test_no_request_is_lost(self):
        upstream, weir, client = self.proxy(lambda e: e.answer(e.target.encode()), workers=2,
                                            shutdown_timeout="60s")
        client.close()
        load = Load(weir, threads=12)
        eventually(lambda: load.answered > 500, "the load is on")
        weir.signal(signal.SIGTERM)
        code = weir.wait()
        load.join()
        self.assertEqual(code, 0)
        self.assertEqual(load.faults, [])
        # A connection in the backlog of a listener is reset by the system when the listener closes,
        # before its request has been read.
        seen = {request.target for request in upstream.requests}
        self.assertEqual([lost for lost in load.unanswered if lost[0] in seen], [])

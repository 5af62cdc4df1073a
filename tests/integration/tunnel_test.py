"""Upgrades: when one is passed on, what the tunnel carries, how it ends, and how it is counted."""

import json
import shutil
import signal
import socket
import subprocess
import textwrap
import threading

from harness import upgrades
from harness.case import Case, configuration, scaled
from harness.certificates import Authority, SecureConnection
from harness.client import request_bytes
from harness.payload import digest, payload
from harness.services import free_port, is_listening
from harness.upgrades import echo_bytes, receive
from harness.upstream import echo
from harness.waiting import eventually

UPGRADE = {"Connection": "Upgrade", "Upgrade": "websocket"}
SWITCH = (b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
          b"Sec-WebSocket-Accept: x\r\n\r\n")


def switching(then, head=SWITCH):
    return upgrades.switching(then, head)


def exactly(client, size):
    got = bytearray()
    client.reader.exactly(size, got.extend)
    return bytes(got)


class TunnelCase(Case):
    def open(self, then=echo_bytes, more=b"", **sections):
        self.up, self.weir, client = self.proxy(switching(then), **sections)
        self.upgrade(client, more)
        return client

    def upgrade(self, client, more=b""):
        client.send(request_bytes("GET", "/socket", UPGRADE) + more)
        response = client.read_head()
        self.assertEqual(response.status, 101, response)
        return response


class Opening(TunnelCase):
    def test_a_refusal_is_an_ordinary_answer(self):
        self.up, self.weir, client = self.proxy(echo)
        response = client.get("/socket", UPGRADE)
        self.assertEqual(response.status, 200)
        self.assertNotIn("Upgrade", response.fields)
        self.assertEqual(client.get().status, 200)
        self.assertNotIn("Upgrade", self.up.requests[1].fields)
        self.assertEqual(self.up.connections, 1)

    def test_when_no_upgrade_is_passed_on(self):
        self.up, self.weir, client = self.proxy(echo)
        requests = [
            request_bytes("GET", "/", {"Upgrade": "websocket"}),
            request_bytes("GET", "/", {"Connection": "upgrade"}),
            request_bytes("GET", "/", {"Connection": "upgrade, http2-settings", "Upgrade": "h2c",
                                       "HTTP2-Settings": "AAMAAABkAAQAAP__"}),
            request_bytes("GET", "/", {"Connection": "upgrade", "Upgrade": "h2c",
                                       "HTTP2-Settings": "AAMAAABkAAQAAP__"}),
            request_bytes("POST", "/", UPGRADE, body=b"hello"),
            request_bytes("GET", "/", [*UPGRADE.items(), ("Host", "a")], version="1.0"),
        ]
        for request in requests:
            client.send(request)
            self.assertEqual(client.read().status, 200, request)
        for request in self.up.requests:
            for name in "Connection", "Upgrade", "HTTP2-Settings":
                self.assertNotIn(name, request.fields, request)

    def test_h2c_is_taken_out_of_what_is_offered(self):
        self.up, self.weir, client = self.proxy(echo)
        client.get("/", {"Connection": "upgrade", "Upgrade": "h2c, websocket"})
        self.assertEqual(self.up.requests[0]["Upgrade"], "websocket")

    def test_a_101_that_was_not_asked_for_is_502(self):
        for fields, head in [
            ({}, SWITCH),
            ({"Upgrade": "websocket"}, SWITCH),
            (UPGRADE, SWITCH.replace(b"websocket", b"other")),
            (UPGRADE, SWITCH.replace(b"Upgrade: websocket\r\n", b"")),
            (UPGRADE, SWITCH.replace(b"Connection: Upgrade\r\n", b"")),
            ({**UPGRADE, "Upgrade": "h2c"}, SWITCH.replace(b"websocket", b"h2c")),
        ]:
            self.up, self.weir, client = self.proxy(switching(lambda exchange: None, head))
            self.assert_problem(client.get("/", fields), 502)


class Carrying(TunnelCase):
    def test_any_bytes_both_ways_at_once(self):
        client = self.open()
        data = payload(scaled(8_000_000))
        sender = threading.Thread(target=client.send, args=(data,))
        sender.start()
        self.assertEqual(digest(exactly(client, len(data))), digest(data))
        sender.join()

    def test_a_slow_reader_holds_the_sender_back(self):
        data = payload(8_000_000)
        client = self.open(lambda exchange: exchange.send(data))
        client.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
        got = bytearray()
        client.reader.to_end(got.extend)
        self.assertEqual(digest(bytes(got)), digest(data))

    def test_single_bytes(self):
        client = self.open()
        for i in range(256):
            client.send(bytes([i]))
            self.assertEqual(exactly(client, 1), bytes([i]))

    def test_through_tls_on_both_sides(self):
        ca = Authority()
        self.addCleanup(ca.cleanup)
        certificate = ca.issue("main", "DNS:weir.test", "IP:127.0.0.1")

        def echo_and_end(exchange):
            echo_bytes(exchange)
            try:
                exchange.sock.unwrap()
            except OSError:
                pass  # the other side need not answer

        up = self.upstream(switching(echo_and_end), tls=ca.server_context(certificate))
        weir = self.start(configuration(
            up.url, main={"tls": {"ca": ca.file}},
            listen=[{"address": "127.0.0.1:0", "tls": certificate.files}]))
        client = SecureConnection(weir.address, ca.client_context())
        self.addCleanup(client.close)
        self.upgrade(client, b"early")
        self.assertEqual(exactly(client, 5), b"early")
        data = payload(scaled(2_000_000))
        for start in range(0, len(data), 10_000):
            piece = data[start:start + 10_000]
            client.send(piece)
            self.assertEqual(exactly(client, len(piece)), piece)
        client.sock.unwrap()  # the closing word goes up, and comes back


class Ending(TunnelCase):
    def test_half_closed_by_the_client(self):
        def count_and_answer(exchange):
            count = 0
            while data := receive(exchange):
                count += len(data)
            exchange.send(b"%d bytes" % count)
            exchange.close()

        client = self.open(count_and_answer)
        client.send(b"x" * 100_000)
        client.sock.shutdown(socket.SHUT_WR)
        self.assertEqual(exactly(client, 12), b"100000 bytes")
        self.assertTrue(client.is_ended())

    def test_half_closed_by_the_upstream(self):
        self.got = bytearray()  # before the upstream's thread: the test may look at it first

        def answer_and_count(exchange):
            exchange.send(b"all I have")
            exchange.sock.shutdown(socket.SHUT_WR)
            while data := receive(exchange):
                self.got += data

        client = self.open(answer_and_count)
        self.assertEqual(exactly(client, 10), b"all I have")
        self.assertTrue(client.is_ended())
        client.send(b"y" * 100_000)
        client.close()
        eventually(lambda: len(self.got) == 100_000 and self.up.open_connections == 0, "the rest")

    def test_a_reset_is_a_reset_on_the_other_side(self):
        client = self.open(lambda exchange: (receive(exchange), exchange.reset()))
        client.send(b"go")
        with self.assertRaises(ConnectionResetError):
            client.is_ended()

        seen = []

        def watch(exchange):
            try:
                while receive(exchange):
                    pass
                seen.append("end")
            except ConnectionResetError:
                seen.append("reset")

        self.open(watch).reset()
        eventually(lambda: seen, "an end at the upstream")
        self.assertEqual(seen, ["reset"])

    def test_without_a_byte_for_tunnel_timeout(self):
        client = self.open(main={"tunnel_timeout": "500ms"})
        client.send(b"one")
        self.assertEqual(exactly(client, 3), b"one")
        self.assertTrue(client.is_ended())
        eventually(lambda: self.up.open_connections == 0, "the upstream's side closed")

    def test_bytes_that_nobody_reads_for_tunnel_timeout_are_not_lost_in_silence(self):
        ends = []

        def flood(exchange):
            try:
                while True:
                    exchange.send(bytes(65536))
            except OSError as error:
                ends.append(error)

        client = self.open(flood, main={"tunnel_timeout": "500ms"})
        eventually(lambda: ends, "an end at the upstream")
        self.assertIsInstance(ends[0], ConnectionResetError)
        with self.assertRaises(ConnectionResetError):
            while client.sock.recv(65536):
                pass

    def test_its_connection_is_no_other_requests_even_if_it_had_been_idle_pitfall_39(self):
        seen = []

        def behaviour(exchange):
            if exchange.target == "/socket":
                exchange.send(SWITCH)
                seen.append(receive(exchange))
            else:
                exchange.answer(b"plain")

        self.up, self.weir, client = self.proxy(behaviour, main={"tunnel_timeout": "500ms"})
        self.assertEqual(client.get("/").body, b"plain")
        self.upgrade(client)
        self.assertTrue(client.is_ended())
        with self.weir.connect() as other:
            self.assertEqual(other.get("/").body, b"plain")
        self.assertEqual(self.up.connections, 2)
        eventually(lambda: seen, "its end at the upstream")
        self.assertEqual(seen, [b""])

    def test_bytes_one_way_keep_it_open(self):
        def tick(exchange):
            wait = threading.Event()
            for _ in range(10):
                wait.wait(0.2)
                exchange.send(b".")
            exchange.close()

        client = self.open(tick, main={"tunnel_timeout": "1s"})
        self.assertEqual(exactly(client, 10), b"." * 10)

    def test_other_timeouts_do_not_count(self):
        client = self.open(main={"response_timeout": "200ms"},
                           downstream={"body_timeout": "200ms", "idle_timeout": "200ms",
                                       "head_timeout": "200ms"})
        threading.Event().wait(0.8)
        client.send(b"still here")
        self.assertEqual(exactly(client, 10), b"still here")

    def test_stopping_ends_it_after_shutdown_timeout(self):
        client = self.open(shutdown_timeout="1s")
        self.weir.signal(signal.SIGTERM)
        eventually(lambda: "draining" in self.weir.stderr, "draining")
        client.send(b"meanwhile")
        self.assertEqual(exactly(client, 9), b"meanwhile")
        with self.assertRaises(ConnectionResetError):
            client.sock.recv(4096)
        self.assertEqual(self.weir.wait(), 0)
        self.assertIn("shutdown_timeout is over", self.weir.stderr)


class Counting(TunnelCase):
    LIMITS = {"policies": {"p": {"algorithm": "fixed_window", "rate": "1/1h"}},
              "identities": {"client": {"client_address": {}}},
              "routes": [{"name": "all", "upstream": "main",
                          "limits": [{"policy": "p", "key": "client"}]}]}

    def test_as_one_request_with_its_limits(self):
        client = self.open(access_log={"path": "-"}, **self.LIMITS)
        client.send(b"x" * 5000)
        exactly(client, 5000)
        other = self.connect(self.weir)
        self.assertEqual(other.get("/", UPGRADE).status, 429)
        self.assertEqual(other.get("/").status, 429)  # the connection stays with HTTP
        client.sock.shutdown(socket.SHUT_WR)
        self.assertTrue(client.is_ended())
        line = eventually(
            lambda: next((line for line in map(json.loads, self.weir.stdout.splitlines())
                          if line["status"] == 101), None), "the tunnel's line")
        self.assertEqual((line["status"], line["decision"], line["bytes_in"]), (101, "allowed", 5000))
        self.assertGreater(line["bytes_out"], 5000)
        self.assertEqual(line["path"], "/socket")

    def test_the_answer_carries_the_limit_fields(self):
        self.up, self.weir, client = self.proxy(switching(echo_bytes), **self.LIMITS)
        self.assertEqual(self.upgrade(client)["RateLimit-Remaining"], "0")

    def test_it_is_counted_when_it_opens(self):
        client = self.open(admin={"address": "127.0.0.1:0"})
        admin = self.connect_admin(self.weir)
        self.assertRegex(admin.get("/metrics").body.decode(),
                         r'weir_requests_total\{[^}]*code="(101|1xx)"[^}]*\} 1\n')
        client.close()


class WebSockets(Case):
    """Debian's implementations; /usr/bin/python3 has the packages."""

    CLIENT = textwrap.dedent("""
        import asyncio, sys, websockets

        async def main(url):
            async with websockets.connect(url, max_size=None) as socket:
                for message in "hello", "\\u00fc", "x" * 70_000:
                    await socket.send(message)
                    assert await socket.recv() == message
                if "--binary" in sys.argv:
                    for message in b"", bytes(range(256)), bytes(1_000_000):
                        await socket.send(message)
                        assert await socket.recv() == message
                    await asyncio.wait_for(await socket.ping(), 30)
            print("closed with", socket.close_code)

        asyncio.run(main(sys.argv[1]))
    """)
    SERVER = textwrap.dedent("""
        import asyncio, sys, websockets

        async def echo(socket):
            async for message in socket:
                await socket.send(message)

        async def main():
            async with websockets.serve(echo, "127.0.0.1", int(sys.argv[1]), max_size=None):
                await asyncio.Future()

        asyncio.run(main())
    """)
    PYTHON = "/usr/bin/python3"

    def serve(self, *command, port):
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        self.addCleanup(process.wait, 30)
        self.addCleanup(process.terminate)
        eventually(lambda: is_listening(port), f"{command[0]} is listening")
        return self.start(configuration(f"http://127.0.0.1:{port}"))

    def talk(self, weir, *options):
        done = subprocess.run(
            [self.PYTHON, "-c", self.CLIENT, f"ws://127.0.0.1:{weir.port}/", *options],
            capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout, "closed with 1000\n")

    def test_python3_websockets(self):
        port = free_port()
        self.talk(self.serve(self.PYTHON, "-c", self.SERVER, str(port), port=port), "--binary")

    def test_websocketd(self):
        if shutil.which("websocketd") is None:
            self.fail("websocketd is missing: run script/bootstrap test")
        port = free_port()
        self.talk(self.serve("websocketd", "--address=127.0.0.1", f"--port={port}", "cat",
                             port=port))

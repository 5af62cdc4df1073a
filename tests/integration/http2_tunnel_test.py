"""WebSocket over HTTP/2 (RFC 8441): an extended CONNECT becomes the upgrade of an HTTP/1 server."""

import base64
import hashlib
import json
import socket
import struct

from harness.case import configuration, limited
from harness.http2 import CANCEL, ENABLE_CONNECT_PROTOCOL, INITIAL_WINDOW_SIZE, INTERNAL_ERROR, NO_ERROR
from harness.http2_case import Http2Case
from harness.payload import payload
from harness.preload import fast_clock
from harness.upgrades import echo_bytes, receive, switching
from harness.waiting import eventually, settled

GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


def accepted(exchange):
    return base64.b64encode(hashlib.sha1((exchange["Sec-WebSocket-Key"] + GUID).encode()).digest()).decode()


def head_of(accept):
    return lambda exchange: (
        b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        b"Sec-WebSocket-Protocol: chat\r\nSec-WebSocket-Accept: " + accept(exchange).encode() + b"\r\n\r\n")


class Tunnels(Http2Case):
    def open(self, then=echo_bytes, accept=accepted, path="/socket", **sections):
        self.serve(switching(then, head_of(accept)), access_log={}, **sections)
        return self.connect_stream(path)

    def connect_stream(self, path="/socket", fields=()):
        stream = self.client.open("CONNECT", path, [("sec-websocket-version", "13"), *fields], ends=False,
                                  protocol="websocket")
        self.client.read_until(lambda: self.response(stream).status or self.response(stream).reset is not None)
        return stream

    def response(self, stream):
        return self.client.streams[stream]

    def receive(self, stream, size):
        self.client.read_until(lambda: len(self.response(stream).body) >= size)
        return self.response(stream).body

    def test_it_is_announced_and_becomes_an_upgrade(self):
        stream = self.open()
        self.assertEqual(self.client.server_settings[ENABLE_CONNECT_PROTOCOL], 1)
        response = self.response(stream)
        self.assertEqual((response.status, response["sec-websocket-protocol"]), (200, "chat"))
        for name in "connection", "upgrade", "sec-websocket-accept":
            self.assertIsNone(response[name])
        request = self.up.requests[0]
        self.assertEqual(request.start, "GET /socket HTTP/1.1")
        self.assertEqual((request["Upgrade"], request["Sec-WebSocket-Version"]), ("websocket", "13"))
        self.assertTrue(request.fields.has_token("Connection", "upgrade"))
        self.assertEqual(len(base64.b64decode(request["Sec-WebSocket-Key"])), 16)
        self.client.send_data(stream, b"hello", ends=False)
        self.assertEqual(self.receive(stream, 5), b"hello")
        self.client.send_data(stream, b"")
        self.client.read(stream)
        self.assertTrue(response.is_ended)
        [line] = self.log_lines(1)
        self.assertEqual((line["method"], line["status"], line["bytes_in"], line["protocol"]), ("GET", 200, 5, "HTTP/2.0"))

    def test_much_passes_in_both_directions(self):
        stream = self.open()
        data = payload(1_000_000)
        for at in range(0, len(data), 50_000):
            self.client.send_data(stream, data[at:at + 50_000], ends=False)
            self.receive(stream, at + 50_000 if at + 50_000 <= len(data) else len(data))
        self.assertEqual(self.response(stream).body, data)

    def test_each_direction_ends_by_itself(self):
        def then(exchange):
            exchange.send(b"bye")
            exchange.sock.shutdown(1)
            self.late = receive(exchange)

        stream = self.open(then)
        self.client.read(stream)
        self.assertEqual(self.response(stream).body, b"bye")
        self.client.send_data(stream, b"late")
        eventually(lambda: getattr(self, "late", None) == b"late", "what is sent after the end of the other side")

    def test_a_cut_is_passed_on(self):
        stream = self.open(lambda exchange: receive(exchange))
        self.client.reset(stream, CANCEL)
        eventually(lambda: self.up.open_connections == 0, "the end of the connection to the server")

    def test_a_cut_of_the_server_is_passed_on(self):
        def then(exchange):
            receive(exchange)
            exchange.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            exchange.sock.close()

        stream = self.open(then)
        self.client.send_data(stream, b"x", ends=False)
        response = self.client.read(stream)
        self.assertEqual((response.is_ended, response.reset), (False, INTERNAL_ERROR))
        self.client.ping()  # the connection continues

    def test_a_tunnel_that_its_client_does_not_read_holds_up_itself_only(self):
        data = payload(30_000_000)
        sent = [0]

        def then(exchange):
            for at in range(0, len(data), 100_000):
                exchange.send(data[at:at + 100_000])
                sent[0] = at + 100_000

        tunnel = switching(then, head_of(accepted))
        self.up = self.upstream(lambda exchange: tunnel(exchange) if exchange.target == "/socket"
                                else exchange.answer(b"small"))
        self.weir = self.start(configuration(self.up.url))
        self.client = self.speak(self.weir, settings={INITIAL_WINDOW_SIZE: 1000}, holds_windows=True)
        self.client.open_window(0, 1 << 30)
        stream = self.connect_stream()
        self.receive(stream, 1000)
        settled(lambda: sent[0], "the server is held back")
        self.assertLess(sent[0], len(data))
        self.assertEqual([self.client.get("/small").status for _ in range(5)], [200] * 5)
        self.assertEqual(len(self.response(stream).body), 1000)
        self.client.open_window(stream, 1 << 30)
        self.assertTrue(self.receive(stream, len(data)) == data, "the data is whole")

    def test_a_connection_beyond_its_age_keeps_its_tunnels(self):
        stream = self.open(downstream={"max_age": "5s"}, environment=fast_clock(10))
        self.client.read_until(lambda: len(self.client.goaways) == 2)
        self.assertEqual(self.client.goaways[-1], (stream, NO_ERROR))
        self.client.send_data(stream, b"hello", ends=False)
        self.assertEqual(self.receive(stream, 5), b"hello")
        self.client.send_data(stream, b"")
        self.assertTrue(self.client.read(stream).is_ended)
        self.client.read_to_end()

    def test_an_idle_tunnel_ends(self):
        stream = self.open(echo_bytes, main={"tunnel_timeout": "300ms"})
        self.assertEqual(self.client.read(stream).reset, INTERNAL_ERROR)
        eventually(lambda: self.up.open_connections == 0, "the end of the connection to the server")

    def test_a_server_that_does_not_accept_the_key_opens_nothing(self):
        stream = self.open(accept=lambda _: "x", main={"retries": 0})
        self.assert_problem(self.client.read(stream), 502)

    def test_a_server_that_does_not_upgrade_opens_nothing(self):
        self.serve(main={"retries": 0})
        self.assert_problem(self.client.read(self.connect_stream()), 502)

    def test_a_denied_connect_is_an_ordinary_response(self):
        config = limited({"one": {"algorithm": "gcra", "rate": "1/1h"}}, [{"policy": "one"}])
        self.weir = self.start(config)
        self.client = self.speak(self.weir)
        self.client.get("/")
        self.assert_problem(self.client.read(self.connect_stream("/")), 429)

    def test_other_protocols_are_not_supported(self):
        self.serve()
        stream = self.client.open("CONNECT", "/", ends=False, protocol="connect-udp")
        response = self.client.read(stream)
        self.assertEqual((response.status, json.loads(response.body)["status"]), (501, 501))

    def test_a_route_without_an_upstream_opens_nothing(self):
        self.weir = self.start(configuration(
            admin={"address": "127.0.0.1:0"},
            client_address={"trusted_proxies": ["127.0.0.1/32"]},
            policies={"slots": {"algorithm": "concurrency", "limit": 1}},
            routes=[{"match": {"path": "/fixed"}, "respond": {"status": 200, "body": "here"}},
                    {"match": {"path": "/empty"}, "respond": {"status": 204}},
                    {"match": {"path": "/error"}, "respond": {"status": 403, "body": "no"}},
                    {"decide": True, "limits": [{"policy": "slots"}]}]))
        self.client = self.speak(self.weir)
        for path in "/fixed", "/empty", "/decided", "/decided":
            with self.subTest(path=path):
                response = self.client.read(self.connect_stream(path))
                self.assert_problem(response, 501, "WebSocket")
                self.assertIsNone(response["weir-hold"])
        self.assertEqual(self.client.read(self.connect_stream("/error")).status, 403)
        with self.connect_admin(self.weir) as admin:
            self.assertIn('weir_holds{policy="slots"} 0\n', admin.get("/metrics").body.decode())
        admitted = self.client.get("/decided")
        self.assertEqual(admitted.status, 200)
        report = [("weir-hold", admitted["weir-hold"]), ("weir-status", "200")]
        self.assert_problem(self.client.read(self.connect_stream("/decided", report)), 501, "WebSocket")
        self.assertEqual(self.client.get("/decided", report).status, 204)

"""How a connection leaves HTTP (E2 to E4). RFC 9110 sections 7.8, 9.3.6 and 10.1.1.

Every test sends raw bytes and looks at the bytes on both sides.
"""

import socket

from harness.payload import payload
from harness.wire import WireCase, get, values
from harness.waiting import eventually

CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
SWITCH = b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: chat\r\n\r\n"
OFFER = (b"Connection: Upgrade", b"Upgrade: chat")


class Upgrades(WireCase):
    def behave(self, exchange):
        """Answers; behind a 101 reads whatever comes until its end."""
        exchange.send(self.answer)
        if b" 101 " not in self.answer:
            return exchange.read_body()
        exchange.reader.to_end(lambda piece: None)
        exchange.close()

    def begun(self, request, answer):
        self.answer = answer
        client = self.recorded(self.weir)
        client.send(request)
        return client

    def wire_to(self, client, end):
        """What the client has been sent, as far as this."""
        while not client.reader.record.endswith(end) and client.reader.fill():
            pass
        return bytes(client.reader.record)

    def test_E2_both_sides_are_told_and_what_follows_at_once_is_the_tunnels(self):
        client = self.begun(get(*OFFER) + b"early\r\n\r\n\0", SWITCH + b"\xffhello")
        head, _, rest = self.wire_to(client, b"hello").partition(b"\r\n\r\n")
        self.assertEqual(head.partition(b"\r\n")[0], b"HTTP/1.1 101 Switching Protocols")
        self.assertEqual(values(head, b"Connection"), [b"upgrade"])
        self.assertEqual(values(head, b"Upgrade"), [b"chat"])
        self.assertEqual(rest, b"\xffhello")
        client.send(b"GET / HTTP/1.1\r\n\r\n")  # no request any more
        tunnelled = b"early\r\n\r\n\0GET / HTTP/1.1\r\n\r\n"
        eventually(lambda: self.up_wire.endswith(tunnelled), "the tunnel's bytes at the upstream")
        head, _, rest = bytes(self.up_wire).partition(b"\r\n\r\n")
        self.assertEqual(values(head, b"Connection"), [b"upgrade"])
        self.assertEqual(values(head, b"Upgrade"), [b"chat"])
        self.assertEqual(rest, tunnelled)

    def test_E3_the_100_comes_before_the_101(self):
        client = self.begun(get(*OFFER, b"Expect: 100-continue"), CONTINUE + SWITCH)
        self.assertEqual(client.read_head().status, 100)
        self.assertEqual(client.read_head().status, 101)
        self.assertEqual(values(bytes(self.up_wire), b"Expect"), [b"100-continue"])
        self.assertEqual(values(bytes(self.up_wire), b"Upgrade"), [b"chat"])
        client.send(b"tunnelled")
        eventually(lambda: self.up_wire.endswith(b"\r\n\r\ntunnelled"), "the tunnel")

    def test_E4_what_is_under_way_arrives_before_the_end_of_either_half(self):
        data = payload(400_000)

        def behave(exchange):
            exchange.send(SWITCH + data)
            exchange.sock.shutdown(socket.SHUT_WR)
            exchange.reader.to_end(lambda piece: None)
            exchange.close()

        self.up.behaviour = behave
        client = self.begun(get(*OFFER), SWITCH)
        self.assertEqual(client.read_head().status, 101)
        client.send(data)
        client.sock.shutdown(socket.SHUT_WR)
        client.reader.to_end(lambda piece: None)
        self.assertEqual(bytes(client.reader.record).partition(b"\r\n\r\n")[2], data)
        eventually(lambda: self.up.open_connections == 0, "the upstream has read to the end")
        self.assertEqual(bytes(self.up_wire).partition(b"\r\n\r\n")[2], data)

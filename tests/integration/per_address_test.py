"""downstream.per_address: the connections of one client address are limited, those of others are not."""

import socket
import struct

from harness.case import configuration
from harness.client import request_bytes
from harness.exposition import labelled
from harness.http2 import Http2Client
from harness.message import Truncated
from harness.reload_case import ReloadCase
from harness.waiting import eventually

FIRST, SECOND = "127.0.0.2", "127.0.0.3"
WORKERS = 4


def proxied(address):
    """A PROXY header with this source."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    packed = socket.inet_pton(family, address) * 2 + b"\0\1\0\2"
    return (b"\r\n\r\n\0\r\nQUIT\n\x21" + (b"\x21" if ":" in address else b"\x11")
            + struct.pack("!H", len(packed)) + packed)


class PerAddressCase(ReloadCase):
    def configured(self, per_address, **sections):
        return configuration(**{"routes": [{"respond": {"body": "fine"}}], "workers": WORKERS, **sections,
                                "downstream": {"per_address": per_address}})

    def open(self, source, preface=b""):
        """A connection that is served; None if it was refused."""
        client = None
        try:
            client = self.connect(self.weir, source=source)
            client.send(preface + request_bytes("GET", "/"))
            self.assertEqual(client.read().status, 200)
            return client
        except (Truncated, ConnectionError):
            if client is not None:
                client.close()
            return None

    def opened(self, source, count, preface=b""):
        clients = [self.open(source, preface) for _ in range(count)]
        self.assertTrue(all(clients), f"all {count} connections of {source} are served")
        return clients

    def refused(self, reason):
        return labelled(self.scrape(), "weir_connections_refused_total", reason=reason)


class PerAddress(PerAddressCase):
    def test_open_connections_are_limited_over_all_workers(self):
        self.serve(self.configured({"connections": 5}))
        mine = self.opened(FIRST, 5)
        for _ in range(20):
            self.assertIsNone(self.open(FIRST))
        self.opened(SECOND, 5)
        self.assertEqual([client.get().status for client in mine], [200] * 5)
        self.assertEqual(self.refused("address_connections"), 20)
        self.assertEqual((self.refused("address_rate"), self.refused("max_connections")), (0, 0))
        line = (f"connections of {FIRST} are refused: as many are open as "
                "downstream.per_address.connections allows, 5")
        self.assertEqual(self.weir.stderr.count(line), 1)  # once a minute, not once a worker
        mine.pop().close()
        eventually(lambda: self.open(FIRST), "a connection is served after another has ended")

    def test_new_connections_are_limited_over_all_workers(self):
        self.serve(self.configured({"rate": "5/1d"}))
        for client in self.opened(FIRST, 5):
            client.close()
        for _ in range(20):
            self.assertIsNone(self.open(FIRST))
        self.opened(SECOND, 5)
        self.assertEqual(self.refused("address_rate"), 20)
        self.assertIn(f"connections of {FIRST} are refused: they come faster than "
                      "downstream.per_address.rate allows", self.weir.stderr)

    def test_trusted_proxies_have_no_bound(self):
        self.serve(self.configured({"connections": 1, "rate": "1/1d"},
                                   client_address={"trusted_proxies": [FIRST]}))
        self.opened(FIRST, 10)
        self.opened(SECOND, 1)
        self.assertIsNone(self.open(SECOND))

    def test_the_address_in_a_proxy_header_counts(self):
        self.serve(self.configured(
            {"connections": 2}, listen=[{"address": "127.0.0.1:0", "proxy_protocol": True}],
            client_address={"trusted_proxies": [FIRST]}))
        self.opened(FIRST, 2, proxied("192.0.2.1"))
        self.assertIsNone(self.open(FIRST, proxied("192.0.2.1")))
        self.opened(FIRST, 2, proxied("192.0.2.2"))
        self.opened(FIRST, 5, b"PROXY UNKNOWN\r\n")
        self.assertEqual(self.refused("address_connections"), 1)

    def test_addresses_count_by_their_prefix(self):
        self.serve(self.configured(
            {"connections": 2}, listen=[{"address": "127.0.0.1:0", "proxy_protocol": True}],
            client_address={"trusted_proxies": [FIRST], "ipv4_prefix": 24}))
        for same, other, shown in (
                (["2001:db8::1", "2001:db8::2", "2001:db8::3"], "2001:db8:0:1::1", "2001:db8::/64"),
                (["192.0.2.1", "192.0.2.2", "192.0.2.3"], "192.0.3.1", "192.0.2.0/24")):
            clients = [self.open(FIRST, proxied(address)) for address in same]
            self.assertEqual([client is not None for client in clients], [True, True, False])
            self.opened(FIRST, 1, proxied(other))
        self.assertIn("connections of 2001:db8::/64 are refused", self.weir.stderr)

    def test_a_reload_sets_changes_and_removes_the_bound(self):
        self.serve(self.configured({}))
        before = self.opened(FIRST, 3)
        self.reload(self.configured({"connections": 3}), changed=["downstream"])
        self.assertIsNone(self.open(FIRST))
        self.reload(self.configured({"connections": 4}))
        before += self.opened(FIRST, 1)
        self.assertIsNone(self.open(FIRST))
        self.reload(self.configured({"connections": 2}))
        self.assertEqual([client.get().status for client in before], [200] * 4)
        while len(before) > 2:
            before.pop().close()
            self.assertIsNone(self.open(FIRST))
        before.pop().close()
        eventually(lambda: self.open(FIRST), "a connection is served below the bound")
        self.reload(self.configured({"rate": "0", "connections": 0}))
        self.opened(FIRST, 10)


class Http2(PerAddressCase):
    """A connection counts as one, whatever it carries."""

    def speak(self, source):
        """A connection of HTTP/2 that is served; None if it was refused."""
        client = None
        try:
            client = Http2Client(self.weir.address, source=source)
            self.addCleanup(client.close)
            client.ping()
            return client
        except (AssertionError, ConnectionError):
            return None

    def serve_late(self, per_address):
        self.up, self.may_answer = self.late_upstream()
        self.serve(self.configured(per_address, **{**configuration(self.up.url), "workers": WORKERS}))

    def test_open_connections_are_limited_and_their_streams_are_not(self):
        self.serve_late({"connections": 2})
        clients = [self.speak(FIRST), self.speak(FIRST)]
        streams = [(client, client.open()) for client in clients for _ in range(20)]
        self.up.await_requests(40)
        for _ in range(5):
            self.assertIsNone(self.speak(FIRST))
        self.assertIsNone(self.open(FIRST))
        self.assertIsNotNone(self.speak(SECOND))
        self.assertEqual(self.refused("address_connections"), 6)
        self.may_answer.set()
        self.assertEqual([client.read(stream).body for client, stream in streams], [b"late"] * 40)
        clients.pop().close()
        eventually(lambda: self.speak(FIRST), "a connection is served after another has ended")

    def test_new_connections_are_limited_and_their_streams_are_not(self):
        self.serve_late({"rate": "2/1d"})
        self.may_answer.set()
        for _ in range(2):
            client = self.speak(FIRST)
            self.assertEqual([client.get().status for _ in range(20)], [200] * 20)
            client.close()
        for _ in range(5):
            self.assertIsNone(self.speak(FIRST))
        self.assertIsNotNone(self.speak(SECOND))
        self.assertEqual(self.refused("address_rate"), 5)

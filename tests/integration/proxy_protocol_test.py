"""The PROXY protocol on a listener: trusted senders, the fields of a header, and errors."""

import json
import socket
import struct

from harness.case import Case, configuration, limited
from harness.certificates import Authority, SecureConnection
from harness.client import request_bytes
from harness.waiting import eventually

V1 = b"PROXY TCP4 192.0.2.1 198.51.100.2 8080 80\r\n"
SIGNATURE = b"\r\n\r\n\0\r\nQUIT\n"


def v2(command, family, rest=b""):
    return SIGNATURE + struct.pack("!BBH", command, family, len(rest)) + rest


V2 = v2(0x21, 0x21, socket.inet_pton(socket.AF_INET6, "2001:db8::7") * 2 + b"\0\1\0\2"
        + b"\x04\0\3abc")
TRUSTED = {"trusted_proxies": ["127.0.0.0/8"]}


class ProxyProtocol(Case):
    def serve(self, listen=None, client_address=TRUSTED, **sections):
        self.up = self.upstream()
        self.weir = self.start(configuration(
            self.up.url, listen=[{"address": "127.0.0.1:0", "proxy_protocol": True,
                                  **(listen or {})}],
            client_address=client_address, access_log={"path": "-"}, **sections))

    def speak(self, preface, request=request_bytes("GET", "/")):
        client = self.connect(self.weir)
        client.send(preface + request)
        return client

    def forwarded_for(self):
        return [request["X-Forwarded-For"] for request in self.up.requests]

    def test_the_client_is_who_the_header_says(self):
        self.serve()
        for header in V1, V2:
            client = self.speak(header)
            self.assertEqual(client.read().status, 200)
            self.assertEqual(client.get().status, 200)
        self.assertEqual(self.forwarded_for(), ["192.0.2.1"] * 2 + ["2001:db8::7"] * 2)
        lines = eventually(lambda: (lines := self.weir.stdout.splitlines())[3:] and lines, "4 lines")
        self.assertEqual([json.loads(line)["client"] for line in lines], self.forwarded_for())

    def test_headers_without_an_address_leave_the_peer(self):
        self.serve()
        for header in b"PROXY UNKNOWN\r\n", v2(0x20, 0x00), v2(0x21, 0x31, bytes(216)):
            self.assertEqual(self.speak(header).read().status, 200)
        self.assertEqual(self.forwarded_for(), ["127.0.0.1"] * 3)

    def test_what_the_client_itself_claims_does_not_count(self):
        self.serve()
        client = self.speak(V1, request_bytes("GET", "/", {"X-Forwarded-For": "203.0.113.9"}))
        self.assertEqual(client.read().status, 200)
        self.assertEqual(self.forwarded_for(), ["192.0.2.1"])

    def test_limits_are_counted_for_the_client(self):
        self.weir = self.start(limited(
            {"p": {"algorithm": "fixed_window", "rate": "1/1h"}},
            [{"policy": "p", "key": "client"}], client_address=TRUSTED,
            listen=[{"address": "127.0.0.1:0", "proxy_protocol": True}]))
        statuses = [self.speak(header).read().status for header in (V1, V1, V2, V2)]
        self.assertEqual(statuses, [200, 429, 200, 429])

    def test_what_is_no_header_is_closed_without_an_answer(self):
        self.serve()
        for data in (b"", b"PROXY TCP4 192.0.2.1 198.51.100.2 8080 80\n",
                     b"PROXY TCP4 192.0.2.1 198.51.100.2 8080\r\n", v2(0x21, 0x11, b"short"),
                     b"PROXY TCP4 " + b"1" * 200):
            client = self.speak(data)
            self.assertTrue(client.is_gone())
        self.assertEqual(self.up.requests, [])
        self.assertIn("closed a connection from 127.0.0.1 without a valid PROXY header", self.weir.stderr)

    def test_a_second_header_is_no_request(self):
        self.serve()
        self.assertEqual(self.speak(V1 + V1).read().status, 400)

    def test_from_others_than_trusted_proxies_it_is_refused(self):
        self.serve(client_address={"trusted_proxies": ["10.0.0.0/8"]})
        for header in V1, V2, b"":
            self.assertTrue(self.speak(header).is_gone())
        self.assertEqual(self.up.requests, [])
        self.assertIn("no trusted proxy", self.weir.stderr)

    def test_a_header_that_does_not_come_is_waited_for_in_bounds(self):
        self.serve(downstream={"head_timeout": "300ms"})
        for data in b"", V1[:10], V2[:20]:
            client = self.connect(self.weir)
            client.send(data)
            self.assertTrue(client.is_gone())

    def test_without_it_a_header_is_no_request(self):
        self.serve({"proxy_protocol": False})
        self.assertEqual(self.speak(V1).read().status, 400)

    def test_before_tls(self):
        ca = Authority()
        self.addCleanup(ca.cleanup)
        certificate = ca.issue("main", "DNS:weir.test")
        self.serve({"tls": certificate.files})
        for header in V1, V2:
            client = SecureConnection(self.weir.address, ca.client_context(), preface=header)
            self.addCleanup(client.close)
            self.assertEqual(client.get().status, 200)
        self.assertEqual(self.forwarded_for(), ["192.0.2.1", "2001:db8::7"])
        self.assertEqual({request["X-Forwarded-Proto"] for request in self.up.requests}, {"https"})

    def test_on_a_unix_socket(self):
        import tempfile
        directory = tempfile.TemporaryDirectory(prefix="weir-socket-")
        self.addCleanup(directory.cleanup)
        self.serve({"address": f"unix:{directory.name}/weir.sock"})
        self.assertEqual(self.speak(V1).read().status, 200)
        self.assertEqual(self.forwarded_for(), ["192.0.2.1"])

"""Plain HTTP sent to a port that expects TLS: it is answered, and nothing else in plain text is."""

from harness.abuse import AbuseCase
from harness.case import configuration
from harness.client import Connection, request_bytes
from harness.certificates import SecureConnection
from harness.tls_case import TlsCase
from harness.waiting import eventually


class PlainHttp(TlsCase, AbuseCase):
    def setUp(self):
        self.serve_with()

    def serve_with(self, **downstream):
        self.serve(downstream=downstream, admin={"address": "127.0.0.1:0"}, access_log={"path": "-"})

    def assert_told(self, client, method="GET"):
        response = client.read(method)
        self.assertEqual(response.status, 400)
        self.assertEqual(response["Content-Type"], "application/problem+json")
        self.assertEqual(response["Connection"], "close")
        if method != "HEAD":
            self.assertIn("this port expects TLS", response.json()["detail"])
        self.assertTrue(client.is_ended())

    def answered(self):
        return self.metric(self.weir, "weir_requests_total", route="none", code="400") or 0

    def test_a_request_is_answered_400_and_goes_nowhere(self):
        for request in (request_bytes("GET", "/a?key=secret"), request_bytes("GET", version="1.0"),
                        request_bytes("POST", body=b"x" * 1000), request_bytes("GET") * 10,
                        b"GET / HTTP/1.1\r\n\r\n"):
            client = self.connect(self.weir)
            client.send(request)
            self.assert_told(client)
        client = self.connect(self.weir)
        client.send(request_bytes("HEAD", "/"))
        self.assert_told(client, "HEAD")
        self.assertEqual(self.up.requests, [])
        self.assertEqual(self.answered(), 6)
        eventually(lambda: self.weir.stdout.count('"status":400') == 6, "6 lines in the access log")
        self.assertNotIn("secret", self.weir.stdout + self.weir.stderr)

    def test_a_request_in_pieces(self):
        client = self.connect(self.weir)
        for byte in request_bytes("GET", "/"):
            client.send(bytes([byte]))
        self.assert_told(client)

    def test_the_log_has_one_warning_for_many(self):
        eventually(lambda: self.send_ten() and self.warnings() > 0, "a warning")
        self.assertLess(self.warnings(), self.answered())
        self.assertIn("a client sent plain HTTP to a port that expects TLS", self.weir.stderr)

    def send_ten(self):
        for _ in range(10):
            with self.weir.connect() as client:
                client.send(request_bytes("GET", "/"))
                client.read()
        return True

    def warnings(self):
        return self.weir.stderr.count("plain HTTP")

    def test_what_is_no_request_is_closed_without_an_answer(self):
        for data in (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",  # HTTP/2
                     b"\x80\x2e\x01\x00\x02\x00\x15\x00\x00\x00\x10" + b"\x01" * 37,  # SSL 2
                     b"\x16\x03\x00\x00\x2f\x01\x00\x00\x2b\x03\x00" + b"\x01" * 41,  # SSL 3
                     b"SSH-2.0-OpenSSH_9.2\r\n\r\n", b"\0" * 100, b"x" * 100_000):
            self.assert_not_answered(data)
        self.assertEqual(self.answered(), 0)
        self.assertEqual(self.secure().get().status, 200)

    def test_what_never_becomes_a_request_is_closed_without_an_answer(self):
        self.serve_with(head_timeout="500ms")
        for data in b"HELO\n", b"x" * 10:
            self.assert_not_answered(data)
        self.assertEqual(self.answered(), 0)

    def assert_not_answered(self, data):
        client = Connection(self.weir.address)
        self.addCleanup(client.close)
        try:
            client.send(data)
            received = client.sock.recv(65536)
        except ConnectionError:
            received = b""
        self.assertNotIn(b"HTTP", received, data[:20])

    def test_silence_is_closed(self):
        self.serve_with(head_timeout="500ms")
        client = self.connect(self.weir)
        self.assertTrue(client.is_ended())


class BehindAProxy(TlsCase):
    def test_it_is_answered_after_a_proxy_header_too(self):
        self.up = self.upstream()
        self.weir = self.start(configuration(
            self.up.url, listen=self.listening(proxy_protocol=True),
            client_address={"trusted_proxies": ["127.0.0.1"]}))
        preface = b"PROXY TCP4 192.0.2.1 192.0.2.2 1 443\r\n"
        client = self.connect(self.weir)
        client.send(preface + request_bytes("GET", "/"))
        self.assertIn("this port expects TLS", client.read().json()["detail"])
        secure = SecureConnection(self.weir.address, self.ca.client_context(), preface=preface)
        self.addCleanup(secure.close)
        self.assertEqual(secure.get().status, 200)

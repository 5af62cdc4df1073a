"""TLS to upstreams: verification, the errors when it fails, and truncated connections."""

import socket
import ssl
import threading

from harness.case import Case, configuration, scaled
from harness.certificates import Authority, SecureConnection
from harness.client import request_bytes
from harness.message import Truncated
from harness.payload import digest, payload
from harness.upstream import answer, echo
from harness.waiting import eventually


class Upstreams(Case):
    @classmethod
    def setUpClass(cls):
        cls.ca = Authority()
        cls.addClassCleanup(cls.ca.cleanup)
        cls.good = cls.ca.issue("good", "DNS:localhost", "IP:127.0.0.1")
        cls.named = cls.ca.issue("named", "DNS:api.internal")
        cls.stranger = cls.ca.self_signed("stranger", "localhost", "DNS:localhost", "IP:127.0.0.1")

    def serve(self, certificate=None, behaviour=echo, host="127.0.0.1", context=None, tls=None,
              **main):
        context = context or self.ca.server_context(certificate or self.good)
        self.up = self.upstream(behaviour, tls=context)
        url = self.up.url.replace("127.0.0.1", host)
        main["tls"] = {"ca": self.ca.file} if tls is None else tls
        self.weir = self.start(configuration(url, main=main))
        return self.connect(self.weir)

    def assert_refused(self, client, why):
        self.assert_problem(client.get(), 502, "cannot be reached")
        self.assertEqual(self.up.requests, [])
        eventually(lambda: why in self.weir.stderr, f"{why!r} in the log")

    def test_a_certificate_for_the_address_or_the_name_is_believed(self):
        for host in "127.0.0.1", "localhost":
            client = self.serve(host=host)
            self.assertEqual(client.request("POST", "/", body=b"hello").body, b"hello")
            self.assertEqual(self.up.requests[0]["Host"], "weir.test")
            self.assertEqual(self.up.requests[0]["X-Forwarded-Proto"], "http")

    def test_either_version(self):
        for version in ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3:
            context = self.ca.server_context(self.good)
            context.minimum_version = context.maximum_version = version
            self.assertEqual(self.serve(context=context).get().status, 200)

    def test_connections_are_kept(self):
        for version in ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3:
            context = self.ca.server_context(self.good)
            context.maximum_version = version
            client = self.serve(context=context)
            for i in range(10):
                self.assertEqual(client.request("POST", f"/{i}", body=b"x" * i).body, b"x" * i)
            self.assertEqual(self.up.connections, 1)

    def test_a_kept_connection_that_was_closed_is_not_used(self):
        client = self.serve()
        self.assertEqual(client.get().status, 200)
        self.up.close_connections()
        eventually(lambda: self.up.open_connections == 0, "closed")
        self.assertEqual(client.get().status, 200)
        self.assertEqual(self.up.connections, 2)

    def test_http11_and_the_name_are_asked_for(self):
        seen = []
        context = self.ca.server_context(self.named)
        context.set_alpn_protocols(["h2", "http/1.1"])
        context.sni_callback = lambda sock, name, _: seen.append(name)
        client = self.serve(context=context, host="localhost",
                            tls={"ca": self.ca.file, "server_name": "api.internal"},
                            behaviour=lambda exchange: exchange.answer(
                                exchange.sock.selected_alpn_protocol().encode()))
        self.assertEqual(client.get().body, b"http/1.1")
        self.assertEqual(seen, ["api.internal"])

    def test_an_upstream_that_asks_for_a_certificate_in_vain_is_told_of(self):
        context = self.ca.server_context(self.good, clients_too=True)
        client = self.serve(context=context)  # TLS 1.3: told behind the handshake
        self.assert_problem(client.get(), 502)
        eventually(lambda: ": TLS to " in self.weir.stderr and ": it refuses us: tlsv13 alert "
                   "certificate required" in self.weir.stderr, "the alert in the log")

    def test_a_health_check_that_no_certificate_passes_says_why(self):
        check = {"path": "/", "interval": "100ms", "timeout": "1s"}
        self.serve(self.stranger, health_check=check)
        eventually(lambda: "marked down: TLS: its certificate is not accepted: self-signed"
                   in self.weir.stderr, "why it is marked down")

    def test_a_stranger_is_refused_and_the_log_says_why(self):
        self.assert_refused(self.serve(self.stranger), "self-signed certificate")

    def test_an_authority_that_is_not_ours_is_refused(self):
        self.assert_refused(self.serve(tls={}), "unable to get local issuer certificate")

    def test_another_name_is_refused(self):
        self.assert_refused(self.serve(self.named, host="localhost"), "hostname mismatch")

    def test_another_address_is_refused(self):
        self.assert_refused(self.serve(self.named), "IP address mismatch")

    def test_an_expired_certificate_is_refused(self):
        old = self.ca.issue("old", "IP:127.0.0.1", expired=True)
        self.assert_refused(self.serve(old), "certificate has expired")

    def test_no_tls_at_all_is_refused(self):
        plain = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(plain.close)

        def refuse():
            with plain.accept()[0] as sock:
                self.got = sock.recv(65536)
                sock.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

        threading.Thread(target=refuse, daemon=True).start()
        self.weir = self.start(configuration(
            f"https://127.0.0.1:{plain.getsockname()[1]}",
            main={"retries": 0, "connect_timeout": "30s", "tls": {"ca": self.ca.file}}))
        self.assert_problem(self.connect(self.weir).get(), 502)
        self.assertNotIn(b"GET", self.got)
        eventually(lambda: "TLS to 127.0.0.1" in self.weir.stderr, "the reason in the log")

    def test_without_verification_anyone_is_believed(self):
        self.assertEqual(self.serve(self.stranger, tls={"verify": False}).get().status, 200)
        self.assertIn("can read and change the traffic", self.weir.stderr)

    def test_a_client_certificate(self):
        own = self.ca.issue("weir", "DNS:weir.internal")
        context = self.ca.server_context(self.good, clients_too=True)
        names = []
        client = self.serve(context=context, tls={"ca": self.ca.file, **own.files},
                            behaviour=lambda exchange: exchange.answer(
                                exchange.sock.getpeercert()["subjectAltName"][0][1].encode()))
        self.assertEqual(client.get().body, b"weir.internal", names)
        self.assertEqual(self.serve(context=context).get().status, 502)

    def test_an_upstream_that_does_not_shake_hands_is_given_up(self):
        silent = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(silent.close)
        self.weir = self.start(configuration(
            f"https://127.0.0.1:{silent.getsockname()[1]}",
            main={"connect_timeout": "300ms", "retries": 0}))
        self.assert_problem(self.connect(self.weir).get(), 504)

    def test_an_answer_to_the_end_of_the_connection(self):
        def ending(exchange):
            exchange.send(b"HTTP/1.1 200 OK\r\n\r\nhello")
            exchange.is_closed = True
            if exchange.target == "/in-order":
                try:
                    exchange.sock.unwrap()
                except OSError:
                    pass  # the other side need not answer
            else:
                exchange.sock.shutdown(socket.SHUT_RDWR)

        client = self.serve(behaviour=ending)
        self.assertEqual(client.get("/in-order").body, b"hello")
        with self.assertRaises((ConnectionResetError, Truncated)):
            client.get("/cut")
        client = self.connect(self.weir)
        with self.assertRaises(ConnectionResetError):
            client.request("GET", "/cut", version="1.0")
            client.is_ended()

    def test_large_bodies_through_tls_on_both_sides(self):
        up = self.upstream(echo, tls=self.ca.server_context(self.good))
        weir = self.start(configuration(
            up.url, main={"tls": {"ca": self.ca.file}},
            listen=[{"address": "127.0.0.1:0", "tls": self.good.files}]))
        client = SecureConnection(weir.address, self.ca.client_context(), name="localhost")
        self.addCleanup(client.close)
        body = payload(scaled(8_000_000))
        self.assertEqual(digest(client.request("POST", "/", body=body).body), digest(body))
        self.assertEqual(client.get().status, 200)

    def test_an_answer_before_the_upload_is_through(self):
        client = self.serve(behaviour=lambda exchange: (exchange.answer(b"no", "403 Forbidden"),
                                                        exchange.close()))
        client.send(request_bytes("POST", "/", {"Content-Length": "100000000"}, b"x" * 100_000))
        self.assertEqual(client.read().status, 403)

    def test_many_at_once(self):
        client = self.serve(behaviour=answer(payload(20_000)))
        clients = [client, *(self.connect(self.weir) for _ in range(19))]
        for _ in range(3):
            for one in clients:
                one.send(request_bytes("GET", "/"))
            for one in clients:
                self.assertEqual(digest(one.read().body), digest(payload(20_000)))

"""TLS towards clients: what they speak, which certificate they get, and how a connection ends."""

import shutil
import signal
import socket
import ssl
import subprocess
import tempfile
from pathlib import Path

from harness.case import configuration, limited, scaled
from harness.certificates import SecureConnection, openssl
from harness.client import request_bytes
from harness.message import Truncated
from harness.payload import digest, payload
from harness.preload import fast_clock
from harness.tls_case import TlsCase
from harness.upstream import answer, raw
from harness.waiting import eventually


class Requests(TlsCase):
    def test_requests_one_after_the_other(self):
        self.serve()
        client = self.secure()
        for i in range(scaled(50)):
            self.assertEqual(client.request("POST", f"/{i}", body=b"x" * i).body, b"x" * i)
        self.assertEqual(self.up.connections, 1)
        self.assertEqual({request["X-Forwarded-Proto"] for request in self.up.requests}, {"https"})
        self.assertEqual({request["X-Forwarded-For"] for request in self.up.requests},
                         {"127.0.0.1"})

    def test_pipelined_and_in_records_of_one_byte(self):
        self.serve(lambda exchange: exchange.answer(exchange.target.encode()))
        client = self.secure()
        requests = b"".join(request_bytes("GET", f"/{i}") for i in range(20))
        client.send(requests)
        for byte in requests:
            client.send(bytes([byte]))
        for i in [*range(20), *range(20)]:
            self.assertEqual(client.read().body, f"/{i}".encode())

    def test_an_absolute_target_of_either_scheme(self):
        self.serve()
        client = self.secure()
        for target in "https://weir.test/a?b", "https://weir.test:443/a?b", "http://weir.test/a?b":
            self.assertEqual(client.request("GET", target).status, 200)
        self.assertEqual({request.target for request in self.up.requests}, {"/a?b"})

    def test_large_bodies_both_ways(self):
        self.serve()
        client = self.secure()
        body = payload(scaled(8_000_000))
        for fields in {}, {"Expect": "x"}:
            response = client.request("POST", "/", body=body)
            self.assertEqual(digest(response.body), digest(body))

    def test_a_slow_reader_gets_all_of_it(self):
        body = payload(8_000_000)
        self.serve(answer(body))
        client = self.secure()
        client.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
        client.send(request_bytes("GET", "/slow"))
        got = bytearray()
        client.read(sink=lambda piece: got.extend(piece))
        self.assertEqual(digest(bytes(got)), digest(body))

    def test_limits_and_answers_of_our_own(self):
        self.weir = self.start(limited(
            {"p": {"algorithm": "fixed_window", "rate": "1/1h"}},
            [{"policy": "p", "key": "client"}], listen=self.listening()))
        client = self.secure()
        self.assertEqual(client.get().status, 200)
        self.assertEqual(client.get().status, 429)

    def test_beside_a_plain_listener(self):
        up = self.upstream()
        self.weir = self.start(configuration(
            up.url, listen=[{"address": "127.0.0.1:0"}, *self.listening()]))
        self.assertEqual(self.connect(self.weir).get().status, 200)
        self.weir.addresses.reverse()
        self.assertEqual(self.secure().get().status, 200)
        self.assertEqual([request["X-Forwarded-Proto"] for request in up.requests],
                         ["http", "https"])
        self.assertIn("listening on https://127.0.0.1:", self.weir.stderr)

    def test_a_client_that_leaves_is_noticed(self):
        self.up = self.upstream(lambda exchange: exchange.sock.recv(1))
        self.weir = self.start(configuration(self.up.url, listen=self.listening(),
                                             access_log={"path": "-"}))
        for leave in lambda client: client.close(), lambda client: client.sock.unwrap():
            client = self.secure()
            client.send(request_bytes("GET", "/"))
            count = self.weir.stdout.count('"status":499')
            self.up.await_requests(count + 1)
            try:
                leave(client)
            except OSError:
                pass  # the other side does not answer the closing word at once
            eventually(lambda: self.weir.stdout.count('"status":499') > count, "a line of 499")


class Handshake(TlsCase):
    def setUp(self):
        self.serve(downstream={"head_timeout": "500ms"})

    def test_curl_with_either_version(self):
        for version, most in ("--tlsv1.2", "1.2"), ("--tlsv1.3", "1.3"):
            done = subprocess.run(
                ["curl", "-sS", "--fail", version, "--tls-max", most, "--cacert", self.ca.file,
                 "--data", "hello", f"https://localhost:{self.weir.port}/"],
                capture_output=True, timeout=60)
            self.assertEqual((done.returncode, done.stdout), (0, b"hello"), done.stderr)

    def test_older_versions_are_refused(self):
        for version in "-tls1", "-tls1_1":
            self.assertIn("Cipher is (NONE)",
                          self.s_client(version, "-cipher", "DEFAULT@SECLEVEL=0"))

    def test_ciphers_without_forward_secrecy_or_authentication_are_refused(self):
        for cipher in "AES128-GCM-SHA256", "ECDHE-ECDSA-AES128-SHA", "NULL", "aNULL":
            found = self.s_client("-tls1_2", "-cipher", f"{cipher}:@SECLEVEL=0")
            self.assertNotIn(f"Cipher is {cipher}", found)

    def test_alpn_chooses_the_protocol(self):
        self.assertIn("ALPN protocol: h2", self.s_client("-alpn", "http/1.1,h2"))
        self.assertIn("ALPN protocol: http/1.1", self.s_client("-alpn", "http/1.1"))
        self.assertIn("No ALPN negotiated", self.s_client())

    def test_a_client_of_other_protocols_gets_an_alert(self):
        self.assertIn("no application protocol", self.s_client("-alpn", "h3,spdy/3"))

    def test_sessions_are_resumed(self):
        for version in ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3:
            context = self.ca.client_context()
            context.maximum_version = version
            first = self.secure(context)
            self.assertEqual(first.get().status, 200)  # TLS 1.3: the ticket comes with it
            again = self.secure(context, session=first.sock.session)
            self.assertEqual(again.get().status, 200)
            self.assertTrue(again.sock.session_reused, version)

    def test_renegotiation_is_refused(self):
        context = self.ca.client_context()
        context.maximum_version = ssl.TLSVersion.TLSv1_2
        self.assertEqual(self.secure(context).get().status, 200)
        self.assertNotIn("Secure Renegotiation IS NOT supported", self.s_client("-tls1_2"))
        renegotiated = self.s_client("-tls1_2", commands=b"R\n")
        self.assertIn("RENEGOTIATING", renegotiated)
        self.assertIn("no renegotiation", renegotiated)

    def test_a_connection_without_a_handshake_is_closed(self):
        silent = self.connect(self.weir)
        started = self.connect(self.weir)
        started.send(b"\x16\x03\x01\x02\x00\x01\x00")
        self.assertTrue(silent.is_gone())
        self.assertTrue(started.is_gone())

    def test_too_many_connections_are_closed_without_a_handshake(self):
        weir = self.start(configuration(self.up.url, listen=self.listening(),
                                        downstream={"max_connections": 1}))
        first = SecureConnection(weir.address, self.ca.client_context())
        self.addCleanup(first.close)
        self.assertEqual(first.get().status, 200)
        self.assertTrue(self.connect(weir).is_gone())
        self.assertEqual(first.get().status, 200)


class Names(TlsCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.other = cls.ca.issue("other", "DNS:other.test")
        cls.wild = cls.ca.issue("wild", "DNS:*.wild.test")

    def setUp(self):
        self.serve(tls={**self.main.files, "certificates": [self.other.files, self.wild.files]})

    def test_the_name_that_is_asked_for_chooses_the_certificate(self):
        for name, names in [("weir.test", self.main), ("other.test", self.other),
                            ("OTHER.test", self.other), ("a.wild.test", self.wild)]:
            client = self.secure(name=name)  # verifies the name
            self.assertEqual(client.get().status, 200, names)

    def test_without_a_name_or_with_an_unknown_one_the_first_is_used(self):
        context = self.ca.client_context()
        context.check_hostname = False
        for name in None, "unknown.test", "wild.test", "a.b.wild.test":
            self.assertIn("weir.test", self.secure(context, name=name).names)

    def test_a_session_is_resumed_under_the_same_name(self):
        context = self.ca.client_context()
        first = self.secure(context, name="other.test")
        first.get()
        again = self.secure(context, name="other.test", session=first.sock.session)
        again.get()
        self.assertTrue(again.sock.session_reused)


class Ends(TlsCase):
    def test_an_answer_that_closes_ends_with_the_closing_word(self):
        self.serve()
        client = self.secure()
        self.assertEqual(client.request("GET", "/", {"Connection": "close"}).status, 200)
        self.assertTrue(client.is_ended())

    def test_a_refused_request_is_answered_and_ends_with_the_closing_word(self):
        self.serve()
        client = self.secure()
        client.send(b"GET / HTTP/1.1\n\n" + b"x" * 100_000)
        self.assertEqual(client.read().status, 400)
        self.assertTrue(client.is_ended())

    def test_an_answer_that_breaks_off_has_no_closing_word(self):
        self.serve(raw(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello"))
        client = self.secure()
        client.send(request_bytes("GET", "/", version="1.0"))
        with self.assertRaises((ConnectionResetError, ssl.SSLError, Truncated)) as raised:
            client.read()
            client.is_ended()
        self.assertNotIsInstance(raised.exception, Truncated)

    def test_an_answer_to_the_end_of_the_connection_is_whole(self):
        self.serve(raw(b"HTTP/1.1 200 OK\r\n\r\nhello"))
        client = self.secure()
        self.assertEqual(client.request("GET", "/", version="1.0").body, b"hello")

    def test_idle_connections_are_closed_in_order(self):
        self.serve(downstream={"idle_timeout": "300ms"})
        client = self.secure()
        self.assertEqual(client.get().status, 200)
        self.assertTrue(client.is_ended())

    def test_stopping_lets_a_request_finish(self):
        def slowly(exchange):
            eventually(lambda: "draining" in self.weir.stderr, "draining")
            exchange.answer(b"late")

        self.serve(slowly)
        client = self.secure()
        client.send(request_bytes("GET", "/"))
        self.up.await_requests(1)
        self.weir.signal(signal.SIGTERM)
        self.assertEqual(client.read().body, b"late")
        self.assertTrue(client.is_ended())


class Draining(TlsCase):
    def test_connections_that_have_not_begun_do_not_hold_up_the_end(self):
        self.serve(downstream={"head_timeout": "10m"}, shutdown_timeout="10m", environment=fast_clock(10))
        silent, begun = self.connect(self.weir), self.connect(self.weir)
        begun.send(b"\x16\x03\x01\x02\x00\x01")
        self.weir.signal(signal.SIGTERM)
        self.assertTrue(silent.is_gone() and begun.is_gone())
        self.assertEqual(self.weir.wait(), 0)
        self.assertNotIn("shutdown_timeout is over", self.weir.stderr)


class Reload(TlsCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="weir-certificates-")
        self.addCleanup(directory.cleanup)
        self.files = Path(directory.name)
        self.put(self.main)
        self.serve(tls={"certificate": str(self.files / "crt"),
                        "private_key": str(self.files / "key")})

    def put(self, certificate):
        shutil.copy(certificate.file, self.files / "crt")
        shutil.copy(certificate.key, self.files / "key")

    def reload(self):
        lines = self.weir.stderr.count("SIGHUP")
        self.weir.signal(signal.SIGHUP)
        eventually(lambda: self.weir.stderr.count("SIGHUP") > lines, "a word about SIGHUP")

    def test_new_connections_get_the_new_certificate(self):
        renewed = self.ca.issue("renewed", "DNS:weir.test", "DNS:renewed.test")
        before = self.secure()
        self.put(renewed)
        self.reload()
        eventually(lambda: "renewed.test" in self.secure().names, "the new certificate")
        self.assertEqual(before.get().status, 200)

    def test_one_that_has_expired_is_taken_and_reported(self):
        self.put(self.ca.issue("old", "DNS:weir.test", expired=True))
        self.reload()
        eventually(lambda: "warning SIGHUP: the certificate expired on" in self.weir.stderr,
                   "a warning")
        eventually(lambda: "info SIGHUP: configuration reloaded; changed: listen[0].tls\n" in self.weir.stderr,
                   "and what was done")

    def test_a_bad_certificate_is_reported_and_the_old_one_stays(self):
        (self.files / "crt").write_text("nonsense")
        self.reload()
        self.assertIn("it has no certificate in PEM form", self.weir.stderr)
        self.assertEqual(self.secure().get().status, 200)


class Configuration(TlsCase):
    def test_a_key_of_another_certificate(self):
        code, output = self.check({**self.main.files, "private_key": self.ca.own.key})
        self.assertEqual(code, 2)
        self.assertIn("listen[0].tls.private_key: the key in", output)
        self.assertIn("is not the one of the certificate in", output)

    def test_an_expired_certificate_is_a_warning(self):
        code, output = self.check(self.ca.issue("old", "DNS:old.test", expired=True).files)
        self.assertEqual(code, 0, output)
        self.assertIn("the certificate expired on Jan 31", output)

    def test_a_key_under_a_passphrase(self):
        locked = str(self.ca.directory / "locked.key")
        openssl("pkey", "-in", self.main.key, "-aes128", "-passout", "pass:secret", "-out", locked)
        code, output = self.check({**self.main.files, "private_key": locked})
        self.assertEqual(code, 2)
        self.assertIn("encrypted with a passphrase", output)

    def test_nothing_of_a_key_is_ever_shown(self):
        key = Path(self.main.key).read_text()
        swapped = {"certificate": self.main.key, "private_key": self.main.file}
        broken = self.ca.directory / "broken.key"
        broken.write_text(key.replace("M", "!", 1))
        for tls in swapped, {**self.main.files, "private_key": str(broken)}:
            code, output = self.check(tls)
            self.assertEqual(code, 2)
            for line in key.splitlines()[1:-1]:
                self.assertNotIn(line[:16], output)

"""Certificates over reloads: what their owner renewed applies, and the rest goes on."""

import shutil
import tempfile
from pathlib import Path

from harness.case import configuration
from harness.certificates import Authority
from harness.reload_case import ReloadCase, copied, with_admin
from harness.tls_case import TlsCase
from harness.upstream import Upstream, answer
from harness.waiting import eventually


class Listeners(ReloadCase, TlsCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="weir-certificates-")
        self.addCleanup(directory.cleanup)
        self.files = {"certificate": str(Path(directory.name) / "crt"),
                      "private_key": str(Path(directory.name) / "key")}
        self.put(self.main)
        self.config = with_admin(configuration(routes=[{"respond": {"body": "fine"}}],
                                               listen=self.listening(self.files)))
        self.weir = self.start(self.config)

    def put(self, certificate):
        shutil.copy(certificate.file, self.files["certificate"])
        shutil.copy(certificate.key, self.files["private_key"])

    def test_sessions_are_resumed_unless_the_certificate_was_renewed(self):
        context = self.ca.client_context()

        def again(session):
            connection = self.secure(context, session=session)
            self.assertEqual(connection.get().body, b"fine")
            return connection.sock

        first = again(None)
        self.reload()
        second = again(first.session)
        self.assertTrue(second.session_reused)
        self.put(self.ca.issue("renewed", "DNS:weir.test"))
        self.reload()
        self.assertFalse(again(second.session).session_reused)

    def test_a_renewed_certificate_is_for_new_connections(self):
        before = self.secure()
        self.assertEqual(before.get().body, b"fine")
        self.put(self.ca.issue("renewed", "DNS:weir.test", "DNS:renewed.test"))
        self.reload(changed=["listen[0].tls"])
        self.assertIn("info POST /v1/reload: configuration reloaded; changed: listen[0].tls\n",
                      self.weir.stderr)
        self.reload(changed=[])
        self.assertIn("renewed.test", self.secure().names)
        self.assertEqual(before.get().body, b"fine")

    def test_a_certificate_that_cannot_be_used_changes_nothing(self):
        Path(self.files["certificate"]).write_text("nonsense")
        config = copied(self.config)
        config["routes"][0]["respond"]["body"] = "new"
        problem, = self.reload_fails(config)
        self.assertEqual(problem["path"], "listen[0].tls.certificate")
        self.assertEqual(self.secure().get().body, b"fine")

    def test_a_kept_address_begins_to_speak_tls_and_ends_it(self):
        config = copied(self.config)
        del config["listen"][0]["tls"]
        before = self.secure()
        before.get()
        self.reload(config, ["listen"])
        self.assertEqual(self.connect(self.weir).get().body, b"fine")
        self.assertEqual(before.get().body, b"fine")
        self.reload(self.config, ["listen"])
        self.assertEqual(self.secure().get().body, b"fine")


class Upstreams(ReloadCase):
    @classmethod
    def setUpClass(cls):
        cls.ca = Authority()
        cls.addClassCleanup(cls.ca.cleanup)
        cls.good = cls.ca.issue("good", "DNS:localhost", "IP:127.0.0.1")

    def test_connections_go_on_unless_the_files_or_the_settings_change(self):
        directory = tempfile.TemporaryDirectory(prefix="weir-certificates-")
        self.addCleanup(directory.cleanup)
        authorities = Path(directory.name) / "ca.pem"
        shutil.copy(self.ca.file, authorities)
        up = self.upstream(tls=self.ca.server_context(self.good))
        config = configuration(up.url, main={"tls": {"ca": str(authorities)}})
        self.serve(config)
        client = self.connect(self.weir)

        def connections():
            self.assertEqual(client.get().status, 200)
            return up.connections

        self.assertEqual(connections(), 1)
        self.reload()
        self.assertEqual(connections(), 1)
        config["upstreams"]["main"]["response_timeout"] = "7s"
        self.reload(config)
        self.assertEqual(connections(), 1)
        authorities.write_text(authorities.read_text() + "\n# renewed\n")
        self.reload(changed=["upstreams.main.tls"])
        self.assertEqual(connections(), 2)
        config["upstreams"]["main"]["tls"]["server_name"] = "localhost"
        self.reload(config)
        self.assertEqual(connections(), 3)
        eventually(lambda: up.open_connections == 1, "those of before are closed")
        # An authority that did not sign the certificate is believed from now on, and it is not.
        other = Authority()
        self.addCleanup(other.cleanup)
        shutil.copy(other.file, authorities)
        self.reload()
        self.assert_problem(client.get(), 502)

    def test_a_server_changes_from_https_to_http_and_back(self):
        secure = self.upstream(tls=self.ca.server_context(self.good))
        config = configuration(secure.url, main={"tls": {"ca": str(self.ca.file)}})
        self.serve(config)
        client = self.connect(self.weir)
        self.assertEqual(client.get().status, 200)
        port = secure.port
        secure.stop()
        plain = Upstream(answer(b"plain"), port=port)
        self.addCleanup(plain.stop)
        self.reload(configuration(plain.url), ["upstreams.main"])
        self.assertEqual(client.get().body, b"plain")
        self.assertEqual(client.get().body, b"plain")
        self.assertEqual(plain.connections, 1)
        plain.stop()
        again = Upstream(answer(b"secure"), port=port, tls=self.ca.server_context(self.good))
        self.addCleanup(again.stop)
        self.reload(config, ["upstreams.main"])
        self.assertEqual(client.get().body, b"secure")

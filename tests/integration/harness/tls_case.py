"""The test case with a listener that speaks TLS."""

import json
import subprocess
import tempfile
from pathlib import Path

from .case import Case, configuration
from .certificates import Authority, SecureConnection
from .upstream import echo
from .weir import run


class TlsCase(Case):
    @classmethod
    def setUpClass(cls):
        cls.ca = Authority()
        cls.addClassCleanup(cls.ca.cleanup)
        cls.main = cls.ca.issue("main", "DNS:weir.test", "DNS:localhost", "IP:127.0.0.1")

    def listening(self, tls=None, **options):
        return [{"address": "127.0.0.1:0", "tls": tls or self.main.files, **options}]

    def serve(self, behaviour=echo, tls=None, environment=None, **sections):
        self.up = self.upstream(behaviour)
        self.weir = self.start(configuration(self.up.url, listen=self.listening(tls), **sections),
                               environment=environment)
        return self.weir

    def secure(self, context=None, **options):
        connection = SecureConnection(self.weir.address, context or self.ca.client_context(),
                                      **options)
        self.addCleanup(connection.close)
        return connection

    def s_client(self, *arguments, commands=b""):
        """What the tool prints; it ends after the commands."""
        done = subprocess.run(
            ["openssl", "s_client", "-connect", f"127.0.0.1:{self.weir.port}", *arguments],
            input=commands, capture_output=True, timeout=60)
        return (done.stdout + done.stderr).decode(errors="replace")

    def check(self, tls):
        """`weir check` of a listener with these TLS settings: exit code and output."""
        with tempfile.TemporaryDirectory(prefix="weir-check-") as directory:
            file = Path(directory) / "weir.yaml"
            file.write_text(json.dumps({"listen": [{"address": "127.0.0.1:0", "tls": tls}],
                                        "routes": [{"respond": {}}]}))
            done = run("check", str(file))
            return done.returncode, done.stdout + done.stderr

"""Certificates made by the openssl command, and TLS connections that trust them."""

import ssl
import subprocess
import tempfile
from pathlib import Path

from .client import Connection
from .message import Reader

LONG_AGO = ["faketime", "-f", "@2020-01-01 00:00:00"]


def openssl(*arguments, before=(), **options):
    done = subprocess.run([*before, "openssl", *map(str, arguments)], capture_output=True,
                          timeout=60, **options)
    if done.returncode != 0:
        raise AssertionError(f"openssl {arguments[0]}: {done.stderr.decode(errors='replace')}")
    return done.stdout


class Certificate:
    def __init__(self, directory, name):
        self.file = str(directory / f"{name}.crt")
        self.key = str(directory / f"{name}.key")

    @property
    def files(self):
        return {"certificate": self.file, "private_key": self.key}


class Authority:
    """A CA in a directory of its own."""

    def __init__(self):
        self._directory = tempfile.TemporaryDirectory(prefix="weir-ca-")
        self.directory = Path(self._directory.name)
        self.own = self.self_signed("ca", "Test CA")
        self.file = self.own.file

    def cleanup(self):
        self._directory.cleanup()

    def _new_key(self, certificate, kind=("EC", "-pkeyopt", "ec_paramgen_curve:P-256")):
        openssl("genpkey", "-algorithm", *kind, "-out", certificate.key)

    def self_signed(self, name, subject, *names, key=None):
        certificate = Certificate(self.directory, name)
        self._new_key(certificate, *([key] if key else []))
        more = ["-addext", f"subjectAltName={','.join(names)}"] if names else []
        openssl("req", "-x509", "-new", "-key", certificate.key, "-subj", f"/CN={subject}",
                "-days", "30", "-out", certificate.file, *more)
        return certificate

    def issue(self, name, *names, expired=False):
        """`names` as in subjectAltName: DNS:weir.test, IP:127.0.0.1."""
        certificate = Certificate(self.directory, name)
        self._new_key(certificate)
        request = openssl("req", "-new", "-key", certificate.key, "-subj", f"/CN={name}")
        extensions = self.directory / f"{name}.ext"
        extensions.write_text(f"subjectAltName={','.join(names)}\n" if names else "")
        openssl("x509", "-req", "-CA", self.own.file, "-CAkey", self.own.key, "-CAcreateserial",
                "-days", "30", "-extfile", extensions, "-out", certificate.file, input=request,
                before=LONG_AGO if expired else ())
        return certificate

    def client_context(self):
        return ssl.create_default_context(cafile=self.file)

    def server_context(self, certificate, clients_too=False):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate.file, certificate.key)
        if clients_too:
            context.verify_mode = ssl.CERT_REQUIRED
            context.load_verify_locations(self.file)
        return context


def client_hello(name="weir.test", curve=None):
    """The first flight of a client that offers this curve only, for tests that send nothing else."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if curve:
        context.set_ecdh_curve(curve)
    written = ssl.MemoryBIO()
    try:
        context.wrap_bio(ssl.MemoryBIO(), written, server_hostname=name).do_handshake()
    except ssl.SSLWantReadError:
        pass
    return written.read()


class SecureConnection(Connection):
    """A cut without the closing word is an error here, and not an end."""

    def __init__(self, address, context, name="weir.test", session=None, preface=b""):
        super().__init__(address)
        if preface:
            self.sock.sendall(preface)
        self.sock = context.wrap_socket(self.sock, server_hostname=name, session=session,
                                        suppress_ragged_eofs=False)
        self.reader = Reader(self.sock)

    @property
    def names(self):
        return [value for _, value in self.sock.getpeercert()["subjectAltName"]]

"""Ordinary web servers as upstreams: nginx, gunicorn and python3 -m http.server, each on its own port."""

import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

from .programs import program
from .waiting import eventually

NGINX_CONFIGURATION = """
daemon off;
worker_processes 1;
pid {root}/nginx.pid;
error_log stderr warn;
events {{ worker_connections 512; }}
http {{
  access_log off;
  client_max_body_size 0;
  client_body_temp_path {root}/body;
  proxy_temp_path {root}/proxy;
  fastcgi_temp_path {root}/fastcgi;
  uwsgi_temp_path {root}/uwsgi;
  scgi_temp_path {root}/scgi;
  sendfile on;
  server {{
    listen 127.0.0.1:{port};
    root {root}/files;
    location = /fixed {{ return 200 "from nginx"; }}
  }}
}}
"""


def free_port():
    """A port on which nothing listens, for a server that opens it later. It is below the range of which the kernel
    takes the ports of outgoing connections, so no connection of another test occupies it meanwhile."""
    lowest = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text(encoding="ascii").split()[0])
    candidates = range(10000, lowest) if lowest > 12000 else [0]
    while True:
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", random.choice(candidates)))
            except OSError:
                continue
            return probe.getsockname()[1]


def is_listening(address):
    """Whether a connection can be opened to a host and port, a port of this host, or the path of a unix socket. A
    listener that is being closed may also reset a connection before connect() returns."""
    if isinstance(address, int):
        address = ("127.0.0.1", address)
    with socket.socket(socket.AF_UNIX if isinstance(address, str) else socket.AF_INET) as probe:
        return probe.connect_ex(address) == 0


class FileServer:
    """Serves the files in `files` with the program of the subclass."""

    def __init__(self):
        self._directory = tempfile.TemporaryDirectory(prefix="weir-upstream-")
        self.root = Path(self._directory.name)
        self.root.chmod(0o755)  # nginx started by root serves as another user
        self.files = self.root / "files"
        self.files.mkdir()
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._log = open(self.root / "log", "wb")
        self.launch()

    def launch(self):
        """Again on the same port, after end()."""
        command = self.command()
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=self._log,
                                        stderr=self._log, start_new_session=True)
        eventually(self._is_up, f"{command[0]} is listening")

    def command(self):
        raise NotImplementedError

    def _is_up(self):
        if self.process.poll() is not None:
            raise AssertionError((self.root / "log").read_text())
        return is_listening(self.port)

    def write(self, name, content):
        (self.files / name).write_bytes(content)

    def write_large(self, name, size, block):
        with open(self.files / name, "wb") as file:
            for _ in range(size // len(block)):
                file.write(block)

    def end(self, number=signal.SIGTERM):
        """All of its processes."""
        os.killpg(self.process.pid, number)
        self.process.wait(30)
        eventually(lambda: not is_listening(self.port), "nobody is listening")

    def stop(self):
        self.end()
        self._log.close()
        self._directory.cleanup()


class Nginx(FileServer):
    def command(self):
        file = self.root / "nginx.conf"
        file.write_text(NGINX_CONFIGURATION.format(root=self.root, port=self.port))
        return [program("nginx"), "-p", str(self.root), "-c", str(file), "-e", "stderr"]


class PythonServer(FileServer):
    def command(self):
        return [sys.executable, "-m", "http.server", "--protocol", "HTTP/1.1", "--bind",
                "127.0.0.1",
                "--directory", str(self.files), str(self.port)]


class DigestServer(FileServer):
    """gunicorn with harness/digest_app.py; all servers of a test share the file `log` of the requests that arrived."""

    def __init__(self, name, log):
        self.name = name
        self.log = log
        super().__init__()

    def command(self):
        return [program("gunicorn"), "--bind", f"127.0.0.1:{self.port}", "--workers", "1",
                "--worker-class", "gthread", "--threads", "8", "--keep-alive", "75",
                "--chdir", str(Path(__file__).parent), "--env", f"DIGEST_NAME={self.name}",
                "--env", f"DIGEST_LOG={self.log}", "digest_app:app"]

    def arrived(self):
        """`SERVER METHOD TARGET` of each request, of all servers."""
        return Path(self.log).read_text().splitlines() if os.path.exists(self.log) else []

    def await_end(self):
        """Until a request has killed it."""
        self.process.wait(60)
        eventually(lambda: not is_listening(self.port), "nobody is listening")

    def stop(self):
        # Not gracefully: it would wait up to 30 s for requests that its clients have given up.
        if self.process.poll() is None:
            self.end(signal.SIGKILL)
        self._log.close()
        self._directory.cleanup()

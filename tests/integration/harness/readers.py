"""Three other HTTP servers that report the requests in a stream of bytes.

Each reader's `read(stream)` returns the requests it found, as (method, target, host, body): none if
it refuses the first one.
"""

import base64
import http.server
import json
import socket
import subprocess
import tempfile
import threading
from pathlib import Path

from .message import Fields, Message, Reader
from .programs import Listening
from .services import free_port, is_listening
from .upstream import Upstream

PATIENCE_S = 30

# One JSON text a line in, one out. Debian's h11 belongs to Debian's interpreter.
H11 = """
import base64, h11, json, sys
for line in sys.stdin:
    connection, found = h11.Connection(h11.SERVER), []
    try:
        connection.receive_data(base64.b64decode(json.loads(line)))
        while True:
            event = connection.next_event()
            if isinstance(event, h11.Request):
                host = [value for name, value in event.headers if name == b"host"]
                found.append([event.method, event.target, b"|".join(host), b""])
            elif isinstance(event, h11.Data):
                found[-1][3] += bytes(event.data)
            elif isinstance(event, h11.EndOfMessage):
                connection.send(h11.Response(status_code=200, headers=[("content-length", "0")]))
                connection.send(h11.EndOfMessage())
                if connection.our_state is h11.MUST_CLOSE: break
                connection.start_next_cycle()
            else:
                break
    except h11.RemoteProtocolError as failure:
        if found: found.append([b"refused", str(failure).encode(), b"", b""])
    print(json.dumps([[base64.b64encode(part).decode() for part in one] for one in found]),
          flush=True)
"""


class H11Reader:
    name = "h11"

    def __init__(self):
        self.process = subprocess.Popen(["/usr/bin/python3", "-c", H11], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)

    def read(self, stream):
        self.process.stdin.write(json.dumps(base64.b64encode(stream).decode()) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise AssertionError("h11 is missing: run script/bootstrap test")
        return [tuple(base64.b64decode(part) for part in one) for one in json.loads(answer)]

    def stop(self):
        self.process.stdin.close()
        self.process.wait(PATIENCE_S)
        self.process.stdout.close()


def answers_to(port, stream):
    """All bytes that a server sends in reply to these, until it closes the connection."""
    with socket.create_connection(("127.0.0.1", port), PATIENCE_S) as sock:
        received = bytearray()
        try:
            sock.sendall(stream)
            while data := sock.recv(65536):
                received += data
        except (ConnectionResetError, BrokenPipeError):
            pass
        return bytes(received)


class PythonReader:
    """http.server; as it leaves bodies to its user, one that reads them by the head."""

    name = "http.server"

    def __init__(self):
        found = self.found = []

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            timeout = PATIENCE_S

            def serve(self):
                fields = Fields(list(self.headers.items()))
                message = Message(self.requestline, fields)
                Reader(FileSocket(self.rfile)).body(message, "none")
                parts = (self.command, self.path, "|".join(fields.all("Host")))
                found.append((*(part.encode("latin-1") for part in parts), message.body))
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def __getattr__(self, name):
                if name.startswith("do_"):
                    return self.serve
                raise AttributeError(name)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()

    def read(self, stream):
        self.found.clear()
        answers_to(self.server.server_port, stream)
        return list(self.found)

    def stop(self):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


class FileSocket:
    """A file read as a socket, a byte at a time, so that what follows a body is left alone."""

    def __init__(self, file):
        self.file = file

    def recv(self, _):
        return self.file.read(1)


NGINX_CONFIGURATION = """
daemon off;
worker_processes 1;
pid {root}/nginx.pid;
error_log stderr crit;
events {{ worker_connections 512; }}
http {{
  access_log off;
  client_body_temp_path {root}/body;
  proxy_temp_path {root}/proxy;
  fastcgi_temp_path {root}/fastcgi;
  uwsgi_temp_path {root}/uwsgi;
  scgi_temp_path {root}/scgi;
  large_client_header_buffers 4 64k;
  server {{
    listen 127.0.0.1:{port};
    location / {{ proxy_pass {url}; proxy_set_header Host $http_host; }}
  }}
}}
"""


class NginxReader:
    """nginx as a proxy: what it read is what it passes on."""

    name = "nginx"

    def __init__(self):
        self.found = []
        self.behind = Upstream(self.take)
        self.directory = tempfile.TemporaryDirectory(prefix="weir-nginx-")
        root = Path(self.directory.name)
        self.port = free_port()
        file = root / "nginx.conf"
        file.write_text(NGINX_CONFIGURATION.format(root=root, port=self.port, url=self.behind.url))
        self.nginx = Listening(["nginx", "-p", str(root), "-c", str(file), "-e", "stderr"],
                               lambda: is_listening(self.port))

    def take(self, exchange):
        body = exchange.read_body()
        parts = (exchange.method, exchange.target, "|".join(exchange.fields.all("Host")))
        self.found.append((*(part.encode("latin-1") for part in parts), body))
        exchange.answer()

    def read(self, stream):
        self.found.clear()
        self.received = answers_to(self.port, stream)
        return list(self.found)

    def stop(self):
        self.nginx.stop()
        self.behind.stop()
        self.directory.cleanup()

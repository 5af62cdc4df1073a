"""Real senders of the PROXY protocol: HAProxy and nginx before a listener that requires it."""

import csv
import json
import socket
import tempfile
from pathlib import Path

from harness.case import Case, configuration
from harness.client import Connection
from harness.programs import Listening
from harness.services import free_port, is_listening
from harness.waiting import eventually

HTTP_CHECK = "option httpchk GET /well"
SOURCES = ["127.0.0.2", "127.0.0.3"]

HAPROXY = """
global
  stats socket {root}/stats level user
defaults
  timeout client 60s
  timeout connect 10s
  timeout server 60s
  timeout check 60s
  unique-id-format %{{+X}}o\\ %ci:%cp_%Ts_%rt
listen one
  mode {mode}
  bind 127.0.0.1:{port}
  bind unix@{root}/clients
  {more}
  server weir 127.0.0.1:{weir} {options}
"""

NGINX = """
daemon off; worker_processes 1; pid {root}/pid;
load_module /usr/lib/nginx/modules/ngx_stream_module.so;
events {{}}
stream {{
  server {{ listen 127.0.0.1:{port}; proxy_pass 127.0.0.1:{weir}; proxy_protocol on; }}
}}
"""


class Peers(Case):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="weir-peers-")
        self.addCleanup(directory.cleanup)
        self.root = Path(directory.name)
        self.up = self.upstream()
        self.weir = self.start(configuration(
            self.up.url, listen=[{"address": "127.0.0.1:0", "proxy_protocol": True}],
            client_address={"trusted_proxies": ["127.0.0.1/32"]}, access_log={"path": "-"}))

    def launch(self, text, command, **values):
        self.port = free_port()
        self.place = self.root / str(self.port)
        self.place.mkdir()
        file = self.place / "configuration"
        file.write_text(text.format(root=self.place, port=self.port, weir=self.weir.port, **values),
                        encoding="utf-8")
        peer = Listening([*command, str(file)], lambda: is_listening(self.port))
        self.addCleanup(peer.stop)

    def haproxy(self, options, mode="tcp", more=""):
        self.launch(HAPROXY, ["haproxy", "-db", "-f"], options=options, mode=mode, more=more)
        eventually(lambda: self.ask_haproxy("show info"), "HAProxy has all its sockets")

    def ask_haproxy(self, command):
        with socket.socket(socket.AF_UNIX) as stats:
            if stats.connect_ex(str(self.place / "stats")) != 0:
                return ""
            stats.sendall(command.encode() + b"\n")
            with stats.makefile("r") as answer:
                return answer.read()

    def last_check(self):
        rows = csv.DictReader(self.ask_haproxy("show stat").lstrip("# ").splitlines())
        return next(row for row in rows if row["svname"] == "weir")["check_status"]

    def clients(self, *sources, address=None):
        """The client address that Weir used for each source."""
        before = len(self.up.requests)
        for source in sources:
            with Connection(address or ("127.0.0.1", self.port), source=source) as client:
                for _ in range(2):
                    self.assertEqual(client.get().status, 200)
        seen = [request["X-Forwarded-For"] for request in self.up.requests[before:]
                if request.target == "/"]
        self.assertEqual(seen[::2], seen[1::2])
        return seen[::2]

    def test_haproxy_version_1_and_2(self):
        options = ("send-proxy", "send-proxy-v2", "send-proxy-v2 proxy-v2-options crc32c,unique-id")
        for option in options:
            with self.subTest(option):
                self.haproxy(option)
                self.assertEqual(self.clients(*SOURCES), SOURCES)

    def test_haproxy_for_clients_without_an_address(self):
        for option in "send-proxy", "send-proxy-v2":
            with self.subTest(option):
                self.haproxy(option)
                clients = str(self.place / "clients")
                self.assertEqual(self.clients(None, address=clients), ["127.0.0.1"])

    def test_haproxy_as_an_http_proxy_shares_no_connection_between_clients(self):
        self.haproxy("send-proxy-v2", mode="http", more="http-reuse always")
        sources = ["127.0.0.2", "127.0.0.3", "127.0.0.2", "127.0.0.4"]
        self.assertEqual(self.clients(*sources), sources)

    def test_health_checks_of_haproxy(self):
        for options, more, verdict in (
                ("send-proxy-v2 check check-send-proxy inter 20ms", "", "L4OK"),
                ("send-proxy check check-send-proxy inter 20ms", HTTP_CHECK, "L7OK"),
                ("send-proxy-v2 check check-send-proxy inter 20ms", HTTP_CHECK, "L7OK")):
            with self.subTest(options + more):
                self.haproxy(options, more=more)
                eventually(lambda: self.last_check().strip("* ") == verdict, verdict)
                self.assertEqual(self.clients("127.0.0.2"), ["127.0.0.2"])
        self.assertNotIn("without a valid PROXY header", self.weir.stderr)
        # HAProxy asks for itself and not for a client.
        lines = eventually(lambda: [line for line in map(json.loads, self.weir.stdout.splitlines())
                                    if line["path"] == "/well"], "a line in the access log")
        self.assertEqual({line["client"] for line in lines}, {"127.0.0.1"})

    def test_nginx(self):
        self.launch(NGINX, ["nginx", "-p", str(self.root), "-e", "stderr", "-c"])
        self.assertEqual(self.clients(*SOURCES), SOURCES)

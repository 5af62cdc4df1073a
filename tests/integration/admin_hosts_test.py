"""The Host check of an admin server without a token: requests that another site makes a browser send
are refused."""

import tempfile
from pathlib import Path

from harness.case import Case, configuration
from harness.client import Connection
from harness.weir import run

ADMIN = {"address": "127.0.0.1:0"}
CLOSED = ("/metrics", "/v1/config", "/v1/limits", "/", "/nothing")


class Hosts(Case):
    def begin(self, **admin):
        self.weir = self.start(configuration(self.upstream().url, admin={**ADMIN, **admin}))

    def ask(self, host, target="/metrics", method="GET", **fields):
        with self.weir.connect_admin() as client:
            return client.request(method, target, {"Host": host, **fields})

    def test_a_name_that_was_rebound_to_its_address_is_refused(self):
        self.begin()
        for host in ("evil.test", "evil.test:9090", "localhost.evil.test", "127.0.0.1.evil.test",
                     "weir", "metrics.internal"):
            for target in CLOSED:
                with self.subTest(host=host, target=target):
                    self.assert_problem(self.ask(host, target), 403, "admin.hosts")
        self.assert_problem(self.ask("evil.test", "/v1/reload", "POST"), 403, "admin.token")

    def test_addresses_and_localhost_are_answered(self):
        self.begin()
        for host in ("127.0.0.1", "127.0.0.1:1", "192.0.2.1:9090", "[::1]", "[2001:db8::1]:9090",
                     "localhost", "LOCALHOST:9090"):
            with self.subTest(host=host):
                self.assertEqual(self.ask(host).status, 200)

    def test_names_of_the_configuration_are_answered(self):
        self.begin(hosts=["weir", "metrics.internal"])
        for host in ("weir:9090", "Metrics.Internal", "metrics.internal.:80", "127.0.0.1"):
            self.assertEqual(self.ask(host).status, 200, host)
        for host in ("internal", "a.weir", "evil.test"):
            self.assert_problem(self.ask(host), 403, "admin.hosts")

    def test_the_host_of_its_address_is_answered(self):
        self.weir = self.start(configuration(self.upstream().url,
                                             admin={"address": "localhost:0"}))
        self.assertEqual(run("health", "--admin",
                             f"http://localhost:{self.weir.admin_address[1]}").returncode, 0)

    def test_probes_are_answered_whatever_the_host(self):
        self.begin()
        for target in ("/healthz", "/readyz"):
            self.assertEqual(self.ask("pod.cluster.test", target).status, 200)
        url = "http://127.0.0.1:%d" % self.weir.admin_address[1]
        self.assertEqual(run("health", "--admin", url).returncode, 0)

    def test_with_a_token_the_token_decides(self):
        self.begin(token="s3cret")
        self.assert_problem(self.ask("weir"), 401)
        allowed = self.ask("weir", Authorization="Bearer s3cret", Origin="http://grafana.test")
        self.assertEqual(allowed.status, 200)

    def test_http_1_0_may_leave_the_host_out_and_http_1_1_may_not(self):
        self.begin()
        for version, fields, status in ((b"1.0", b"", 200), (b"1.0", b"Host: evil.test\r\n", 403),
                                        (b"1.0", b"Origin: http://evil.test\r\n", 403),
                                        (b"1.1", b"", 400),
                                        (b"1.1", b"Host: localhost\r\nHost: a\r\n", 400)):
            with self.subTest(version=version, fields=fields):
                with self.weir.connect_admin() as client:
                    client.send(b"GET /metrics HTTP/" + version + b"\r\n" + fields + b"\r\n")
                    self.assertEqual(client.read().status, status)

    def test_a_page_of_another_origin_is_refused(self):
        self.begin(hosts=["weir"])
        host = "127.0.0.1:9090"
        for origin in ("http://evil.test", "null", "http://127.0.0.1:3000", "http://localhost:9090",
                       "http://weir"):
            for method, target in (("GET", "/metrics"), ("POST", "/v1/reload")):
                with self.subTest(origin=origin, method=method):
                    answer = self.ask(host, target, method, Origin=origin)
                    self.assert_problem(answer, 403, "another origin")
        self.assertEqual(self.ask(host, Origin="http://" + host).status, 200)
        self.assertEqual(self.ask("weir", Origin="http://weir").status, 200)


class Socket(Case):
    def test_over_a_unix_socket_any_host_is_answered(self):
        with tempfile.TemporaryDirectory(prefix="weir-admin-") as directory:
            path = str(Path(directory) / "admin.sock")
            text = "admin: {address: \"unix:%s\"}\nlisten: [{address: \"127.0.0.1:0\"}]\n" % path
            self.start(text + "access_log: off\nroutes: [{respond: {status: 200}}]\n")
            self.assertEqual(run("health", "--admin", "unix:" + path).returncode, 0)
            with Connection(path, host="anything") as client:
                self.assertEqual(client.get("/metrics").status, 200)
                answer = client.get("/metrics", {"Origin": "http://evil.test"})
                self.assert_problem(answer, 403, "another origin")

"""The protocol that a server chooses, and its health checks over HTTP/2."""

from harness.case import configuration
from harness.http2 import INTERNAL_ERROR, REFUSED_STREAM
from harness.http2_case import Http2UpstreamCase
from harness.http2_upstream import echo
from harness.tls_case import TlsCase
from harness.upstream import echo as http1_echo
from harness.waiting import eventually


class Checks(Http2UpstreamCase):
    def test_health_checks_speak_http2(self):
        states = ["200"]

        def behaviour(exchange):
            if exchange.pseudo[":path"] == "/health":
                return exchange.answer(int(states[0]))
            return echo(exchange)

        self.begin(behaviour, upstream={"health_check": {"path": "/health", "interval": "100ms", "fall": 1, "rise": 1}})
        self.assertEqual(self.client.get("/").status, 200)
        states[0] = "500"
        eventually(lambda: self.client.get("/").status == 503, "marked down")
        states[0] = "204"
        eventually(lambda: self.client.get("/").status == 200, "marked up")

    def test_a_check_fails_in_every_way_of_http2(self):
        def ends(exchange):
            exchange.connection.goaway(0, INTERNAL_ERROR)
            exchange.connection.close()

        state = [None]

        def behaviour(exchange):
            if exchange.pseudo[":path"] == "/health":
                return state[0](exchange)
            return echo(exchange)

        good = state[0] = lambda exchange: exchange.answer(200)
        self.begin(behaviour, upstream={"health_check": {"path": "/health", "interval": "100ms", "timeout": "200ms",
                                                         "fall": 1, "rise": 1}})
        bad = {"reset": lambda exchange: exchange.reset(INTERNAL_ERROR),
               "refused": lambda exchange: exchange.reset(REFUSED_STREAM),
               "goaway": ends,
               "closed": lambda exchange: exchange.connection.close(),
               "malformed": lambda exchange: exchange.head("099", {}, ends=True),
               "only interim": lambda exchange: exchange.head(103),
               "silent": lambda exchange: None}
        for name, answer in bad.items():
            with self.subTest(name):
                eventually(lambda: self.client.get("/").status == 200, "marked up")
                state[0] = answer
                eventually(lambda: self.client.get("/").status == 503, "marked down")
                state[0] = good


class Alpn(TlsCase, Http2UpstreamCase):
    def offering(self, protocols):
        context = self.ca.server_context(self.main)
        context.set_alpn_protocols(protocols)
        return context

    def connect_over(self, protocol, up, **upstream):
        config = configuration(up.url)
        config["upstreams"]["main"].update({"protocol": protocol, "retries": 0, "tls": {"ca": self.ca.file}, **upstream})
        self.weir = self.start(config)
        return self.connect(self.weir)

    def test_the_server_chooses_http2(self):
        for protocol in "http2", "auto":
            with self.subTest(protocol):
                up = self.http2_upstream(tls=self.offering(["h2", "http/1.1"]))
                client = self.connect_over(protocol, up)
                self.assertEqual([client.get("/").status for _ in range(2)], [200, 200])
                self.assertEqual(up.protocols, ["h2"])
                self.assertEqual(up.requests[0].pseudo[":scheme"], "https")

    def test_auto_speaks_http1_with_a_server_that_has_no_other(self):
        up = self.upstream(tls=self.offering(["http/1.1"]))
        client = self.connect_over("auto", up)
        self.assertEqual([client.get("/").status for _ in range(3)], [200] * 3)
        self.assertEqual(up.connections, 1)

    def test_http2_refuses_a_server_that_has_no_other(self):
        up = self.upstream(tls=self.offering(["http/1.1"]))
        self.assert_problem(self.connect_over("http2", up).get("/"), 502)

    def test_auto_speaks_http1_without_tls(self):
        up = self.upstream()
        config = configuration(up.url)
        config["upstreams"]["main"]["protocol"] = "auto"
        self.assertEqual(self.connect(self.start(config)).get("/").status, 200)

    def test_auto_follows_a_server_that_changes_its_protocol(self):
        """As when it is replaced by another version, on the same port."""
        up = self.http2_upstream(tls=self.offering(["h2", "http/1.1"]))
        client = self.connect_over("auto", up)
        self.assertEqual(client.get("/").status, 200)
        for number in range(2):
            up.stop()
            up = self.upstream(tls=self.offering(["http/1.1"]), port=up.port)
            eventually(lambda: client.get("/").status == 200, "served by HTTP/1.1")
            self.assertEqual(up.requests[-1].start, "GET / HTTP/1.1")
            self.assertEqual([client.request("POST", "/", {"Content-Length": "1"}, b"x").status for _ in range(2)],
                             [200] * 2)
            up.stop()
            up = self.http2_upstream(tls=self.offering(["h2", "http/1.1"]), port=up.port)
            eventually(lambda: client.get("/").status == 200, "served by HTTP/2")
            self.assertEqual([client.request("POST", "/", {"Content-Length": "1"}, b"x").status for _ in range(2)],
                             [200] * 2)
            self.assertEqual({exchange.number for exchange in up.requests}, {1})

    def test_checks_speak_the_protocol_that_the_server_chooses(self):
        check = {"path": "/health", "interval": "100ms"}
        up = self.http2_upstream(tls=self.offering(["h2", "http/1.1"]))
        self.connect_over("auto", up, health_check=check)
        eventually(lambda: any(one.pseudo[":path"] == "/health" for one in up.requests), "a check by HTTP/2")
        up = self.upstream(http1_echo, tls=self.offering(["http/1.1"]))
        client = self.connect_over("auto", up, health_check=check)
        eventually(lambda: any(one.start == "GET /health HTTP/1.1" for one in up.requests), "a check by HTTP/1.1")
        self.assertEqual(client.get("/").status, 200)

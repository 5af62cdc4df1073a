"""Keys of token providers that are fetched from a URL."""

import socket
import threading

from harness.key_url_case import UrlCase
from harness.names import SlowNames
from harness.upstream import answer, raw
from harness.waiting import eventually

NOT_YET = "tokens cannot be verified until the keys have been fetched"


class Fetching(UrlCase):
    def test_before_the_first_success_tokens_are_answered_503(self):
        server = self.key_server("a")
        server.behaviour = answer(status="500 Oops")
        self.begin(server)
        eventually(lambda: self.fetches("failed") >= 2, "it is tried again")
        response = self.get("a")
        self.assert_problem(response, 503, "the keys for tokens are not available yet")
        self.assertEqual(response["Retry-After"], "1")
        self.assertEqual(self.status(None), 200)
        self.assertEqual(self.degraded(),
                         ["jwt provider idp: no keys have been fetched: it answered 500"])
        self.assertNotIn(("weir_jwks_age_seconds", frozenset({("provider", "idp")})), self.scrape())
        server.behaviour = None
        self.await_status("a", 200)
        self.assertEqual(self.degraded(), [])
        self.assertIn(("weir_jwks_age_seconds", frozenset({("provider", "idp")})), self.scrape())
        line = f"jwt provider idp: cannot fetch the keys from {server.url}: it answered 500"
        self.assertEqual(self.weir.stderr.count(line), 1)
        self.assertIn(f"jwt provider idp: fetched 1 key from {server.url}\n", self.weir.stderr)

    def test_the_request_is_a_plain_get(self):
        server = self.key_server("a")
        self.begin(server, url=server.url + "?tenant=marker")
        self.await_status("a", 200)
        [request] = server.requests
        self.assertEqual((request.method, request.target), ("GET", "/keys?tenant=marker"))
        self.assertEqual(request["Host"], server.url[len("http://"):-len("/keys")])
        self.assertEqual(request["User-Agent"], "weir")
        self.assertEqual(request["Accept"], "application/jwk-set+json, application/json")
        self.assertNotIn("marker", self.weir.stderr)

    def test_a_rotation_takes_one_fetch_and_a_removed_key_is_rejected(self):
        server = self.key_server("a", "b")
        self.begin(server)
        self.await_status("a", 200)
        server.keys = [self.key["b"], self.key["c"]]
        self.assertEqual(self.status("c"), 401)
        self.await_status("c", 200)
        self.assertEqual(len(server.requests), 2)
        self.assertEqual([self.status(kid) for kid in "abc"], [401, 200, 200])
        # An empty set replaces the keys as well.
        server.keys = []
        self.assertEqual(self.status("a"), 401)
        self.await_status("b", 401)
        self.assertIn("the set has no usable key; every token is rejected", self.weir.stderr)

    def test_the_lifetime_of_the_answer_counts(self):
        server = self.key_server("a")
        server.fields = [("Cache-Control", "public, max-age=0")]
        self.begin(server)
        server.await_fetches(2)
        server.keys = [self.key["b"]]
        self.await_status("b", 200)

    def test_keys_stay_in_use_while_the_issuer_is_away(self):
        server = self.key_server("a")
        self.begin(server)
        self.await_status("a", 200)
        server.stop()
        self.assertEqual(self.status("b"), 401)
        eventually(lambda: self.fetches("failed") >= 2, "it is tried again")
        self.assertEqual([self.status(kid) for kid in "aab"], [200, 200, 401])
        [degraded] = self.degraded()
        self.assertRegex(degraded, r"^jwt provider idp: the keys fetched [0-9]+ s ago stay in use: "
                                   "cannot connect: Connection refused$")
        line = (f"cannot fetch the keys from {server.url}: cannot connect: Connection refused; "
                "the keys fetched before stay in use")
        self.assertEqual(self.weir.stderr.count(line), 1)


class Answers(UrlCase):
    # The problem if the server closes before an answer, within it, or resets the connection.
    CLOSED = "the connection was closed without an answer"
    CUT = "the connection was closed before the end of the answer"
    RESET = "the connection failed: Connection reset by peer"

    def jwks_of(self, server, **more):
        return {"url": server.url, **more}

    def test_answers_that_cannot_be_used_are_reported_once_and_block_nothing(self):
        elsewhere = self.key_server("a")
        stalled = threading.Event()
        self.addCleanup(stalled.set)

        def trickle(exchange):
            exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
            while not stalled.wait(0.01):
                exchange.send(b" ")

        def large(exchange):
            exchange.send(b"HTTP/1.1 200 OK\r\n\r\n")
            for _ in range(10):
                exchange.send(b" " * 1024 * 1024)
            exchange.close()

        redirect = answer(status="302 Found", fields=[("Location", elsewhere.url)])
        rows = {
            "large": (large, "its body is larger than 4194304 bytes"),
            "slow": (trickle, "timed out while reading the answer"),
            "silent": (lambda _: stalled.wait(), "timed out while waiting for the answer"),
            "redirect": (redirect, "it answered 302; redirects are not followed, so set the URL "
                                   "that it leads to"),
            "page": (answer(b"<html>marker</html>"), "its answer cannot be used: it is not JSON"),
            "closed": (raw(b""), self.CLOSED),
            "cut": (raw(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"), self.CUT),
            "reset": (lambda exchange: exchange.reset(), self.RESET),
        }
        servers = {}
        for name, (behaviour, _) in rows.items():
            servers[name] = self.key_server()
            servers[name].behaviour = behaviour
        # Beside a provider with keys.
        servers["good"] = elsewhere
        self.serve(self.configuration(**{
            name: self.jwks_of(server, timeout="500ms" if name in ("slow", "silent") else "20s")
            for name, server in servers.items()}))
        self.await_status("a", 200, "good")
        for name, (_, reason) in rows.items():
            with self.subTest(name):
                eventually(lambda: self.fetches("failed", name) >= 2, "it is tried again")
                self.assertEqual(self.status("a", name), 503)
                line = (f"jwt provider {name}: cannot fetch the keys from {servers[name].url}: "
                        f"{reason}; {NOT_YET}\n")
                self.assertEqual(self.weir.stderr.count(line), 1, self.weir.stderr)
        self.assertEqual(self.status("a", "good"), 200)
        self.assertEqual(len(elsewhere.requests), 1)
        self.assertEqual(len(self.degraded()), len(rows))
        self.assertNotIn("marker", self.weir.stderr)


class SecureAnswers(Answers):
    """The same over TLS."""

    # The server does not end TLS before it closes.
    CLOSED = CUT = RESET = "the connection failed: reset by the server, or closed without close_notify"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.context = cls.ca.server_context(cls.ca.issue("issuer", "IP:127.0.0.1"))

    def key_server(self, *kids):
        return super().key_server(*kids, tls=self.context)

    def jwks_of(self, server, **more):
        return super().jwks_of(server, tls={"ca": self.ca.file}, **more)

    def begin(self, server, **jwks):
        super().begin(server, **self.jwks_of(server, **jwks))

    def test_a_handshake_that_stalls_is_reported_and_blocks_nothing(self):
        silent = UrlCase.key_server(self)  # waits for a request
        url = silent.url.replace("http:", "https:")
        good = self.key_server("a")
        self.serve(self.configuration(idp={"url": url, "timeout": "300ms"}, good=self.jwks_of(good)))
        self.await_status("a", 200, "good")
        eventually(lambda: self.fetches("failed") >= 2, "it is tried again")
        self.assertEqual(self.status("a"), 503)
        line = f"jwt provider idp: cannot fetch the keys from {url}: timed out while in the TLS handshake; {NOT_YET}\n"
        self.assertEqual(self.weir.stderr.count(line), 1, self.weir.stderr)


class Secure(UrlCase):
    def secure_server(self, name):
        certificate = self.ca.issue(name, f"DNS:{name}")
        return self.key_server("a", tls=self.ca.server_context(certificate))

    def test_the_certificate_of_the_issuer_is_verified(self):
        good = self.secure_server("issuer.test")
        named = {"ca": self.ca.file, "server_name": "issuer.test"}
        other = {"ca": self.ca.file, "server_name": "other.test"}
        self.serve(self.configuration(good={"url": good.url, "tls": named},
                                      other={"url": good.url, "tls": other},
                                      unknown={"url": good.url, "tls": {"server_name": "issuer.test"}}))
        self.await_status("a", 200, "good")
        for name, reason in [("other", 'hostname mismatch (it is not for "other.test")'),
                             ("unknown", "unable to get local issuer certificate")]:
            eventually(lambda: self.fetches("failed", name) >= 2, "it is tried again")
            self.assertEqual(self.status("a", name), 503)
            line = f"{good.url}: TLS: its certificate is not accepted: {reason}; {NOT_YET}\n"
            self.assertEqual(self.weir.stderr.lower().count(line.lower()), 1, self.weir.stderr)
        # A client that does not accept the certificate sends no request.
        self.assertEqual(len(good.requests), 1)


class Lifecycle(UrlCase):
    def stall(self, server):
        """The server answers once the event is set."""
        may_answer = threading.Event()
        self.addCleanup(may_answer.set)

        def wait(exchange):
            may_answer.wait()
            server.behaviour = None
            server._serve(exchange)

        server.behaviour = wait
        return may_answer

    def test_a_fetch_that_stalls_does_not_delay_the_end(self):
        server = self.key_server("a")
        self.stall(server)
        self.begin(server, timeout="1m")
        server.await_fetches(1)
        self.weir.signal(15)
        self.assertEqual(self.weir.wait(patience_s=30), 0)

    def test_a_lookup_that_stalls_does_not_delay_the_end(self):
        names = SlowNames()
        self.addCleanup(names.close)
        server = self.key_server("a")
        self.serve(self.configuration(idp={"url": server.url.replace("127.0.0.1", "issuer.slow"),
                                           "timeout": "100ms"}), environment=names.environment)
        eventually(lambda: self.fetches("failed") >= 2, "the lookups time out")
        self.assertIn("timed out while looking up the name", self.weir.stderr)
        self.weir.signal(15)
        self.assertEqual(self.weir.wait(patience_s=30), 0)

    def test_an_address_that_does_not_answer_leaves_time_for_the_next(self):
        server = self.key_server("a")
        names = SlowNames()
        self.addCleanup(names.close)
        self.fill("127.0.0.2", server.upstream.port)
        url = server.url.replace("127.0.0.1", "issuer.two")
        self.serve(self.configuration(idp={"url": url, "timeout": "2s"}), environment=names.environment)
        self.await_status("a", 200)
        self.assertEqual((self.fetches("ok"), self.fetches("failed")), (1, 0))

    def fill(self, *address):
        """Connections to the address are neither accepted nor refused from now on."""
        listener = socket.socket()
        self.addCleanup(listener.close)
        listener.bind(address)
        listener.listen(0)
        for _ in range(4):
            filler = socket.socket()
            self.addCleanup(filler.close)
            filler.setblocking(False)
            filler.connect_ex(address)

    def test_a_reload_keeps_the_keys_of_a_url(self):
        server = self.key_server("a")
        self.begin(server)
        self.await_status("a", 200)
        server.stop()
        for timeout in "2s", "3s":
            self.reload(self.configuration(idp={**self.jwks, "timeout": timeout}),
                        changed=["jwt_providers.idp"])
            self.assertEqual([self.status("a") for _ in range(10)], [200] * 10)

    def test_another_url_has_other_keys(self):
        first, second = self.key_server("a"), self.key_server("b")
        self.begin(first)
        self.await_status("a", 200)
        self.reload(self.configuration(idp={**self.jwks, "url": second.url}))
        self.await_status("b", 200)
        self.assertEqual(self.status("a"), 401)
        self.assertEqual(len(first.requests), 1)

"""Keys of token providers that are fetched from a URL."""

import json
import socket
import threading

from harness.certificates import Authority
from harness.issuers import base64url
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

    def test_a_thousand_invented_keys_cause_no_fetch_within_cooldown(self):
        server = self.key_server("a")
        self.begin(server, cooldown="1h")
        self.await_status("a", 200)
        signed = self.token("a").split(".", 1)[1]
        with self.connect(self.weir) as client:
            for i in range(1000):
                header = json.dumps({"alg": "ES256", "kid": f"invented {i}"}).encode()
                token = base64url(header) + "." + signed
                self.assertEqual(client.get("/", {"x-idp": token}).status, 401)
        self.assertEqual(self.status("a"), 200)
        self.assertEqual(len(server.requests), 1)

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

    def test_a_set_without_keys_replaces_the_keys_and_is_reported(self):
        server = self.key_server("a")
        self.begin(server)
        warning = "the set has no usable key; every token is rejected"
        for times in 1, 2:
            self.await_status("a", 200)
            self.assertEqual(self.degraded(), [])
            server.keys = []
            self.assertEqual(self.status("b"), 401)  # causes a fetch
            self.await_status("a", 401)
            self.assertEqual(self.degraded(), ["jwt provider idp: " + warning])
            self.assertEqual(self.weir.stderr.count(f"jwt provider idp: {warning}\n"), times)
            server.keys = [self.key["a"]]

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
        # They are not old yet.
        self.assertEqual(self.degraded(), [])
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
            "declared": (answer(b" " * 4194305), "its body has 4194305 bytes, more than 4194304"),
            "slow": (trickle, "timed out while reading the answer"),
            "silent": (lambda _: stalled.wait(), "timed out while waiting for the answer"),
            "redirect": (redirect, "it answered 302; redirects are not followed, so set the URL "
                                   "that it leads to"),
            "page": (answer(b"<html>marker</html>"), "its answer cannot be used: it is not JSON"),
            "object": (answer(b"{}"), "its answer cannot be used: it is not a JWK set: an object "
                                      "with a list \"keys\""),
            "gone": (answer(status="404 Not Found"), "it answered 404"),
            "closed": (raw(b""), self.CLOSED),
            "cut": (raw(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"), self.CUT),
            "reset": (lambda exchange: exchange.reset(), self.RESET),
            "other": (raw(b"220 mail.example ESMTP\r\n\r\n"), "it is not HTTP/1.1"),
            "packed": (answer(b"x", fields=[("Content-Encoding", "gzip")]),
                       "its body has a content coding, and the request accepts none"),
        }
        servers = {}
        for name, (behaviour, _) in rows.items():
            servers[name] = self.key_server()
            servers[name].behaviour = behaviour
        # Beside a provider with keys.
        servers["good"] = elsewhere
        self.serve(self.configuration(**{
            name: self.jwks_of(server, timeout="500ms" if name in ("slow", "silent") else "5s")
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

    def test_keys_that_cannot_be_used_are_reported_once_and_the_others_used(self):
        server = self.key_server("a")
        unnamed = dict(self.key["b"])
        del unnamed["kid"]
        private = {**self.issuer.make_key("private", "ES256"), "d": base64url(b"marker" * 4)}
        server.keys += [private, unnamed, self.key["c"], self.key["c"], {**self.key["b"], "use": "enc"},
                        {"kty": "oct", "k": "AAAA", "kid": "secret"}, {"kty": "XY", "kid": "type"}]
        self.begin(server)
        self.await_status("a", 200)
        self.assertEqual(self.status("c"), 401)
        # Anyone who reads the set can make tokens, but so far they are those of the issuer.
        self.assertEqual(self.status("private"), 200)
        # The same set again.
        self.serve_again(server)
        log = self.weir.stderr
        for kid, times in [("c", 2), ("b", 1), ("secret", 1), ("type", 1)]:
            self.assertEqual(log.count(f'(kid "{kid}") is not used: '), times, log)
        self.assertEqual(log.count('is used only for tokens without one: it has no "kid"'), 1, log)
        self.assertEqual(log.count('(kid "private") is used, but should be replaced: it contains the private key, so '
                                   "others can make tokens\n"), 1, log)
        self.assertNotIn(private["d"], log)

    def serve_again(self, server):
        """Waits for another fetch."""
        count = self.fetches("ok")
        self.assertEqual(self.status("x"), 401)
        eventually(lambda: self.fetches("ok") > count, "the keys are fetched again")

    def test_a_large_set(self):
        server = self.key_server("a")
        server.keys += [{**self.key["b"], "kid": f"key {i}"} for i in range(1200)]
        self.begin(server)
        self.await_status("a", 200)
        self.assertEqual(self.weir.stderr.count("the keys after the first 1024 are not used"), 1)


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

    def test_a_reload_with_a_wrong_ca_keeps_the_keys(self):
        server = self.secure_server("issuer.test")
        tls = {"ca": self.ca.file, "server_name": "issuer.test"}
        self.begin(server, tls=tls)
        self.await_status("a", 200)
        wrong = Authority()
        self.addCleanup(wrong.cleanup)
        server.keys = [self.key["b"]]
        self.reload(self.configuration(idp={**self.jwks, "tls": {**tls, "ca": wrong.file}}))
        [degraded] = eventually(self.degraded, "the failure is reported")
        self.assertTrue(degraded.startswith(
            "jwt provider idp: no keys have been fetched since jwks.tls changed: TLS: its certificate"
            " is not accepted: "), degraded)
        self.assertEqual([self.status("a") for _ in range(10)], [200] * 10)
        self.assertIn("; the keys fetched before stay in use\n", self.weir.stderr)
        # With the right one they are replaced.
        self.reload(self.configuration(idp=self.jwks))
        self.await_status("b", 200)
        self.assertEqual(self.status("a"), 401)
        self.assertEqual(self.degraded(), [])


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

    def test_a_reload_while_a_fetch_runs_does_not_start_another(self):
        server = self.key_server("a")
        may_answer = self.stall(server)
        self.begin(server, timeout="1m")
        server.await_fetches(1)
        self.reload(self.configuration(idp={**self.jwks, "refresh": "1h"}),
                    changed=["jwt_providers.idp"])
        self.reload(changed=[])
        self.assertEqual(self.status("a"), 503)
        may_answer.set()
        self.await_status("a", 200)
        self.assertEqual(len(server.requests), 1)

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

    def test_a_reload_tries_again_what_has_failed(self):
        server = self.key_server("a")
        server.behaviour = answer(status="500 Oops")
        self.begin(server, cooldown="1h")
        eventually(lambda: self.fetches("failed") >= 3, "the waits are longer now")
        server.behaviour = None
        count = len(server.requests)
        self.reload()
        server.await_fetches(count + 1)
        self.await_status("a", 200)

    def test_providers_with_one_url_share_its_fetches(self):
        server = self.key_server("a")
        url = {"url": server.url}
        self.serve(self.configuration(one=url, two=url))
        for provider in "one", "two":
            self.await_status("a", 200, provider)
            self.assertEqual(self.fetches("ok", provider), 1)
        self.assertEqual(len(server.requests), 1)
        self.assertIn("jwt providers one, two: fetched 1 key from", self.weir.stderr)

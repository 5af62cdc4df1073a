"""`weir explain`: what it prints, how it ends, and what it leaves alone."""

import json
import os
import re
import socket

from cli_test import FileCase
from harness.case import configuration
from harness.weir import run

SECRET = "s3cr3t-value"


def listener(case):
    """A port that must not be connected to."""
    sock = socket.create_server(("127.0.0.1", 0))
    sock.setblocking(False)
    case.addCleanup(sock.close)
    return sock


def address_of(sock):
    return "%s:%d" % sock.getsockname()


def config_of(**sections):
    return json.dumps(configuration("http://no-such-host.invalid:1", **{
        "identities": {"user": {"header": "x-user"}, "session": {"cookie": "sid"},
                       "key": {"query": "key"}},
        "policies": {"p": {"algorithm": "gcra", "rate": "10/1m"}},
        "routes": [
            {"name": "other", "match": {"host": "b.test"}, "upstream": "main"},
            {"name": "first", "match": {"path": "/v1/**"}, "upstream": "main",
             "limits": [{"policy": "p", "key": key} for key in ("user", "session", "key")]}],
        **sections}))


class Explain(FileCase):
    def explain(self, file, *arguments, **options):
        return run("explain", "--config", file, *arguments, **options)

    def json_of(self, file, *arguments):
        result = self.explain(file, "--json", *arguments)
        self.assertEqual((result.returncode, result.stderr), (0, ""), result)
        return json.loads(result.stdout)

    def test_text_fits_a_terminal(self):
        result = self.explain(self.file(config_of()), "-H", "X-User: a", "http://a.test/v1/x")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertIn("\nverdict     allowed, forwarded to main\n", result.stdout)
        self.assertLessEqual(max(map(len, result.stdout.splitlines())), 80)

    def test_method_peer_and_repeated_headers(self):
        match = {"methods": ["PUT"], "headers": {"x-a": "1", "x-b": "2"}}
        file = self.file(config_of(
            client_address={"trusted_proxies": ["10.0.0.0/8"]},
            identities={"c": {"client_address": {}}},
            routes=[{"match": match, "upstream": "main", "limits": [{"policy": "p", "key": "c"}]}]))
        common = ("--method", "PUT", "-H", "X-A: 1", "-H", "X-B: 2")
        direct = self.json_of(file, *common, "--peer", "192.0.2.7", "http://a.test/")
        through = self.json_of(file, *common, "--peer", "10.0.0.1",
                               "-H", "X-Forwarded-For: 192.0.2.7", "http://a.test/")
        self.assertEqual(direct["limits"], through["limits"])
        self.assertTrue(direct["limits"][0]["applies"])
        self.assertEqual(self.json_of(file, "http://a.test/")["verdict"]["status"], 404)

    def test_secrets_are_shown_as_their_hash_alone(self):
        arguments = ("-H", f"X-User: {SECRET}", "-H", f"Cookie: sid={SECRET}",
                     f"http://a.test/v1/x?key={SECRET}")
        file = self.file(config_of(identity_secret=SECRET))
        for form in ((), ("--json",)):
            result = self.explain(file, *form, *arguments)
            self.assertEqual(result.returncode, 0, result)
            self.assertNotIn(SECRET, result.stdout + result.stderr)
            self.assertEqual(len(re.findall(r"\b[0-9a-f]{32}\b", result.stdout)), 3)

    def test_the_value_of_a_variable_is_not_shown(self):
        file = self.file(config_of(policies={"p": {"algorithm": "gcra", "rate": "${RATE}/1m"}}))
        for form in ((), ("--json",)):
            result = self.explain(file, *form, "-H", "X-User: a", "http://a.test/v1/x",
                                  env={**os.environ, "RATE": "7919"})
            self.assertEqual(result.returncode, 0, result)
            self.assertIn("${RATE}/1m", result.stdout)
            self.assertNotIn("79", re.sub(r"[0-9a-f]{32}", "", result.stdout))

    def test_nothing_is_connected_to_or_listened_on(self):
        taken, upstream, redis = (listener(self) for _ in range(3))
        server = {"url": "http://" + address_of(upstream)}
        file = self.file(config_of(
            listen=[{"address": address_of(taken)}],
            upstreams={"main": {"servers": [server], "health_check": {"path": "/"}}},
            store={"type": "redis", "redis": {"url": "redis://" + address_of(redis)}}))
        found = self.json_of(file, "-H", "X-User: a", "http://a.test/v1/x")
        self.assertTrue(found["limits"][0]["allowed"])
        for sock in (upstream, redis):
            self.assertRaises(BlockingIOError, sock.accept)

    def test_problems_of_the_configuration_are_those_of_check(self):
        file = self.file(config_of(policies={"p": {"algorithm": "gcra", "rate": "10 a minute"}}))
        result = self.explain(file, "http://a.test/")
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        self.assertEqual(result.stderr, run("check", file).stdout)

    def test_a_decision_for_another_proxy_shows_the_request_that_it_describes(self):
        file = self.file(config_of(
            client_address={"trusted_proxies": ["10.0.0.0/8"]},
            routes=[{"name": "asked", "match": {"path": "/v1/**"}, "decide": True}]))
        arguments = ("--peer", "10.0.0.1", "-H", "X-Forwarded-Method: PUT",
                     "-H", "X-Forwarded-Uri: /v1/x?a=b", "-H", "X-Forwarded-Host: api.test",
                     "http://weir.test/auth")
        because = "described by X-Forwarded-Method, X-Forwarded-Uri, X-Forwarded-Host"
        found = self.json_of(file, *arguments)
        self.assertEqual(found["route"], "asked")
        self.assertEqual(found["original_request"], {"method": "PUT", "path": "/v1/x",
                                                     "host": "api.test", "because": because})
        text = self.explain(file, *arguments).stdout
        self.assertIn("\noriginal    PUT /v1/x\n  host      api.test\n", text)
        self.assertLessEqual(max(map(len, text.splitlines())), 80)

    def test_a_request_that_is_refused_before_it_is_read_has_all_heading_lines(self):
        result = self.explain(self.file(config_of()), "--peer", "192.0.2.7",
                              "-H", "X: " + "a" * 40_000, "http://a.test/v1/x?key=" + SECRET)
        self.assertEqual(result.stdout.splitlines()[:3],
                         ["request     GET /v1/x", "host        a.test", "client      192.0.2.7"])
        self.assertIn("\n\nverdict     refused, status 431: ", result.stdout)

    def test_an_argument_that_is_refused_is_not_repeated(self):
        result = self.explain(self.file(config_of()), "--peer", SECRET, "http://a.test/")
        self.assertEqual(result.returncode, 2)
        self.assertIn("--peer: expected an IP address, such as 192.0.2.7", result.stderr)
        self.assertNotIn(SECRET, result.stdout + result.stderr)

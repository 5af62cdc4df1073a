"""The test case that owns what it started and stops it in the opposite order."""

import os
import threading
import unittest

from .client import Connection
from .upstream import Upstream, echo
from .weir import Weir

SCALE = int(os.environ.get("WEIR_TEST_SCALE", "1"))


def scaled(count):
    """Less of it where everything is slow (sanitizers)."""
    return max(1, count // SCALE)


def configuration(upstream=None, **sections):
    """The least that serves: one listener, one route to one upstream, everything else quiet."""
    config = {
        "listen": [{"address": "127.0.0.1:0"}],
        "admin": "off",
        "access_log": "off",
        "workers": 1,
        "shutdown_timeout": "20s",
    }
    if upstream is not None:
        config["upstreams"] = {"main": {"servers": [{"url": upstream}], **sections.pop("main", {})}}
        config["routes"] = [{"upstream": "main"}]
    config.update(sections)
    return config


def limited(policies, limits, identities=None, **sections):
    """A configuration that answers 200 by itself on every path, under these limits."""
    route = {"name": "all", "match": {"path": "/**"},
             "respond": {"status": 200, "body": "fine"}, "limits": limits}
    identities = {"client": {"client_address": {}}, **(identities or {})}
    return configuration(policies=policies, identities=identities,
                         **{"routes": [route], **sections})


class Case(unittest.TestCase):
    maxDiff = None

    def start(self, config, **options):
        weir = Weir(config, **options)
        self.addCleanup(weir.stop)
        return weir

    def upstream(self, behaviour=echo, **options):
        upstream = Upstream(behaviour, **options)
        self.addCleanup(upstream.stop)
        return upstream

    def late_upstream(self, body=b"late"):
        """An upstream that reads each request whole and answers once the event is set: both are returned."""
        may_answer = threading.Event()
        self.addCleanup(may_answer.set)

        def behaviour(exchange):
            exchange.read_body()
            may_answer.wait()
            exchange.answer(body)

        return self.upstream(behaviour), may_answer

    def connect(self, weir, **options):
        connection = weir.connect(**options)
        self.addCleanup(connection.close)
        return connection

    def connect_to(self, address):
        connection = Connection(address)
        self.addCleanup(connection.close)
        return connection

    def connect_admin(self, weir):
        connection = weir.connect_admin()
        self.addCleanup(connection.close)
        return connection

    def proxy(self, behaviour=echo, environment=None, **sections):
        """An upstream, Weir before it, and a connection to Weir."""
        upstream = self.upstream(behaviour)
        weir = self.start(configuration(upstream.url, **sections), environment=environment)
        return upstream, weir, self.connect(weir)

    def assert_problem(self, response, status, detail=None):
        """An answer that Weir made itself: problem+json that repeats the status, and a Date."""
        self.assertEqual(response.status, status, response)
        self.assertEqual(response["Content-Type"], "application/problem+json")
        self.assertIn("Date", response.fields)
        problem = response.json()
        self.assertEqual(problem["status"], status)
        self.assertEqual(set(problem) & {"type", "title", "detail"}, {"type", "title", "detail"})
        if detail:
            self.assertIn(detail, problem["detail"])
        return problem

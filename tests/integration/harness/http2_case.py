"""The test cases with a client and with a server of HTTP/2."""

import concurrent.futures
import json

from .case import Case, configuration
from .http2 import Http2Client
from .http2_upstream import Http2Upstream
from .http2_upstream import echo as http2_echo
from .upstream import echo
from .waiting import eventually


class Http2Case(Case):
    def speak(self, weir, **options):
        client = Http2Client(weir.address, **options)
        self.addCleanup(client.close)
        return client

    def serve(self, behaviour=echo, settings=None, environment=None, **sections):
        self.up = self.upstream(behaviour)
        self.weir = self.start(configuration(self.up.url, **sections), environment=environment)
        self.client = self.speak(self.weir, settings=settings)
        return self.client

    def log_lines(self, count):
        eventually(lambda: len(self.weir.stdout.splitlines()) >= count, f"{count} lines of the log")
        return [json.loads(line) for line in self.weir.stdout.splitlines()]


class Http2UpstreamCase(Http2Case):
    def begin(self, behaviour=http2_echo, options=None, upstream=None, **sections):
        self.up = self.http2_upstream(behaviour, **(options or {}))
        config = configuration(self.up.url, **sections)
        config["upstreams"]["main"].update({"protocol": "http2", **(upstream or {})})
        self.weir = self.start(config)
        self.client = self.connect(self.weir)
        return self.client

    def http2_upstream(self, behaviour=http2_echo, **options):
        up = Http2Upstream(behaviour, **options)
        self.addCleanup(up.stop)
        return up

    def later(self, *requests):
        """Sends each request on a connection of its own; the answers are futures."""
        pool = concurrent.futures.ThreadPoolExecutor(len(requests))
        self.addCleanup(pool.shutdown)
        return [pool.submit(lambda given=given: self.connect(self.weir).request(*given)) for given in requests]

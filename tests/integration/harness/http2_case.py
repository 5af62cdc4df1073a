"""The test case with a client of HTTP/2."""

import json

from .case import Case, configuration
from .http2 import Http2Client
from .upstream import echo
from .waiting import eventually


class Http2Case(Case):
    def speak(self, weir, **options):
        client = Http2Client(weir.address, **options)
        self.addCleanup(client.close)
        return client

    def serve(self, behaviour=echo, settings=None, **sections):
        self.up = self.upstream(behaviour)
        self.weir = self.start(configuration(self.up.url, **sections))
        self.client = self.speak(self.weir, settings=settings)
        return self.client

    def log_lines(self, count):
        eventually(lambda: len(self.weir.stdout.splitlines()) >= count, f"{count} lines of the log")
        return [json.loads(line) for line in self.weir.stdout.splitlines()]

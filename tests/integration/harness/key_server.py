"""A server of JWK sets that rotates its keys, and misbehaves as the test specifies."""

import json

from .upstream import Upstream


class KeyServer:
    """Serves a set at every path; `keys` and `behaviour` may change at any time."""

    def __init__(self, *keys, tls=None):
        self.keys = list(keys)
        self.fields = []
        self.behaviour = None  # instead of an answer with the keys
        self.upstream = Upstream(self._serve, tls=tls)

    @property
    def url(self):
        return self.upstream.url + "/keys"

    @property
    def requests(self):
        return self.upstream.requests

    def await_fetches(self, count):
        self.upstream.await_requests(count)

    def stop(self):
        self.upstream.stop()

    def _serve(self, exchange):
        if self.behaviour:
            return self.behaviour(exchange)
        exchange.answer(json.dumps({"keys": self.keys}).encode(), fields=self.fields)

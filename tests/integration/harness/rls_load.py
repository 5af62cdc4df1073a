"""Clients that call the rate limit service over and over while a test does something to it."""

import json
import threading

from .client import Connection
from .load import Load
from .redis_case import waited_us
from .rls_client import RlsClient


class CallLoad(Load):
    """Each client sends the calls of a user of its own, one after the other. A call that fails is a failure.

    The first `reconnecting` clients open a connection for each call, and the next `by_json` send POST /json."""

    def __init__(self, weir, clients, reconnecting=0, by_json=0):
        self.address = weir.addresses[-1]
        self.reconnecting, self.by_json = reconnecting, by_json
        self.allowance_us = 0  # time that the process had no core during a call
        self._lock = threading.Lock()
        super().__init__(weir, clients)

    def ask(self, number):
        if number < self.reconnecting:
            while not self.is_over and self.call(number):
                pass
        elif number < self.reconnecting + self.by_json:
            body = {"domain": "d", "descriptors": [{"entries": [{"key": "user", "value": str(number)}]}]}
            with Connection(self.address) as client:
                while not self.is_over:
                    answer = client.request("POST", "/json", [], json.dumps(body).encode())
                    if not self.count(answer.status in (200, 429), answer):
                        return
        else:
            client = self.connect()
            while not self.is_over and self.call(number, client):
                pass
            client.close()

    def connect(self):
        return RlsClient(self.address[1], own_connection=True)

    def call(self, number, kept=None):
        before = waited_us(self.weir.pid)
        client = kept or self.connect()
        answer = client.ask("d", [("user", str(number))])
        waited = waited_us(self.weir.pid) - before
        if kept is None:
            client.close()
        return self.count(answer.code in ("OK", "OVER_LIMIT"), answer, waited)

    def count(self, is_answered, answer, waited=0):
        with self._lock:
            if not is_answered:
                self.failures.append(repr(answer))
                return False
            self.allowance_us = max(self.allowance_us, waited)
            self.answered += 1
        return True

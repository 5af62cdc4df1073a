"""Weirs whose overrides a test puts, with a policy of each algorithm."""

import json
from datetime import datetime, timedelta, timezone
from pathlib import Path
from urllib.parse import urlencode

from harness.case import configuration
from harness.preload import preloaded
from harness.redis_case import RedisCase, answering, sharing
from harness.waiting import eventually

ADMIN = {"address": "127.0.0.1:0"}
IDENTITIES = {"api_key": {"header": "X-Api-Key"}}
KEY = "key-that-nobody-may-see"
PATIENT = {"timeout": "10s", "connect_timeout": "10s", "on_failure": "deny"}
ALGORITHMS = ("fixed_window", "attributed_window", "sliding_window", "sliding_log", "token_bucket",
              "gcra", "leaky_bucket", "concurrency")
OWN_NUMBERS = {"leaky_bucket": {"rate": "2/10h", "queue": 1}, "concurrency": {"limit": 2}}
OTHER_NUMBERS = {"leaky_bucket": {"queue": 4}, "concurrency": {"limit": 5}}


def policies():
    """Of each algorithm one, named after it, with a quota of 2."""
    return {name: {"algorithm": name, **OWN_NUMBERS.get(name, {"rate": "2/10h"})} for name in ALGORITHMS}


def other_numbers(name):
    """Members of an override with a quota of 5."""
    return OTHER_NUMBERS.get(name, {"rate": "5/5h"})


def in_hours(count):
    return (datetime.now(timezone.utc) + timedelta(hours=count)).strftime("%Y-%m-%dT%H:%M:%SZ")


def in_an_hour():
    return in_hours(1)


class SetClock:
    """The wall clock of a process, which a test sets while the process runs."""

    def __init__(self, directory):
        self._file = Path(directory) / "clock"
        self.set(0)
        self.environment = preloaded("WEIR_SKEWED_CLOCK", SKEWED_CLOCK_FILE=self._file)

    def set(self, seconds):
        """`seconds`: after the machine's clock."""
        next = self._file.with_suffix(".next")
        next.write_text(str(seconds))
        next.replace(self._file)


class OverrideCase(RedisCase):
    def shared(self, count=1, **sections):
        """Weirs that share a Redis, with a route for each policy. `redis`: settings of store.redis."""
        if not self.servers:
            self.redis()
        sections = {"policies": policies(), "admin": ADMIN, **sections}
        config = sharing(self.servers[0].url, sections.pop("policies"), redis={**PATIENT, **sections.pop("redis", {})},
                         **{"identities": IDENTITIES, "routes": self.routes(), **sections})
        # Not on a fast clock: a change is answered after a time that covers the way of a reply from Redis.
        weirs = [self.start(config) for _ in range(count)]
        for weir in weirs:
            self.await_redis(weir)
        return weirs

    def alone(self, environment=None, **sections):
        sections = {"policies": policies(), "admin": ADMIN, "routes": self.routes(), **sections}
        identities = sections.pop("identities", {"client": {"client_address": {}}, **IDENTITIES})
        return self.start(configuration(policies=sections.pop("policies"), identities=identities,
                                        **sections), environment=environment)

    @staticmethod
    def routes():
        return [answering(f"/{name}", name, "api_key") for name in ALGORITHMS]

    def ask(self, weir, method, body=None, **query):
        target = "/v1/overrides" + ("?" + urlencode(query) if query else "")
        with self.connect_admin(weir) as connection:
            text = b"" if body is None else json.dumps(body).encode()
            return connection.request(method, target, {"Content-Type": "application/json"}, text)

    def put(self, weir, key=KEY, **members):
        response = self.ask(weir, "PUT", {"identity": "api_key", "key": key, **members})
        self.assertEqual(response.status, 200, response.body)
        return response.json()

    def delete(self, weir, key=KEY, **query):
        return self.ask(weir, "DELETE", identity="api_key", key=key, **query).status

    def get(self, weir, name="gcra", key=KEY):
        with weir.connect() as client:
            return client.request("GET", f"/{name}", {"X-Api-Key": key})

    def statuses(self, weir, count, name="gcra", key=KEY):
        return [self.get(weir, name, key).status for _ in range(count)]

    def exhaust(self, weir, name="gcra"):
        eventually(lambda: self.get(weir, name).status == 429, "a denial")

"""The base of the tests of the rate limit service: Weir with files of limits, and a client of gRPC."""

import json
import tempfile
from pathlib import Path

from .case import configuration
from .redis_case import SECRET, RedisCase
from .reload_case import ReloadCase
from .rls_client import RlsClient

ADMIN = {"address": "127.0.0.1:0"}
MOST_REMAINING = 2**32 - 1  # of a descriptor without a limit on it: `unlimited`


def limit(key, count=2, unit="hour", value=None, **more):
    """A descriptor of a file with a limit. `name` and `replaces` belong to the limit."""
    made = {"requests_per_unit": count, "unit": unit}
    made |= {name: more.pop(name) for name in ("name", "replaces") if name in more}
    return {"key": key, **({"value": value} if value else {}), "rate_limit": made, **more}


def domain(*descriptors, name="d"):
    """A file of limits."""
    return {"domain": name, "descriptors": list(descriptors)}


class RlsCase(RedisCase, ReloadCase):
    def serve_limits(self, *files, redis=None, service=None, **sections):
        """Weir with these files. Returns a client.

        The counts are in `redis` if it is given: a server, or the settings of store.redis for another topology."""
        directory = tempfile.TemporaryDirectory(prefix="weir-limits-")
        self.addCleanup(directory.cleanup)
        self.limits = Path(directory.name)
        for number, file in enumerate(files):
            self.write_limits(file, f"{number}.yaml")
        config = configuration(
            admin=ADMIN,
            rate_limit_service={"listen": [{"address": "127.0.0.1:0"}],
                                **({"files": [f"{directory.name}/*.yaml"]} if files else {}), **(service or {})})
        del config["listen"]
        if redis is not None:
            patient = {"timeout": "10s", "connect_timeout": "10s", "on_failure": "deny", "url": "redis://unused"}
            servers = redis if isinstance(redis, dict) else {"url": redis.url}
            config |= {"identity_secret": SECRET,
                       "store": {"type": "redis", "redis": {**patient, **sections.pop("store", {}), **servers}}}
        self.weir = self.start({**config, **sections})
        if redis is not None:
            self.await_redis(self.weir)
        return self.client_of(self.weir)

    def write_limits(self, file, name="0.yaml"):
        (self.limits / name).write_text(file if isinstance(file, str) else json.dumps(file))

    def client_of(self, weir):
        """Of its last listener: those of the service follow those of the proxy."""
        client = RlsClient(weir.addresses[-1][1])
        self.addCleanup(client.close)
        return client

    def ask_json(self, body):
        """The response to POST /json; a body that is not bytes is written as JSON."""
        body = body if isinstance(body, bytes) else json.dumps(body).encode()
        with self.connect_to(self.weir.addresses[-1]) as client:
            return client.request("POST", "/json", [("Content-Type", "application/json")], body)

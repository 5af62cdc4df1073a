"""The rate limit service of envoyproxy/ratelimit with a real redis-server, from `script/bootstrap ratelimit`."""

import json
import os
import tempfile
import unittest
from pathlib import Path

from .programs import Listening
from .redis import Redis
from .rls_client import RlsClient
from .services import free_port, is_listening

BUILT = Path(__file__).resolve().parents[3] / "build" / "tools" / "ratelimit" / "service_cmd"


def built():
    """Its program: that of script/bootstrap, or another build of it in WEIR_RATELIMIT_REFERENCE."""
    path = os.environ.get("WEIR_RATELIMIT_REFERENCE") or BUILT
    if not os.access(path, os.X_OK):
        raise unittest.SkipTest("envoyproxy/ratelimit is not built: script/bootstrap ratelimit")
    return str(path)


class Reference:
    """`files` are configurations, as dicts or as text. `environment` has more of its settings."""

    def __init__(self, *files, environment=None):
        command = built()
        self._directory = tempfile.TemporaryDirectory(prefix="weir-ratelimit-")
        self.directory = Path(self._directory.name)
        (self.directory / "config").mkdir()
        for number, file in enumerate(files):
            self.write(f"{number}.yaml", file)
        self.port, self.http_port = free_port(), free_port()
        self.redis = Redis().start()
        settings = {
            "DISABLE_STATS": "true", "LOG_LEVEL": "error", "REDIS_SOCKET_TYPE": "tcp",
            "REDIS_URL": f"127.0.0.1:{self.redis.port}", "RUNTIME_ROOT": str(self.directory),
            "RUNTIME_SUBDIRECTORY": ".", "RUNTIME_WATCH_ROOT": "false",
            "HOST": "127.0.0.1", "PORT": str(self.http_port), "GRPC_HOST": "127.0.0.1", "GRPC_PORT": str(self.port),
            "DEBUG_HOST": "127.0.0.1", "DEBUG_PORT": str(free_port()), "EXPIRATION_JITTER_MAX_SECONDS": "0"}
        self.client = RlsClient(self.port)
        try:
            self.process = Listening([command], self._is_serving, {**settings, **(environment or {})})
        except AssertionError:
            self.close()
            raise

    def write(self, name, file):
        text = file if isinstance(file, str) else json.dumps(file)
        (self.directory / "config" / name).write_text(text)

    def _is_serving(self):
        # A call before the server listens would make the client wait before it connects again.
        return is_listening(self.port) and self.client.check() == "SERVING"

    def stop(self):
        self.process.process.kill()  # SIGTERM takes ten seconds
        self.process.process.wait()
        self.close()

    def close(self):
        self.client.close()
        self.redis.close()
        self._directory.cleanup()

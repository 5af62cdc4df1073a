"""Envoy with a bootstrap of the test's own, from `script/bootstrap envoy`."""

import json
import os
import random
import tempfile
import unittest
from pathlib import Path

from .client import Connection
from .programs import Listening
from .services import free_port, is_listening

BUILT = Path(__file__).resolve().parents[3] / "build" / "peers" / "envoy" / "bin" / "envoy"


def built():
    if not os.access(BUILT, os.X_OK):
        raise unittest.SkipTest("Envoy is not installed: script/bootstrap envoy")
    return str(BUILT)


def typed(name, **fields):
    return {"@type": f"type.googleapis.com/envoy.{name}", **fields}


def cluster(name, *ports, http2=False, **more):
    options = {"envoy.extensions.upstreams.http.v3.HttpProtocolOptions": typed(
        "extensions.upstreams.http.v3.HttpProtocolOptions", explicit_http_config={"http2_protocol_options": {}})}
    endpoints = [{"endpoint": {"address": {"socket_address": {"address": "127.0.0.1", "port_value": port}}}}
                 for port in ports]
    return {"name": name, "type": "STATIC", "connect_timeout": "5s", **more,
            "load_assignment": {"cluster_name": name, "endpoints": [{"lb_endpoints": endpoints}]},
            **({"typed_extension_protocol_options": options} if http2 else {})}


def listener(port, filters, virtual_host, **manager):
    """`filters` are (name, typed_config); the router follows them."""
    filters = [*filters, ("envoy.filters.http.router", typed("extensions.filters.http.router.v3.Router"))]
    config = typed(
        "extensions.filters.network.http_connection_manager.v3.HttpConnectionManager", stat_prefix="public",
        http_filters=[{"name": name, "typed_config": each} for name, each in filters],
        route_config={"virtual_hosts": [{"name": "all", "domains": ["*"], **virtual_host}]}, **manager)
    return {"name": "public", "address": {"socket_address": {"address": "127.0.0.1", "port_value": port}},
            "filter_chains": [{"filters": [{"name": "envoy.filters.network.http_connection_manager",
                                            "typed_config": config}]}]}


class Envoy:
    """`bootstrap` is a dict or YAML text; it has a listener on `port`. Envoy gets an admin server if it is a dict."""

    def __init__(self, bootstrap, port):
        command = built()
        self._directory = tempfile.TemporaryDirectory(prefix="weir-envoy-")
        self.port, self.admin_port = port, None
        if isinstance(bootstrap, dict):
            self.admin_port = free_port()
            address = {"address": "127.0.0.1", "port_value": self.admin_port}
            bootstrap = json.dumps({"admin": {"address": {"socket_address": address}}, **bootstrap})
        file = Path(self._directory.name) / "envoy.yaml"
        file.write_text(bootstrap)
        try:
            # Envoys of one machine share memory by this number.
            self.process = Listening([command, "-c", str(file), "--concurrency", "1", "--log-level", "error",
                                      "--base-id", str(random.randrange(1, 1 << 24))], self._is_ready)
        except AssertionError:
            self._directory.cleanup()
            raise

    def _is_ready(self):
        if self.admin_port is None:
            return is_listening(self.port)
        try:
            with Connection(("127.0.0.1", self.admin_port)) as admin:
                return admin.get("/ready").status == 200
        except OSError:
            return False

    def stop(self):
        self.process.stop()
        self._directory.cleanup()

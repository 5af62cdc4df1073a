"""A collector of OTLP/HTTP in JSON, which misbehaves as the test specifies, and readers of what it got."""

import json
import os
import re
import socket
import subprocess
import tempfile
import unittest
from pathlib import Path

from .upstream import Upstream
from .waiting import eventually

ROOT = Path(__file__).resolve().parents[3]
PYTHON = ROOT / "build" / "peers" / "otlp" / "bin" / "python"
OTELCOL = ROOT / "build" / "tools" / "collector"


def reply(body=b"{}", status="200 OK", fields=()):
    """A behaviour for a request whose body has been read."""
    return lambda exchange: exchange.answer(body, status, [("Content-Type", "application/json"), *fields])


class Collector:
    """Keeps the documents of requests that it accepts; `behaviour` may change at any time."""

    def __init__(self, tls=None, port=0):
        self.behaviour = None  # instead of an answer that accepts
        self.documents = []  # (path, JSON), also of requests that are not accepted
        self.upstream = Upstream(self._serve, tls=tls, port=port)

    @property
    def url(self):
        return self.upstream.url

    @property
    def requests(self):
        return self.upstream.requests

    def stop(self):
        self.upstream.stop()

    def _serve(self, exchange):
        body = exchange.read_body()
        self.documents.append((exchange.target, json.loads(body)))
        (self.behaviour or reply())(exchange)

    def of(self, path):
        return [document for target, document in list(self.documents) if target == path]

    @property
    def spans(self):
        return [span for document in self.of("/v1/traces") for resource in document["resourceSpans"]
                for scope in resource["scopeSpans"] for span in scope["spans"]]

    @property
    def metrics(self):
        """{name: metric} of the last document."""
        documents = self.of("/v1/metrics")
        if not documents:
            return {}
        return {metric["name"]: metric for resource in documents[-1]["resourceMetrics"]
                for scope in resource["scopeMetrics"] for metric in scope["metrics"]}

    def await_spans(self, count):
        return eventually(lambda: len(self.spans) >= count and self.spans, f"{count} spans")


def attributes(thing):
    """{key: value} of a span, a resource or a data point."""
    values = {one["key"]: one["value"] for one in thing["attributes"]}
    return {key: int(value["intValue"]) if "intValue" in value else value["stringValue"]
            for key, value in values.items()}


def points(metric):
    """{labels: value} of a sum or a gauge."""
    [kind] = {"sum", "gauge"} & set(metric)
    return {frozenset(attributes(point).items()): float(point.get("asInt", point.get("asDouble")))
            for point in metric[kind]["dataPoints"]}


# Runs with the published messages. The JSON of OTLP has ids in hexadecimal and enumerators as numbers; apart from
# that it is the JSON of the messages. Unknown fields and values of a wrong type are errors.
VALIDATE = r"""
import base64, json, re, sys
from google.protobuf import json_format
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

MESSAGES = {"/v1/traces": ExportTraceServiceRequest, "/v1/metrics": ExportMetricsServiceRequest}
IDS = {"traceId": 32, "spanId": 16, "parentSpanId": 16}
NUMBERS = {"kind", "code", "aggregationTemporality", "flags"}
LONG = {"startTimeUnixNano", "endTimeUnixNano", "timeUnixNano", "asInt", "intValue", "count"}

def convert(value, key=""):
    if isinstance(value, dict):
        return {name: convert(one, name) for name, one in value.items()}
    if isinstance(value, list):
        return [convert(one, key) for one in value]
    if key in IDS:
        assert re.fullmatch("[0-9a-f]{%d}" % IDS[key], value) and int(value, 16), (key, value)
        return base64.b64encode(bytes.fromhex(value)).decode()
    assert key not in NUMBERS or isinstance(value, int), (key, value)
    assert key not in LONG or isinstance(value, str), (key, value)
    return value

for path, document in json.load(sys.stdin):
    message = MESSAGES[path]()
    json_format.ParseDict(convert(document), message)
    print(path, message.ByteSize())
"""


def validate(documents):
    """The sizes of the messages. Skips the test if they are not installed."""
    python = os.environ.get("WEIR_OTLP_PYTHON") or str(PYTHON)
    if not os.path.exists(python):
        raise unittest.SkipTest("opentelemetry-proto is not installed: run script/bootstrap otlp")
    done = subprocess.run([python, "-c", VALIDATE], input=json.dumps(documents), text=True, capture_output=True,
                          timeout=120)
    if done.returncode != 0:
        raise AssertionError(f"not the JSON of OTLP:\n{done.stderr}")
    return [int(size) for size in re.findall(r" (\d+)$", done.stdout, re.MULTILINE)]


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class RealProcess:
    """A collector of OpenTelemetry that writes what it gets to its log. Skips the test if there is none."""

    def __init__(self):
        program = os.environ.get("WEIR_OTELCOL") or str(OTELCOL)
        if not os.path.exists(program):
            raise unittest.SkipTest("the collector is not built: run script/bootstrap collector")
        self._directory = tempfile.TemporaryDirectory(prefix="weir-otelcol-")
        self._log = Path(self._directory.name) / "log"
        port = free_port()
        self.url = f"http://127.0.0.1:{port}"
        pipeline = {"receivers": ["otlp"], "exporters": ["debug"]}
        config = Path(self._directory.name) / "otelcol.yaml"
        config.write_text(json.dumps({
            "receivers": {"otlp": {"protocols": {"http": {"endpoint": f"127.0.0.1:{port}"}}}},
            "exporters": {"debug": {"verbosity": "detailed"}},
            "service": {"telemetry": {"metrics": {"level": "none"}},
                        "pipelines": {"traces": pipeline, "metrics": pipeline}}}))
        with open(self._log, "wb") as out:
            self._process = subprocess.Popen([program, "--config", f"file:{config}"], stdout=out, stderr=out,
                                             stdin=subprocess.DEVNULL)

    def __enter__(self):
        try:
            eventually(lambda: self._process.poll() is not None or "Everything is ready" in self.log,
                       "the collector is ready")
            if self._process.poll() is not None:
                raise AssertionError(f"the collector has ended:\n{self.log}")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        if self._process.poll() is None:
            self._process.terminate()
            self._process.wait(60)
        self._directory.cleanup()

    @property
    def log(self):
        return self._log.read_text(errors="replace")

"""A client of Envoy's rate limit service, over gRPC."""

import dataclasses

from .grpc_case import Outcome, client_library
from .rls_messages import UNITS, message, request

CODES = ["UNKNOWN", "OK", "OVER_LIMIT"]
HEALTH = ["UNKNOWN", "SERVING", "NOT_SERVING", "SERVICE_UNKNOWN"]
METHOD = "/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit"


@dataclasses.dataclass(frozen=True)
class Status:
    """Of one descriptor."""
    code: str
    limit: tuple | None  # (requests per unit, unit)
    remaining: int
    reset: int | None    # seconds
    name: str = ""       # of the limit


def status(one):
    has_limit = one.HasField("current_limit")
    limit = (one.current_limit.requests_per_unit, UNITS[one.current_limit.unit]) if has_limit else None
    reset = one.duration_until_reset
    return Status(CODES[one.code], limit, one.limit_remaining,
                  reset.seconds + (reset.nanos > 0) if one.HasField("duration_until_reset") else None,
                  one.current_limit.name)


class Answer:
    """A response, or the error of a call."""

    def __init__(self, outcome):
        self.grpc_status, self.details = outcome.code, outcome.details
        self.metadata = outcome.metadata
        self.message = self.code = None
        self.statuses, self.headers = [], {}
        if outcome.response is not None:
            self.message = message("RateLimitResponse").FromString(outcome.response)
            self.code = CODES[self.message.overall_code]
            self.statuses = [status(one) for one in self.message.statuses]
            self.headers = {one.key.lower(): one.value or one.raw_value.decode()
                            for one in self.message.response_headers_to_add}

    @property
    def codes(self):
        return [one.code for one in self.statuses]

    @property
    def remaining(self):
        return [one.remaining for one in self.statuses]

    @property
    def dynamic_metadata(self):
        """As plain dicts and strings; None without."""
        if not self.message.HasField("dynamic_metadata"):
            return None
        from google.protobuf import json_format
        return json_format.MessageToDict(self.message.dynamic_metadata)

    def __repr__(self):
        return f"{self.grpc_status} {self.details!r} {self.code} {self.statuses}"


class RlsClient:
    def __init__(self, port, own_connection=False):
        """`own_connection`: it is not shared with other clients of the port."""
        options = [("grpc.use_local_subchannel_pool", 1)] if own_connection else []
        self.channel = client_library().insecure_channel(f"127.0.0.1:{port}", options)

    def close(self):
        self.channel.close()

    def call(self, path, data, timeout=30, metadata=()):
        """A call of one message in each direction, of bytes."""
        try:
            response, call = self.channel.unary_unary(path).with_call(data, timeout=timeout, metadata=metadata)
            return Outcome(call, response)
        except client_library().RpcError as failed:
            return Outcome(failed)

    def ask(self, domain, *descriptors, hits_addend=None):
        return self.send(request(domain, *descriptors, hits_addend=hits_addend))

    def send(self, made):
        """A RateLimitRequest, or the bytes of one."""
        return Answer(self.call(METHOD, made if isinstance(made, bytes) else made.SerializeToString()))

    def check(self, service=""):
        """The health of a service, or the status of gRPC if the call failed."""
        outcome = self.call("/grpc.health.v1.Health/Check",
                            message("HealthCheckRequest")(service=service).SerializeToString())
        return self.health(outcome.response) if outcome.response is not None else outcome.code

    def watch(self, service=""):
        """The call, which the caller cancels; its messages are read with `health`."""
        return self.channel.unary_stream("/grpc.health.v1.Health/Watch")(
            message("HealthCheckRequest")(service=service).SerializeToString(), timeout=60)

    @staticmethod
    def health(data):
        return HEALTH[message("HealthCheckResponse").FromString(data).status]

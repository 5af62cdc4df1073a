"""The messages of Envoy's rate limit service and of gRPC's health checks.

They are described here and built by protobuf at run time, so no generated code is needed. Field numbers:
envoy/service/ratelimit/v3/rls.proto, envoy/extensions/common/ratelimit/v3/ratelimit.proto, grpc/health/v1/health.proto.
"""

import unittest

from .grpc_case import client_library

UNITS = ["UNKNOWN", "SECOND", "MINUTE", "HOUR", "DAY", "MONTH", "YEAR", "WEEK"]

# {file: {message: [(field, number, type)]}}; "*" after a type: repeated; a type with a dot is a message.
MESSAGES = {
    "envoy/config/core/v3": {"HeaderValue": [("key", 1, "string"), ("value", 2, "string"), ("raw_value", 3, "bytes")]},
    "envoy/extensions/common/ratelimit/v3": {
        "RateLimitDescriptor": [
            ("entries", 1, ".envoy.extensions.common.ratelimit.v3.RateLimitDescriptor.Entry*"),
            ("limit", 2, ".envoy.extensions.common.ratelimit.v3.RateLimitDescriptor.RateLimitOverride"),
            ("hits_addend", 3, ".google.protobuf.UInt64Value"), ("is_negative_hits", 4, "bool")],
        "RateLimitDescriptor.Entry": [("key", 1, "string"), ("value", 2, "string")],
        "RateLimitDescriptor.RateLimitOverride": [("requests_per_unit", 1, "uint32"), ("unit", 2, "int32")]},
    "envoy/service/ratelimit/v3": {
        "RateLimitRequest": [("domain", 1, "string"),
                             ("descriptors", 2, ".envoy.extensions.common.ratelimit.v3.RateLimitDescriptor*"),
                             ("hits_addend", 3, "uint32")],
        "RateLimitResponse": [
            ("overall_code", 1, "int32"),
            ("statuses", 2, ".envoy.service.ratelimit.v3.RateLimitResponse.DescriptorStatus*"),
            ("response_headers_to_add", 3, ".envoy.config.core.v3.HeaderValue*"),
            ("request_headers_to_add", 4, ".envoy.config.core.v3.HeaderValue*"),
            ("raw_body", 5, "bytes"), ("dynamic_metadata", 6, ".google.protobuf.Struct")],
        "RateLimitResponse.RateLimit": [("requests_per_unit", 1, "uint32"), ("unit", 2, "int32"), ("name", 3, "string")],
        "RateLimitResponse.DescriptorStatus": [
            ("code", 1, "int32"), ("current_limit", 2, ".envoy.service.ratelimit.v3.RateLimitResponse.RateLimit"),
            ("limit_remaining", 3, "uint32"), ("duration_until_reset", 4, ".google.protobuf.Duration")]},
    "grpc/health/v1": {"HealthCheckRequest": [("service", 1, "string")],
                       "HealthCheckResponse": [("status", 1, "int32")]},
}


def describe(field, name, number, kind):
    field.name, field.number = name, number
    field.label = field.LABEL_REPEATED if kind.endswith("*") else field.LABEL_OPTIONAL
    kind = kind.rstrip("*")
    if "." in kind:
        field.type, field.type_name = field.TYPE_MESSAGE, kind
    else:
        field.type = getattr(field, f"TYPE_{kind.upper()}")


def build():
    """{full name: class}, in a pool of descriptors of its own."""
    client_library()  # also makes Debian's packages importable
    try:
        from google.protobuf import (descriptor_pb2, descriptor_pool, duration_pb2, message_factory, struct_pb2,
                                     wrappers_pb2)
    except ImportError:
        raise unittest.SkipTest("python3-protobuf is not installed: script/bootstrap grpc") from None
    pool = descriptor_pool.DescriptorPool()
    known = [module.DESCRIPTOR for module in (duration_pb2, struct_pb2, wrappers_pb2)]
    for one in known:
        pool.AddSerializedFile(one.serialized_pb)
    names = []
    for directory, messages in MESSAGES.items():
        file = descriptor_pb2.FileDescriptorProto(name=f"{directory}/all.proto", syntax="proto3",
                                                  package=directory.replace("/", "."))
        file.dependency.extend([one.name for one in known] + [f"{d}/all.proto" for d in MESSAGES if d < directory])
        made = {}
        for path, fields in messages.items():
            outer, _, own = path.rpartition(".")
            made[path] = (made[outer].nested_type if outer else file.message_type).add(name=own)
            names.append(f"{file.package}.{path}")
            for field in fields:
                describe(made[path].field.add(), *field)
        pool.AddSerializedFile(file.SerializeToString())
    class_of = getattr(message_factory, "GetMessageClass", None) or message_factory.MessageFactory(pool).GetPrototype
    return {name: class_of(pool.FindMessageTypeByName(name)) for name in names}


built = {}


def message(name):
    """The class of a message, such as "RateLimitRequest"."""
    if not built:
        built.update({full.split(".v3.")[-1].split(".v1.")[-1]: found for full, found in build().items()})
    return built[name]


def request(domain, *descriptors, hits_addend=None):
    """A RateLimitRequest. A descriptor is a list of (key, value), or made by descriptor()."""
    made = message("RateLimitRequest")(domain=domain)
    if hits_addend is not None:
        made.hits_addend = hits_addend
    for one in descriptors:
        made.descriptors.append(descriptor(*one) if isinstance(one, (list, tuple)) else one)
    return made


def descriptor(*entries, limit=None, hits_addend=None, negative=False):
    """A RateLimitDescriptor; `limit` is (requests per unit, "HOUR")."""
    made = message("RateLimitDescriptor")(is_negative_hits=negative)
    for key, value in entries:
        made.entries.add(key=key, value=value)
    if limit is not None:
        made.limit.requests_per_unit, made.limit.unit = limit[0], UNITS.index(limit[1])
    if hits_addend is not None:
        made.hits_addend.value = hits_addend
    return made

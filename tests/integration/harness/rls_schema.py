"""The messages of the rate limit service and of external authorization as Google's Protocol Buffers read and write
them, without a file for protoc.

The numbers are those of envoy/service/ratelimit/v3/rls.proto, envoy/service/auth/v3/external_auth.proto and the files
that these import.
"""

import importlib
import unittest

from .debian import package

# By the message that contains them, so that the names of values may be the same.
ENUMERATIONS = {
    "Response.Code": ("UNKNOWN", "OK", "OVER_LIMIT"),
    "Limit.Unit": ("UNKNOWN", "SECOND", "MINUTE", "HOUR", "DAY", "MONTH", "YEAR", "WEEK"),
}
# Fields by number: a type and a name. A type of Google's own has its package.
MESSAGES = {
    "Entry": {1: "string key", 2: "string value"},
    "Override": {1: "uint32 requests_per_unit", 2: "Limit.Unit unit"},
    "Descriptor": {1: "repeated Entry entries", 2: "Override limit", 3: "google.protobuf.UInt64Value hits_addend",
                   4: "bool is_negative_hits"},
    "Request": {1: "string domain", 2: "repeated Descriptor descriptors", 3: "uint32 hits_addend"},
    "Reserve": {1: "string domain", 2: "repeated Descriptor descriptors", 3: "uint64 amount",
                4: "google.protobuf.Duration ttl"},
    "Commit": {1: "string domain", 2: "repeated Descriptor descriptors", 3: "string reservation_id",
               4: "uint64 actual_amount"},
    "Limit": {1: "uint32 requests_per_unit", 2: "Limit.Unit unit", 3: "string name"},
    "Status": {1: "Response.Code code", 2: "Limit current_limit", 3: "uint32 limit_remaining",
               4: "google.protobuf.Duration duration_until_reset"},
    "Header": {1: "string key", 2: "string value"},
    "Response": {1: "Response.Code overall_code", 2: "repeated Status statuses", 3: "repeated Header response_headers_to_add",
                 6: "google.protobuf.Struct dynamic_metadata"},
    "Socket": {2: "string address", 3: "oneof uint32 port_value", 4: "oneof string named_port"},
    "Pipe": {},  # Weir does not read what it contains
    "Address": {1: "oneof Socket socket_address", 2: "oneof Pipe pipe"},
    "Peer": {1: "Address address"},
    # The entries of map<string, string>, whose last one with a key wins.
    "Http": {1: "string id", 2: "string method", 3: "repeated Header headers", 4: "string path", 5: "string host",
             6: "string scheme", 7: "string query", 8: "string fragment", 9: "int64 size", 10: "string protocol",
             11: "string body", 12: "bytes raw_body"},
    "HttpRequest": {2: "Http http"},
    "Attributes": {1: "Peer source", 4: "HttpRequest request"},
    "Check": {1: "Attributes attributes"},
}
# Messages of Google's that a request has, for a generator of messages.
WRAPPERS = {"google.protobuf.UInt64Value": {1: "uint64 value"},
            "google.protobuf.Duration": {1: "int64 seconds", 2: "int32 nanos"}}
SCALARS = {"string": 9, "bytes": 12, "bool": 8, "uint32": 13, "uint64": 4, "int64": 3}


def field(to, number, text, own_package):
    *label, kind, name = text.split()
    to.name, to.number = name, number
    to.label = to.LABEL_REPEATED if label == ["repeated"] else to.LABEL_OPTIONAL
    if label == ["oneof"]:  # a message has at most one
        to.oneof_index = 0
    if kind in SCALARS:
        to.type = SCALARS[kind]
        return
    to.type = to.TYPE_ENUM if kind in ENUMERATIONS else to.TYPE_MESSAGE
    to.type_name = f".{kind}" if kind.startswith("google.") else f".{own_package}.{kind}"


def library():
    """The module google.protobuf with libprotobuf behind it; skips the test without it."""
    try:
        module = package("google.protobuf")
    except AssertionError:
        raise unittest.SkipTest("python3-protobuf is not installed: script/bootstrap grpc") from None
    implementation = importlib.import_module("google.protobuf.internal.api_implementation").Type()
    if implementation == "python":
        raise unittest.SkipTest("google.protobuf is here without libprotobuf")
    return module


def classes():
    """The class of each message by its name."""
    library()
    # The last three define the types that the file depends on.
    descriptor_pb2, pool, factory, *_ = (
        importlib.import_module(f"google.protobuf.{name}")
        for name in ("descriptor_pb2", "descriptor_pool", "message_factory", "wrappers_pb2", "duration_pb2",
                     "struct_pb2"))
    file = descriptor_pb2.FileDescriptorProto(name="rls.proto", package="rls", syntax="proto3", dependency=[
        f"google/protobuf/{name}.proto" for name in ("wrappers", "duration", "struct")])
    for name, fields in MESSAGES.items():
        message = file.message_type.add(name=name)
        for number, text in fields.items():
            field(message.field.add(), number, text, file.package)
        if any(text.startswith("oneof") for text in fields.values()):
            message.oneof_decl.add(name="one")
        for enumeration, values in ENUMERATIONS.items():
            if enumeration.startswith(f"{name}."):
                values = [{"name": value, "number": number} for number, value in enumerate(values)]
                message.enum_type.add(name=enumeration.split(".")[1], value=values)
    pool.Default().AddSerializedFile(file.SerializeToString())
    messages = pool.Default().FindFileByName(file.name).message_types_by_name
    return {name: factory.MessageFactory().GetPrototype(messages[name]) for name in MESSAGES}

"""Weir and libprotobuf agree about random messages of the rate limit service and of external authorization: which are
valid, and what they contain.

WEIR_TEST_RLS_MESSAGES is the number of messages of each kind, WEIR_TEST_SEED where to begin.
"""

import collections
import contextlib
import functools
import importlib
import json
import os
import random
import subprocess
import unittest
import warnings

from harness import rls_schema

COUNT = int(os.environ.get("WEIR_TEST_RLS_MESSAGES", "4000"))
SEED = int(os.environ.get("WEIR_TEST_SEED", "1"))

# Weir refuses for these reasons what libprotobuf takes for unknown fields, or reads in part.
STRICTER = {
    "a field is a group, which is not supported",
    "the wire type of a field is not that of its type",
    "a field number is not between 1 and 536870911",
}
REFUSED_BY_BOTH = {
    "the message ends within a varint",
    "a varint is longer than 10 bytes",
    "a tag is longer than 5 bytes",
    "a length is longer than 5 bytes",
    "a field ends beyond the end of its message",
    "a wire type is 6 or 7, which do not exist",
    "a string is not valid UTF-8",
}
TEXTS = ["", "a", "user", "remote_address", "10.0.0.1", "ü", "😀", "\0", "x" * 130]
NUMBERS = [0, 1, 2, 7, 127, 128, 300, 2**31, 2**32 - 1]
WIRE_TYPES = {"string": 2, "bytes": 2, "uint32": 0, "uint64": 0, "int64": 0, "int32": 0, "bool": 0, "Limit.Unit": 0}


def varint(number, extra=0):
    """`extra`: bytes more than it needs."""
    out = bytearray()
    while number >= 0x80 or extra > 0:
        extra -= number < 0x80
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])


class Wire:
    """Random bytes that are more or less a message."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.schema = {**rls_schema.MESSAGES, **rls_schema.WRAPPERS}

    def rarely(self, share=0.01):
        return self.random.random() < share

    def varint(self, number):
        return varint(number, self.random.randrange(11) if self.rarely() else 0)

    def delimited(self, content):
        return self.varint(len(content)) + content

    def integer(self):
        if self.rarely(0.2):
            return self.random.choice([2**32, 2**32 + 2, 2**63, 2**64 - 1, 2**64 + 1, 2**70 - 1])
        return self.random.choice(NUMBERS)

    def text(self):
        text = self.random.choice(TEXTS).encode()
        return text[:-1] + b"\xed" if self.rarely() else text

    def known(self, number, kind):
        if kind in self.schema:
            return self.varint(number << 3 | 2) + self.delimited(self.message(kind))
        wire_type = WIRE_TYPES[kind]
        value = self.delimited(self.text()) if wire_type == 2 else self.varint(self.integer())
        return self.varint(number << 3 | wire_type) + value

    def unknown(self):
        number = self.random.choice([1, 5, 15, 16, 2000, 2**29 - 1, 2**29, 0] if self.rarely(0.1) else [5, 15, 16])
        wire_type = self.random.randrange(8) if self.rarely(0.1) else self.random.choice([0, 1, 2, 5])
        value = {0: self.varint(self.integer()), 1: b"12345678", 2: self.delimited(b"\xffanything"), 3: varint(44),
                 5: b"1234"}
        return self.varint(number << 3 | wire_type) + value.get(wire_type, b"")

    def message(self, name):
        fields = [(number, text.split()[-2]) for number, text in self.schema[name].items()]
        return b"".join(self.unknown() if not fields or self.rarely(0.08) else self.known(*self.random.choice(fields))
                        for _ in range(self.random.randrange(6)))

    def mutated(self, message):
        """With one or two bytes of damage."""
        message = bytearray(message)
        for _ in range(self.random.randrange(1, 3)):
            place = self.random.randrange(len(message) + 1)
            kind = self.random.randrange(4)
            if kind == 0:
                del message[place:]
            elif kind == 1:
                del message[place:place + 1]
            elif kind == 2:
                message[place:place] = bytes([self.random.randrange(256)])
            else:
                message[place:place + 1] = bytes([self.random.randrange(256)])
        return bytes(message)


@contextlib.contextmanager
def quiet():
    """libprotobuf prints a line for each string that is not UTF-8, and warns of the end of a group."""
    stderr = os.dup(2)
    with open(os.devnull, "w", encoding="utf-8") as nowhere, warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        os.dup2(nowhere.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(stderr, 2)
            os.close(stderr)


class Library:
    """libprotobuf."""

    def __init__(self):
        self.classes = rls_schema.classes()
        self.json = importlib.import_module("google.protobuf.json_format")
        self.error = importlib.import_module("google.protobuf.message").DecodeError

    def read(self, message, name="Request"):
        """Without what Weir does not keep: unknown fields and units. None: not valid."""
        read = self.classes[name]()
        try:
            read.ParseFromString(message)
        except self.error:
            return None
        read.DiscardUnknownFields()
        for descriptor in getattr(read, "descriptors", ()):
            if descriptor.HasField("limit") and descriptor.limit.unit not in range(8):
                descriptor.limit.unit = 0
        return read



def by_weir(command, arguments):
    """What the room rls makes of each tuple of arguments: (None, the reason), or what it has written."""
    program = os.environ.get("WEIR_RLS_MESSAGES")
    if not program:
        raise AssertionError("WEIR_RLS_MESSAGES is not set: run the test through ctest")
    lines = "".join(f"{command} {' '.join('x' + argument.hex() for argument in each)}\n" for each in arguments)
    printed = subprocess.run([program], input=lines, capture_output=True, text=True, check=True).stdout
    for line in printed.splitlines():
        word, *contents = line.split(" ")
        contents = [bytes.fromhex(content) for content in contents]
        yield contents if word == "yes" else (None, contents[0].decode())


class RandomMessages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.library = Library()

    def compare(self, command, name, seed, content_of, stricter=()):
        """Random messages of this name, read by Weir with the command. `content_of` makes of Weir's output what it
        must be the same as for the message that libprotobuf has read. `stricter`: further reasons of Weir alone."""
        stricter = STRICTER.union(stricter)
        wire = Wire(seed)
        messages = [wire.message(name) for _ in range(COUNT)]
        messages += [wire.mutated(message) for message in messages]
        with quiet():
            read_by_library = [self.library.read(message, name) for message in messages]
        outcomes = collections.Counter()
        read_by_weir = by_weir(command, [(message,) for message in messages])
        for message, expected, read in zip(messages, read_by_library, read_by_weir):
            reason = read[1] if read[0] is None else "read"
            outcomes[reason] += 1
            with self.subTest(message=message.hex(), reason=reason):
                if reason == "read":
                    self.assertIsNotNone(expected)
                    self.assertEqual(*content_of(read, expected))
                elif reason not in stricter:
                    self.assertIn(reason, REFUSED_BY_BOTH)
                    self.assertIsNone(expected)
        for outcome in ["read", *stricter, *REFUSED_BY_BOTH]:
            self.assertGreater(outcomes[outcome], 0, outcomes)
        self.assertGreater(outcomes["read"], COUNT / 3, outcomes)

    def test_requests(self):
        request = self.library.classes["Request"]
        self.compare("request", "Request", SEED, lambda read, expected: (request.FromString(read[0]), expected))

    def as_request(self, expected, amount):
        """The request that a reservation makes."""
        made = self.library.classes["Request"](domain=expected.domain, descriptors=expected.descriptors)
        for each in made.descriptors:
            each.hits_addend.value = amount
            each.is_negative_hits = False
        return made

    def test_reservations(self):
        request = self.library.classes["Request"]

        def reserved(read, expected):
            ttl = expected.ttl.seconds * 1_000_000 - -expected.ttl.nanos // 1000
            return ((request.FromString(read[0]), *map(bytes.decode, read[1:])),
                    (self.as_request(expected, expected.amount), str(expected.amount), str(ttl), ""))

        def committed(read, expected):
            amount = expected.actual_amount
            return ((request.FromString(read[0]), *map(bytes.decode, read[1:])),
                    (self.as_request(expected, amount), str(amount), "0", expected.reservation_id))

        self.compare("reserve", "Reserve", SEED + 3, reserved, {"the ttl is negative or longer than an hour"})
        self.compare("commit", "Commit", SEED + 4, committed)

    def test_checks(self):
        def parts(read, expected):
            socket = expected.attributes.source.address.socket_address
            http = expected.attributes.request.http
            listed = [socket.address, str(socket.port_value), http.id, http.method, http.path, http.host, http.scheme,
                      http.query, http.fragment, str(http.size), http.protocol, http.body, http.raw_body]
            for header in {header.key: header.value for header in http.headers}.items():
                listed += header
            return read, [part.encode() if isinstance(part, str) else part for part in listed]

        self.compare("check", "Check", SEED + 3, parts)

    def test_requests_in_json(self):
        wire = Wire(SEED + 1)
        with quiet():
            requests = [self.library.read(wire.message("Request")) for _ in range(COUNT)]
        requests = [request for request in requests if request is not None]
        texts = [self.library.json.MessageToJson(
            request, preserving_proto_field_name=wire.rarely(0.5), including_default_value_fields=wire.rarely(0.5),
            use_integers_for_enums=wire.rarely(0.5), indent=wire.random.choice([0, 2]), ensure_ascii=wire.rarely(0.5)
        ).encode() for request in requests]
        for request, text, (read, *reason) in zip(requests, texts, by_weir("json", [(text,) for text in texts])):
            with self.subTest(text=text, reason=reason):
                self.assertEqual(reason, [])
                self.assertEqual(self.library.classes["Request"].FromString(read), request)

    def response(self, choice):
        response = self.library.classes["Response"](overall_code=choice(range(3)))
        for _ in range(choice(range(4))):
            status = response.statuses.add(code=choice(range(3)), limit_remaining=choice(NUMBERS))
            if choice([True, False]):
                status.current_limit.requests_per_unit = choice(NUMBERS)
                status.current_limit.unit = choice(range(8))
                status.current_limit.name = choice(TEXTS)
            if choice([True, False]):
                status.duration_until_reset.seconds = choice([0, 1, 59, 10**9])
                status.duration_until_reset.nanos = choice([0, 1000, 5 * 10**8, 999_999_000])
        for _ in range(choice(range(3))):
            response.response_headers_to_add.add(key=choice(TEXTS), value=choice(TEXTS))
        return response

    def metadata(self, choice, depth=0):
        if depth == 0 or depth < 5 and choice([True, False]):
            return {text: self.metadata(choice, depth + 1) for text in choice([TEXTS[:0], TEXTS[:2], TEXTS])}
        if depth < 5 and choice([True, False]):
            return [self.metadata(choice, depth + 1) for _ in range(choice(range(4)))]
        return choice([None, True, False, 0, -0.0, 1, -2.5, 1e300, 5e-324, 2**53, *TEXTS])

    def merged(self, first, second):
        """Objects of the same name are merged; of other values the first one counts."""
        if not isinstance(first, dict) or not isinstance(second, dict):
            return first
        return {name: self.merged(first[name], second[name]) if name in first and name in second
                else first.get(name, second.get(name)) for name in {**first, **second}}

    def test_responses(self):
        choice = random.Random(SEED + 2).choice
        responses = [self.response(choice) for _ in range(COUNT)]
        objects = [[self.metadata(choice) for _ in range(choice([0, 0, 0, 1, 1, 2]))] for _ in responses]
        texts = [[json.dumps(each, ensure_ascii=choice([True, False])).encode() for each in limits]
                 for limits in objects]
        arguments = [(response.SerializeToString(), *limits) for response, limits in zip(responses, texts)]
        for response, limits, (message, text) in zip(responses, objects, by_weir("response", arguments)):
            if limits:
                response.dynamic_metadata.update({"metadata": functools.reduce(self.merged, limits)})
            with self.subTest(message=message.hex(), text=text):
                self.assertEqual(self.library.read(message, "Response"), response)
                self.assertEqual(self.library.json.Parse(text, self.library.classes["Response"]()), response)
                self.assertNotIn(b"\n", text)


if __name__ == "__main__":
    unittest.main()

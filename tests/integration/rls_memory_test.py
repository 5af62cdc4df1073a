"""Calls with ever new values of descriptors need no more memory than the store may use."""

from harness.case import SCALE, scaled
from harness.http2 import DATA, END_HEADERS, END_STREAM, HEADERS, Http2Client, frame
from harness.rls_case import RlsCase, domain, limit
from harness.rls_client import METHOD
from harness.rls_messages import request

MAX_KEYS = 20_000
CALLS = 100_000  # of each kind; their keys would need 4 MiB if they were kept
GROWTH_KIB = 1024 * SCALE
AT_ONCE = 100


def user(number):
    return f"user-{number:08}"


def replaced(data, number):
    return data.replace(user(0).encode(), user(number).encode())


class GrpcCalls:
    """Calls on one connection. To be fast it repeats the bytes of one head, and only counts the ends of the answers."""

    def __init__(self, address):
        self.client = Http2Client(address)
        message = request("d", [("user", user(0))]).SerializeToString()
        self.body = b"\0" + len(message).to_bytes(4, "big") + message
        fields = [("content-type", "application/grpc"), ("te", "trailers")]
        assert self.client.request("POST", METHOD, fields, self.body).trailers.get("grpc-status") == "0"
        # All fields are in the table of the connection now.
        self.head = self.client.encoder.encode([(":method", "POST"), (":scheme", "http"), (":path", METHOD),
                                                (":authority", "weir.test"), *fields])

    def send(self, numbers):
        sent = b""
        for number in numbers:
            stream, self.client.next_stream = self.client.next_stream, self.client.next_stream + 2
            sent += frame(HEADERS, END_HEADERS, stream, self.head)
            sent += frame(DATA, END_STREAM, stream, replaced(self.body, number))
        self.client.send(sent)
        buffer, at, ended = b"", 0, 0
        while ended < len(numbers):
            while len(buffer) < at + 9 or len(buffer) < at + 9 + int.from_bytes(buffer[at:at + 3], "big"):
                more = self.client.sock.recv(262144)
                assert more, "the connection ended"
                buffer, at = buffer[at:] + more, 0
            ended += buffer[at + 3] == HEADERS and buffer[at + 4] & END_STREAM
            at += 9 + int.from_bytes(buffer[at:at + 3], "big")

    def close(self):
        self.client.close()


class JsonCalls:
    """POST /json on one connection, several requests before their answers."""

    def __init__(self, connection):
        self.connection = connection
        body = b'{"domain": "d", "descriptors": [{"entries": [{"key": "user", "value": "%s"}]}]}' % user(0).encode()
        self.request = b"POST /json HTTP/1.1\r\nHost: weir.test\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)

    def send(self, numbers):
        self.connection.send(b"".join(replaced(self.request, number) for number in numbers))
        for _ in numbers:
            answer = self.connection.read()
            assert answer.status == 200, answer

    def close(self):
        self.connection.close()


class Memory(RlsCase):
    def assert_does_not_grow(self, calls):
        def send(first, count):
            for begin in range(first, first + count, AT_ONCE):
                calls.send(range(begin, begin + AT_ONCE))
            return self.weir.memory_kib()

        count = scaled(CALLS)
        before = send(1, 2 * MAX_KEYS)  # until the store is full
        after = send(1 + 2 * MAX_KEYS, count)
        calls.close()
        self.assertLess(after - before, GROWTH_KIB, f"{before} KiB grew to {after} KiB")
        self.assertLessEqual(self.gauge(self.weir, "weir_memory_store_keys"), MAX_KEYS)
        self.assertGreaterEqual(self.gauge(self.weir, "weir_memory_store_evictions_total"), count)

    def serve(self):
        self.client = self.serve_limits(domain(limit("user", 5, "year")),
                                        store={"type": "memory", "memory": {"max_keys": MAX_KEYS}})

    def test_calls_with_new_values_stay_within_the_bound_of_the_store(self):
        self.serve()
        self.assert_does_not_grow(GrpcCalls(self.weir.addresses[-1]))

    def test_json_with_new_values_stays_within_the_bound_of_the_store(self):
        self.serve()
        self.assert_does_not_grow(JsonCalls(self.connect_to(self.weir.addresses[-1])))

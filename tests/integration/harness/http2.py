"""A client of HTTP/2 that sends exactly the frames that a test names (RFC 9113)."""

import json
import socket
import struct
from dataclasses import dataclass, field

from .client import TIMEOUT_S
from .debian import package
from .message import Fields

hpack = package("hpack")

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PUSH_PROMISE, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = range(10)
END_STREAM, END_HEADERS, ACK = 1, 4, 1
MAX_CONCURRENT_STREAMS = 3
INITIAL_WINDOW_SIZE = 4
ENABLE_CONNECT_PROTOCOL = 8
MAX_HEADER_LIST_SIZE = 6
NO_ERROR, PROTOCOL_ERROR, INTERNAL_ERROR, FLOW_CONTROL_ERROR = range(4)
REFUSED_STREAM, CANCEL, ENHANCE_YOUR_CALM = 7, 8, 11
PLENTY = 1 << 30


def frame(kind, flags=0, stream=0, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


@dataclass
class Response:
    """What a stream has received so far."""
    status: int = 0
    fields: Fields = field(default_factory=Fields)
    body: bytes = b""
    trailers: Fields = field(default_factory=Fields)
    interim: list = field(default_factory=list)
    is_ended: bool = False
    reset: int = None  # the error code

    def __getitem__(self, name):
        return self.fields.get(name)

    def json(self):
        return json.loads(self.body)

    def take_head(self, pairs, ends):
        status = dict(pairs).get(":status")
        rest = Fields([pair for pair in pairs if pair[0] != ":status"])
        if status is None:
            self.trailers = rest
        elif 100 <= int(status) < 200:
            self.interim.append((int(status), rest))
        else:
            self.status, self.fields = int(status), rest
        self.is_ended = self.is_ended or ends


class Http2Client:
    """One connection. Windows are opened as bytes arrive, unless the test holds them."""

    def __init__(self, address, settings=None, holds_windows=False, context=None, preface=PREFACE, source=None):
        self.sock = socket.create_connection(address, TIMEOUT_S, source_address=(source, 0) if source else None)
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if context is not None:
            self.sock = context.wrap_socket(self.sock, server_hostname="weir.test")
        self.holds_windows = holds_windows
        self.encoder, self.decoder = hpack.Encoder(), hpack.Decoder()
        self.buffer = b""
        self.next_stream = 1
        self.streams = {}
        self.goaways = []  # (last stream, error code)
        self.server_settings = {}
        self.credit = {}  # by stream: updates of its window less the bytes sent; 0 is the connection
        self.pongs = []
        entries = b"".join(struct.pack(">HI", *entry) for entry in (settings or {}).items())
        first = frame(SETTINGS, payload=entries)
        if not holds_windows:
            first += frame(WINDOW_UPDATE, payload=struct.pack(">I", PLENTY))
        self.send(preface + first)

    def close(self):
        self.sock.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def send(self, data):
        self.sock.sendall(data)

    def head(self, pairs, flags, stream):
        return frame(HEADERS, flags | END_HEADERS, stream, self.encoder.encode(pairs))

    def open(self, method="GET", path="/", fields=(), ends=True, authority="weir.test", scheme="http", protocol=None):
        """Sends the head of a request and returns its stream."""
        stream, self.next_stream = self.next_stream, self.next_stream + 2
        pairs = [(":method", method), (":scheme", scheme), (":path", path)]
        if protocol is not None:
            pairs.append((":protocol", protocol))
        if authority is not None:
            pairs.append((":authority", authority))
        pairs += list(fields.items() if isinstance(fields, dict) else fields)
        self.streams[stream] = Response()
        self.send(self.head(pairs, END_STREAM if ends else 0, stream))
        return stream

    def send_data(self, stream, data, ends=True):
        """Sends a body as the windows of the server allow."""
        while True:
            most = min(16384, self.credit_of(0), self.credit_of(stream), len(data))
            if most == 0 and data:
                self.step()
                continue
            piece, data = data[:most], data[most:]
            for one in 0, stream:
                self.credit[one] = self.credit.get(one, 0) - len(piece)
            self.send(frame(DATA, END_STREAM if ends and not data else 0, stream, piece))
            if not data:
                return

    def credit_of(self, stream):
        initial = 65535 if stream == 0 else self.server_settings.get(INITIAL_WINDOW_SIZE, 65535)
        return initial + self.credit.get(stream, 0)

    def reset(self, stream, code=CANCEL):
        self.send(frame(RST_STREAM, 0, stream, struct.pack(">I", code)))

    def open_window(self, stream, size):
        self.send(frame(WINDOW_UPDATE, 0, stream, struct.pack(">I", size)))

    def request(self, method="GET", path="/", fields=(), body=None, **options):
        stream = self.open(method, path, fields, ends=body is None, **options)
        if body is not None:
            self.send_data(stream, body)
        return self.read(stream)

    def get(self, path="/", fields=(), **options):
        return self.request("GET", path, fields, **options)

    def read(self, stream):
        """The whole response, or what there is of it when the stream is reset."""
        self.read_until(lambda: self.streams[stream].is_ended or self.streams[stream].reset is not None)
        return self.streams[stream]

    def read_until(self, is_true):
        while not is_true():
            if not self.step():
                raise AssertionError(f"the connection ended; GOAWAY: {self.goaways}")

    def read_to_end(self):
        """All frames until the other side closes."""
        try:
            while self.step():
                pass
        except ConnectionError:
            pass

    def ping(self):
        """Returns when the server has taken all frames that were sent before."""
        count = len(self.pongs)
        self.send(frame(PING, payload=b"12345678"))
        self.read_until(lambda: len(self.pongs) > count)

    def step(self):
        """Takes one frame; false at the end of the connection."""
        while len(self.buffer) < 9 or len(self.buffer) < 9 + self.size():
            data = self.sock.recv(262144)
            if not data:
                return False
            self.buffer += data
        size, kind, flags = self.size(), self.buffer[3], self.buffer[4]
        stream = struct.unpack(">I", self.buffer[5:9])[0]
        payload, self.buffer = self.buffer[9:9 + size], self.buffer[9 + size:]
        self.take(kind, flags, stream, payload)
        return True

    def size(self):
        return int.from_bytes(self.buffer[:3], "big")

    def take(self, kind, flags, stream, payload):
        response = self.streams.get(stream)
        if kind == HEADERS:
            assert flags & END_HEADERS, "heads of several frames are not read here"
            response.take_head(self.decoder.decode(payload), bool(flags & END_STREAM))
        elif kind == DATA:
            response.body += payload
            response.is_ended = response.is_ended or bool(flags & END_STREAM)
            if payload and not self.holds_windows:
                self.open_window(stream, len(payload))
        elif kind == RST_STREAM:
            self.streams.setdefault(stream, Response()).reset = struct.unpack(">I", payload)[0]
        elif kind == SETTINGS and not flags & ACK:
            self.server_settings.update(struct.iter_unpack(">HI", payload))
            self.send(frame(SETTINGS, ACK))
        elif kind == WINDOW_UPDATE:
            self.credit[stream] = self.credit.get(stream, 0) + struct.unpack(">I", payload)[0]
        elif kind == GOAWAY:
            self.goaways.append(struct.unpack(">II", payload[:8]))
        elif kind == PING and flags & ACK:
            self.pongs.append(payload)

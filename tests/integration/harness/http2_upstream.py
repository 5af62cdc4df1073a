"""A server of HTTP/2 whose frames a test decides (RFC 9113)."""

import contextlib
import socket
import struct
import threading
from dataclasses import dataclass, field

from .http2 import (ACK, CONTINUATION, DATA, END_HEADERS, END_STREAM, GOAWAY, HEADERS, INITIAL_WINDOW_SIZE, PING, PREFACE,
                    RST_STREAM, SETTINGS, WINDOW_UPDATE, frame, hpack)
from .message import Fields
from .waiting import eventually

MAX_CONCURRENT_STREAMS = 3


@dataclass
class Exchange:
    """A request, and the functions that answer it. Used by the connection's thread or by the test's."""
    connection: "Connection"
    stream: int
    pseudo: dict
    fields: Fields
    body: bytearray = field(default_factory=bytearray)
    trailers: Fields = field(default_factory=Fields)
    is_ended: bool = False
    ended_by_head: bool = False
    reset_by_peer: int = None  # the error code

    def __getitem__(self, name):
        return self.fields.get(name)

    @property
    def number(self):
        return self.connection.number

    def head(self, status, fields=(), ends=False):
        pairs = [(":status", str(status))] + list(fields.items() if isinstance(fields, dict) else fields)
        self.connection.send_fields(self.stream, pairs, END_STREAM if ends else 0)

    def data(self, data, ends=False):
        """Sends what the windows of the peer allow at once; a test that needs more sends it in parts."""
        for at in range(0, max(len(data), 1), 16384):
            piece = data[at:at + 16384]
            last = at + 16384 >= len(data)
            self.connection.send(frame(DATA, END_STREAM if ends and last else 0, self.stream, piece))

    def trail(self, fields):
        self.connection.send_fields(self.stream, list(fields.items()), END_STREAM)

    def answer(self, status=200, fields=(), body=b"", trailers=None):
        has_more = bool(body) or trailers is not None
        self.head(status, fields, ends=not has_more)
        if body:
            self.data(body, ends=trailers is None)
        if trailers is not None:
            self.trail(trailers)

    def reset(self, code):
        self.connection.send(frame(RST_STREAM, 0, self.stream, struct.pack(">I", code)))

    def open_window(self, size):
        self.connection.send(frame(WINDOW_UPDATE, 0, self.stream, struct.pack(">I", size)))


class Connection:
    def __init__(self, server, sock, number):
        self.server, self.sock, self.number = server, sock, number
        self.encoder, self.decoder = hpack.Encoder(), hpack.Decoder()
        self.exchanges = {}
        self.goaways = 0
        self.lock = threading.RLock()
        self.buffer = b""
        self.gathered = None  # within together()

    def send(self, data):
        with self.lock:
            if self.gathered is None:
                self.sock.sendall(data)
            else:
                self.gathered += data

    def send_fields(self, stream, pairs, flags):
        with self.lock:
            self.send(frame(HEADERS, flags | END_HEADERS, stream, self.encoder.encode(pairs)))

    @contextlib.contextmanager
    def together(self):
        """Sends the frames of the block in one write."""
        with self.lock:
            self.gathered = bytearray()
            try:
                yield
            finally:
                data, self.gathered = self.gathered, None
            self.send(data)

    def goaway(self, last_stream, code=0):
        self.send(frame(GOAWAY, 0, 0, struct.pack(">II", last_stream, code)))

    def close(self):
        try:
            self.sock.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass  # its own thread was faster

    def read(self, size):
        while len(self.buffer) < size:
            data = self.sock.recv(262144)
            if not data:
                raise ConnectionError
            self.buffer += data
        piece, self.buffer = self.buffer[:size], self.buffer[size:]
        return piece

    def serve(self):
        if self.read(len(PREFACE)) != PREFACE:
            raise ConnectionError("not HTTP/2")
        entries = b"".join(struct.pack(">HI", *entry) for entry in self.server.settings.items())
        self.send(frame(SETTINGS, payload=entries))
        while True:
            head = self.read(9)
            payload = self.read(int.from_bytes(head[:3], "big"))
            self.take(head[3], head[4], struct.unpack(">I", head[5:9])[0], payload)

    def take(self, kind, flags, stream, payload):
        if kind == SETTINGS and not flags & ACK:
            self.send(frame(SETTINGS, ACK))
        elif kind == PING and not flags & ACK:
            self.send(frame(PING, ACK, 0, payload))
        elif kind == GOAWAY:
            self.goaways += 1
        elif kind == RST_STREAM and stream in self.exchanges:
            self.exchanges[stream].reset_by_peer = struct.unpack(">I", payload)[0]
        elif kind in (HEADERS, CONTINUATION):
            assert flags & END_HEADERS, "heads of several frames are not read here"
            self.take_fields(stream, self.decoder.decode(payload), flags)
        elif kind == DATA:
            exchange = self.exchanges[stream]
            exchange.body += payload
            if payload and not self.server.holds_windows:
                self.open_windows(exchange, len(payload))
            if flags & END_STREAM:
                self.end(exchange)

    def open_windows(self, exchange, size):
        """In small steps, as a server does that reads slowly."""
        for at in range(0, size, 5000):
            step = struct.pack(">I", min(5000, size - at))
            self.send(frame(WINDOW_UPDATE, 0, 0, step) + frame(WINDOW_UPDATE, 0, exchange.stream, step))

    def take_fields(self, stream, pairs, flags):
        if stream in self.exchanges:
            self.exchanges[stream].trailers = Fields(pairs)
        else:
            pseudo = [pair for pair in pairs if pair[0].startswith(":")]
            assert pairs[:len(pseudo)] == pseudo, "a pseudo-header field after a field"
            exchange = Exchange(self, stream, dict(pseudo), Fields(pairs[len(pseudo):]))
            exchange.ended_by_head = bool(flags & END_STREAM)
            self.exchanges[stream] = exchange
            self.server.begun.append(exchange)
            if self.server.on_head is not None:
                self.server.on_head(exchange)
        if flags & END_STREAM:
            self.end(self.exchanges[stream])

    def end(self, exchange):
        exchange.is_ended = True
        self.server.requests.append(exchange)
        if self.server.behaviour is not None:
            self.server.behaviour(exchange)


def echo(exchange):
    exchange.answer(200, {"x-stream": str(exchange.stream)}, exchange.body)


class Http2Upstream:
    """`behaviour` is called with each complete request, `on_head` with each head; None: the test answers."""

    def __init__(self, behaviour=echo, settings=None, holds_windows=False, tls=None, on_head=None, before=None, port=0):
        self.behaviour, self.on_head, self.tls = behaviour, on_head, tls
        self.settings = settings or {INITIAL_WINDOW_SIZE: 65535}
        self.holds_windows = holds_windows
        self.before = before  # an event that each connection awaits before it does anything
        self.begun, self.requests, self.connections = [], [], []
        self._listener = socket.socket()
        self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._listener.bind(("127.0.0.1", port))
        self._listener.listen(128)
        self.port = self._listener.getsockname()[1]
        self.url = f"http{'s' if tls else ''}://127.0.0.1:{self.port}"
        self.protocols = []  # chosen by ALPN
        self.open_connections = 0
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()

    def stop(self):
        if self._listener.fileno() < 0:
            return
        self._listener.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._listener.close()
        for connection in self.connections:
            connection.close()

    def await_requests(self, count):
        eventually(lambda: len(self.requests) >= count, f"{count} requests at the upstream")
        return self.requests

    def await_heads(self, count):
        eventually(lambda: len(self.begun) >= count, f"{count} heads at the upstream")
        return self.begun

    def _accept(self):
        while True:
            try:
                sock, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(sock, len(self.connections) + 1), daemon=True).start()

    def _serve(self, sock, number):
        try:
            if self.before is not None:
                self.before.wait()
            if self.tls is not None:
                sock = self.tls.wrap_socket(sock, server_side=True)
                self.protocols.append(sock.selected_alpn_protocol())
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connection = Connection(self, sock, number)
            self.connections.append(connection)
            self.open_connections += 1
            try:
                connection.serve()
            finally:
                self.open_connections -= 1
        except OSError:
            pass  # the connection has ended
        finally:
            sock.close()

"""HTTP/1.1 messages read from a raw socket, independent of any HTTP library."""

from dataclasses import dataclass, field


class Truncated(Exception):
    """The connection ended before the message did."""


class Malformed(Exception):
    """What arrived is not HTTP/1.1 framing."""


@dataclass
class Fields:
    lines: list = field(default_factory=list)

    def all(self, name):
        return [value for key, value in self.lines if key.lower() == name.lower()]

    def get(self, name, default=None):
        values = self.all(name)
        if len(values) > 1:
            raise AssertionError(f"{name} is there {len(values)} times: {values}")
        return values[0] if values else default

    def __contains__(self, name):
        return bool(self.all(name))

    def has_token(self, name, token):
        elements = ",".join(self.all(name)).lower().split(",")
        return token in (element.strip() for element in elements)


@dataclass
class Message:
    start: str
    fields: Fields
    body: bytes = b""
    framing: str = "none"
    trailers: Fields = field(default_factory=Fields)

    def __getitem__(self, name):
        return self.fields.get(name)

    @property
    def words(self):
        return self.start.split(" ", 2)


class Reader:
    """Exact reads from a socket; what was read too much stays here."""

    def __init__(self, sock, record=None):
        self.sock = sock
        self.record = record  # every byte that came, if somebody wants them
        self.buffer = bytearray()

    def fill(self):
        data = self.sock.recv(262144)
        self.buffer += data
        if self.record is not None:
            self.record += data
        return bool(data)

    def line(self):
        while (end := self.buffer.find(b"\r\n")) < 0:
            if not self.fill():
                raise Truncated(f"in a line, after {bytes(self.buffer)!r}")
        line = bytes(self.buffer[:end])
        del self.buffer[: end + 2]
        return line.decode("latin-1")

    def exactly(self, size, sink):
        while size > 0:
            if not self.buffer and not self.fill():
                raise Truncated(f"{size} bytes of the body are missing")
            piece = bytes(self.buffer[:size])
            del self.buffer[: len(piece)]
            sink(piece)
            size -= len(piece)

    def to_end(self, sink):
        while self.buffer or self.fill():
            sink(bytes(self.buffer))
            self.buffer.clear()

    def field_lines(self):
        lines = []
        while line := self.line():
            name, colon, value = line.partition(":")
            if not colon or name != name.strip():
                raise Malformed(f"field line {line!r}")
            lines.append((name, value.strip()))
        return Fields(lines)

    def head(self):
        start = self.line()
        return Message(start, self.field_lines())

    def chunked(self, sink):
        while size := int(self.line().partition(";")[0], 16):
            self.exactly(size, sink)
            if self.line():
                raise Malformed("a chunk is longer than its size")
        return self.field_lines()

    def body(self, message, otherwise, sink=None):
        """Reads the body that the head declares; `otherwise` is 'none' or 'close'."""
        collected = bytearray()
        sink = sink or collected.extend
        if "Transfer-Encoding" in message.fields:
            message.framing = "chunked"
            message.trailers = self.chunked(sink)
        elif (length := message.fields.get("Content-Length")) is not None:
            message.framing = "length"
            self.exactly(int(length), sink)
        else:
            message.framing = otherwise
            if otherwise == "close":
                self.to_end(sink)
        message.body = bytes(collected)

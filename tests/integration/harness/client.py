"""A client that sends exactly the given bytes and reads exactly one answer at a time."""

import json
import socket

from .message import Message, Reader, Truncated

TIMEOUT_S = 60.0


class Response(Message):
    interim = ()

    @property
    def version(self):
        return self.words[0]

    @property
    def status(self):
        return int(self.words[1])

    def json(self):
        return json.loads(self.body)


class Connection:
    """One connection. `address` is (host, port) or the path of a unix socket."""

    def __init__(self, address, receive_buffer=None, source=None, host="weir.test"):
        self.host = host
        family = socket.AF_UNIX if isinstance(address, str) else socket.AF_INET
        if family == socket.AF_INET and ":" in address[0]:
            family = socket.AF_INET6
        self.sock = socket.socket(family, socket.SOCK_STREAM)
        self.sock.settimeout(TIMEOUT_S)
        if receive_buffer:
            self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        if source:
            self.sock.bind((source, 0))
        try:
            self.sock.connect(address)
        except OSError:
            self.sock.close()
            raise
        if family != socket.AF_UNIX:
            self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.reader = Reader(self.sock)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.sock.close()

    def reset(self):
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        self.sock.close()

    def send(self, data):
        self.sock.sendall(data)

    def request(self, method, target="/", fields=(), body=None, version="1.1", sink=None):
        self.send(request_bytes(method, target, fields, body, version, self.host))
        return self.read(method, sink)

    def get(self, target="/", fields=()):
        return self.request("GET", target, fields)

    def read(self, method="GET", sink=None):
        """The next final answer; 1xx ones before it are kept in its `interim`."""
        interim = []
        while (response := self.read_head()).status < 200:
            interim.append(response)
        response.interim = interim
        if method != "HEAD" and response.status not in (204, 304):
            self.reader.body(response, "close", sink)
        return response

    def read_head(self):
        head = self.reader.head()
        return Response(head.start, head.fields)

    def is_ended(self):
        """True once the other side has closed in order; fails if bytes come instead."""
        if self.reader.buffer:
            raise AssertionError(f"unread: {bytes(self.reader.buffer)!r}")
        data = self.sock.recv(65536)
        if data:
            raise AssertionError(f"more bytes than one answer: {data!r}")
        return True

    def is_gone(self):
        """True once the other side has closed, in order or not."""
        try:
            while self.sock.recv(65536):
                pass
        except ConnectionResetError:
            pass
        return True


def request_bytes(method, target="/", fields=(), body=None, version="1.1", host="weir.test"):
    """A request with Host, and with Content-Length if there is a body."""
    lines = [f"{method} {target} HTTP/{version}"]
    pairs = list(fields.items() if isinstance(fields, dict) else fields)
    names = {name.lower() for name, _ in pairs}
    if "host" not in names and version == "1.1":
        lines.append(f"Host: {host}")
    if body is not None and not names & {"content-length", "transfer-encoding"}:
        lines.append(f"Content-Length: {len(body)}")
    lines += [f"{name}: {value}" for name, value in pairs]
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + (body or b"")


def chunked(body, sizes):
    """`body` in chunked coding, cut to the sizes in turn."""
    coded, at, turn = [], 0, 0
    while at < len(body):
        piece = body[at : at + sizes[turn % len(sizes)]]
        coded.append(b"%x\r\n%s\r\n" % (len(piece), piece))
        at += len(piece)
        turn += 1
    return b"".join(coded) + b"0\r\n\r\n"


__all__ = ["Connection", "Response", "Truncated", "chunked", "request_bytes"]

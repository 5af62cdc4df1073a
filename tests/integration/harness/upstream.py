"""An upstream that records its requests and misbehaves as the test specifies.

A behaviour is a callable that takes an Exchange and answers it; it runs on the connection's own
thread. The connection goes on to the next request unless the behaviour closed it.
"""

import socket
import ssl
import threading

from .message import Malformed, Message, Reader, Truncated
from .waiting import eventually


class Exchange(Message):
    """One request as it arrived; its body is read only when asked for."""

    def __init__(self, head, reader, sock, connection):
        super().__init__(head.start, head.fields)
        self.reader = reader
        self.sock = sock
        self.connection = connection
        self.is_closed = False

    @property
    def method(self):
        return self.words[0]

    @property
    def target(self):
        return self.words[1]

    def read_body(self, sink=None):
        self.reader.body(self, "none", sink)
        return self.body

    def send(self, data):
        self.sock.sendall(data)

    def answer(self, body=b"", status="200 OK", fields=()):
        lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}"]
        lines += [f"{name}: {value}" for name, value in fields]
        self.send("\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body)

    def close(self):
        self.is_closed = True
        self.sock.shutdown(socket.SHUT_RDWR)

    def reset(self):
        self.is_closed = True
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        self.sock.close()


def echo(exchange):
    """Answers with the body it got."""
    exchange.answer(exchange.read_body(), fields=[("Content-Type", "application/octet-stream")])


def raw(data, close=True):
    """Answers with these bytes, whatever they are."""

    def behaviour(exchange):
        exchange.read_body()
        exchange.send(data)
        if close:
            exchange.close()

    return behaviour


def answer(body=b"", status="200 OK", fields=()):
    def behaviour(exchange):
        exchange.read_body()
        exchange.answer(body, status, fields)

    return behaviour


def shake_hands(sock):
    try:
        sock.do_handshake()
    except ssl.SSLError:
        # Closed with something unread, its alert could be lost in the reset.
        while socket.socket.recv(sock, 65536):
            pass
        raise


class Upstream:
    """On a free port, or on the one given: where another one was until now."""

    def __init__(self, behaviour=echo, send_buffer=None, receive_buffer=None, tls=None, port=0,
                 record=None):
        self.behaviour = behaviour
        self.tls = tls  # an ssl.SSLContext
        self.record = record  # a bytearray: every byte that comes, of all connections
        self.requests = []
        self.connections = 0
        self._open = set()
        self._lock = threading.Lock()
        self._listener = socket.socket()
        self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if receive_buffer:
            self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        if send_buffer:
            self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, send_buffer)
        self._listener.bind(("127.0.0.1", port))
        self._listener.listen(1024)
        self.port = self._listener.getsockname()[1]
        self.url = f"http{'s' if tls else ''}://127.0.0.1:{self.port}"
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()

    def stop(self):
        """Refuses connections from now on; more than once does no harm."""
        if self._listener.fileno() < 0:
            return
        self._listener.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._listener.close()
        self.close_connections()

    def close_connections(self):
        with self._lock:
            for sock in self._open:
                try:
                    sock.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass  # its own thread was faster

    @property
    def open_connections(self):
        return len(self._open)

    def await_requests(self, count):
        return eventually(lambda: len(self.requests) >= count and self.requests,
                          f"{count} requests at the upstream, got {len(self.requests)}")

    def _accept(self):
        while True:
            try:
                sock, _ = self._listener.accept()
            except OSError:
                return
            with self._lock:
                self._open.add(sock)
                self.connections += 1
                number = self.connections
            threading.Thread(target=self._serve, args=(sock, number), daemon=True).start()

    def _secured(self, sock):
        if self.tls is None:
            return sock
        plain, sock = sock, self.tls.wrap_socket(sock, server_side=True,
                                                 do_handshake_on_connect=False)
        with self._lock:
            self._open.discard(plain)
            self._open.add(sock)
        return sock

    def _serve(self, sock, number):
        try:
            sock = self._secured(sock)
            if self.tls is not None:
                shake_hands(sock)
            reader = Reader(sock, self.record)
            while reader.buffer or reader.fill():
                exchange = Exchange(reader.head(), reader, sock, number)
                with self._lock:
                    self.requests.append(exchange)
                self.behaviour(exchange)
                if exchange.is_closed:
                    break
        except (OSError, Truncated, Malformed):
            pass  # what the test is about may be just this
        finally:
            with self._lock:
                self._open.discard(sock)
                sock.close()

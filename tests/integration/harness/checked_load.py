"""A load of requests, uploads and tunnels of which every answer is checked."""

import hashlib
import threading
import time
import traceback

from .client import request_bytes
from .message import Truncated
from .payload import payload
from .waiting import eventually

GRACE = 1  # seconds for which an idle connection of a removed listener stays open
UPGRADE = {"Connection": "Upgrade", "Upgrade": "websocket"}
SWITCH = b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"


def serve(exchange):
    """Tunnels echo; bodies are answered with their digest, other requests with their target."""
    if exchange.target == "/socket":
        exchange.is_closed = True
        exchange.send(SWITCH)
        while data := bytes(exchange.reader.buffer) or exchange.sock.recv(65536):
            exchange.reader.buffer.clear()
            exchange.send(data)
        return
    if exchange.method == "POST":
        digest = hashlib.sha256()
        exchange.read_body(digest.update)
        return exchange.answer(digest.hexdigest().encode())
    exchange.answer(exchange.target.encode())


class Load:
    """Threads that work until stopped, on connections that `connect` opens. Each round is checked, and faults are kept."""

    def __init__(self, connect, body=None):
        self.connect = connect
        self.body = body  # of every answer; None: the target of its request
        self.faults = []
        self.rounds = {}
        self.ends = {}  # of connections on a listener that was removed, by thread
        self.is_stopped = threading.Event()
        self.threads = []

    def add(self, work, count):
        for _ in range(count):
            name = f"{work.__name__}-{len(self.threads)}"
            self.rounds[name] = 0
            self.threads.append(threading.Thread(target=self._run, args=(work, name)))
            self.threads[-1].start()

    def _run(self, work, name):
        try:
            turns = work(name)
            while not self.is_stopped.is_set() and not self.faults:
                next(turns)
                self.rounds[name] += 1
            turns.close()
        except (AssertionError, OSError, Truncated, StopIteration) as fault:
            where = traceback.extract_tb(fault.__traceback__)
            lines = [f"{frame.name}:{frame.lineno}" for frame in where[1:]]
            self.faults.append((name, self.rounds[name], repr(fault), lines))

    def await_rounds(self, count):
        """Each thread has done so many more."""
        goal = {name: done + count for name, done in self.rounds.items()}
        eventually(lambda: self.faults or all(self.rounds[n] >= g for n, g in goal.items()),
                   f"{count} more rounds of each: {self.rounds}")

    def stop(self):
        self.is_stopped.set()
        for thread in self.threads:
            thread.join()

    # What the threads do, a round each time.

    def keeps_alive(self, name):
        with self.connect() as client:
            for turn in range(1 << 30):
                self._get(client, f"/{name}/{turn}")
                yield

    def connects(self, name):
        for turn in range(1 << 30):
            with self.connect() as client:
                self._get(client, f"/{name}/{turn}")
            yield

    def pipelines(self, name):
        with self.connect() as client:
            for turn in range(1 << 30):
                targets = [f"/{name}/{turn}/{i}" for i in range(8)]
                client.send(b"".join(request_bytes("GET", target) for target in targets))
                for target in targets:
                    self._check(client.read(), target)
                yield

    def uploads(self, name):
        """In pieces, some before a reload and some after."""
        pieces = [payload(3000 + i) for i in range(10)]
        body = b"".join(pieces)
        digest = hashlib.sha256(body).hexdigest()
        with self.connect() as client:
            while True:
                client.send(request_bytes("POST", f"/{name}", {"Content-Length": len(body)}))
                for piece in pieces:
                    client.send(piece)
                    yield
                self._check(client.read(), digest)

    def tunnels(self, name):
        with self.connect() as client:
            client.send(request_bytes("GET", "/socket", UPGRADE))
            if client.read_head().status != 101:
                raise AssertionError("no tunnel")
            for turn in range(1 << 30):
                message = f"{name} {turn}".encode()
                client.send(message)
                got = bytearray()
                client.reader.exactly(len(message), got.extend)
                if got != message:
                    raise AssertionError(f"{got} for {message}")
                yield

    def comes_and_goes(self, name):
        """On a listener that is there at times. Once it has answered on a connection, it answers every request until it
        announces the end, unless the next request takes longer than the grace period."""
        for turn in range(1 << 30):
            target = f"/{name}/{turn}"
            try:
                client = self.connect()
            except (ConnectionRefusedError, ConnectionResetError):  # reset: closed before connect() returned
                yield
                continue
            with client:
                try:
                    response = client.get(target)
                except (OSError, Truncated):
                    yield  # closed before it was accepted
                    continue
                answered = time.monotonic()
                while not response.fields.has_token("Connection", "close"):
                    self._check(response, target)
                    yield
                    sent = None
                    try:
                        client.send(request_bytes("GET", target))
                        sent = time.monotonic()
                        response = client.read()
                    except (OSError, Truncated):
                        if (sent or time.monotonic()) - answered < GRACE:
                            raise
                        break
                    answered = time.monotonic()
                else:
                    self._check(response, target)
                    self.ends[name] = self.ends.get(name, 0) + 1
            yield

    def _get(self, client, target):
        client.send(request_bytes("GET", target))
        self._check(client.read(), self.body or target)

    def _check(self, response, body):
        if (response.status, response.body) != (200, body.encode()):
            raise AssertionError(f"{response.start} {response.body[:200]} instead of {body}")

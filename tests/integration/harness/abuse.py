"""The test case with a well-behaved client beside those that are not."""

import contextlib
import os
import resource
import selectors
import socket
import sys
import threading
import time

from .case import SCALE, Case, configuration
from .exposition import labelled, parse
from .waiting import eventually

MIB_IN_KIB = 1024


def answer_target(exchange):
    """Answers with what was asked, so that an answer given to another is seen."""
    exchange.read_body()
    exchange.answer(exchange.target.encode())


def raise_descriptor_limit():
    """As many descriptors as this process may have; that many."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    return most


class Bystander:
    """Asks one request after the other on one connection, and minds each answer."""

    def __init__(self, weir, target="/beside"):
        self.answered = 0
        self.failure = None
        self._weir, self._target = weir, target
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self):
        try:
            with self._weir.connect() as client:
                while not self._is_over.is_set():
                    target = f"{self._target}/{self.answered}"
                    response = client.get(target)
                    if (response.status, response.body) != (200, target.encode()):
                        raise AssertionError(f"{target}: {response}")
                    self.answered += 1
                    self._is_over.wait(0.001)  # leaves the interpreter to the attackers
        except BaseException as failure:  # noqa: B902 - handed to the test's own thread
            self.failure = failure

    def await_answers(self, count=50):
        """So many more answers from now on."""
        goal = self.answered + count
        eventually(lambda: self.failure or self.answered >= goal,
                   "a well-behaved client is answered meanwhile")
        self.check()

    def check(self):
        if self.failure:
            raise AssertionError("the well-behaved client was not answered") from self.failure

    def end(self):
        self._is_over.set()
        self._thread.join()


class AbuseCase(Case):
    def guarded(self, behaviour=answer_target, upstream_options=None, **sections):
        """Weir with an admin server before an upstream, warmed up: (upstream, weir)."""
        upstream = self.upstream(behaviour, **(upstream_options or {}))
        options = {key: sections.pop(key) for key in ("descriptors", "environment") if key in sections}
        weir = self.start(configuration(upstream.url, admin={"address": "127.0.0.1:0"},
                                        **sections), **options)
        with weir.connect() as client:
            client.get("/beside/warm")
        return upstream, weir

    @contextlib.contextmanager
    def bystander(self, weir):
        """A well-behaved client; not one of its requests may fail."""
        client = Bystander(weir)
        try:
            client.await_answers(1)
            yield client
            client.check()
        finally:
            client.end()
        self.assertIsNone(client.failure)

    def metric(self, weir, name, **labels):
        with weir.connect_admin() as admin:
            return labelled(parse(admin.get("/metrics").body.decode()), name, **labels)

    def await_connections(self, weir, count):
        eventually(lambda: self.metric(weir, "weir_connections") == count,
                   f"{count} connections of clients are left")

    def assert_growth_below(self, weir, before_kib, bound_kib):
        if SCALE > 1:
            print("resident memory is not looked at: sanitizers keep shadows and freed blocks",
                  file=sys.stderr)
            return
        self.assertLess(weir.memory_kib() - before_kib, bound_kib, "KiB grown")


class Crowd:
    """Many raw connections to one address, driven by one thread."""

    def __init__(self, weir, count, receive_buffer=None):
        """`weir`: or the address of one of its listeners."""
        address = getattr(weir, "address", weir)
        self.selector = selectors.DefaultSelector()
        self.open = {}  # socket -> what came
        self.received = []  # of those that have ended
        for _ in range(count):
            sock = socket.socket()
            if receive_buffer:
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
            sock.connect(address)
            sock.setblocking(False)
            self.open[sock] = bytearray()
            self.selector.register(sock, selectors.EVENT_READ)

    def close(self):
        for sock in list(self.open):
            self._drop(sock)
        self.selector.close()

    def _drop(self, sock):
        self.selector.unregister(sock)
        self.received.append(bytes(self.open.pop(sock)))
        sock.close()

    def send(self, piece):
        """To each that takes it."""
        for sock in list(self.open):
            try:
                sock.send(piece)
            except BlockingIOError:
                pass
            except OSError:
                self._collect(sock)

    def _collect(self, sock):
        """What is there to read, up to the end."""
        try:
            while data := sock.recv(65536):
                self.open[sock] += data
        except BlockingIOError:
            return
        except OSError:
            pass
        self._drop(sock)

    def collect(self, wait_s=0.05):
        for key, _ in self.selector.select(wait_s):
            if key.fileobj in self.open:
                self._collect(key.fileobj)

    def send_until_ended(self, pieces, patience_s=60):
        """A piece to each, now and then, until all have been hung up on."""
        give_up_at = time.monotonic() + patience_s
        for piece in pieces:
            self.send(piece)
            self.collect()
            if not self.open:
                return
            if time.monotonic() > give_up_at:
                break
        raise AssertionError(f"{len(self.open)} connections are still open")


def descriptors_of(weir):
    return len(os.listdir(f"/proc/{weir.pid}/fd"))


__all__ = ["AbuseCase", "Bystander", "Crowd", "MIB_IN_KIB", "answer_target", "descriptors_of",
           "raise_descriptor_limit"]

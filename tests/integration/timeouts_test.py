"""Every wait has a timeout, and a timeout releases the resources of the request."""

import socket
import threading

from harness.case import Case, configuration
from harness.client import request_bytes
from harness.upstream import answer
from harness.waiting import eventually


class Upstreams(Case):
    def full_listener(self):
        """An address where connections are neither accepted nor refused: its queue is full."""
        listener = socket.socket()
        self.addCleanup(listener.close)
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        while True:
            filler = socket.socket()
            self.addCleanup(filler.close)
            filler.settimeout(0.2)
            try:
                filler.connect(listener.getsockname())
            except TimeoutError:
                return listener.getsockname()[1]

    def test_504_an_upstream_that_does_not_accept(self):
        weir = self.start(configuration(f"http://127.0.0.1:{self.full_listener()}",
                                        main={"connect_timeout": "500ms"}))
        self.assert_problem(self.connect(weir).get("/"), 504)

    def test_an_idle_upstream_connection_is_closed(self):
        upstream, _, client = self.proxy(answer(b"fine"), main={"idle_timeout": "1s"})
        self.assertEqual(client.get("/").status, 200)
        self.assertEqual(upstream.open_connections, 1)
        eventually(lambda: upstream.open_connections == 0, "the idle connection is closed")
        self.assertEqual(client.get("/").status, 200)

    def test_an_upload_that_the_upstream_does_not_take_ends(self):
        is_over = threading.Event()
        self.addCleanup(is_over.set)
        _, _, client = self.proxy(lambda exchange: is_over.wait(),
                                  downstream={"body_timeout": "1s"})
        client.send(request_bytes("POST", "/", {"Content-Length": str(1 << 30)}))
        try:
            while True:
                client.send(b"x" * (1 << 20))
        except OSError:
            pass  # it hung up, as it should


class Clients(Case):
    def test_a_client_that_does_not_read_its_answer_lets_go_of_the_upstream(self):
        upstream, weir, _ = self.proxy(lambda e: e.answer(b"x" * (64 << 20)),
                                       downstream={"body_timeout": "1s"})
        client = self.connect(weir, receive_buffer=4096)
        client.send(request_bytes("GET", "/"))
        upstream.await_requests(1)
        eventually(lambda: upstream.open_connections == 0, "the upstream connection is closed")
        self.assertTrue(client.is_gone())

"""Servers of HTTP/2 that are slow, silent or wrong, and what they cost other requests."""

import socket
import threading

from harness.case import configuration
from harness.http2 import INTERNAL_ERROR, NO_ERROR, REFUSED_STREAM
from harness.http2_case import Http2UpstreamCase
from harness.http2_upstream import MAX_CONCURRENT_STREAMS, echo
from harness.tls_case import TlsCase
from harness.waiting import eventually


class Wrong(Http2UpstreamCase):
    def test_a_status_that_is_no_status_is_malformed(self):
        self.begin(lambda exchange: exchange.head("099", {}, ends=True), upstream={"retries": 0})
        self.assert_problem(self.client.get("/"), 502)

    def test_a_server_that_resets_all_streams_is_ejected(self):
        bad = self.http2_upstream(lambda exchange: exchange.reset(INTERNAL_ERROR))
        good = self.http2_upstream()
        config = configuration(bad.url)
        config["upstreams"]["main"].update({
            "protocol": "http2", "retries": 0, "servers": [{"url": bad.url}, {"url": good.url}]})
        client = self.connect(self.start(config))
        statuses = [client.get("/").status for _ in range(40)]
        self.assertEqual(statuses.count(502), 3)
        self.assertEqual(len(bad.requests), 3)

    def test_a_reset_is_not_repeated_on_the_server_that_sent_it(self):
        self.begin(lambda exchange: exchange.reset(INTERNAL_ERROR), upstream={"retries": 2})
        for count in range(1, 3):
            self.assert_problem(self.client.get("/"), 502)
            self.assertEqual(len(self.up.requests), count)

    def test_what_arrives_together_with_the_fault_that_cuts_it_is_delivered(self):
        def cut(exchange, end=lambda: None):
            with exchange.connection.together():
                exchange.head(200, {"content-length": "9"})
                exchange.data(b"part")
                end()

        self.begin(lambda exchange: {
            "/reset": lambda: cut(exchange, lambda: exchange.reset(INTERNAL_ERROR)),
            "/closed": lambda: (cut(exchange), exchange.connection.close())}[exchange.pseudo[":path"]](),
            access_log={})
        client = self.speak(self.weir)
        for path in ("/reset", "/closed") * 5:
            with self.subTest(path=path, client="HTTP/2"):
                response = client.get(path)
                self.assertEqual((response.status, response.body), (200, b"part"))
                self.assertEqual((response.is_ended, response.reset), (False, INTERNAL_ERROR))
            with self.subTest(path=path, client="HTTP/1.1"), socket.create_connection(self.weir.address) as sock:
                sock.sendall(b"GET %s HTTP/1.1\r\nHost: a\r\n\r\n" % path.encode())
                received = b""
                with self.assertRaises(ConnectionResetError):
                    while piece := sock.recv(65536):
                        received += piece
                self.assertTrue(received.startswith(b"HTTP/1.1 200 "), received)
                self.assertTrue(received.endswith(b"\r\n\r\npart"), received)
        for line in self.log_lines(20):
            self.assertEqual((line["status"], line["aborted_by"]), (200, "upstream"))


class Slow(Http2UpstreamCase):
    def test_requests_wait_for_the_limit_that_the_server_sends_late(self):
        may_begin, lock, live = threading.Event(), threading.Lock(), {}

        def behaviour(exchange):
            with lock:
                streams = live.setdefault(exchange.number, set())
                streams.add(exchange.stream)
                is_full = len(streams) > 5
            exchange.reset(REFUSED_STREAM) if is_full else exchange.answer(200)
            with lock:
                streams.discard(exchange.stream)

        self.begin(behaviour, options={"settings": {MAX_CONCURRENT_STREAMS: 5}, "before": may_begin},
                   upstream={"connect_timeout": "30s"})
        answers = self.later(*[("GET", f"/{number}") for number in range(30)])
        may_begin.set()
        self.assertEqual([answer.result().status for answer in answers], [200] * 30)

    def test_a_request_that_is_given_up_without_a_sign_of_the_server_is_the_last_of_its_connection(self):
        self.begin(lambda exchange: exchange.pseudo[":path"] == "/lost" or echo(exchange))
        self.assertEqual(self.client.get("/").status, 200)
        with socket.create_connection(self.weir.address) as impatient:
            impatient.sendall(b"GET /lost HTTP/1.1\r\nHost: a\r\n\r\n")
            impatient.settimeout(2.5)
            self.assertRaises(TimeoutError, impatient.recv, 1)
        eventually(lambda: self.up.open_connections == 0, "the end of the connection")
        self.assertEqual(self.client.get("/").status, 200)
        self.assertEqual([one.number for one in self.up.requests], [1, 1, 2])


class SlowHandshakes(TlsCase, Http2UpstreamCase):
    def secured(self, protocols):
        context = self.ca.server_context(self.main)
        context.set_alpn_protocols(protocols)
        return context

    def start_before(self, up, **upstream):
        config = configuration(up.url)
        config["upstreams"]["main"].update({"tls": {"ca": self.ca.file}, "retries": 0, "connect_timeout": "30s",
                                            **upstream})
        self.weir = self.start(config)

    def test_an_answer_may_come_before_the_windows_open(self):
        for resets in True, False:
            with self.subTest(resets=resets):
                def on_head(exchange):
                    exchange.answer(413, {}, b"too much")
                    if resets:
                        exchange.reset(NO_ERROR)

                may_begin = threading.Event()
                up = self.http2_upstream(None, tls=self.secured(["h2"]), on_head=on_head, holds_windows=True,
                                         before=may_begin)
                self.start_before(up, protocol="http2")
                client = self.speak(self.weir)
                stream = client.open("POST", "/", ends=False)
                for _ in range(12):
                    client.send_data(stream, bytes(16384), ends=False)
                client.ping()
                may_begin.set()
                response = client.read(stream)
                self.assertEqual((response.status, response.body), (413, b"too much"))

    def test_requests_do_not_queue_for_a_server_that_speaks_http1(self):
        gate, counted = threading.Semaphore(0), threading.Semaphore(0)

        class Gated:
            """A handshake that waits until as many others wait."""

            def __init__(self, context):
                self.context = context

            def wrap_socket(self, sock, **options):
                counted.release()
                gate.acquire()
                return self.context.wrap_socket(sock, **options)

        up = self.upstream(tls=Gated(self.secured(["http/1.1"])))
        self.start_before(up, protocol="auto")
        answers = self.later(*[("GET", "/")] * 5)
        counted.acquire()
        gate.release()  # the first one finds out
        for _ in range(4):
            counted.acquire()
        for _ in range(4):
            gate.release()
        self.assertEqual([answer.result().status for answer in answers], [200] * 5)

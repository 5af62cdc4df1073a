"""HTTP/2 towards clients: requests, limits, bodies and streams (RFC 9113)."""

import json
import socket
import threading

from harness.case import configuration, limited, scaled
from harness.http2 import (FLOW_CONTROL_ERROR, INITIAL_WINDOW_SIZE, MAX_CONCURRENT_STREAMS, MAX_HEADER_LIST_SIZE,
                           NO_ERROR, PROTOCOL_ERROR, REFUSED_STREAM,
                           Http2Client)
from harness.http2_case import Http2Case
from harness.queues import unread, unsent
from harness.tls_case import TlsCase
from harness.upstream import answer, raw
from harness.waiting import eventually, settled


class Requests(Http2Case):
    def test_a_request_reaches_the_upstream_as_one_of_http1(self):
        self.serve()
        response = self.client.request("POST", "/a?b=c", [
            ("cookie", "a=1"), ("x-key", "1"), ("cookie", "b=2"), ("te", "trailers"),
            ("content-length", "5")], b"hello")
        self.assertEqual((response.status, response.body), (200, b"hello"))
        self.assertEqual(response["content-type"], "application/octet-stream")
        request = self.up.requests[0]
        self.assertEqual(request.start, "POST /a?b=c HTTP/1.1")
        self.assertEqual(request["Host"], "weir.test")
        self.assertEqual(request["Cookie"], "a=1; b=2")
        self.assertEqual(request["X-Key"], "1")
        self.assertEqual(request["TE"], "trailers")
        self.assertEqual(request["Content-Length"], "5")
        self.assertTrue(request["Via"].startswith("2.0 weir-"), request["Via"])
        self.assertEqual(request["X-Forwarded-For"], "127.0.0.1")
        self.assertEqual(request["X-Forwarded-Proto"], "http")
        self.assertEqual(request["X-Forwarded-Host"], "weir.test")

    def test_host_may_take_the_place_of_the_authority(self):
        self.serve()
        self.assertEqual(self.client.get("/", {"host": "other.test"}, authority=None).status, 200)
        self.assertEqual(self.up.requests[0]["Host"], "other.test")
        for fields in {}, {"host": ""}:
            self.assertEqual(self.client.get("/", fields, authority=None).reset, PROTOCOL_ERROR)
        self.assert_problem(self.client.get("/", {"host": "other.test"}), 400, "differs")
        self.assertEqual(len(self.up.requests), 1)

    def test_a_body_without_a_length_is_sent_in_chunks(self):
        self.serve()
        stream = self.client.open("POST", ends=False)
        self.client.send_data(stream, b"first", ends=False)
        self.client.send_data(stream, b"second")
        self.assertEqual(self.client.read(stream).body, b"firstsecond")
        self.assertTrue(self.up.requests[0].fields.has_token("Transfer-Encoding", "chunked"))

    def test_trailers_pass_in_both_directions(self):
        def behaviour(exchange):
            exchange.read_body()
            exchange.send(b"HTTP/1.1 200 OK\r\nTrailer: X-Sum\r\nTransfer-Encoding: chunked\r\n\r\n"
                          b"3\r\nabc\r\n0\r\nX-Sum: 7\r\n\r\n")

        self.serve(behaviour)
        stream = self.client.open("POST", "/", {"te": "trailers", "trailer": "x-md"}, ends=False)
        self.client.send_data(stream, b"body", ends=False)
        self.client.send(self.client.head([("x-md", "5")], 1, stream))
        response = self.client.read(stream)
        self.assertEqual(response.body, b"abc")
        self.assertEqual(response.trailers.lines, [("x-sum", "7")])
        self.assertEqual(self.up.requests[0].trailers.get("X-Md"), "5")

    def test_responses_without_a_body(self):
        def behaviour(exchange):
            exchange.read_body()
            exchange.send({"/204": b"HTTP/1.1 204 No Content\r\n\r\n",
                           "/304": b"HTTP/1.1 304 Not Modified\r\nContent-Length: 7\r\n\r\n",
                           "/": b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n"}[exchange.target])

        self.serve(behaviour)
        for method, path, status in ("GET", "/204", 204), ("GET", "/304", 304), ("HEAD", "/", 200):
            response = self.client.request(method, path)
            self.assertEqual((response.status, response.body), (status, b""))
        self.assertEqual(response["content-length"], "7")

    def test_interim_responses(self):
        def behaviour(exchange):
            exchange.send(b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n")
            exchange.answer(b"final")

        self.serve(behaviour)
        response = self.client.get()
        self.assertEqual([(status, fields.lines) for status, fields in response.interim],
                         [(103, [("link", "</a>")])])
        self.assertEqual(response.body, b"final")

    def test_framing_of_http1_stays_with_http1(self):
        self.serve(raw(b"HTTP/1.1 200 OK\r\nConnection: close, X-Own\r\nX-Own: 1\r\nKeep-Alive: timeout=5\r\n"
                       b"Upgrade: h2c\r\n\r\nuntil the end"))
        response = self.client.get()
        self.assertEqual(response.body, b"until the end")
        for name in "connection", "x-own", "keep-alive", "upgrade", "transfer-encoding":
            self.assertNotIn(name, response.fields)

    def test_heads_that_are_too_large(self):
        self.serve(downstream={"max_head": "4KiB", "max_target": "300"})
        self.assert_problem(self.client.get("/", {"x": "a" * 4000}), 431)
        self.assert_problem(self.client.get("/", [("x", "")] * 200), 431)
        self.assert_problem(self.client.get("/" + "a" * 300), 414)
        self.assertEqual(self.client.get().status, 200)
        self.assertEqual(self.client.server_settings[MAX_HEADER_LIST_SIZE], 4096)

    def test_requests_of_other_forms_are_refused(self):
        self.serve()
        self.assertEqual(self.client.get("*").reset, PROTOCOL_ERROR)
        rows = [("OPTIONS", "*", 200), ("TRACE", "/", 405), ("get", "/", 400),
                ("GET", "/\\", 400)]
        for method, path, status in rows:
            with self.subTest(method=method, path=path):
                self.assertEqual(self.client.request(method, path).status, status)
        self.assertEqual(len(self.up.requests), 1)

    def test_http1_goes_on_beside_it(self):
        self.serve()
        self.assertEqual(self.client.get().status, 200)
        self.assertEqual(self.connect(self.weir).get().status, 200)

    def test_without_http2_the_preface_is_refused(self):
        up = self.upstream()
        weir = self.start(configuration(up.url, listen=[{"address": "127.0.0.1:0", "http2": False}]))
        client = self.connect(weir)
        client.send(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
        self.assert_problem(client.read(), 505)


class Limits(Http2Case):
    def test_a_denial_is_the_same_over_both_versions(self):
        weir = self.start(limited({"p": {"algorithm": "fixed_window", "rate": "2/1h"}},
                                  [{"policy": "p", "key": "key"}], {"key": {"header": "x-key"}},
                                  access_log={"path": "-"}))
        first, second = self.connect(weir), self.speak(weir)
        for key, clients in ("a", [first, second]), ("b", [second, first]):
            for index, client in enumerate(clients):
                response = client.get("/", {"x-key": key})
                self.assertEqual((response.status, response["RateLimit-Remaining"]), (200, str(1 - index)))
        over = [client.get("/", {"x-key": "a"}) for client in (first, second)]
        for response in over:
            self.assertEqual(response.status, 429)
            response.fields.lines = sorted(
                (name.lower(), value) for name, value in response.fields.lines
                if name.lower() not in ("date", "x-request-id", "connection"))
        self.assertEqual(over[0].fields, over[1].fields)
        self.assertEqual(over[0].body, over[1].body)
        self.weir = weir
        lines = self.log_lines(6)
        self.assertEqual([line["protocol"] for line in lines],
                         ["HTTP/1.1", "HTTP/2.0", "HTTP/2.0", "HTTP/1.1", "HTTP/1.1", "HTTP/2.0"])
        self.assertEqual(lines[4]["identity"], lines[5]["identity"])

    def test_an_identity_cannot_be_dodged(self):
        weir = self.start(limited({"p": {"algorithm": "fixed_window", "rate": "1/1h"}},
                                  [{"policy": "p", "key": "key", "required": True}],
                                  {"key": {"header": "x-key"}}))
        client = self.speak(weir)
        self.assertEqual(client.get("/", {"x-key": "a"}).status, 200)
        self.assertEqual(client.get("/", {"x-key": "a"}).status, 429)
        for fields, status in (([("x-key", "a"), ("x-key", "b")], 400), ({"x_key": "b"}, 400), ({}, 401)):
            self.assertEqual(client.get("/", fields).status, status)
        # Names are written in lower case only (RFC 9113 section 8.2.1).
        self.assertIsNotNone(client.get("/", {"X-Key": "b"}).reset)


class Streams(Http2Case):
    def test_bodies_larger_than_the_windows_in_both_directions(self):
        self.serve()
        body = bytes(range(256)) * 4 * scaled(4096)
        response = self.client.request("POST", "/", {}, body)
        self.assertEqual(response.status, 200)
        self.assertTrue(response.body == body, "the body is the same")

    def test_many_streams_at_once(self):
        late, may_answer = self.late_upstream()
        weir = self.start(configuration(late.url))
        client = self.speak(weir)
        client.ping()  # the limit is acknowledged
        self.assertEqual(client.server_settings[MAX_CONCURRENT_STREAMS], 100)
        streams = [client.open("GET", f"/{i}") for i in range(100)]
        late.await_requests(100)
        self.assertEqual(client.get("/more").reset, REFUSED_STREAM)
        may_answer.set()
        for stream in streams:
            self.assertEqual(client.read(stream).body, b"late")

    def test_too_many_streams_at_once_end_the_connection(self):
        late, _ = self.late_upstream()
        client = self.speak(self.start(configuration(late.url, downstream={"http2": {"max_streams": 2}})))
        client.ping()  # the limit is acknowledged
        send, sent = client.send, []
        client.send = sent.append
        for _ in range(2 + 16 + 1):
            client.open()
        client.send = send
        send(b"".join(sent))
        client.read_to_end()
        self.assertEqual(client.goaways[-1][1], PROTOCOL_ERROR)

    def test_the_number_of_streams_can_be_set(self):
        late, may_answer = self.late_upstream()
        weir = self.start(configuration(late.url, downstream={"http2": {"max_streams": 2}}))
        client = self.speak(weir)
        streams = [client.open() for _ in range(2)]
        late.await_requests(2)
        self.assertEqual(client.get("/more").reset, REFUSED_STREAM)
        may_answer.set()
        self.assertEqual([client.read(stream).body for stream in streams], [b"late"] * 2)
        self.assertEqual(client.get().body, b"late")

    def test_a_slow_reader_stalls_its_own_stream_only(self):
        large = b"x" * 3_000_000

        def behaviour(exchange):
            exchange.answer(large if exchange.target == "/large" else b"small")

        self.up = self.upstream(behaviour)
        self.weir = self.start(configuration(self.up.url))
        client = self.speak(self.weir, settings={INITIAL_WINDOW_SIZE: 1000}, holds_windows=True)
        client.open_window(0, 1 << 30)
        slow = client.open("GET", "/large")
        client.read_until(lambda: len(client.streams[slow].body) == 1000)
        for _ in range(20):
            self.assertEqual(client.get().body, b"small")
        self.assertEqual(len(client.streams[slow].body), 1000)
        client.open_window(slow, 1 << 30)
        self.assertTrue(client.read(slow).body == large)

    def test_an_upload_that_nobody_reads_stalls_its_own_stream_only(self):
        may_read = threading.Event()
        self.addCleanup(may_read.set)

        def behaviour(exchange):
            if exchange.method == "POST":
                may_read.wait()
            exchange.answer(b"%d" % len(exchange.read_body()))

        self.up = self.upstream(behaviour, receive_buffer=4096)
        self.weir = self.start(configuration(self.up.url))
        client = self.speak(self.weir)
        client.ping()
        stream = client.open("POST", "/", ends=False)
        sent = 0
        # Until the window is used up; the kernel takes a part of it.
        while client.credit_of(stream) > 0 and client.credit_of(0) > 16384:
            client.send_data(stream, b"x" * min(16384, client.credit_of(stream)), ends=False)
            sent = sent + 1
            client.ping()
        for _ in range(5):
            self.assertEqual(client.get().status, 200)
        may_read.set()
        client.send_data(stream, b"end")
        self.assertGreater(int(client.read(stream).body), 16384)

    def test_a_stream_that_is_reset_ends_its_exchange(self):
        is_closed = threading.Event()

        def behaviour(exchange):
            if not exchange.sock.recv(1):
                is_closed.set()

        self.serve(behaviour, access_log={"path": "-"})
        stream = self.client.open()
        self.up.await_requests(1)
        self.client.reset(stream)
        line = self.log_lines(1)[0]
        self.assertEqual((line["status"], line["aborted_by"]), (499, "client"))
        self.assertTrue(is_closed.wait(60), "the upstream connection is closed")

    def test_a_stream_that_is_reset_while_its_upstream_is_connected_is_not_the_servers_fault(self):
        full = socket.socket()
        self.addCleanup(full.close)
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        # Connections that are not accepted fill its queue; further ones wait.
        fill = [socket.socket() for _ in range(4)]
        for one in fill:
            self.addCleanup(one.close)
            one.setblocking(False)
            one.connect_ex(full.getsockname())
        self.weir = self.start(configuration("http://127.0.0.1:%d" % full.getsockname()[1],
                                             access_log={"path": "-"}, main={"connect_timeout": "60s"}))
        client = self.speak(self.weir)
        for count in range(1, 6):
            stream = client.open()
            client.ping()
            client.reset(stream)
            self.assertEqual(self.log_lines(count)[-1]["status"], 499)
        self.assertNotIn("marked down", self.weir.stderr)

    def fault(self, path="/fault"):
        stream = self.client.open("POST", path, ends=False)
        self.client.open_window(stream, (1 << 31) - 1)  # more than a window holds
        return stream

    def faults(self):
        """Twenty of them in one piece."""
        send, sent = self.client.send, []
        self.client.send = sent.append
        streams = [self.fault() for _ in range(20)]
        self.client.send = send
        send(b"".join(sent))
        return streams

    def assert_none_is_served(self, streams):
        for stream in streams:
            self.assertEqual(self.client.read(stream).reset, FLOW_CONTROL_ERROR)
        self.assertEqual(self.client.get("/last").status, 200)
        eventually(lambda: "/last" in self.weir.stdout, "the last line")
        self.assertNotIn("/fault", {line["path"] for line in self.log_lines(1)})

    def test_a_stream_with_a_fault_is_not_served_if_its_client_has_made_faults(self):
        self.serve(access_log={"path": "-"})
        self.assertEqual(self.client.read(self.fault("/first")).reset, FLOW_CONTROL_ERROR)
        self.assert_none_is_served(self.faults())

    def test_nor_while_it_does_not_read(self):
        body = b"x" * 20_000_000  # more than the sockets take
        self.serve(lambda exchange: answer(body if exchange.target == "/large" else b"")(exchange),
                   settings={INITIAL_WINDOW_SIZE: 1 << 30}, access_log={"path": "-"})
        self.assertEqual(self.client.read(self.fault("/first")).reset, FLOW_CONTROL_ERROR)
        large = self.client.open("GET", "/large")
        own, other = self.client.sock.getsockname()[1], self.weir.port
        settled(lambda: unsent(other, own), "the socket of Weir is full")
        self.assertGreater(unsent(other, own), 0)
        faults = self.faults()
        eventually(lambda: unread(other, own) == 0, "Weir has taken the faults")
        self.assertEqual(len(self.client.read(large).body), len(body))
        self.assert_none_is_served(faults)

    def test_a_connection_that_ends_ends_its_exchanges(self):
        late, _ = self.late_upstream()
        self.weir = self.start(configuration(late.url, access_log={"path": "-"}))
        client = self.speak(self.weir)
        for _ in range(3):
            client.open()
        late.await_requests(3)
        client.close()
        self.assertEqual([line["status"] for line in self.log_lines(3)], [499] * 3)

    def test_a_response_before_the_end_of_the_request(self):
        self.serve(answer(b"done"), downstream={"max_body": "10"})
        stream = self.client.open("POST", "/", ends=False)
        self.client.send_data(stream, b"more than ten bytes", ends=False)
        self.assert_problem(self.client.read(stream), 413)
        self.client.read_until(lambda: self.client.streams[stream].reset is not None)
        self.assertEqual(self.client.streams[stream].reset, NO_ERROR)
        self.assertEqual(self.client.get().body, b"done")

    def test_a_response_that_breaks_off_is_reset(self):
        self.serve(raw(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this"))
        response = self.client.get()
        self.assertEqual((response.status, response.body), (200, b"only this"))
        self.assertFalse(response.is_ended)
        self.assertNotEqual(response.reset, NO_ERROR)

    def test_a_body_that_does_not_match_its_length_resets_the_stream(self):
        self.serve()
        stream = self.client.open("POST", "/", {"content-length": "10"}, ends=False)
        self.client.send_data(stream, b"short")
        self.assertIsNotNone(self.client.read(stream).reset)
        self.assertEqual(self.client.get().status, 200)

    def test_the_body_is_kept_for_another_try_and_for_stated_costs(self):
        policies = {"llm": {"algorithm": "fixed_window", "rate": "100/1h"}}
        reserve = {"json": "/max_tokens", "default": 1, "at_most": 90}
        self.up = self.upstream()
        self.weir = self.start(configuration(
            upstreams={"main": {"servers": [{"url": self.up.url}]}}, policies=policies,
            identities={"client": {"client_address": {}}},
            routes=[{"upstream": "main", "limits": [
                {"policy": "llm", "key": "client", "reserve": reserve}]}]))
        client = self.speak(self.weir)
        body = json.dumps({"text": "x" * 50_000, "max_tokens": 60}).encode()
        self.assertEqual(client.request("POST", "/", {}, body).body, body)
        self.assertEqual(client.request("POST", "/", {}, body).status, 429)


class Secure(TlsCase):
    def client(self, *protocols):
        context = self.ca.client_context()
        context.set_alpn_protocols(protocols)
        client = Http2Client(self.weir.address, context=context)
        self.addCleanup(client.close)
        return client

    def test_alpn_chooses_http2(self):
        self.serve()
        client = self.client("h2", "http/1.1")
        self.assertEqual(client.sock.selected_alpn_protocol(), "h2")
        body = b"x" * 1_000_000
        self.assertTrue(client.request("POST", "/", {}, body, scheme="https").body == body)
        self.assertEqual(self.up.requests[0]["X-Forwarded-Proto"], "https")
        self.assertEqual(self.secure().get().status, 200)

    def test_it_can_be_switched_off(self):
        up = self.upstream()
        self.weir = self.start(configuration(up.url, listen=self.listening(http2=False)))
        self.assertIn("ALPN protocol: http/1.1", self.s_client("-alpn", "h2,http/1.1"))
        self.assertIn("no application protocol", self.s_client("-alpn", "h2"))

"""Everything that goes wrong has one right answer, made by Weir, as problem+json."""

import socket
import threading

from harness.case import Case, configuration, scaled
from harness.client import Truncated, request_bytes
from harness.services import free_port
from harness.upstream import answer, raw
from harness.waiting import eventually

HOST = b"Host: weir.test\r\n"


class BadRequests(Case):
    """The head or the body is not one that can be passed on; nothing of it reaches the upstream."""

    def setUp(self):
        self.up = self.upstream()
        self.weir = self.start(configuration(self.up.url, downstream={
            "max_head": "8KiB", "max_target": "1KiB", "max_body": "10KiB"}))

    def refused(self, data, status):
        with self.weir.connect() as client:
            client.send(data)
            response = client.read()
            self.assert_problem(response, status)
            self.assertTrue(response.fields.has_token("Connection", "close"), response)
            self.assertTrue(client.is_gone())
        self.assertEqual(self.up.requests, [])
        return response

    def test_431_head_too_large(self):
        self.refused(b"GET / HTTP/1.1\r\n" + HOST + b"A: " + b"x" * 9000 + b"\r\n\r\n", 431)
        many = b"".join(b"N%d: x\r\n" % i for i in range(2000))
        self.refused(b"GET / HTTP/1.1\r\n" + HOST + many + b"\r\n", 431)

    def test_414_target_too_long(self):
        self.refused(b"GET /" + b"x" * 2000 + b" HTTP/1.1\r\n" + HOST + b"\r\n", 414)
        self.refused(b"GET /" + b"x" * 20_000 + b" HTTP/1.1\r\n" + HOST + b"\r\n", 414)

    def test_a_target_and_a_head_within_the_bounds_pass(self):
        with self.weir.connect() as client:
            self.assertEqual(client.get("/" + "x" * 1023).status, 200)
            self.assertEqual(client.get("/", {"A": "x" * 7000}).status, 200)

    def test_413_body_too_large_by_its_length(self):
        self.refused(request_bytes("POST", "/", {"Content-Length": "10241"}), 413)

    def test_413_is_given_instead_of_100(self):
        self.refused(request_bytes("POST", "/",
                                   {"Content-Length": "10241", "Expect": "100-continue"}), 413)

    def test_a_body_of_the_largest_size_passes(self):
        with self.weir.connect() as client:
            self.assertEqual(client.request("POST", "/", body=b"x" * 10240).status, 200)


class BadBodies(Case):
    def test_413_chunked_body_that_grows_too_large(self):
        upstream, weir, _ = self.proxy(downstream={"max_body": "1KiB"})
        for size in (1025, 5000, 300_000):
            with self.subTest(size=size), weir.connect() as client:
                client.send(b"POST / HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\n")
                try:
                    client.send(b"%x\r\n%s\r\n0\r\n\r\n" % (size, b"x" * size))
                except OSError:
                    pass  # it may be told off before it has sent everything
                self.assert_problem(client.read(), 413)

    def test_413_chunked_body_in_one_segment_with_its_head(self):
        upstream, weir, client = self.proxy(downstream={"max_body": "1KiB"})
        client.send(b"POST / HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\n"
                    + b"401\r\n%s\r\n0\r\n\r\n" % (b"x" * 0x401))
        self.assert_problem(client.read(), 413)

    def test_400_chunked_coding_that_breaks_after_its_head_has_gone(self):
        upstream, weir, client = self.proxy()
        client.send(b"POST / HTTP/1.1\r\n" + HOST
                    + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n")
        upstream.await_requests(1)
        client.send(b"zz\r\n")
        self.assert_problem(client.read(), 400)
        self.assertTrue(client.is_gone())

    def test_an_end_within_the_body_is_noticed_at_once(self):
        _, weir, _ = self.proxy(downstream={"body_timeout": "10m"})
        for _ in range(scaled(50)):
            for head in (b"Content-Length: 5\r\n\r\n", b"Content-Length: 5\r\n\r\nhell",
                         b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n"):
                with weir.connect() as client:
                    client.sock.settimeout(20)
                    client.send(b"POST / HTTP/1.1\r\n" + HOST + head)
                    client.sock.shutdown(socket.SHUT_WR)
                    self.assertTrue(client.is_gone())


class SlowClients(Case):
    def test_408_slow_head(self):
        upstream, weir, client = self.proxy(downstream={"head_timeout": "1s"})
        client.send(b"GET / HTTP/1.1\r\nHost: we")
        self.assert_problem(client.read(), 408)
        self.assertTrue(client.is_gone())
        self.assertEqual(upstream.requests, [])

    def test_408_a_head_that_trickles(self):
        _, _, client = self.proxy(downstream={"head_timeout": "1s"})
        client.sock.settimeout(0.1)
        client.send(b"GET / HTTP/1.1\r\n")
        for _ in range(600):
            try:
                client.send(b"A: b\r\n")
                self.assert_problem(client.read(), 408)
                break
            except TimeoutError:
                continue
        else:
            self.fail("a head may trickle for ever")

    def test_408_slow_body(self):
        _, _, client = self.proxy(downstream={"body_timeout": "1s"})
        client.send(request_bytes("POST", "/", {"Content-Length": "10"}) + b"hello")
        self.assert_problem(client.read(), 408)
        self.assertTrue(client.is_gone())

    def test_an_idle_connection_is_closed_without_an_answer(self):
        _, weir, client = self.proxy(downstream={"idle_timeout": "1s"})
        self.assertEqual(client.get("/").status, 200)
        self.assertTrue(client.is_ended())
        self.assertTrue(self.connect(weir).is_ended())


class BadUpstreams(Case):
    def test_404_no_route(self):
        weir = self.start(configuration(
            self.upstream().url, routes=[{"match": {"path": "/only"}, "upstream": "main"}]))
        client = self.connect(weir)
        self.assert_problem(client.get("/other"), 404)
        self.assertEqual(client.get("/only").status, 200)

    def test_502_refused(self):
        weir = self.start(configuration(f"http://127.0.0.1:{free_port()}"))
        for method in ("GET", "POST"):
            self.assert_problem(self.connect(weir).request(method, "/", body=b"x"), 502)

    def test_502_name_that_does_not_exist(self):
        weir = self.start(configuration("http://nowhere.invalid:80"))
        self.assert_problem(self.connect(weir).get("/"), 502)

    def test_502_garbage(self):
        for data in [
            b"garbage\r\n\r\n",
            b"\x16\x03\x01\x00\x05hello\r\n\r\n",
            b"HTTP/1.1 200 OK\nContent-Length: 0\n\n",
            b"HTTP/1.1 200 OK\r\nBad Name: x\r\nContent-Length: 0\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nA: " + b"x" * 100_000 + b"\r\n\r\n",
            b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
        ]:
            with self.subTest(data=data[:60]):
                _, _, client = self.proxy(raw(data))
                self.assert_problem(client.get("/"), 502)
                self.assert_problem(client.get("/"), 502)

    def test_502_another_protocol_is_told_by_its_first_bytes(self):
        for data in (b"SSH-2.0-OpenSSH_9\r\n", b"220 mail ESMTP\r\n",
                     b"\0\0\6\4\0\0\0\0\0\0\5\0\0\x40\0", b"\x15\3\1\0\2\2\x46", b"HTTP/2"):
            with self.subTest(data=data):
                upstream, weir, client = self.proxy(raw(data, close=False))
                self.assert_problem(client.get("/"), 502)
                eventually(lambda: f"127.0.0.1:{upstream.port} sent an answer that is not valid "
                           "HTTP" in weir.stderr, "whose answer it was")

    def test_502_a_body_that_is_malformed_from_the_start(self):
        _, weir, _ = self.proxy(lambda exchange: exchange.send(
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\nzz\r\n"))
        for _ in range(2):
            self.assert_problem(self.connect(weir).get("/"), 502)

    def test_what_is_pipelined_after_a_response_that_breaks_off_is_not_served(self):
        """The client cannot get its response, so it would send the request again."""
        upstream, weir, client = self.proxy(
            raw(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nbegins"))
        client.send(request_bytes("GET", "/first") + request_bytes("GET", "/second"))
        with self.assertRaises(ConnectionResetError):
            while client.sock.recv(4096):
                pass
        self.connect(weir).send(request_bytes("GET", "/third"))
        eventually(lambda: upstream.requests[-1].target == "/third", "the third request arrives")
        self.assertEqual([request.target for request in upstream.requests], ["/first", "/third"])

    def test_502_closed_without_an_answer(self):
        upstream, _, client = self.proxy(raw(b""))
        self.assert_problem(client.get("/"), 502)
        self.assert_problem(client.request("POST", "/", body=b"x"), 502)
        posts = [request for request in upstream.requests if request.method == "POST"]
        self.assertEqual(len(posts), 1)

    def test_502_reset_without_an_answer(self):
        def behaviour(exchange):
            exchange.read_body()
            exchange.reset()

        _, _, client = self.proxy(behaviour)
        self.assert_problem(client.get("/"), 502)

    def test_502_closed_within_the_head(self):
        _, _, client = self.proxy(raw(b"HTTP/1.1 200 OK\r\nContent-Le"))
        self.assert_problem(client.get("/"), 502)

    def test_504_never_answers(self):
        _, weir, client = self.proxy(lambda exchange: exchange.reader.fill(),
                                     main={"response_timeout": "1s"})
        self.assert_problem(client.get("/"), 504)
        with weir.connect() as other:
            self.assert_problem(other.request("POST", "/", body=b"x" * 100_000), 504)

    def test_504_never_ends_its_head(self):
        def behaviour(exchange):
            exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n")
            exchange.reader.fill()

        _, _, client = self.proxy(behaviour, main={"response_timeout": "1s"})
        self.assert_problem(client.get("/"), 504)

    def test_answers_of_weir_itself_keep_the_connection_when_the_request_was_read(self):
        weir = self.start(configuration(f"http://127.0.0.1:{free_port()}"))
        client = self.connect(weir)
        for _ in range(3):
            response = client.get("/")
            self.assert_problem(response, 502)
            self.assertFalse(response.fields.has_token("Connection", "close"))

    def test_an_answer_to_head_has_no_body(self):
        weir = self.start(configuration(f"http://127.0.0.1:{free_port()}"))
        client = self.connect(weir)
        for _ in range(2):
            response = client.request("HEAD", "/")
            self.assertEqual((response.status, response.body), (502, b""))

    def test_nor_has_one_to_a_head_that_is_none(self):
        weir = self.start(configuration("http://127.0.0.1:1", downstream={
            "max_head": "8KiB", "head_timeout": "300ms"}))
        for data, status in [
            (b"HEAD / HTTP/1.1\r\n" + HOST + b"Name : value\r\n\r\n", 400),
            (b"HEAD / HTTP/1.1\r\n" + HOST, 408),
            (b"HEAD / HTTP/1.1\r\n" + HOST + b"A: " + b"b" * 9000 + b"\r\n\r\n", 431),
            (b"\r\nHEAD / HTTP/1.2\r\n" + HOST + b"\r\n", 505),
        ]:
            with weir.connect() as client:
                client.send(data)
                response = client.read("HEAD")
                self.assertEqual(response.status, status)
                self.assertGreater(int(response["Content-Length"]), 0)
                self.assertTrue(client.is_ended())


class CutAnswers(Case):
    """What the upstream did not finish must not look finished."""

    def assert_cut(self, data, version="1.1", reset=False):
        def behaviour(exchange):
            exchange.read_body()
            exchange.send(data)
            exchange.reset() if reset else exchange.close()

        _, _, client = self.proxy(behaviour)
        with self.assertRaises((Truncated, ConnectionResetError, ValueError)):
            client.request("GET", "/", {"Host": "weir.test"}, version=version)

    def test_a_chunked_answer_that_becomes_malformed(self):
        has_begun = threading.Event()
        self.addCleanup(has_begun.set)

        def behaviour(exchange):
            exchange.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n")
            has_begun.wait(60)
            exchange.send(b"zz\r\n")

        _, _, client = self.proxy(behaviour)
        client.send(request_bytes("GET", "/"))
        head = client.read_head()
        has_begun.set()
        with self.assertRaises((Truncated, ConnectionResetError, ValueError)):
            client.reader.body(head, "close")

    def test_a_chunked_answer_to_a_client_of_http_1_0(self):
        head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        self.assert_cut(head + b"5\r\nhello\r\n", version="1.0")

    def test_a_close_delimited_answer_that_is_reset(self):
        self.assert_cut(b"HTTP/1.1 200 OK\r\n\r\nhello", reset=True)

    def test_a_stalled_answer(self):
        def behaviour(exchange):
            exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello")
            exchange.reader.fill()

        _, _, client = self.proxy(behaviour, downstream={"body_timeout": "1s"})
        with self.assertRaises((Truncated, ConnectionResetError)):
            client.get("/")


class TooManyConnections(Case):
    def test_503_beyond_max_connections_and_service_again_below(self):
        weir = self.start(configuration(self.upstream(answer(b"fine")).url,
                                        downstream={"max_connections": 2}))
        first, second = self.connect(weir), self.connect(weir)
        self.assertEqual((first.get("/").status, second.get("/").status), (200, 200))
        third = self.connect(weir)
        third.send(request_bytes("GET", "/"))
        response = third.read()
        self.assert_problem(response, 503)
        self.assertTrue(response.fields.has_token("Connection", "close"))
        self.assertTrue(third.is_gone())
        self.assertIn("connections are refused: as many are open as downstream.max_connections allows, 2", weir.stderr)
        self.assertEqual(first.get("/").status, 200)
        second.close()
        self.assertEqual(first.get("/").status, 200)
        for _ in range(1000):
            with weir.connect() as again:
                again.send(request_bytes("GET", "/"))
                if again.read().status == 200:
                    return
        self.fail("no connection is accepted after one has gone")

"""HTTP/2 towards servers: streams, bodies, refusals, the end of connections (RFC 9113)."""

import signal

from harness.case import configuration
from harness.http2 import CANCEL, DATA, END_STREAM, INTERNAL_ERROR, REFUSED_STREAM, frame, hpack
from harness.http2_case import Http2UpstreamCase
from harness.http2_upstream import MAX_CONCURRENT_STREAMS, echo
from harness.upstream import echo as http1_echo
from harness.waiting import eventually


class Requests(Http2UpstreamCase):
    def test_a_request_of_http1_reaches_the_server_as_one_of_http2(self):
        self.begin()
        response = self.client.request("POST", "/a?b=c", {
            "Host": "api.test", "X-Key": "1", "Connection": "x-hop, te", "X-Hop": "2", "TE": "trailers",
            "Content-Length": "5"}, b"hello")
        self.assertEqual((response.status, response.body), (200, b"hello"))
        request = self.up.requests[0]
        self.assertEqual(request.pseudo, {":method": "POST", ":scheme": "http", ":authority": "api.test",
                                          ":path": "/a?b=c"})
        self.assertEqual(request["x-key"], "1")
        self.assertEqual(request["te"], "trailers")
        self.assertEqual(request["content-length"], "5")
        self.assertTrue(request["via"].startswith("1.1 weir-"), request["via"])
        self.assertEqual(request["x-forwarded-host"], "api.test")
        for name in "host", "connection", "x-hop", "transfer-encoding":
            self.assertIsNone(request[name])
        self.assertTrue(all(name == name.lower() for name, _ in request.fields.lines))

    def test_requests_share_one_connection(self):
        self.begin(behaviour=None)
        answers = self.later(*[("GET", f"/{number}") for number in range(10)])
        for exchange in list(self.up.await_requests(10)):
            exchange.answer(200, {}, exchange.pseudo[":path"].encode())
        self.assertEqual({answer.result().body for answer in answers}, {b"/%d" % number for number in range(10)})
        self.assertEqual([exchange.number for exchange in self.up.requests], [1] * 10)

    def test_bodies_of_unknown_length_pass_with_their_trailers(self):
        def behaviour(exchange):
            exchange.answer(200, {"trailer": "x-sum"}, exchange.body, {"x-sum": "7", "connection-less": "1"})

        self.begin(behaviour)
        response = self.client.request("POST", "/", {"TE": "trailers", "Transfer-Encoding": "chunked",
                                                     "Trailer": "X-Md"}, b"5\r\nhello\r\n0\r\nX-Md: 9\r\n\r\n")
        self.assertEqual((response.status, response.body), (200, b"hello"))
        self.assertTrue(response.fields.has_token("Transfer-Encoding", "chunked"))
        self.assertEqual(response.trailers.get("x-sum"), "7")
        self.assertEqual(self.up.requests[0].trailers.get("x-md"), "9")

    def test_both_sides_may_speak_http2(self):
        def behaviour(exchange):
            exchange.answer(200, {"x-one": "1"}, exchange.body, {"grpc-status": "0"})

        self.begin(behaviour)
        client = self.speak(self.weir)
        response = client.request("POST", "/x", {"te": "trailers"}, b"hello")
        self.assertEqual((response.status, response.body), (200, b"hello"))
        self.assertEqual(response.trailers.get("grpc-status"), "0")
        self.assertTrue(self.up.requests[0]["via"].startswith("2.0 "))

    def test_fields_that_are_never_indexed_stay_so(self):
        """RFC 7541 section 7.1.3: they are secrets that a guess could be tested against."""
        secret = hpack.NeverIndexedHeaderTuple

        def behaviour(exchange):
            exchange.head(200, [secret("x-token", "c"), ("x-other", "1"), ("trailer", "x-sum")])
            exchange.connection.send(frame(DATA, 0, exchange.stream, b"body"))
            exchange.connection.send_fields(exchange.stream, [secret("x-sum", "d")], END_STREAM)

        self.begin(behaviour)
        client = self.speak(self.weir)
        response = client.get("/", [secret("x-key", "a"), ("x-plain", "2"), ("cookie", "long-enough-to-be-indexed=1"),
                                    secret("cookie", "b=2"), ("te", "trailers")])
        self.assertEqual((response.status, response.body), (200, b"body"))

        def kept(fields):
            return {name for name, value in map(tuple, filter(lambda one: not one.indexable, fields.lines))}

        self.assertEqual(kept(self.up.requests[0].fields), {"x-key", "cookie"})
        self.assertEqual(self.up.requests[0]["cookie"], "long-enough-to-be-indexed=1; b=2")
        self.assertEqual(kept(response.fields), {"x-token"})
        self.assertEqual(kept(response.trailers), {"x-sum"})

    def test_a_response_of_trailers_only_and_one_without_a_body(self):
        self.begin(lambda exchange: exchange.answer(
            200 if exchange.pseudo[":path"] == "/only" else 204, {"grpc-status": "5"}))
        client = self.speak(self.weir)
        only = client.get("/only")
        self.assertEqual((only.status, only["grpc-status"], only.body), (200, "5", b""))
        self.assertEqual(client.get("/none").status, 204)
        self.assertEqual(self.client.get("/none").status, 204)
        self.assertEqual(self.client.get("/only").body, b"")

    def test_a_call_without_a_message_ends_by_a_data_frame(self):
        self.begin()
        client = self.speak(self.weir)
        for media_type, ended_by_head in [("application/grpc", False), ("text/plain", True)]:
            self.assertEqual(client.request("POST", "/", {"content-type": media_type}).status, 200)
            self.assertEqual(self.up.requests[-1].ended_by_head, ended_by_head)

    def test_interim_responses_come_before_the_final_one(self):
        def behaviour(exchange):
            for number in range(2):
                exchange.head(103, {"link": str(number)})
            exchange.answer(200, {}, b"x")

        self.begin(behaviour)
        client = self.speak(self.weir)
        response = client.get("/")
        self.assertEqual([fields.get("link") for _, fields in response.interim], ["0", "1"])
        self.assertEqual(response.body, b"x")

    def test_an_upgrade_of_http1_is_sent_without_its_offer(self):
        self.begin()
        response = self.client.get("/", {"Connection": "upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
                                         "Sec-WebSocket-Key": "AQIDBAUGBwgJCgsMDQ4PEA=="})
        self.assertEqual(response.status, 200)
        for name in "connection", "upgrade":
            self.assertNotIn(name, self.up.requests[0].fields)

    def test_an_extended_connect_is_answered_501(self):
        self.begin()
        client = self.speak(self.weir)
        stream = client.open("CONNECT", "/", [("sec-websocket-version", "13")], ends=False, protocol="websocket")
        self.assert_problem(client.read(stream), 501, "HTTP/2")
        self.assertEqual(client.get().status, 200)
        self.assertEqual(len(self.up.requests), 1)

    def test_head_and_304_have_no_body(self):
        self.begin(lambda exchange: exchange.answer(
            304 if exchange.pseudo[":path"] == "/304" else 200, {"content-length": "7"}))
        response = self.client.request("HEAD", "/")
        self.assertEqual((response.status, response["content-length"]), (200, "7"))
        self.assertEqual(self.client.get("/304").status, 304)
        self.assertEqual(self.client.request("HEAD", "/").status, 200)

    def test_the_response_may_come_before_the_request_is_complete(self):
        self.begin(behaviour=None, options={"on_head": lambda exchange: exchange.answer(413, {}, b"too much")})
        client = self.speak(self.weir)
        stream = client.open("POST", "/", ends=False)
        response = client.read(stream)
        self.assertEqual((response.status, response.body), (413, b"too much"))
        eventually(lambda: self.up.begun[0].reset_by_peer is not None, "the reset of the rest")

    def test_the_names_of_a_route_hold_here_too(self):
        self.begin(routes=[{"name": "all", "match": {"path": "/**"}, "upstream": "main",
                            "request_headers": {"set": {"Host": "inner.test", "X-Set": "1"}, "remove": ["x-key"]}}])
        self.client.get("/", {"X-Key": "1"})
        request = self.up.requests[0]
        self.assertEqual((request.pseudo[":authority"], request["x-set"], request["x-key"], request["host"]),
                         ("inner.test", "1", None, None))


class Backpressure(Http2UpstreamCase):
    def test_a_large_body_passes_as_the_windows_allow(self):
        body = bytes(range(256)) * 4096
        self.begin(lambda exchange: exchange.answer(200, {}, exchange.body[:60000]))
        response = self.client.request("POST", "/", {"Content-Length": str(len(body))}, body)
        self.assertEqual(response.body, body[:60000])
        self.assertEqual(self.up.requests[0].body, body)

    def test_a_server_that_takes_no_more_holds_the_client_back(self):
        self.begin(behaviour=None, options={"holds_windows": True})
        client = self.speak(self.weir)
        stream = client.open("POST", "/", ends=False)
        self.up.await_heads(1)
        held, other = self.up.begun[0], self.connect(self.weir)
        eventually(lambda: self.give(client, stream), "a full window towards the client")
        eventually(lambda: len(held.body) == 65535, "the window of the server")
        client.ping()
        self.assertEqual(len(held.body), 65535)
        answer, = self.later(("GET", "/other"))
        eventually(lambda: self.up.requests and self.up.requests[0].answer() is None, "another request")
        self.assertEqual(answer.result().status, 200)
        other.close()
        held.connection.send(b"")
        held.answer(200)

    def give(self, client, stream):
        """Sends as much as the window of Weir allows; true when it is full."""
        while client.credit_of(stream) > 0 and client.credit_of(0) > 0:
            size = min(16384, client.credit_of(stream), client.credit_of(0))
            client.send_data(stream, b"x" * size, ends=False)
        client.ping()
        return client.credit_of(stream) <= 0

    def test_a_slow_client_holds_back_its_own_stream_only(self):
        size = 400_000

        def behaviour(exchange):
            if exchange.pseudo[":path"] == "/slow":
                exchange.head(200)
                exchange.data(b"x" * 65535)
            else:
                exchange.answer(200, {}, b"fast")

        self.begin(behaviour)
        slow = self.speak(self.weir, holds_windows=True, settings={4: 1000})
        streams = [slow.open("GET", "/slow") for _ in range(20)]
        self.up.await_requests(20)
        for _ in range(3):
            self.assertEqual(self.client.get("/fast").body, b"fast")
        slow.open_window(0, size)
        slow.open_window(streams[0], size)
        slow.read_until(lambda: len(slow.streams[streams[0]].body) == 65535)


class Failures(Http2UpstreamCase):
    def test_a_refused_stream_is_sent_again_whatever_its_method(self):
        refused = []

        def behaviour(exchange):
            if not refused:
                refused.append(exchange.stream)
                return exchange.reset(REFUSED_STREAM)
            return echo(exchange)

        self.begin(behaviour)
        response = self.client.request("POST", "/", {"Content-Length": "5"}, b"hello")
        self.assertEqual((response.status, response.body), (200, b"hello"))
        self.assertEqual(len(self.up.requests), 2)
        self.assertEqual(len(self.up.connections), 1)

    def test_a_stream_beyond_goaway_is_sent_again_on_another_connection(self):
        def behaviour(exchange):
            if exchange.number == 1 and exchange.stream > 1:
                return exchange.connection.goaway(1)
            return echo(exchange)

        self.begin(behaviour)
        self.assertEqual(self.client.get("/first").status, 200)
        response = self.client.request("POST", "/second", {"Content-Length": "5"}, b"hello")
        self.assertEqual((response.status, response.body), (200, b"hello"))
        self.assertEqual([(one.number, one.stream) for one in self.up.requests], [(1, 1), (1, 3), (2, 1)])
        eventually(lambda: self.up.open_connections == 1, "the end of the first connection")

    def test_streams_within_goaway_are_finished(self):
        self.begin(behaviour=None)
        first, = self.later(("GET", "/1"))
        self.up.await_requests(1)
        self.up.connections[0].goaway(1)
        second, = self.later(("GET", "/2"))
        self.up.await_requests(2)
        self.up.requests[0].answer(200, {}, b"one")
        self.up.requests[1].answer(200, {}, b"two")
        self.assertEqual((first.result().body, second.result().body), (b"one", b"two"))
        self.assertEqual([one.number for one in self.up.requests], [1, 2])

    def test_other_resets_are_failures_of_the_server(self):
        self.begin(lambda exchange: exchange.reset(INTERNAL_ERROR), upstream={"retries": 0})
        self.assert_problem(self.client.get("/"), 502)
        self.assert_problem(self.client.request("POST", "/", {"Content-Length": "1"}, b"x"), 502)
        self.assertEqual(len(self.up.requests), 2)
        self.assertEqual(len(self.up.connections), 1)

    def test_a_response_that_is_reset_is_cut(self):
        def behaviour(exchange):
            exchange.head(200)
            exchange.data(b"part")
            exchange.reset(INTERNAL_ERROR)

        self.begin(behaviour)
        client = self.speak(self.weir)
        response = client.get("/")
        self.assertFalse(response.is_ended)
        self.assertIsNotNone(response.reset)

    def test_a_malformed_response_ends_its_stream_only(self):
        def behaviour(exchange):
            if exchange.pseudo[":path"] == "/good":
                return echo(exchange)
            return exchange.answer(200, {"connection": "close"})

        self.begin(behaviour, upstream={"retries": 0})
        self.assert_problem(self.client.get("/bad"), 502, "valid HTTP")
        self.assertEqual(self.client.get("/good").status, 200)
        self.assertEqual(len(self.up.connections), 1)

    def test_a_body_of_another_length_is_malformed(self):
        def behaviour(exchange):
            exchange.head(200, {"content-length": "3"})
            exchange.data(b"four", ends=True)

        self.begin(behaviour)
        response = self.speak(self.weir).get("/")
        self.assertTrue(response.status == 502 or response.reset is not None, response)

    def test_a_server_of_http1_is_named_in_the_log(self):
        up = self.upstream(http1_echo)
        config = configuration(up.url)
        config["upstreams"]["main"].update({"protocol": "http2", "retries": 0})
        weir = self.start(config)
        self.assert_problem(self.connect(weir).get("/"), 502)
        eventually(lambda: "sent an answer that is not valid HTTP" in weir.stderr, "the line about the server")

    def test_the_end_of_a_connection_is_survived(self):
        self.begin()
        self.assertEqual(self.client.get("/1").status, 200)
        self.up.connections[0].close()
        eventually(lambda: self.up.open_connections == 0, "the end")
        self.assertEqual(self.client.get("/2").status, 200)
        self.assertEqual(len(self.up.connections), 2)

    def test_a_client_that_leaves_resets_its_stream_only(self):
        self.begin(behaviour=None)
        client = self.speak(self.weir)
        gone, kept = client.open("GET", "/gone"), client.open("GET", "/kept")
        self.up.await_requests(2)
        client.reset(gone)
        exchanges = {one.pseudo[":path"]: one for one in self.up.requests}
        eventually(lambda: exchanges["/gone"].reset_by_peer == CANCEL, "the reset")
        exchanges["/kept"].answer(200, {}, b"kept")
        self.assertEqual(client.read(kept).body, b"kept")

    def test_a_connection_on_which_nothing_arrives_in_time_is_given_up(self):
        self.begin(lambda exchange: exchange.pseudo[":path"] == "/lost" or echo(exchange),
                   upstream={"response_timeout": "300ms", "retries": 0})
        self.assertEqual(self.client.get("/first").status, 200)
        self.assert_problem(self.client.get("/lost"), 504)
        self.assertEqual(self.client.get("/next").status, 200)
        self.assertEqual([one.number for one in self.up.requests], [1, 1, 2])

    def test_nobody_listens(self):
        self.begin(upstream={"retries": 0})
        self.up.stop()
        self.assert_problem(self.client.get("/"), 502)


class Connections(Http2UpstreamCase):
    def test_the_limit_of_the_server_opens_another_connection(self):
        self.begin(behaviour=None, options={"settings": {MAX_CONCURRENT_STREAMS: 2}})
        first, = self.later(("GET", "/0"))
        self.up.await_requests(1)
        answers = self.later(("GET", "/1"), ("GET", "/2"), ("GET", "/3"))
        self.up.await_requests(4)
        for exchange in list(self.up.requests):
            exchange.answer()
        self.assertEqual([one.result().status for one in [first, *answers]], [200] * 4)
        self.assertEqual(sorted(one.number for one in self.up.requests), [1, 1, 2, 2])

    def test_idle_connections_are_closed(self):
        self.begin(upstream={"idle_timeout": "1s"})
        self.assertEqual(self.client.get("/").status, 200)
        eventually(lambda: self.up.open_connections == 0, "the end of the idle connection")
        self.assertEqual(self.client.get("/").status, 200)

    def test_a_stop_finishes_what_is_in_progress(self):
        self.begin(behaviour=None)
        answer, = self.later(("GET", "/"))
        self.up.await_requests(1)
        self.weir.signal(signal.SIGTERM)
        self.up.requests[0].answer(200, {}, b"done")
        self.assertEqual(answer.result().body, b"done")
        self.client.close()
        self.assertEqual(self.weir.wait(), 0)

    def test_a_reload_keeps_connections_and_a_removed_server_loses_them(self):
        self.begin()
        self.assertEqual(self.client.get("/").status, 200)
        other = self.http2_upstream()
        for count, url in enumerate([self.up.url, other.url], 1):
            config = configuration(url, access_log={"sample": 1})
            config["upstreams"]["main"]["protocol"] = "http2"
            self.weir.write(config)
            self.weir.signal(signal.SIGHUP)
            eventually(lambda: self.weir.stderr.count("configuration reloaded") == count, "the reload")
            self.assertEqual(self.client.get("/").status, 200)
        self.assertEqual((len(self.up.connections), len(self.up.requests), len(other.requests)), (1, 2, 1))
        eventually(lambda: self.up.open_connections == 0, "the end of the connection to the removed server")

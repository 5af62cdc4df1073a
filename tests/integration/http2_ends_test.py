"""How connections and streams of HTTP/2 end: drains, reloads, timeouts, clients that do not read."""

import signal

from harness.case import configuration
from harness.exposition import parse
from harness.http2 import CANCEL, INITIAL_WINDOW_SIZE, INTERNAL_ERROR, NO_ERROR, PREFACE
from harness.http2_case import Http2Case
from harness.preload import fast_clock
from harness.upstream import answer, raw
from harness.waiting import eventually


class Ends(Http2Case):
    def test_a_connection_that_is_closed_for_its_glitches_is_counted(self):
        self.serve(admin={"address": "127.0.0.1:0"}, downstream={"http2": {"glitches": 8}})
        for number in range(6):
            self.client.reset(self.client.open(ends=False))
            if number < 5:  # the last reset may end the connection before a ping is answered
                self.client.ping()
        self.client.read_to_end()
        self.assertEqual(self.client.goaways[-1][1], NO_ERROR)

        def given_up():
            with self.connect_admin(self.weir) as admin:
                return parse(admin.get("/metrics").body.decode())["weir_http2_given_up_total", frozenset()]

        eventually(lambda: given_up() == 1, "the count")

    def test_a_drain_finishes_streams_and_says_goaway(self):
        late, may_answer = self.late_upstream()
        weir = self.start(configuration(late.url))
        client, idle = self.speak(weir), self.speak(weir)
        idle.ping()
        stream = client.open()
        late.await_requests(1)
        weir.signal(signal.SIGTERM)
        for one in idle, client:
            one.read_until(lambda one=one: len(one.goaways) == 1)
            self.assertEqual(one.goaways[0], ((1 << 31) - 1, NO_ERROR))
        idle.read_to_end()
        self.assertEqual(idle.goaways[-1], (0, NO_ERROR))
        client.read_until(lambda: len(client.goaways) == 2)
        self.assertEqual(client.goaways[-1], (stream, NO_ERROR))
        client.ping()  # what a client sends meanwhile does not end its streams
        client.ping()
        may_answer.set()
        self.assertEqual(client.read(stream).body, b"late")
        client.read_to_end()
        self.assertEqual(weir.wait(), 0)

    def test_a_drain_cuts_no_frame_of_a_client_that_reads_slowly(self):
        body = bytes(range(251)) * 40_000
        self.up = self.upstream(answer(body))
        self.weir = self.start(configuration(self.up.url))
        slow, idle = self.speak(self.weir, settings={INITIAL_WINDOW_SIZE: 1 << 30}), self.speak(self.weir)
        idle.ping()
        stream = slow.open()
        self.up.await_requests(1)
        self.weir.signal(signal.SIGTERM)
        idle.read_to_end()  # after the time in which new requests are taken
        self.assertTrue(slow.read(stream).body == body, "the body is whole")
        slow.read_to_end()
        self.assertEqual(slow.goaways[-1], (stream, NO_ERROR))

    def test_a_client_that_stops_reading_its_socket_is_closed(self):
        self.up = self.upstream(answer(b"x" * 1_000_000))
        self.weir = self.start(configuration(self.up.url, downstream={"body_timeout": "300ms"},
                                             admin={"address": "127.0.0.1:0"}))
        deaf = self.speak(self.weir, settings={INITIAL_WINDOW_SIZE: 1 << 30})
        for _ in range(50):
            deaf.open()
        admin = self.connect_admin(self.weir)

        def connections():
            return parse(admin.get("/metrics").body.decode())["weir_http2_connections", frozenset()]

        eventually(lambda: self.up.requests and connections() == 0, "the connection is closed")

    def test_a_reload_leaves_streams_in_progress_alone(self):
        late, may_answer = self.late_upstream(b"first")
        weir = self.start(configuration(late.url))
        client = self.speak(weir)
        stream = client.open()
        late.await_requests(1)
        weir.write(configuration(routes=[{"respond": {"body": "second"}}]))
        weir.signal(signal.SIGHUP)
        eventually(lambda: "configuration reloaded" in weir.stderr, "the reload")
        self.assertEqual(client.get().body, b"second")
        may_answer.set()
        self.assertEqual(client.read(stream).body, b"first")

    def test_a_connection_beyond_its_age_drains(self):
        late, may_answer = self.late_upstream()
        weir = self.start(configuration(late.url, downstream={"max_age": "5s"}),
                          environment=fast_clock(10))
        client, idle = self.speak(weir), self.speak(weir)
        idle.ping()
        stream = client.open()
        late.await_requests(1)
        for one in idle, client:
            one.read_until(lambda one=one: len(one.goaways) == 1)
            self.assertEqual(one.goaways[0], ((1 << 31) - 1, NO_ERROR))
        idle.read_to_end()
        self.assertEqual(idle.goaways[-1], (0, NO_ERROR))
        client.read_until(lambda: len(client.goaways) == 2)
        self.assertEqual(client.goaways[-1], (stream, NO_ERROR))
        self.speak(weir).ping()  # new connections are served
        may_answer.set()
        self.assertEqual(client.read(stream).body, b"late")
        client.read_to_end()

    def test_a_listener_that_is_removed_drains_its_connections(self):
        weir = self.start(configuration(routes=[{"respond": {}}]))
        client = self.speak(weir)
        self.assertEqual(client.get().status, 200)
        weir.write(configuration(routes=[{"respond": {}}]))
        weir.write(weir.file.read_text().replace("127.0.0.1:0", "127.0.0.2:0"))
        weir.signal(signal.SIGHUP)
        client.read_to_end()
        self.assertEqual([code for _, code in client.goaways], [NO_ERROR] * 2)

    def test_timeouts(self):
        late, _ = self.late_upstream()
        short = {"idle_timeout": "300ms", "head_timeout": "400ms", "body_timeout": "500ms"}
        weir = self.start(configuration(late.url, downstream=short))
        idle = self.speak(weir)
        idle.read_to_end()
        self.assertEqual([code for _, code in idle.goaways], [NO_ERROR])
        served = self.speak(weir, holds_windows=True)  # it sends nothing after its requests
        for _ in range(2):
            self.assertEqual(served.request("TRACE").status, 405)
        served.read_to_end()
        self.assertEqual([code for _, code in served.goaways], [NO_ERROR])
        half = self.speak(weir)
        half.send(b"\0\0\5\1\0\0\0\0\1\x82\x86\x84\x41\x00")  # a head without END_HEADERS
        half.read_to_end()
        self.assertEqual(len(half.goaways), 1)
        silent = self.connect(weir)
        silent.send(PREFACE)
        self.assertTrue(silent.is_gone())
        slow = self.speak(weir)
        stream = slow.open("POST", "/", ends=False)
        slow.send_data(stream, b"a", ends=False)
        self.assert_problem(slow.read(stream), 408)

    def test_a_window_that_stays_closed_ends_its_stream(self):
        self.up = self.upstream(answer(b"x" * 1_000_000))
        self.weir = self.start(configuration(self.up.url, downstream={"body_timeout": "300ms"}))
        client = self.speak(self.weir, settings={INITIAL_WINDOW_SIZE: 10}, holds_windows=True)
        self.assertNotIn(client.get().reset, (None, NO_ERROR))
        self.assertNotIn(client.get().reset, (None, NO_ERROR))

    def test_a_window_that_stays_closed_holds_up_no_other_stream(self):
        self.up = self.upstream(lambda exchange: exchange.answer(
            b"x" * 3_000_000 if exchange.target == "/large" else b"small"))
        self.weir = self.start(configuration(self.up.url, downstream={"body_timeout": "500ms"}, access_log={}))
        client = self.speak(self.weir, settings={INITIAL_WINDOW_SIZE: 1000}, holds_windows=True)
        client.open_window(0, 1 << 30)
        slow = client.open("GET", "/large")
        client.read_until(lambda: len(client.streams[slow].body) == 1000)

        def is_reset():
            self.assertEqual(client.get("/small").body, b"small")
            return client.streams[slow].reset is not None

        eventually(is_reset, "the stream whose window is closed ends")
        self.assertEqual((client.streams[slow].reset, len(client.streams[slow].body)), (INTERNAL_ERROR, 1000))
        self.assertEqual((client.get("/small").body, client.goaways), (b"small", []))
        eventually(lambda: '"path":"/large"' in self.weir.stdout, "the line of the stream")
        line = next(line for line in self.log_lines(1) if line["path"] == "/large")
        self.assertEqual((line["status"], line["aborted_by"], line["upstream_error"]), (200, "client", None))

    def cut_behind_a_window(self, **downstream):
        """A response that breaks off while 40 bytes of it wait for the window of the client."""
        self.up = self.upstream(raw(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n" + b"x" * 50))
        self.weir = self.start(configuration(self.up.url, downstream=downstream, access_log={}))
        client = self.speak(self.weir, settings={INITIAL_WINDOW_SIZE: 10}, holds_windows=True)
        stream = client.open()
        [line] = self.log_lines(1)
        self.assertEqual((line["status"], line["aborted_by"]), (200, "upstream"))
        return client, stream

    def test_a_cut_waits_for_the_bytes_before_it(self):
        client, stream = self.cut_behind_a_window()
        response = client.streams[stream]
        for size in 10, 49:
            client.read_until(lambda size=size: len(response.body) == size)
            client.ping()
            self.assertIsNone(response.reset)
            client.open_window(stream, 39 if size == 10 else 1)
        client.read(stream)
        self.assertEqual((response.body, response.is_ended, response.reset), (b"x" * 50, False, INTERNAL_ERROR))

    def test_a_cut_does_not_wait_for_ever(self):
        client, stream = self.cut_behind_a_window(body_timeout="300ms")
        response = client.read(stream)
        self.assertEqual((response.body, response.is_ended, response.reset), (b"x" * 10, False, CANCEL))

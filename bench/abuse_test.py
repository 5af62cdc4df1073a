"""The judgement and the frames of script/bench abuse: python3 bench/abuse_test.py"""

import socket
import threading
import unittest

import abuse_http2
from abuse import judged, options_of
from abuse_http2 import ACK, ENTRY, GOAWAY, HEADERS, PING, PREFACE, frame


class Judged(unittest.TestCase):
    def test_medians_are_compared(self):
        for usual, under, expected in (
            ([1.0], [2.0], True),
            ([1.0], [2.01], False),
            ([1.0, 9.0, 1.1], [2.1, 0.1, 50.0], True),
            ([1.0, 0.1, 1.1], [2.1, 2.1, 0.1], False),
        ):
            with self.subTest(usual=usual, under=under):
                self.assertEqual(judged(usual, under), expected)


class Options(unittest.TestCase):
    def test_rounds(self):
        self.assertIsNone(options_of([]).judge)
        self.assertEqual(options_of(["--judge"]).judge, 5)
        self.assertEqual(options_of(["--judge", "3", "--attacks", "handshakes"]).judge, 3)

    def test_the_connections_of_floods(self):
        options = options_of(["--connections", "1", "--attacks", "settings,small_chunks,idle_http2"])
        self.assertEqual([one.connections for one in options.attacks], [1, 1, 2000])
        self.assertEqual([one.connections for one in options_of(["--attacks", "settings"]).attacks], [50])

    def test_what_cannot_be_judged(self):
        for arguments in (["--judge", "0"], ["--judge", "--attacks", "idle"]):
            with self.subTest(arguments), self.assertRaises(SystemExit):
                options_of(arguments)


def frames_of(data):
    """(type, flags, stream, payload) of each; what is not a whole frame fails."""
    found = []
    while data:
        size = int.from_bytes(data[:3], "big")
        if len(data) < 9 + size:
            raise AssertionError(f"{len(data)} bytes are no frame of {size} bytes")
        found.append((data[3], data[4], int.from_bytes(data[5:9], "big"), data[9:9 + size]))
        data = data[9 + size:]
    return found


class Http2(unittest.TestCase):
    def assert_valid(self, data, opens_once):
        self.assertTrue(data.startswith(PREFACE))
        frames = frames_of(data[len(PREFACE):])
        self.assertLessEqual(max(len(payload) for *_, payload in frames), 16384)
        opened = [stream for kind, _, stream, _ in frames if kind == HEADERS]
        self.assertTrue(all(stream % 2 == 1 for stream in opened))
        self.assertEqual(opened, sorted(opened))
        if opens_once:
            self.assertEqual(len(opened), len(set(opened)))

    def test_floods_are_frames(self):
        for name, flood in abuse_http2.FLOODS.items():
            with self.subTest(name):
                self.assert_valid(flood.first(20), opens_once=name != "second_heads")
                frames_of(flood.again())

    def test_what_is_sent_once(self):
        for name, (_, _, first) in abuse_http2.HELD.items():
            with self.subTest(name):
                self.assert_valid(first, opens_once=True)

    def test_entries_are_counted(self):
        entries = {"hpack_bombs": 31 * 4033, "crumbs": 3300 * 39}
        for name, size in entries.items():
            with self.subTest(name):
                *_, last = frames_of(abuse_http2.FLOODS[name].step(0))
                self.assertLess(size, 4 * 32 * 1024)  # what Weir decodes before it ends a connection
                self.assertEqual(last[3].count(ENTRY), size // (4033 if name == "hpack_bombs" else 39))

    def test_the_end_is_described(self):
        for goes_away, expected in ((True, "ENHANCE_YOUR_CALM at 3, closed at 3"), (False, "open after 5")):
            with self.subTest(expected), socket.create_server(("127.0.0.1", 0)) as listener:
                server = threading.Thread(target=self.serve, args=(listener, goes_away))
                server.start()
                flood = abuse_http2.FLOODS["settings"]
                self.assertEqual(abuse_http2.ending(listener.getsockname()[1], flood, most_steps=5), expected)
                server.join()

    @staticmethod
    def serve(listener, goes_away):
        """Replies to two PINGs, and then goes away or replies to all others."""
        sock, _ = listener.accept()
        with sock, sock.makefile("rb") as sent:
            sent.read(len(PREFACE))
            pings = 0
            while header := sent.read(9):
                payload = sent.read(int.from_bytes(header[:3], "big"))
                if header[3] != PING:
                    continue
                pings += 1
                if goes_away and pings == 3:
                    return sock.sendall(frame(GOAWAY, 0, 0, bytes(7) + b"\x0b"))
                sock.sendall(frame(PING, ACK, 0, payload))


if __name__ == "__main__":
    unittest.main()

"""Floods of HTTP/2: how the connection of each ends, beside a client that is served meanwhile."""

import re
import sys
from pathlib import Path

from harness.abuse import AbuseCase
from harness.http2 import Http2Client
from harness.waiting import eventually

sys.path.append(str(Path(__file__).resolve().parents[2] / "bench"))
from abuse_http2 import ERRORS, FLOODS, Watched, ending  # noqa: E402

# A flood that leaves no stream in progress ends with the GOAWAY at three quarters of the budget.
DRAINED = "NO_ERROR, closed"
SPENT = "NO_ERROR, ENHANCE_YOUR_CALM, closed"

# How a connection ends that sends the flood step by step. The budget ends those with a GOAWAY of NO_ERROR, and
# weir_http2_given_up_total counts them; the others are faults of the connection.
ENDS = {
    "rapid_resets": DRAINED,
    "many_streams": SPENT,
    "continuations": "PROTOCOL_ERROR, closed",
    "window_overflows": DRAINED,
    "second_heads": DRAINED,
    "long_bodies": DRAINED,
    "zero_updates": "PROTOCOL_ERROR, closed",
    "late_data": "STREAM_CLOSED, closed",
    "settings": DRAINED,
    "pings": "open",  # one by one they are keepalives
    "priorities": DRAINED,
    "window_updates": DRAINED,
    "empty_data": SPENT,
    "late_updates": DRAINED,
    "refused_heads": SPENT,
    "ignored_heads": SPENT,
    "unknown_frames": DRAINED,
    "hpack_bombs": DRAINED,
    "crumbs": DRAINED,
}


class Floods(AbuseCase):
    def given_up(self):
        return self.metric(self.weir, "weir_http2_given_up_total")

    def glitches(self):
        return self.metric(self.weir, "weir_http2_glitches_total")

    def test_each_ends_as_documented(self):
        self.assertEqual(set(ENDS), set(FLOODS))
        _, self.weir = self.guarded()
        with self.bystander(self.weir) as bystander, Http2Client(self.weir.address) as beside:
            for name, expected in ENDS.items():
                with self.subTest(name):
                    given_up, glitches = self.given_up(), self.glitches()
                    self.assertEqual(re.sub(r" (at|after) \d+", "", ending(self.weir.port, FLOODS[name])), expected)
                    if "NO_ERROR" in expected:
                        eventually(lambda: self.given_up() == given_up + 1, "the connection is counted as given up")
                        self.assertGreaterEqual(self.glitches() - glitches, 750)
                    else:
                        self.assertEqual(self.given_up(), given_up)
                        self.assertLessEqual(self.glitches() - glitches, 1)
                    bystander.await_answers(5)
                    self.assertEqual(beside.get("/beside").body, b"/beside")
            self.assertEqual(beside.goaways, [])

    def test_pings_in_one_piece_end_the_connection(self):
        _, self.weir = self.guarded()
        watched = Watched(self.weir.port)
        self.addCleanup(watched.sock.close)
        watched.send(FLOODS["pings"].opening)
        while watched.is_open:
            watched.send(FLOODS["pings"].step(0) * 100)
            watched.read(is_divisible=False)
        self.assertEqual(watched.goaways, [ERRORS.index("NO_ERROR")])
        eventually(lambda: self.given_up() == 1, "the connection is counted as given up")

"""Abusive clients of HTTP/2 (RFC 9113): the bytes that they send, and how their connections end."""

import dataclasses
import socket
import struct

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, _, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = range(10)
UNKNOWN = 0xFA
END_STREAM, END_HEADERS, ACK = 1, 4, 1
ERRORS = ("NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR", "SETTINGS_TIMEOUT", "STREAM_CLOSED",
          "FRAME_SIZE_ERROR", "REFUSED_STREAM", "CANCEL", "COMPRESSION_ERROR", "CONNECT_ERROR", "ENHANCE_YOUR_CALM")
MOST_STREAMS = 100  # in progress on a connection: downstream.http2.max_streams
LARGEST_WINDOW = (1 << 31) - 1


def frame(kind, flags=0, stream=0, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


# HPACK (RFC 7541) without Huffman coding. The dynamic table has one entry, which every later head may name by one byte.
REST = b"\x86\x84\x01\x05bench"  # :scheme http, :path /, :authority
GET = b"\x82" + REST
POST = b"\x83" + REST
GET_LARGE = b"\x82\x86\x04\x06/large\x01\x05bench"
LARGE_ENTRY = b"\x40\x01x\x7f\xa1\x1e" + b"v" * 4000  # 4033 bytes in the table, which has room for 4096
CRUMB_ENTRY = b"\x60\x01a"  # cookie: a; 39 bytes
ENTRY = b"\xbe"


def head(stream, fields=GET, flags=END_STREAM):
    return frame(HEADERS, END_HEADERS | flags, stream, fields)


def update(stream, size):
    return frame(WINDOW_UPDATE, 0, stream, struct.pack(">I", size))


CANCEL = struct.pack(">I", 8)
START = PREFACE + frame(SETTINGS) + update(0, 1 << 30)  # the window of the connection
CLOSED_WINDOWS = PREFACE + frame(SETTINGS, payload=struct.pack(">HI", 4, 0))  # INITIAL_WINDOW_SIZE 0
REFUSALS = 760  # of streams: more than three quarters of downstream.http2.glitches


def heads(begin, count, fields=GET):
    return b"".join(head(2 * number + 1, fields) for number in range(begin, begin + count))


# As many responses as may wait, and an entry of the table.
FULL = CLOSED_WINDOWS + head(1, GET + CRUMB_ENTRY) + heads(1, MOST_STREAMS - 1)


@dataclasses.dataclass(frozen=True)
class Flood:
    """What a client sends on a connection, without end. Precomputed, so that it costs the client next to nothing."""

    title: str
    step: object  # returns the bytes of a step of the attack, given its number from 0
    opening: bytes = START
    repeats: bool = True  # the steps are the same
    divisible: bool = True  # other frames may come between two steps

    def first(self, steps=4000):
        return self.opening + b"".join(map(self.step, range(steps)))

    def again(self):
        """After first(): more of the same, or a fault that ends a connection which has outlived its attack."""
        return self.step(0) * 1000 if self.repeats else frame(DATA, 0, 0, b"x")


def streams(title, frames, **options):
    """A flood in which each step has a stream of its own, from 3 on; `frames` returns its bytes, given the stream."""
    return Flood(title, lambda number: frames(2 * number + 3), repeats=False, **options)


FLOODS = {
    "rapid_resets": streams("streams reset at once", lambda id: head(id) + frame(RST_STREAM, 0, id, CANCEL)),
    "many_streams": streams("streams beyond the number allowed", head, opening=CLOSED_WINDOWS),
    "continuations": Flood("CONTINUATION without end", lambda _: frame(CONTINUATION, 0, 1, b"\0\1a\1b"),
                           START + frame(HEADERS, END_STREAM, 1, GET), divisible=False),
    "window_overflows": streams("windows that overflow, so that streams are reset",
                                lambda id: head(id) + update(id, LARGEST_WINDOW)),
    "second_heads": streams("second heads, so that streams are reset",
                            lambda id: head(id, POST, 0) + head(id, b"\0\1a\1b", 0)),
    "long_bodies": streams("bodies beyond their length, so that streams are reset",
                           lambda id: head(id, POST + b"\x0f\x0d\x011", 0) + frame(DATA, 0, id, b"xx")),
    "zero_updates": streams("updates of windows by 0", lambda id: head(id) + update(id, 0)),
    "late_data": streams("DATA after END_STREAM", lambda id: head(id) + frame(DATA, 0, id, b"x")),
    "settings": Flood("SETTINGS without end", lambda _: frame(SETTINGS)),
    "pings": Flood("PING without end", lambda _: frame(PING, payload=b"12345678")),
    "priorities": Flood("PRIORITY without end", lambda _: frame(PRIORITY, 0, 1, b"\0\0\0\0\x10")),
    "window_updates": Flood("WINDOW_UPDATE without end", lambda _: update(0, 1)),
    "empty_data": Flood("empty DATA without end", lambda _: frame(DATA, 0, 1), CLOSED_WINDOWS + head(1, POST, 0)),
    "late_updates": Flood("WINDOW_UPDATE for a stream that was reset", lambda _: update(1, 1),
                          START + head(1) + frame(RST_STREAM, 0, 1, CANCEL)),
    "refused_heads": streams("heads of 16,000 crumbs beyond the number allowed",
                             lambda id: head(id + 2 * MOST_STREAMS, GET + 16_000 * ENTRY), opening=FULL),
    "ignored_heads": streams("the same after GOAWAY",
                             lambda id: head(id + 2 * MOST_STREAMS + 2 * REFUSALS, GET + 16_000 * ENTRY),
                             opening=FULL + heads(MOST_STREAMS + 1, REFUSALS)),
    "unknown_frames": Flood("frames of an unknown type", lambda _: frame(UNKNOWN)),
    "hpack_bombs": streams("heads that expand from 50 bytes to 120 KiB", lambda id: head(id, GET + 31 * ENTRY),
                           opening=START + head(1, GET + LARGE_ENTRY)),
    "crumbs": streams("heads of 3,300 crumbs of Cookie", lambda id: head(id, GET + 3_300 * ENTRY),
                      opening=START + head(1, GET + CRUMB_ENTRY)),
}

# What is sent once, by clients that then wait.
HELD = {
    "idle_http2": ("idle connections", 2000, START),
    "closed_windows": (f"{MOST_STREAMS} responses of 256 MiB, windows closed", 10,
                       CLOSED_WINDOWS + heads(0, MOST_STREAMS, GET_LARGE)),
    "held_heads": (f"{MOST_STREAMS} heads that expand to 28 KiB, windows closed", 10,
                   CLOSED_WINDOWS + head(1, GET + LARGE_ENTRY) + heads(1, MOST_STREAMS - 1, GET + 7 * ENTRY)),
}


class Watched:
    """One connection, which waits after each step until all of it was taken."""

    def __init__(self, port):
        self.sock = socket.create_connection(("127.0.0.1", port), 10)
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.buffer = b""
        self.goaways = []
        self.is_open = True

    def send(self, data):
        try:
            self.sock.sendall(data)
        except ConnectionError:
            self.is_open = False

    def read(self, is_divisible):
        """Up to the reply to a PING; without one, what comes within 50 ms."""
        self.sock.settimeout(10 if is_divisible else 0.05)
        try:
            while self.is_open and not self.takes_pong():
                data = self.sock.recv(65536)
                self.buffer += data
                self.is_open = bool(data)
        except TimeoutError:
            if is_divisible:
                raise RuntimeError("no reply to a PING within 10 s") from None
        except ConnectionError:
            self.is_open = False

    def takes_pong(self):
        found = False
        while len(self.buffer) >= 9 and len(self.buffer) >= (size := 9 + int.from_bytes(self.buffer[:3], "big")):
            kind, flags, payload = self.buffer[3], self.buffer[4], self.buffer[9:size]
            self.buffer = self.buffer[size:]
            if kind == GOAWAY:
                self.goaways.append(struct.unpack(">I", payload[4:8])[0])
            found |= kind == PING and flags & ACK != 0 and payload == b"watched!"
        return found


def ending(port, flood, most_steps=3000):
    """How a connection ends: the steps until each GOAWAY, with its error code, and until the end. Each step is taken
    before the next is sent, so Weir reads them one by one."""
    watched = Watched(port)
    watched.send(flood.opening)
    noted, seen, number = [], 0, 0
    while watched.is_open and number < most_steps:
        probe = frame(PING, payload=b"watched!") if flood.divisible else b""
        watched.send(flood.step(number) + probe)
        number += 1
        watched.read(flood.divisible)
        noted += [f"{ERRORS[code]} at {number}" for code in watched.goaways[seen:]]
        seen = len(watched.goaways)
    watched.sock.close()
    noted.append(f"open after {number}" if watched.is_open else f"closed at {number}")
    return ", ".join(noted)

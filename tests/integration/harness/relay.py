"""A TCP relay before one server, whose faults a test switches on and off."""

import socket
import struct
import threading
import time


class Relay:
    def __init__(self, port):
        self.target = port
        self.delay_s = 0.0
        self.bytes_per_s = None
        # Bytes are taken and go nowhere, as behind a firewall that drops packets.
        self.is_black_hole = False
        self.cuts = 0
        self.cut_after = None
        self._corruptions = 0
        self._lock = threading.Lock()
        self._pairs = set()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def url(self):
        return f"redis://127.0.0.1:{self.port}"

    def close(self):
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.reset_all()

    def corrupt(self, count):
        """One byte in each of the next `count` reads."""
        with self._lock:
            self._corruptions = count

    def cut_next_reply(self, after):
        """Relays so many bytes of it, and resets the connection."""
        self.cut_after = after

    def reset_all(self):
        with self._lock:
            pairs, self._pairs = self._pairs, set()
        for pair in pairs:
            self._reset(pair)

    def _accept(self):
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._relay, args=(near,), daemon=True).start()

    def _relay(self, near):
        try:
            far = socket.create_connection(("127.0.0.1", self.target), 60)
        except OSError:
            near.close()
            return
        pair = (near, far)
        for sock in pair:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with self._lock:
            self._pairs.add(pair)
        pumps = [threading.Thread(target=self._pump, args=(pair, *way), daemon=True)
                 for way in ((near, far), (far, near))]
        for pump in pumps:
            pump.start()
        for pump in pumps:
            pump.join()
        with self._lock:
            self._pairs.discard(pair)
        near.close()
        far.close()

    def _pump(self, pair, source, target):
        has_dropped = False
        try:
            while data := source.recv(1024):
                if self.is_black_hole:
                    has_dropped = True
                    continue
                if has_dropped:
                    break  # nothing may follow a gap
                if delay_s := self.delay_s:
                    time.sleep(delay_s)
                if bytes_per_s := self.bytes_per_s:
                    time.sleep(len(data) / bytes_per_s)
                if source is pair[1] and self.cut_after is not None:
                    target.sendall(data[:self.cut_after])
                    self.cut_after = None
                    self.cuts += 1
                    self._reset(pair)
                    break
                target.sendall(self._damaged(data))
        except OSError:
            pass  # one of the two ended
        self._end(pair)

    def _damaged(self, data):
        with self._lock:
            if self._corruptions == 0:
                return data
            self._corruptions -= 1
        at = len(data) // 2
        return data[:at] + bytes([data[at] ^ 0x01]) + data[at + 1:]

    @staticmethod
    def _end(pair):
        """Makes both pumps end; the sockets are closed after them."""
        for sock in pair:
            try:
                sock.shutdown(socket.SHUT_RD)
            except OSError:
                pass  # it has ended already

    def _reset(self, pair):
        for sock in pair:
            try:
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            except OSError:
                pass  # it is closed already
        self._end(pair)

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
        self._corruptions = 0
        self._lock = threading.Lock()
        self._pairs = set()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self):
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.reset_all()

    def corrupt(self, count):
        """One byte in each of the next `count` reads."""
        with self._lock:
            self._corruptions = count

    def reset_all(self):
        with self._lock:
            pairs, self._pairs = self._pairs, set()
        for pair in pairs:
            self._reset(pair)

    @staticmethod
    def _reset(pair):
        for sock in pair:
            try:
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                sock.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass  # it has ended already

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
        pumps = [threading.Thread(target=self._pump, args=way, daemon=True) for way in ((near, far), (far, near))]
        for pump in pumps:
            pump.start()
        for pump in pumps:
            pump.join()
        with self._lock:
            self._pairs.discard(pair)
        near.close()
        far.close()

    def _pump(self, source, target):
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
                target.sendall(self._damaged(data))
        except OSError:
            pass  # one of the two ended; the other one is closed below
        self._reset((source, target))

    def _damaged(self, data):
        with self._lock:
            if self._corruptions == 0:
                return data
            self._corruptions -= 1
        at = len(data) // 2
        return data[:at] + bytes([data[at] ^ 0x01]) + data[at + 1:]

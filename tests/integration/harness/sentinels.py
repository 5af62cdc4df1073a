"""A master, its replicas, and the sentinels that watch them: real servers on free ports."""

import signal
import subprocess
import tempfile
from pathlib import Path

from .services import free_port
from .programs import program
from .redis import Redis, RedisClient, RedisError
from .waiting import eventually

MASTER = "limits"
DOWN_AFTER_MS = 1000


class Sentinel:
    """redis-server --sentinel on a free port."""

    def __init__(self, master_port, quorum, password=None, master_password=None, user=None, master_user=None):
        """`user`, `master_user`: the name and the password of an ACL user of the sentinel, and of the master."""
        self._directory = tempfile.TemporaryDirectory(prefix="weir-sentinel-")
        self.directory = Path(self._directory.name)
        self.port = free_port()
        self.password = password
        lines = [f"port {self.port}", "bind 127.0.0.1", f"dir {self.directory}",
                 f"sentinel monitor {MASTER} 127.0.0.1 {master_port} {quorum}",
                 f"sentinel down-after-milliseconds {MASTER} {DOWN_AFTER_MS}",
                 f"sentinel failover-timeout {MASTER} 10000"]
        if password:
            lines += [f"requirepass {password}", f"sentinel sentinel-pass {password}"]
        if user:
            lines.append(f"user {user[0]} on >{user[1]} +@all ~* &*")
        if master_user:
            lines += [f"sentinel auth-user {MASTER} {master_user[0]}", f"sentinel auth-pass {MASTER} {master_user[1]}"]
        if master_password:
            lines.append(f"sentinel auth-pass {MASTER} {master_password}")
        self.file = self.directory / "sentinel.conf"
        self.file.write_text("\n".join(lines) + "\n")
        self.process = None

    def start(self):
        with open(self.directory / "log", "ab") as log:
            self.process = subprocess.Popen([program("redis-server"), str(self.file), "--sentinel"],
                                            stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        return self

    def stop(self):
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def pause(self):
        """Its sockets stay open and take what is sent; nothing answers."""
        self.process.send_signal(signal.SIGSTOP)

    def close(self):
        self.stop()
        self._directory.cleanup()

    def __call__(self, *words):
        client = RedisClient(self.port, None, self.password)
        with client:
            return client(*words)

    def master_port(self):
        return int(self("SENTINEL", "GET-MASTER-ADDR-BY-NAME", MASTER)[1])


class Watched:
    """Servers of which the first is the master, and sentinels that know each other."""

    def __init__(self, case, replicas=2, sentinels=3, password=None, sentinel_password=None,
                 sentinel_user=None):
        auth = ["--requirepass", password, "--masterauth", password] if password else []
        self.servers = [case.redis(*auth, start=False) for _ in range(replicas + 1)]
        for server in self.servers:
            server.password = password
            server.start()
        for server in self.servers[1:]:
            server("REPLICAOF", "127.0.0.1", self.servers[0].port)
        self.sentinels = [Sentinel(self.servers[0].port, sentinels // 2 + 1, sentinel_password, password, sentinel_user)
                          for _ in range(sentinels)]
        for sentinel in self.sentinels:
            case.addCleanup(sentinel.close)
            sentinel.start()
        eventually(self._is_complete, "every sentinel sees the others and the replicas", 30)

    def _is_complete(self):
        for sentinel in self.sentinels:
            try:
                found = sentinel("SENTINEL", "MASTER", MASTER)
            except (OSError, RedisError):
                return False
            state = dict(zip(found[::2], found[1::2]))
            if int(state[b"num-slaves"]) != len(self.servers) - 1 \
                    or int(state[b"num-other-sentinels"]) != len(self.sentinels) - 1:
                return False
        return all(b"master_link_status:up" in server("INFO", "replication") for server in self.servers[1:])

    @property
    def options(self):
        """The settings of store.redis."""
        return {"topology": "sentinel", "sentinel_master": MASTER,
                "servers": [f"127.0.0.1:{sentinel.port}" for sentinel in self.sentinels]}

    def await_master(self):
        """The server that runs, is a master, and is the one that every sentinel reports."""
        def agreed():
            ports = {sentinel.master_port() for sentinel in self.sentinels}
            for server in self.servers:
                if ports == {server.port} and server.is_running and b"role:master" in server("INFO", "replication"):
                    return server
            return None
        return eventually(agreed, "the sentinels agree on a master")

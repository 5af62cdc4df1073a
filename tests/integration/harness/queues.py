"""The bytes that the kernel keeps for a TCP connection of this machine: proc_net_tcp(5)."""

from pathlib import Path


def _queues(local, remote):
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        words = line.split()
        ports = tuple(int(address.partition(":")[2], 16) for address in words[1:3])
        if ports == (local, remote):
            return [int(size, 16) for size in words[4].split(":")]
    raise AssertionError(f"no connection from port {local} to {remote}")


def unsent(local, remote):
    """Bytes that the process at `local` has written and the other one has not acknowledged."""
    return _queues(local, remote)[0]


def unread(local, remote):
    """Bytes that have arrived at `local` and were not read."""
    return _queues(local, remote)[1]

"""Clients that send requests to all instances at a moderate rate, and record each."""

import random
import threading
import time

from harness.message import Truncated
from harness.waiting import eventually
from history import ADMITTED, DENIED, LOST, Event
from worlds import POLICIES, QUOTAS

CLIENTS = 9
# A key is leased only when it has many requests.
USERS = {"strict": 24, "shared": 24, "leased": 6}
PAUSE_S = 0.01


class Load:
    """One round: its users ask under every policy."""

    def __init__(self, world, name, seed):
        self.world, self.seed = world, seed
        self.users = {policy: [f"{name}-{i}" for i in range(count)] for policy, count in USERS.items()}
        self.events = {policy: [] for policy in POLICIES}
        self._is_over = threading.Event()
        self._threads = [threading.Thread(target=self._send, args=(i,)) for i in range(CLIENTS)]
        self._failures = []

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self._is_over.set()
        for thread in self._threads:
            thread.join()
        if self._failures:
            raise self._failures[0]

    def _send(self, index):
        chosen = random.Random(f"{self.seed} {index}")
        client = Client(self.world)
        try:
            while not self._is_over.is_set():
                policy = chosen.choice(list(POLICIES))
                user = self._user(policy, chosen)
                event = client.ask(chosen.randrange(len(self.world.weirs)), policy, user)
                if event:
                    self.events[policy].append(event)
                self._is_over.wait(chosen.uniform(0, 2 * PAUSE_S))
        except Exception as error:  # raised again by __exit__()
            self._failures.append(error)
        finally:
            client.close()

    def _user(self, policy, chosen):
        """A few users use up their quotas at once, most do not."""
        users = self.users[policy]
        return users[int(len(users) * chosen.random() ** 3)]

    def use_up(self, policy, least=0):
        """Sends requests of each user until one is denied and at least so many of its requests can have been charged."""
        client = Client(self.world)
        try:
            for user in self.users[policy]:
                eventually(lambda: self._is_denied(client, policy, user) and self._charges(policy, user) >= least,
                           f"{user} is denied under {policy} after {least} requests")
        finally:
            client.close()

    def _charges(self, policy, user):
        return sum(event.client == user and event.status != DENIED for event in self.events[policy])

    def _is_denied(self, client, policy, user):
        """False after the first request that is not decided: later ones may be."""
        for attempt in range(2 * QUOTAS[policy]):
            event = client.ask(attempt % len(self.world.weirs), policy, user)
            if event is None:
                return False
            self.events[policy].append(event)
            if event.status != ADMITTED:
                return event.status == DENIED
        return False


class Client:
    """A connection to each instance, opened when it is needed."""

    def __init__(self, world):
        self.world = world
        self.connections = {}

    def close(self):
        for _, connection in self.connections.values():
            connection.close()

    def ask(self, index, policy, user):
        """The event; None if the instance does not accept connections because it is being started."""
        weir, connection = self.connections.get(index, (None, None))
        if weir is not self.world.weirs[index]:
            if connection:
                connection.close()
            weir = self.world.weirs[index]
            try:
                connection = weir.connect()
            except OSError:
                self.connections.pop(index, None)
                if not weir.is_stopped:
                    raise
                return None
            self.connections[index] = weir, connection
        began_at = time.monotonic()
        try:
            status = connection.get(f"/{policy}", [("x-user", user)]).status
        except (OSError, Truncated):
            connection.close()
            self.connections.pop(index)
            status = LOST
        return Event(user, began_at, time.monotonic(), status, is_killed=status == LOST and weir.is_stopped)

"""Clients that send requests over and over while a test does something to the servers."""

import threading

from .waiting import eventually


class Load:
    """`clients` threads run ask() until end(). A subclass implements ask()."""

    def __init__(self, weir, clients):
        self.weir = weir
        self.failures, self.answered = [], 0
        self._is_over = threading.Event()
        self._threads = [threading.Thread(target=self._run, args=(i,)) for i in range(clients)]
        for thread in self._threads:
            thread.start()

    @property
    def is_over(self):
        return self._is_over.is_set()

    def ask(self, number):
        """Sends requests until is_over. Counts those that are `answered`, and adds to `failures`
        and returns when one is not answered as it must be; an exception is a failure too."""
        raise NotImplementedError

    def _run(self, number):
        try:
            self.ask(number)
        except Exception as error:  # any error is a lost request
            self.failures.append(repr(error))

    def await_answers(self, count):
        enough = self.answered + count
        eventually(lambda: self.answered > enough or self.failures, f"{count} answers more")
        if self.failures:
            raise AssertionError(self.failures)

    def end(self):
        self._is_over.set()
        for thread in self._threads:
            thread.join()

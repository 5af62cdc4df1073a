"""Names whose lookup takes as long as a test wants, and names with two addresses."""

import tempfile
from pathlib import Path

from .preload import preloaded


class SlowNames:
    """A lookup of a name that ends in ".slow" gets no answer until answer() is called; then it is
    127.0.0.1. A name that ends in ".two" is 127.0.0.2 and 127.0.0.1."""

    def __init__(self):
        self._directory = tempfile.TemporaryDirectory(prefix="weir-names-")
        self._answered = Path(self._directory.name) / "answered"
        self.environment = preloaded("WEIR_SLOW_NAMES", SLOW_NAMES=self._answered)

    def answer(self):
        self._answered.touch()

    def close(self):
        self._directory.cleanup()

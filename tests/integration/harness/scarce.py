"""Memory that comes in small pieces only, while a test wants it so."""

import tempfile
from contextlib import contextmanager
from pathlib import Path

from .preload import preloaded


class ScarceMemory:
    def __init__(self):
        self._directory = tempfile.TemporaryDirectory(prefix="weir-memory-")
        self._most = Path(self._directory.name) / "most"
        self.environment = preloaded("WEIR_SCARCE_MEMORY", SCARCE_MEMORY=self._most)

    @contextmanager
    def at_most(self, size, threads="all"):
        """Allocations of more bytes fail: in all threads, or in all others but the main one."""
        written = self._most.with_suffix(".new")
        written.write_text(f"{size} {threads}")
        written.rename(self._most)
        try:
            yield
        finally:
            self._most.unlink()

    def close(self):
        self._directory.cleanup()

"""Memory that comes in small pieces only, while a test wants it so."""

import os
import tempfile
from contextlib import contextmanager
from pathlib import Path


class ScarceMemory:
    def __init__(self):
        library = os.environ.get("WEIR_SCARCE_MEMORY", "")
        if not library:
            raise AssertionError("WEIR_SCARCE_MEMORY is not set: run the tests through ctest")
        self._directory = tempfile.TemporaryDirectory(prefix="weir-memory-")
        self._most = Path(self._directory.name) / "most"
        self.environment = {"LD_PRELOAD": library, "SCARCE_MEMORY": str(self._most)}

    @contextmanager
    def at_most(self, size):
        """More bytes at once there are not."""
        written = self._most.with_suffix(".new")
        written.write_text(str(size))
        written.rename(self._most)
        try:
            yield
        finally:
            self._most.unlink()

    def close(self):
        self._directory.cleanup()

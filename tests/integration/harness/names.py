"""Names whose lookup takes as long as a test wants."""

import os
import tempfile
from pathlib import Path


class SlowNames:
    """Every name that ends in ".slow" is looked up in vain until answer() says that it is
    127.0.0.1."""

    def __init__(self):
        library = os.environ.get("WEIR_SLOW_NAMES", "")
        if not library:
            raise AssertionError("WEIR_SLOW_NAMES is not set: run the tests through ctest")
        self._directory = tempfile.TemporaryDirectory(prefix="weir-names-")
        self._answered = Path(self._directory.name) / "answered"
        self.environment = {"LD_PRELOAD": library, "SLOW_NAMES": str(self._answered)}

    def answer(self):
        self._answered.touch()

    def close(self):
        self._directory.cleanup()

"""Python packages of Debian."""

import importlib
import sys

DIRECTORY = "/usr/lib/python3/dist-packages"


def package(name):
    """The module, from this interpreter's packages or else from Debian's, which another interpreter can read too."""
    try:
        return importlib.import_module(name)
    except ImportError:
        if DIRECTORY not in sys.path:
            sys.path.append(DIRECTORY)
    try:
        return importlib.import_module(name)
    except ImportError as missing:
        raise AssertionError(f"{missing}: run script/bootstrap test") from missing

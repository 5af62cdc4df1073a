"""Libraries that give a process clocks, a resolver, an allocator or inotify of its own."""

import os
import unittest

from .case import SCALE


def preloaded(library, **settings):
    """The environment of a process with the library that this variable names, and its settings.

    In a sanitizer's build it skips the test: the runtime wants to be the first library."""
    if SCALE > 1:
        raise unittest.SkipTest("a sanitizer's runtime wants to be the first library")
    path = os.environ.get(library, "")
    if not path:
        raise AssertionError(f"{library} is not set: run the tests through ctest")
    return {"LD_PRELOAD": path, **{name: str(value) for name, value in settings.items()}}


def fast_clock(times):
    """The environment of a process for which time passes as many times as fast. In a sanitizer's build it does not."""
    return preloaded("WEIR_FAST_CLOCK", FAST_CLOCK_TIMES=times) if SCALE == 1 else {}

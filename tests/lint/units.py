"""Every unit of a room without I/O has a test of its own: src/ROOM/NAME.cpp and tests/unit/ROOM/NAME_test.cpp.

A unit is a source file, or a header without one that has a branch or a loop."""

import re

from layers import PURE_ROOMS

ROOMS = ("base", *PURE_ROOMS)
DECIDES = re.compile(r"^[^/]*(\b(if|for|while|switch)\b.*\(|\) *\?|\w \? )", re.MULTILINE)
EXCEPTIONS = {}  # {source: the reason why it has no test of its own}


def units(tree, room):
    yield from tree.below(f"src/{room}", ".cpp")
    for header in tree.below(f"src/{room}", ".hpp"):
        if not tree.has(header.removesuffix(".hpp") + ".cpp") and DECIDES.search(tree.text(header)):
            yield header


def check(tree, exceptions=None):
    exceptions = EXCEPTIONS if exceptions is None else exceptions
    untested = set()
    for room in ROOMS:
        for source in units(tree, room):
            test = f"tests/unit/{source.removeprefix('src/').rpartition('.')[0]}_test.cpp"
            if not tree.has(test):
                untested.add(source)
                if source not in exceptions:
                    yield f"{source}:1: has no test of its own; write {test}"
    for source in sorted(set(exceptions) - untested):
        yield f"tests/lint/units.py:1: {source} is an exception, but has a test or does not exist; remove it"

"""Every source file of a room without I/O has a test of its own: src/ROOM/NAME.cpp and tests/unit/ROOM/NAME_test.cpp."""

from layers import PURE_ROOMS

ROOMS = ("base", *PURE_ROOMS)
EXCEPTIONS = {}  # {source: the reason why it has no test of its own}


def check(tree, exceptions=None):
    exceptions = EXCEPTIONS if exceptions is None else exceptions
    untested = set()
    for room in ROOMS:
        for source in tree.below(f"src/{room}", ".cpp"):
            test = f"tests/unit/{source.removeprefix('src/').removesuffix('.cpp')}_test.cpp"
            if not tree.has(test):
                untested.add(source)
                if source not in exceptions:
                    yield f"{source}:1: has no test of its own; write {test}"
    for source in sorted(set(exceptions) - untested):
        yield f"tests/lint/units.py:1: {source} is an exception, but has a test or does not exist; remove it"

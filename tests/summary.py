#!/usr/bin/env python3
"""Prints where the time of a test run went: tests/summary.py RESULTS.xml [LINE...]

RESULTS.xml is what ctest --output-junit writes. The lines are printed as they are, then the time of the tests of each
preset, the slowest tests, and the line "N passed, N failed".
"""

import collections
import sys
import xml.etree.ElementTree

SLOWEST = 10


def preset_of(name):
    """The sanitizer in front of the name of a test, as in "address/unit: http"."""
    head, slash, _ = name.partition("/")
    return head if slash and head.isalpha() else "release"


def summary(cases):
    """The lines for `cases`: pairs of a test's name and its time in seconds."""
    seconds = collections.Counter()
    for name, time in cases:
        seconds[preset_of(name)] += time
    for preset, total in seconds.items():
        yield f"{total:7.1f} s  all tests of {preset}, added up"
    for name, time in sorted(cases, key=lambda case: -case[1])[:SLOWEST]:
        yield f"{time:7.1f} s  {name}"


def main(path, *lines):
    cases = xml.etree.ElementTree.parse(path).getroot().findall("testcase")
    ran = [case for case in cases if case.get("status") in ("run", "fail")]
    failed = sum(case.find("failure") is not None for case in ran)
    skipped = len(cases) - len(ran)
    print(*lines, *summary([(case.get("name"), float(case.get("time"))) for case in ran]), sep="\n")
    print(f"{len(ran) - failed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))


if __name__ == "__main__":
    main(*sys.argv[1:])

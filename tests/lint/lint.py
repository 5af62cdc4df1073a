#!/usr/bin/env python3
"""Checks of the sources as text: python3 tests/lint/lint.py [CHECK...]

layers      a room includes the rooms that its weir_room() line in CMakeLists.txt names and no others;
            the pure rooms include neither I/O nor logging nor a clock
libraries   a room reaches the libraries that its weir_room() line names and no others, through headers too
classes     no class has more than 25 member functions, or members that are defined in two .cpp files
overloads   no function that is local to a .cpp file has the name of another function of its room
secrets     the text of a Secret is compared by Secret::equals only
units       every source of a pure room has a test of its own
lengths     no source file is longer than 450 lines
paths       no file names a path of one person's machine
documents   lists in the documents (decisions, rooms, failures, metrics, recipes) agree with the tree
references  paths, names and links in the documents, and paths in comments, refer to something that exists

All of them by default. Prints FILE:LINE: message, and exits 1 if there is anything to print.
"""

import pathlib
import re
import subprocess
import sys

import classes
import documents
import layers
import libraries
import overloads
import references
import secrets_compared
import units
from tree import Tree

ROOT = pathlib.Path(__file__).resolve().parents[2]
LONGEST = 450
CODE = {".cpp", ".hpp", ".h", ".py", ".lua", ".cmake"}
# Home directories and scratch folders; a container's own /app or /etc/weir is nobody's machine.
PERSONAL_PATH = re.compile(r"(?<![\w.:/-])(/(?:home|Users|work|workspace)/[\w.-]+|/root/[\w.-]+)")


def tracked_files():
    """Every file git would commit, so that neither build trees nor editor leavings are read."""
    listing = ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    found = subprocess.run(listing, capture_output=True, check=False)
    if found.returncode == 0:
        names = [name for name in found.stdout.decode().split("\0") if name]
    else:  # an unpacked source archive
        names = [str(path.relative_to(ROOT)) for path in ROOT.rglob("*") if "build" not in path.parts]
    for name in names:
        path = ROOT / name
        if path.is_file():
            yield path, name


def lines_of(path):
    return path.read_text(encoding="utf-8", errors="replace").splitlines()


def check_layers():
    yield from layers.check(ROOT)


def check_libraries():
    yield from libraries.check(ROOT)


def check_lengths():
    for path, name in tracked_files():
        if path.suffix in CODE:
            length = len(lines_of(path))
            if length > LONGEST:
                yield f"{name}:{LONGEST + 1}: {length} lines; split it, the limit is {LONGEST}"


def check_paths():
    for path, name in tracked_files():
        for number, line in enumerate(lines_of(path), start=1):
            found = PERSONAL_PATH.search(line)
            if found:
                yield f"{name}:{number}: names the path {found.group(1)} of one machine"


def tree():
    paths = {name: path for path, name in tracked_files()}
    return Tree(paths, lambda name: paths[name].read_text(encoding="utf-8", errors="replace"))


def check_classes():
    yield from classes.check(tree())


def check_overloads():
    yield from overloads.check(tree())


def check_secrets():
    yield from secrets_compared.check(tree())


def check_units():
    yield from units.check(tree())


def check_documents():
    yield from documents.check(tree())


def check_references():
    yield from references.check(tree())


CHECKS = {"layers": check_layers, "libraries": check_libraries, "classes": check_classes,
          "overloads": check_overloads, "secrets": check_secrets, "units": check_units, "lengths": check_lengths,
          "paths": check_paths, "documents": check_documents, "references": check_references}


def main(names):
    unknown = [name for name in names if name not in CHECKS]
    if unknown:
        print(__doc__, file=sys.stderr)
        return 2
    complaints = [text for name in names or CHECKS for text in CHECKS[name]()]
    for text in complaints:
        print(text)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""No function of one .cpp file alone, static or of an anonymous namespace, has the name of a function that a header or
another .cpp file of its room declares. A room is one translation unit, so each file would see the functions of the
files before it: a call could silently reach another overload than its author meant."""

import re

from classes import code_of, declarations, end_of, member_function
from tree import line_of

NAMESPACE = re.compile(r"\bnamespace\b(?P<name>[^;{=]*)\{")


def functions(code, is_local=False):
    """(name, position, whether it is local to its file) of the functions that this code declares outside of classes."""
    outside, start = "", 0
    while found := NAMESPACE.search(code, start):
        end = end_of(code, found.end() - 1, "{", "}")
        for name, position, is_hidden in functions(code[found.end():end - 1], is_local or not found.group("name").strip()):
            yield name, found.end() + position, is_hidden
        outside += code[start:found.start()] + " " * (end - found.start())
        start = end
    outside += code[start:]
    position = 0
    for declaration in declarations(outside):
        name = member_function(declaration, "")
        if name:
            place = re.compile(rf"\b{name}\s*\(").search(outside, position)
            position = place.end()
            yield name, place.start(), is_local or bool(re.match(r"\s*static\b", declaration))


def check(tree):
    declared = {}  # (room, name) -> {file: where it is first declared}
    local = {}  # the same of functions that only their file can see
    for file in tree.below("src", ".hpp", ".cpp"):
        code = code_of(tree.text(file))
        room = file.rpartition("/")[0]
        for name, position, is_local in functions(code):
            place = f"{file}:{line_of(code, position)}"
            for names in [declared] + [local] * (is_local and file.endswith(".cpp")):
                names.setdefault((room, name), {}).setdefault(file, place)
    for key, places in sorted(local.items()):
        shared = [place for file, place in declared[key].items() if file not in places]
        for place in list(places.values())[not shared:]:
            other = (shared or list(places.values()))[0]
            yield f"{place}: {key[1]} is local to this file and also declared in {other}; rename it"

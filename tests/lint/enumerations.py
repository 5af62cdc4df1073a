"""Enumerations of the C++ sources."""

import re


def enumeration(tree, name):
    """(file, body) of an enumeration below src; ("", "") if there is none."""
    pattern = re.compile(r"enum\s+class\s+%s\b[^{;]*\{(.*?)\};" % name, re.DOTALL)
    for file in tree.below("src", ".hpp"):
        found = pattern.search(tree.text(file))
        if found:
            return file, found.group(1)
    return "", ""


def enumerators(body):
    """{name: the last comment that has a line of its own before it}."""
    names, group = {}, ""
    for line in body.splitlines():
        code, _, comment = line.partition("//")
        if comment and not code.strip():
            group = comment.strip()
        for part in code.split(","):
            name = part.partition("=")[0].strip()
            if name:
                names[name] = group
    return names

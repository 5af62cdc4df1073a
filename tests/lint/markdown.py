"""Tables, texts in backticks and sections of a document."""

import re

CODE_SPAN = re.compile(r"`([^`]+)`")


def rows(text, *header):
    """The rows of each table whose header begins with these cells: (line number, cells)."""
    inside = False
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.startswith("|"):
            inside = False
            continue
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if cells[:len(header)] == list(header):
            inside = True
        elif inside and not set(cells[0]) <= set("-:"):
            yield number, cells


def spans(cell):
    """The texts in backticks."""
    return CODE_SPAN.findall(cell)


def difference(found, expected):
    """One sentence on how a list differs from the expected one; empty if it does not."""
    missing = [name for name in expected if name not in found]
    unknown = [name for name in found if name not in expected]
    twice = sorted({name for name in found if found.count(name) > 1})
    if missing:
        return f"{', '.join(missing)} missing"
    if unknown:
        return f"{', '.join(unknown)} not in the tree"
    if twice:
        return f"{', '.join(twice)} listed twice"
    if found != expected:
        return f"the order is {', '.join(found)}; write {', '.join(expected)}"
    return ""


def section(text, heading):
    """(position, text) of a section with a heading of the second level."""
    found = re.search(rf"^## {re.escape(heading)}$(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    return (found.start(1), found.group(1)) if found else (0, "")

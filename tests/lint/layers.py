"""Which room may include what; the allowed edges are the weir_room() lines of CMakeLists.txt."""

import re

PURE_ROOMS = ("rules", "http", "identity", "routing")
# What the pure rooms must not know, and why a line like it is refused.
IMPURE = (
    (re.compile(r'#\s*include\s*[<"]boost/asio'), "Asio"),
    (re.compile(r'#\s*include\s*[<"]boost/beast/(?!http/(field|status|verb)\.hpp)'),
     "Beast beyond its names of fields, methods and statuses"),
    (re.compile(r'#\s*include\s*[<"]spdlog/'), "logging"),
    (re.compile(r'#\s*include\s*[<"]yaml-cpp/'), "YAML"),
    (re.compile(r'#\s*include\s*[<"]hiredis/'), "hiredis"),
    (re.compile(r"\b\w*[Cc]lock\w*::now\s*\(|\b(clock_gettime|gettimeofday)\s*\(|\btime\s*\(\s*(nullptr|NULL|0)\s*\)"),
     "a clock; time is an argument here"),
)
ROOM_LINE = re.compile(r"^\s*weir_room\((\w+)\s+USES\s*([^)]*)\)", re.MULTILINE)
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"')
COMMENT = re.compile(r"//.*")


def edges(cmake_lists):
    """{room: rooms it may include}, itself among them."""
    allowed = {}
    for room, rest in ROOM_LINE.findall(cmake_lists):
        allowed[room] = {room, *rest.split("LIBRARIES")[0].split()}
    return allowed


def complaints_of(room, lines, allowed):
    """(line number, message) for every line of one file of the room that reaches too far."""
    for number, line in enumerate(lines, start=1):
        code = COMMENT.sub("", line)
        included = INCLUDE.match(code)
        if included and "/" in included.group(1):
            other = included.group(1).split("/")[0]
            if other in allowed and other not in allowed[room]:
                yield number, f"{room} may not include {other}; it uses {', '.join(sorted(allowed[room]))}"
        if room in PURE_ROOMS:
            for pattern, what in IMPURE:
                if pattern.search(code):
                    yield number, f"{room} is a pure room and may not know {what}"


def check(root):
    allowed = edges((root / "CMakeLists.txt").read_text(encoding="utf-8"))
    if not allowed:
        yield "CMakeLists.txt:1: no weir_room() lines to read the allowed edges from"
    for path in sorted((root / "src").rglob("*.[ch]pp")):
        room = path.relative_to(root / "src").parts[0]
        if path.parent == root / "src":
            continue  # main.cpp stands above all rooms
        name = path.relative_to(root)
        if room not in allowed:
            yield f"{name}:1: src/{room} has no weir_room() line in CMakeLists.txt"
            continue
        lines = path.read_text(encoding="utf-8").splitlines()
        for number, message in complaints_of(room, lines, allowed):
            yield f"{name}:{number}: {message}"

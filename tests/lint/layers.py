"""Which room may include what. The weir_room() lines of CMakeLists.txt list the direct edges. A room that includes
or names something of a room it does not list is a complaint, and so is a listed room of which nothing is used."""

import re

PURE_ROOMS = ("rules", "json", "http", "grpc", "http2", "identity", "routing", "usage", "jwt", "store", "limiter",
              "options", "decision", "rls", "offline", "replay", "status", "telemetry")
# What the pure rooms must not know, and why a line like it is refused.
IMPURE = (
    (re.compile(r'#\s*include\s*[<"]boost/asio'), "Asio"),
    (re.compile(r'#\s*include\s*[<"]boost/beast/(?!http/(field|status|verb)\.hpp)'),
     "Beast beyond its names of fields, methods and statuses"),
    (re.compile(r'#\s*include\s*[<"]spdlog/'), "logging"),
    (re.compile(r'#\s*include\s*[<"]yaml-cpp/'), "YAML"),
    (re.compile(r'#\s*include\s*[<"]hiredis/'), "hiredis"),
    (re.compile(r"\b\w*[Cc]lock\w*(\(\))?(::|\.|->)now\s*\(|\b(clock_gettime|gettimeofday)\s*\("
                r"|\btime\s*\(\s*(nullptr|NULL|0)\s*\)|\bMonotonicClock\b|#\s*include\s*\"base/clock\.hpp\""),
     "a clock; time is an argument here"),
)
ROOM_LINE = re.compile(r"^\s*weir_room\((\w+)\b([^)]*)\)", re.MULTILINE)
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"')
# `http::view` and not `beast::http::view`.
NAMESPACE = re.compile(r"(?<![\w:])([a-z]+)::")
TEXT = re.compile(r'"(?:\\.|[^"\\])*"')
COMMENT = re.compile(r"//.*")


def edges(cmake_lists):
    """{room: rooms it may include}, itself among them."""
    allowed = {}
    for room, rest in ROOM_LINE.findall(cmake_lists):
        used = rest.split("LIBRARIES")[0].split()
        allowed[room] = {room, *(name for name in used if name != "USES")}
    return allowed


def reachable(room, allowed):
    """The room, and all rooms that it uses directly or through others."""
    return {room}.union(*(reachable(other, allowed) for other in allowed.get(room, set()) - {room}))


def order_complaints(allowed):
    """A room uses only rooms that are listed above it, so that there is no cycle."""
    seen = set()
    for room, used in allowed.items():
        seen.add(room)
        for other in sorted(used - seen):
            yield f"{room} uses {other}, which is not listed above it"


def unused_complaints(allowed, used):
    """`used`: {room: rooms that it includes or names}."""
    for room, listed in allowed.items():
        for other in sorted(listed - used.get(room, set()) - {room}):
            yield f"{room} lists {other} and uses nothing of it; remove it"


def rooms_of(line):
    """The rooms that a line of code includes a header of or names something of: `limiter::Policy`."""
    code = COMMENT.sub("", line)
    included = INCLUDE.match(code)
    if included:
        return {included.group(1).split("/")[0]} if "/" in included.group(1) else set()
    return set(NAMESPACE.findall(TEXT.sub("", code)))


def complaints_of(room, lines, allowed):
    """(line number, message) for every line of one file of the room that reaches too far."""
    for number, line in enumerate(lines, start=1):
        code = COMMENT.sub("", line)
        for other in sorted(rooms_of(line)):
            if other in allowed and other not in allowed[room]:
                yield number, f"{room} may not use {other}; it lists {', '.join(sorted(allowed[room]))}"
        if room in PURE_ROOMS:
            for pattern, what in IMPURE:
                if pattern.search(code):
                    yield number, f"{room} is a pure room and may not know {what}"


def check(root):
    allowed = edges((root / "CMakeLists.txt").read_text(encoding="utf-8"))
    if not allowed:
        yield "CMakeLists.txt:1: no weir_room() lines to read the allowed edges from"
    for message in order_complaints(allowed):
        yield f"CMakeLists.txt:1: {message}"
    used = {}
    for path in sorted((root / "src").rglob("*.[ch]pp")):
        room = path.relative_to(root / "src").parts[0]
        if path.parent == root / "src":
            continue  # main.cpp stands above all rooms
        name = path.relative_to(root)
        if room not in allowed:
            yield f"{name}:1: src/{room} has no weir_room() line in CMakeLists.txt"
            continue
        lines = path.read_text(encoding="utf-8").splitlines()
        used.setdefault(room, set()).update(*map(rooms_of, lines))
        for number, message in complaints_of(room, lines, allowed):
            yield f"{name}:{number}: {message}"
    for message in unused_complaints(allowed, used):
        yield f"CMakeLists.txt:1: {message}"

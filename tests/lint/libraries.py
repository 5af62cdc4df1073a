"""Which room may reach which library, because a header such as <boost/asio.hpp> costs more time than most sources.

A room reaches a library if a file of it includes the library, or includes a header of src that does. The library must
be in LIBRARIES of the room's weir_room() line. A room of NOT_LINKED does not link a library, not even through a room
that it uses.
A source that reaches a library of SLOW is compiled apart from its room: it is in a weir_unit() line. No file of src
includes the implementation of Asio, which cmake/asio.cpp compiles."""

import re

import layers

# The beginning of an include, and the library of it in CMakeLists.txt.
LIBRARIES = {
    "boost/asio": "asio",
    "hiredis/": "hiredis",
    "ncurses.h": "ncurses",
    "nlohmann/": "nlohmann_json::nlohmann_json",
    "spdlog/": "spdlog::spdlog",
    "yaml-cpp/": "yaml-cpp",
    "zlib.h": "ZLIB::ZLIB",
    "zstd.h": "zstd",
}
IMPLEMENTATION = re.compile(r"boost/asio/impl/src\.hpp|boost/asio/ssl")
# What takes longer to compile than most rooms, except for the names of fields, methods and statuses.
SLOW = {"boost/beast/": "Beast", "CLI/": "CLI11", "nlohmann/": "nlohmann/json", "spdlog/": "spdlog"}
CHEAP = re.compile(r"boost/beast/http/(field|status|verb)\.hpp")
UNIT_LINE = re.compile(r"^\s*weir_unit\((\w+)\s+\w+\s+([^)]*)\)", re.MULTILINE)
NOT_LINKED = {"config": "asio"}
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]')


def listed(cmake_lists):
    """{room: libraries of its weir_room() line}"""
    return {room: set(rest.partition("LIBRARIES")[2].split()) for room, rest in layers.ROOM_LINE.findall(cmake_lists)}


def includes_of(text):
    """(line number, header) for every include of a file."""
    for number, line in enumerate(text.splitlines(), start=1):
        found = INCLUDE.match(line)
        if found:
            yield number, found.group(1)


def library_of(header, libraries):
    return next((library for start, library in libraries.items() if header.startswith(start)), None)


def apart(cmake_lists):
    """The sources of all weir_unit() lines, as paths below src."""
    return {f"{room}/{file}" for room, files in UNIT_LINE.findall(cmake_lists) for file in files.split()}


class Reach:
    """The libraries that the headers of `files` ({path below src: text}) reach, and through which header."""

    def __init__(self, files, libraries):
        self.files = files
        self.libraries = libraries
        self.known = {}

    def of(self, name):
        """{library: headers from this file to it}"""
        if name not in self.known:
            self.known[name] = {}  # a cycle of includes ends here
            found = {}
            for _, header in includes_of(self.files.get(name, "")):
                library = library_of(header, self.libraries)
                if library and not CHEAP.match(header):
                    found.setdefault(library, [header])
                for other, path in self.of(header).items():
                    found.setdefault(other, [header, *path])
            self.known[name] = found
        return self.known[name]


def complaints(files, cmake_lists):
    """Messages for `files`: {path below src: text}."""
    libraries = listed(cmake_lists)
    edges = layers.edges(cmake_lists)
    for room, library in NOT_LINKED.items():
        for other in sorted(layers.reachable(room, edges)):
            if library in libraries.get(other, ()):
                yield f"CMakeLists.txt:1: {room} must not link {library}, which it does through {other}"
    reach = Reach(files, LIBRARIES)
    for name in sorted(files):
        room = name.split("/")[0]
        for number, header in includes_of(files[name]):
            library = library_of(header, LIBRARIES)
            found = {library: []} if library else reach.of(header)
            for other, path in sorted(found.items()):
                if room in libraries and other not in libraries[room]:
                    through = " -> ".join([header, *path])
                    yield f"src/{name}:{number}: reaches {other} through {through}, and {room} does not list it"
            if IMPLEMENTATION.match(header):
                yield (f"src/{name}:{number}: includes {header}, which no file of src may: cmake/asio.cpp compiles"
                       " Asio, and TLS is used through the room tls")
    slow = Reach(files, SLOW)
    for name in sorted(set(files) - apart(cmake_lists)):
        for library, path in sorted(slow.of(name).items() if name.endswith(".cpp") else ()):
            yield f"src/{name}: reaches {library} through {' -> '.join(path)}, and is in no weir_unit() line"


def check(root):
    source = root / "src"
    files = {str(path.relative_to(source)): path.read_text(encoding="utf-8")
             for path in source.rglob("*.[ch]pp") if path.parent != source}
    yield from complaints(files, (root / "CMakeLists.txt").read_text(encoding="utf-8"))

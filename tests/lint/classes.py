"""No class has more than LIMIT member functions, or members that are defined in several sources.

Counts the member functions that a class body in src declares, each overload for itself. Constructors, destructors,
operators and defaulted or deleted functions are not counted, and neither are the functions of nested classes, which
have a count of their own. The functions that are defined outside of the class body must be in one .cpp file: a class
that fills several is several classes. A simple parser: it relies on the style of the sources, not on the whole
language."""

import re

from tree import line_of

LIMIT = 25

NOT_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<!\w)\'(?:\\.|[^\'\\\n])+\''
                      r"|^[ \t]*#(?:\\\n|[^\n])*", re.DOTALL | re.MULTILINE)
CLASS = re.compile(r"(?<!enum )\b(?:class|struct)\s+(?:(?:\[\[[^\]]*\]\]|alignas\([^)]*\))\s*)*"
                   r"(?P<name>\w+(?:::\w+)*)\s*(?:final\s*)?(?::(?!:)[^;{}()]*)?\{")
ACCESS = re.compile(r"\b(?:public|private|protected)\s*:(?!:)")
UNCOUNTED = re.compile(r"(?:friend|using|typedef|static_assert|class|struct|enum|union|namespace)\b")
NAMESPACE = re.compile(r"\bnamespace\b[^;{]*\{")
OUT_OF_LINE = re.compile(r"[^=]*?(?P<name>\w+(?:\s*::\s*\w+)*)\s*::\s*(?:~?\w+|operator\b.*)\s*", re.DOTALL)
SPECIFIER = re.compile(r"\[\[.*?\]\]|\b(?:alignas|decltype|requires)\b\s*(?=\()")


def code_of(text):
    """The text without comments, literals and preprocessor lines; every character keeps its line."""
    return NOT_CODE.sub(lambda found: '""' * found.group().startswith('"') + "\n" * found.group().count("\n"), text)


def end_of(text, start, opening, closing):
    """The position after the bracket that closes the one at `start`."""
    depth = 0
    for position in range(start, len(text)):
        depth += (text[position] == opening) - (text[position] == closing)
        if depth == 0:
            return position + 1
    return len(text)


def without_arguments(declaration):
    """Without specifiers that have parentheses, and without template parameters and arguments."""
    while found := SPECIFIER.search(declaration):
        end = found.end() if found.group().startswith("[[") else end_of(declaration, found.end(), "(", ")")
        type_name = "auto" if found.group().startswith("decltype") else " "
        declaration = declaration[:found.start()] + type_name + declaration[end:]
    shorter = None
    while shorter != declaration:
        shorter, declaration = declaration, re.sub(r"<[^<>()]*(?:\([^()]*\)[^<>()]*)*>", " ", declaration)
    return declaration


def member_function(declaration, class_name):
    """The name of the member function that this text of a class body declares; None if it declares something else."""
    text = re.sub(r"^template\b", "", without_arguments(ACCESS.sub(" ", declaration)).strip()).strip()
    if UNCOUNTED.match(text) or re.search(r"=\s*(?:default|delete)\s*$", text):
        return None
    head, bracket, rest = text.partition("(")
    found = re.match(r"(?P<result>.*[\w&*>\]]\s*[\s&*])(?P<name>\w+)\s*$", head, re.DOTALL)
    if not bracket or not found or re.search(r"[={]|\boperator\b", head) or rest.lstrip().startswith("*"):
        return None
    return None if found.group("name") == class_name else found.group("name")


def declarations(body):
    """The declarations of a class body, without the bodies of functions and nested classes."""
    start = position = 0
    text = ""
    while position < len(body):
        char = body[position]
        if char == "(":
            position = end_of(body, position, "(", ")")
        elif char == "{":
            text += body[start:position]
            start = position = end_of(body, position, "{", "}")
            if body[position:].lstrip()[:1] not in (",", "{", ";"):
                yield text
                text = ""
        elif char == ";":
            yield text + body[start:position]
            text = ""
            start = position = position + 1
        else:
            position += 1


def member_functions(code):
    """(position, name, names of the member functions) of every class in the code of a file."""
    for found in CLASS.finditer(code):
        name = found.group("name")
        body = code[found.end():end_of(code, found.end() - 1, "{", "}") - 1]
        functions = [member_function(declaration, name.rpartition("::")[2]) for declaration in declarations(body)]
        yield found.start(), name, [function for function in functions if function]


def out_of_line(code):
    """The names of the classes with member functions that the code of a file defines outside of their bodies."""
    names = set()
    for declaration in declarations(NAMESPACE.sub(";", code)):
        head, bracket, _ = without_arguments(declaration).partition("(")
        found = OUT_OF_LINE.fullmatch(head)
        if bracket and found:
            names.add(re.sub(r"\s", "", found.group("name")))
    return names


def check(tree):
    places = {}  # (room, name) -> where a header defines this class
    sources = {}  # (room, name) -> the .cpp files that define its members
    for file in tree.below("src", ".hpp", ".cpp"):
        code = code_of(tree.text(file))
        room = file.rpartition("/")[0]
        own = set()
        for position, name, functions in member_functions(code):
            place = f"{file}:{line_of(code, position)}"
            own.add(name.rpartition("::")[2])
            if file.endswith(".hpp"):
                places.setdefault((room, name.rpartition("::")[2]), place)
            if len(functions) > LIMIT:
                yield f"{place}: {name} has {len(functions)} member functions; split it, the limit is {LIMIT}"
        if file.endswith(".cpp"):
            for name in out_of_line(code):
                if name.rpartition("::")[2] not in own:
                    sources.setdefault((room, name), []).append(file)
    for (room, name), files in sorted(sources.items()):
        place = places.get((room, name.rpartition("::")[2]))
        if place and len(files) > 1:
            yield f"{place}: members of {name} are defined in {' and '.join(files)}; split the class"

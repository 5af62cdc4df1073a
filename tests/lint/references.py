"""Paths, names and links in the documents, and paths in comments: what they refer to must exist."""

import posixpath
import re

from markdown import CODE_SPAN
from tree import line_of

FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
# A file of the tree; a part of it may stand for any name, such as NAME.
PATH = re.compile(r"[\w.*-]+(?:/[A-Za-z_.*-][\w.*-]*)+/?|[\w-]+\.(?:hpp|cpp|lua|py|\*)")
PLACEHOLDER = re.compile(r"[A-Z]{2,}|\*")
SOURCE_FILE = re.compile(r"\.(?:hpp|cpp|lua|py|md|cmake|\*)$")
# `limiter::Policy`, `Listener::stop`, `proxy::listen_on()`.
QUALIFIED = re.compile(r"\w+(?:::\w+)+")
# A type with two capitals, such as RouteTable.
TYPE = re.compile(r"(?:[A-Z][a-z0-9]+){2,}")
IDENTIFIER = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)+")
# Of other programs and of the language of the documents.
FOREIGN = {"used_memory", "snake_case"}
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ +(.*?)\s*$", re.MULTILINE)
COMMENT = {".cpp": re.compile(r"//(.*)"), ".hpp": re.compile(r"//(.*)"), ".lua": re.compile(r"--(.*)"),
           ".cmake": re.compile(r"(.*)"), ".txt": re.compile(r"(.*)")}
PATH_IN_COMMENT = re.compile(r"(?<![\w./{}<*-])([a-z_]+(?:/[\w-]+)+\.(?:hpp|cpp|lua|py|md|cmake))\b")
GENERATED = re.compile(r"/generated/([\w/]+\.\w+)")


def without_fences(text):
    """The text with blank lines in place of code blocks."""
    return FENCE.sub(lambda block: "\n" * block.group(0).count("\n"), text)


def rooms(tree):
    return {name.split("/")[1] for name in tree.below("src") if name.count("/") > 1}


# Paths

def candidates(path, document):
    """The files that a path may mean: from the root, from src, or from the directory of the document."""
    path = path.rstrip("/")
    return path, "src/" + path, posixpath.normpath(posixpath.join(posixpath.dirname(document), path))


def exists(tree, path, document):
    for candidate in candidates(path, document):
        if tree.has(candidate) or tree.has(candidate + ".hpp"):
            return True
        if PLACEHOLDER.search(candidate) and tree.matches("[^/]*".join(map(re.escape, PLACEHOLDER.split(candidate)))):
            return True
    return "/" not in path and any(name.endswith("/" + path) for name in tree.names)


def is_of_the_tree(tree, path):
    """Whether a text in backticks means a file here, and not a media type or a file of a user."""
    top = {name.split("/")[0] for name in tree.names if "/" in name}
    if not PATH.fullmatch(path):
        return False
    return path.split("/")[0] in top | rooms(tree) or bool(SOURCE_FILE.search(path))


def path_complaints(tree, document):
    text = without_fences(tree.text(document))
    for span in CODE_SPAN.finditer(text):
        path = span.group(1).split()[0]
        if is_of_the_tree(tree, path) and not exists(tree, path, document):
            yield f"{document}:{line_of(text, span.start())}: {path} does not exist"


def comment_complaints(tree, file, generated):
    pattern = next(comment for suffix, comment in COMMENT.items() if file.endswith(suffix))
    top = {name.split("/")[0] for name in tree.names if "/" in name} | rooms(tree)
    for number, line in enumerate(tree.text(file).splitlines(), start=1):
        for comment in pattern.findall(line):
            for path in PATH_IN_COMMENT.findall(comment):
                # From the directory of a test, `contract/store_model.hpp` is below tests.
                known = path in generated or exists(tree, path, file) or tree.has("tests/" + path)
                if path.split("/")[0] in top and not known:
                    yield f"{file}:{number}: {path} does not exist"


def check_paths(tree):
    for document in documents(tree):
        yield from path_complaints(tree, document)
    cmake = [name for name in tree.names if name.endswith(("CMakeLists.txt", ".cmake"))]
    generated = {path for name in cmake for path in GENERATED.findall(tree.text(name))}
    for file in tree.names:
        if file.endswith((".cpp", ".hpp", ".lua", ".cmake", "CMakeLists.txt")):
            yield from comment_complaints(tree, file, generated)


# Names of the code

def words(tree, file):
    return tree.derived("words", file, lambda text: frozenset(re.findall(r"\w+", text)))


def definition(name):
    """Finds the definition of a type, or any use of another name that has no qualification."""
    if name[0].isupper():
        between = r"(?:class\s+|alignas\([^)]*\)\s+|\[\[\w+\]\]\s+)*"
        return re.compile(rf"\b(?:class|struct|enum|union)\s+{between}{name}\b(?!\s*;)|\b(?:using|concept)\s+{name}\b")
    return re.compile(rf"(?<![\w:.>]){name}\b")


def is_defined(tree, files, names):
    """Whether one of the files defines the first of the names and mentions all others."""
    files = [file for file in files if words(tree, file).issuperset(names)]
    return any(definition(names[0]).search(tree.text(file)) for file in files)


def is_known_name(tree, qualified):
    """`room::Type::member` or `Type::member`; other qualified names, such as `std::function`, are not of this tree."""
    names = [name for name in qualified.split("::") if name != "weir"]
    room = names[0] if names[0] in rooms(tree) else ""
    names = names[1:] if room else names
    if not names or not room and not names[0][0].isupper():
        return True
    return is_defined(tree, tree.below(f"src/{room}" if room else "src", ".hpp", ".cpp"), names)


def is_known_type(tree, name):
    """A class, or a word that the program writes, such as the field RateLimit."""
    files = [file for file in tree.below("src", ".hpp", ".cpp") if name in words(tree, file)]
    text = re.compile(rf'"[^"\n]*\b{name}\b')
    return is_defined(tree, files, [name]) or any(text.search(tree.text(file)) for file in files)


def is_known_identifier(tree, name):
    code = (file for file in tree.names if not file.endswith(".md") and not file.startswith("tests/lint/"))
    return name in FOREIGN or any(name in words(tree, file) for file in code)


def is_known(tree, name):
    if PLACEHOLDER.search(name):
        return True
    if "::" in name:
        return is_known_name(tree, name)
    return is_known_type(tree, name) if TYPE.fullmatch(name) else is_known_identifier(tree, name)


def name_complaints(tree, document):
    text = without_fences(tree.text(document))
    for span in CODE_SPAN.finditer(text):
        name = span.group(1).removesuffix("()")
        if any(kind.fullmatch(name) for kind in (QUALIFIED, TYPE, IDENTIFIER)) and not is_known(tree, name):
            yield f"{document}:{line_of(text, span.start())}: {name} is not in the tree"


def check_names(tree):
    for document in documents(tree):
        yield from name_complaints(tree, document)


# Links

def anchors(text):
    """The anchors that GitHub makes from the headings."""
    found = set()
    for heading in HEADING.findall(without_fences(text)):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        anchor = re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")
        number = 0
        while (anchor if number == 0 else f"{anchor}-{number}") in found:
            number += 1
        found.add(anchor if number == 0 else f"{anchor}-{number}")
    return found


def link_complaints(tree, document):
    text = CODE_SPAN.sub(lambda span: "`" * len(span.group(0)), without_fences(tree.text(document)))
    for link in LINK.finditer(text):
        target = link.group(1)
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        file = posixpath.normpath(posixpath.join(posixpath.dirname(document), path)) if path else document
        where = f"{document}:{line_of(text, link.start())}"
        if not tree.has(file):
            yield f"{where}: the link {target} leads to no file"
        elif anchor and file.endswith(".md") and anchor not in anchors(tree.text(file)):
            yield f"{where}: the link {target} leads to no heading of {file}"


def check_links(tree):
    for document in documents(tree):
        yield from link_complaints(tree, document)


def documents(tree):
    return [name for name in tree.names if name.endswith(".md")]


def check(tree):
    for one in (check_paths, check_names, check_links):
        yield from one(tree)

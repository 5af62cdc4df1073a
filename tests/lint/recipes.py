"""The recipes of CONTRIBUTING.md: a place that a step begins with must have every algorithm or identity source."""

import re

from enumerations import enumeration, enumerators
from markdown import section, spans
from tree import line_of

CONTRIBUTING = "CONTRIBUTING.md"


def camel(name):
    return "".join(word.capitalize() for word in name.split("_"))


def algorithms(tree):
    """The algorithms that the configuration offers, each with its spellings."""
    return [(name, camel(name)) for name in enumerators(enumeration(tree, "Algorithm")[1])]


def identities(tree):
    """The alternatives of identity::Source, each with its spellings: header, FromHeader."""
    for file in tree.below("src/identity", ".hpp"):
        found = re.search(r"struct Source \{\s*std::variant<([^>]*)>", tree.text(file))
        if found:
            types = [part.strip() for part in found.group(1).split(",")]
            return [(re.sub(r"(?<!^)(?=[A-Z])", "_", name.removeprefix("From")).lower(), name) for name in types]
    return []


RECIPES = {"Adding an algorithm": algorithms, "Adding an identity source": identities}
STEP = re.compile(r"^\d+\. (.*?)(?=^\d+\. |^#|^$|\Z)", re.MULTILINE | re.DOTALL)
# The files at the start of a step, up to a colon.
PLACES = re.compile(r"((?:`[\w./*-]+`(?:,| and)\s+)*`[\w./*-]+`):\s")


def places(recipe):
    """(position, file) for every file that a step of the recipe begins with: what is added must be there."""
    for step in STEP.finditer(recipe):
        leading = PLACES.match(step.group(1))
        for name in spans(leading.group(1)) if leading else ():
            yield step.start(), name


def check_recipe(tree, heading, kinds):
    text = tree.text(CONTRIBUTING)
    start, recipe = section(text, heading)
    found = list(places(recipe))
    if not found or not kinds:
        yield (f"{CONTRIBUTING}:{line_of(text, start)}: '{heading}': {len(found)} places and {len(kinds)} names to "
               "compare")
    for position, place in found:
        where = f"{CONTRIBUTING}:{line_of(text, start + position)}: '{heading}' names {place}"
        files = {spellings: place.replace("NAME", spellings[0]) for spellings in kinds}
        for file in dict.fromkeys(files.values()):
            if not tree.has(file):
                yield f"{where}: {file} does not exist"
        for spellings, file in files.items():
            if file == place and tree.has(file) and not mentions(tree.text(file), spellings):
                yield f"{where}, which does not mention {spellings[0]}"


def mentions(text, spellings):
    """A name as a word, or as the first part of one: GcraState."""
    return re.search(rf"(?<![A-Za-z_])(?:{'|'.join(spellings)})(?![a-z_])", text) is not None


def check_recipes(tree):
    for heading, kinds in RECIPES.items():
        yield from check_recipe(tree, heading, kinds(tree))


NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
COUNT = re.compile(rf"\b({'|'.join(NUMBERS)}) algorithms\b", re.IGNORECASE)


def check_number_of_algorithms(tree):
    number = len(algorithms(tree))
    for name in ("README.md", *tree.below("docs", ".md")):
        for found in COUNT.finditer(tree.text(name)):
            if NUMBERS.index(found.group(1).lower()) + 1 != number:
                yield f"{name}:{line_of(tree.text(name), found.start())}: there are {number} algorithms"

"""Lists in the documents that repeat a part of the tree: the index of decisions, the table of rooms, the tables of
failures and timeouts, the metrics, the fields of the access log, the instructions of a request, and the recipes of
CONTRIBUTING.md. Each is compared with the tree, and so are the places in the tree that list the rooms."""

import json
import re

import layers
from enumerations import enumeration, enumerators
from markdown import difference, rows, spans
from recipes import CONTRIBUTING, check_number_of_algorithms, check_recipes
from tree import line_of

EXCHANGE = "docs/reference-exchange.md"
OPERATIONS = "docs/operations.md"
PERFORMANCE = "docs/performance.md"
INSTRUCTIONS = "bench/instructions.json"
DECISIONS = "docs/adr/README.md"

# docs/adr

PAGE = re.compile(r"docs/adr/((\d{4})-[\w-]+\.md)")
INDEX_ROW = re.compile(r"^\| \[(\d+)\]\(([^)]+)\) \| (.*?) \|$", re.MULTILINE)


def check_decisions(tree):
    pages = [match for match in map(PAGE.fullmatch, tree.below("docs/adr")) if match]
    expected = []
    for position, match in enumerate(pages, start=1):
        name, (file, number) = match.group(0), match.groups()
        heading = tree.text(name).splitlines()[0]
        title = heading.removeprefix(f"# {number}: ")
        if title == heading:
            yield f"{name}:1: the first line is not '# {number}: TITLE'"
        if int(number) != position:
            yield f"{name}:1: has the number {number}; write {position:04}, so that there are no gaps"
        expected.append((number, file, title))
    index = tree.text(DECISIONS)
    found = []
    for match in INDEX_ROW.finditer(index):
        found.append(match.groups())
        if match.groups() not in expected:
            number, file, title = match.groups()
            yield (f"{DECISIONS}:{line_of(index, match.start())}: no page of docs/adr has the number {number}, "
                   f"the file {file} and the title '{title}'")
    for number, file, title in expected:
        if (number, file, title) not in found:
            yield f"{DECISIONS}:1: the line '| [{number}]({file}) | {title} |' is missing"
    if sorted(set(found)) != found:
        yield f"{DECISIONS}:1: the lines are not in the order of their numbers, each once"


# Rooms

def nearest(room, edges):
    """The rooms that a room uses, without those that it also uses through another one."""
    used = edges[room] - {room}
    return {other for other in used if not any(other in layers.reachable(between, edges) for between in used - {other})}


def check_room_table(tree):
    edges = layers.edges(tree.text("CMakeLists.txt"))
    table = list(rows(tree.text(CONTRIBUTING), "room", "content", "uses"))
    listed = [room for _, cells in table for room in spans(cells[0])]
    differs = difference(listed, list(edges))
    if differs:
        yield f"{CONTRIBUTING}:{table[0][0] if table else 1}: table of rooms: {differs} (see CMakeLists.txt)"
    for number, cells in table:
        for room in spans(cells[0]):
            expected = nearest(room, edges) if room in edges else set()
            if set(spans(cells[2])) != expected:
                yield (f"{CONTRIBUTING}:{number}: the nearest rooms that {room} uses are "
                       f"{', '.join(sorted(expected)) or 'none'}")


# Sentences that name the pure rooms.
PURE_LISTS = (
    (CONTRIBUTING, re.compile(r"((?:`\w+`(?:,| and)\s+)*`\w+`) are pure")),
    ("docs/glossary.md", re.compile(r"\*\*pure room\*\* \|[^|]*?((?:`\w+`, )*`\w+`)")),
    ("docs/adr/0001-the-store-owns-the-clock.md",
     re.compile(r"((?:`\w+`(?:,| and)\s+)*`\w+`) must not read a clock")),
)


def check_pure_rooms(tree, pure=layers.PURE_ROOMS):
    edges = layers.edges(tree.text("CMakeLists.txt"))
    for room in pure:
        if room not in edges:
            yield f"tests/lint/layers.py:1: the pure room {room} has no weir_room() line in CMakeLists.txt"
    for name, pattern in PURE_LISTS:
        found = pattern.search(tree.text(name))
        if not found:
            yield f"{name}:1: does not list the pure rooms ({', '.join(pure)})"
        elif set(spans(found.group(1))) != set(pure):
            line = line_of(tree.text(name), found.start())
            yield f"{name}:{line}: the pure rooms are {', '.join(pure)} (PURE_ROOMS of tests/lint/layers.py)"


def check_room_tests(tree):
    """tests/unit mirrors src."""
    edges = layers.edges(tree.text("CMakeLists.txt"))
    for room in sorted({name.split("/")[2] for name in tree.below("tests/unit") if name.count("/") > 2}):
        if room not in edges:
            yield f"tests/unit/{room}:1: is not a room, so its tests are not built"


# Failures and phases

# A word in the comment above a group of failures, and the party in the table.
FAULTS = (("client", "client"), ("upstream", "upstream"), ("our", "Weir"))


def statuses(tree, source):
    """The statuses in the array of answers, in order. An entry is {STATUS, "text"} or the name of a Refusal."""
    body = re.search(r"answers\s*\{\{(.*?)\}\};", source, re.DOTALL)
    found = []
    for status, name in re.findall(r'\{(\d+),|^\s*((?:\w+::)*\w+),', body.group(1) if body else "", re.MULTILINE):
        if name:
            constant = re.compile(r"\bRefusal\s+%s\s*\{(\d+)" % name.rpartition("::")[2])
            defined = [constant.search(tree.text(file)) for file in tree.below("src", ".hpp", ".cpp")]
            status = next((match.group(1) for match in defined if match), name)
        found.append(status)
    return found


def check_failures(tree):
    file, body = enumeration(tree, "Failure")
    groups = enumerators(body)
    source = file.replace(".hpp", ".cpp")
    answers = statuses(tree, tree.text(source)) if tree.has(source) else []
    if not groups or len(answers) != len(groups):
        yield (f"{source or 'src'}:1: cannot compare failures: {len(groups)} enumerators of Failure, "
               f"{len(answers)} entries of 'answers' in the .cpp beside it")
        return
    table = list(rows(tree.text(EXCHANGE), "`Failure`", "fault", "answer"))
    differs = difference([name for _, cells in table for name in spans(cells[0])],
                         [name for name in groups if name != "none"])
    if differs:
        yield f"{EXCHANGE}:{table[0][0] if table else 1}: table of failures: {differs} (see {file})"
    status_of = dict(zip(groups, answers))
    for number, cells in table:
        name = spans(cells[0])[0]
        if name not in groups:
            continue
        fault = next((party for word, party in FAULTS if word in groups[name]), groups[name])
        if cells[1] != fault:
            yield f"{EXCHANGE}:{number}: {file} lists {name} as a failure of '{fault}'"
        expected = "none" if status_of[name] == "0" else status_of[name]
        if not re.match(rf"{expected}\b", cells[2]):
            yield f"{EXCHANGE}:{number}: {source} answers {name} with {expected}"


def check_phases(tree):
    file, body = enumeration(tree, "Phase")
    table = list(rows(tree.text(EXCHANGE), "phase", "`Phase`"))
    listed = {name for _, cells in table for name in spans(cells[1])}
    differs = difference(sorted(listed), sorted(enumerators(body)))
    if differs:
        yield f"{EXCHANGE}:{table[0][0] if table else 1}: table of timeouts: {differs} (see {file or 'enum class Phase'})"


# What operators read

def metrics(tree):
    """{name: type} of the metrics that src/admin writes."""
    found = {}
    for file in tree.below("src/admin", ".cpp"):
        text = tree.text(file)
        found.update(re.findall(r'\bfamily\(\s*"(\w+)",\s*"(\w+)"', text))
        found.update((name, "counter") for name in re.findall(r'\bcounter\(\s*"(\w+)"', text))
    return found


def check_metrics(tree):
    written = metrics(tree)
    listed = {}
    for number, cells in rows(tree.text(OPERATIONS), "name", "type"):
        listed.update((name, (number, cells[1])) for name in spans(cells[0]))
    differs = difference(sorted(listed), sorted(written))
    if differs:
        yield f"{OPERATIONS}:1: table of metrics: {differs} (see src/admin)"
    for name in sorted(listed.keys() & written.keys()):
        number, kind = listed[name]
        if kind != written[name]:
            yield f"{OPERATIONS}:{number}: {name} is a {written[name]}"


# Not a file, such as /run/secrets/weir_token, and not a function, such as weir_room().
METRIC = re.compile(r"(?<![\w/.-])weir_\w+\b(?!\()")
HISTOGRAM_SAMPLE = re.compile(r"(\w+)_(?:bucket|sum|count)")


def check_metric_names(tree):
    """Each metric in the documents for operators, such as in an alert, is one that the code writes."""
    written = metrics(tree)
    for name in tree.below("docs", ".md"):
        if name.count("/") > 1:
            continue
        text = tree.text(name)
        for found in METRIC.finditer(text):
            metric = found.group()
            sample = HISTOGRAM_SAMPLE.fullmatch(metric)
            if metric not in written and not (sample and written.get(sample.group(1)) == "histogram"):
                yield f"{name}:{line_of(text, found.start())}: no metric has the name {metric} (see src/admin)"


def check_error_kinds(tree):
    """The kinds of a metric are the errors of store::Error."""
    file, body = enumeration(tree, "Error")
    kinds = [name for name in enumerators(body) if name != "none"]
    for number, cells in rows(tree.text(OPERATIONS), "name", "type"):
        if "`weir_store_errors_total`" in cells[0]:
            differs = difference(spans(cells[3].partition("Kinds:")[2]), kinds)
            if differs:
                yield f"{OPERATIONS}:{number}: kinds: {differs} (see {file or 'enum class Error'})"


OUTCOMES = re.compile(r'outcomes\{\{((?:(?!\}\};).)*)\}\};\s*out\.family\(\s*"(\w+)"', re.DOTALL)


def check_outcomes(tree):
    """Each value of the label `outcome`, and each word in three fields of the access log, is in the row that has it."""
    deciders = enumerators(enumeration(tree, "Decider")[1])
    expected = {"decision": enumerators(enumeration(tree, "AccessDecision")[1]), "store": deciders,
                "upstream_error": enumerators(enumeration(tree, "UpstreamError")[1]), "weir_decision_duration_seconds": deciders}
    for file in tree.below("src/admin", ".cpp"):
        for values, metric in OUTCOMES.findall(tree.text(file)):
            expected[metric] = re.findall(r'\{"(\w+)"', values)
    text = tree.text(OPERATIONS)
    for number, cells in [*rows(text, "name", "type"), *rows(text, "field")]:
        for name in spans(cells[0]):
            missing = [value for value in expected.get(name, ()) if value not in (*spans(cells[-1]), "none")]
            if missing:
                yield f"{OPERATIONS}:{number}: {name} can be {', '.join(missing)}"


def check_access_log(tree):
    file = next((name for name in tree.below("src", "/access_log.cpp")), "")
    written = re.findall(r'[{,]"(\w+)":\)"', tree.text(file)) if file else []
    text = tree.text(OPERATIONS)
    position = text.find("## Access log")
    table = [cells for number, cells in rows(text, "field") if number > line_of(text, position)]
    differs = difference([name for cells in table for name in spans(cells[0])], written)
    if differs or not written:
        yield (f"{OPERATIONS}:{line_of(text, position)}: table of access log fields: {differs or 'no fields found'} "
               f"(see {file or 'access_log.cpp'})")


def check_instructions(tree):
    """The table of instructions has the recorded values, in their order."""
    recorded = [f"{count:,}" for count in json.loads(tree.text(INSTRUCTIONS))["rows"].values()]
    table = list(rows(tree.text(PERFORMANCE), "work", "instructions/request"))
    if [cells[1] for _, cells in table] != recorded:
        yield (f"{PERFORMANCE}:{table[0][0] if table else 1}: table of instructions: write {'; '.join(recorded)} "
               f"(see {INSTRUCTIONS})")


# Lists of files

def check_index(tree):
    """docs/README.md links to every document."""
    index = tree.text("docs/README.md")
    for name in tree.below("docs", ".md"):
        if name.count("/") == 1 and name != "docs/README.md" and f"]({name.removeprefix('docs/')})" not in index:
            yield f"docs/README.md:1: does not link to {name}"


def check_fuzz_targets(tree):
    files = tree.below("tests/fuzz", "_fuzz.cpp")
    targets = [name.removeprefix("tests/fuzz/").removesuffix("_fuzz.cpp") for name in files]
    table = list(rows(tree.text("docs/fuzzing.md"), "target", "input"))
    differs = difference(sorted(name for _, cells in table for name in spans(cells[0])), sorted(targets))
    if differs:
        yield f"docs/fuzzing.md:{table[0][0] if table else 1}: table of targets: {differs} (see tests/fuzz)"


CHECKS = (check_decisions, check_room_table, check_pure_rooms, check_room_tests, check_failures, check_phases,
          check_metrics, check_metric_names, check_error_kinds, check_outcomes, check_access_log, check_recipes,
          check_number_of_algorithms, check_instructions, check_index, check_fuzz_targets)


def check(tree):
    for one in CHECKS:
        yield from one(tree)

"""Mutation testing: script/mutate [--seed N] [--count N] [--list] [ROOM|FILE...]

Changes one operator, constant or early return of the sources at a time, builds the unit tests of the room and runs
them. A mutant that no test notices shows a missing test, or code that makes no difference. The default is 60 mutants
of rules, store, http and identity. FILE is a path such as src/http/chunked.cpp.

  --seed N    selects the mutants; the same seed and sources give the same mutants (default: 1)
  --count N   mutants in all, evenly divided among the rooms and files named; 0: every mutant (default: 60)
  --list      prints the mutants and stops
  --jobs N    parallel compilations (default: one per CPU)

Works on a copy of the tree in build/mutate: the sources are never changed. Mutants that do not compile are replaced.
"noticed" includes a crash and a run that does not end. If a header is mutated, the unit tests of the rooms that use
the room are run too, as far as they are quick to build.
"""

import argparse
import collections
import os
import pathlib
import re
import resource
import signal
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/lint"))
import layers  # noqa: E402
import mutants  # noqa: E402

TREE = ROOT / "build/mutate/tree"
BUILD = ROOT / "build/mutate/debug"
COPIED = ("CMakeLists.txt", "cmake", "config", "lua", "src", "tests", "bench")
QUICK_ROOMS = ("base", "rules", "http", "identity", "routing", "jwt", "store")
DEFAULT_TARGETS = ("rules", "store", "http", "identity")
TEST_TIMEOUT_S = 900  # of a test that waits; one that loops reaches its CPU time first
TEST_MEMORY = 4 << 30
NOTICED, SURVIVED, INVALID = "noticed", "survived", "does not compile"


def update_copy():
    """Makes TREE equal to the tree; files that are equal keep their time, so that nothing is built again for them."""
    wanted = {}
    for name in COPIED:
        top = ROOT / name
        for path in [top] if top.is_file() else top.rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                wanted[path.relative_to(ROOT)] = path.read_bytes()
    for path in [path for path in TREE.rglob("*") if path.is_file()]:
        if path.relative_to(TREE) not in wanted:
            path.unlink()
    for name, content in wanted.items():
        copy = TREE / name
        if not copy.exists() or copy.read_bytes() != content:
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(content)


def configure():
    command = ["cmake", "-S", TREE, "-B", BUILD, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug",
               "-DCMAKE_CXX_FLAGS=-D_GLIBCXX_ASSERTIONS", "-DCMAKE_CXX_FLAGS_DEBUG=-O0"]
    configured = subprocess.run(command, capture_output=True, text=True, check=False)
    if configured.returncode != 0:
        sys.exit(f"script/mutate: cmake fails:\n{configured.stderr}")


def build(room, jobs, environment):
    """The output of the compiler if the unit tests of the room cannot be built, otherwise nothing."""
    built = subprocess.run(["ninja", "-C", BUILD, "-j", str(jobs), f"unit_{room}"], capture_output=True, text=True,
                           check=False, env={**os.environ, **environment})
    return "" if built.returncode == 0 else built.stdout


def check_unchanged(room, jobs):
    """Stops if the unit tests of the room do not pass without a mutant. Returns the CPU time of a run in seconds."""
    problem = build(room, jobs, {})
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    if problem := problem or failing_case(room, TEST_TIMEOUT_S):
        sys.exit(f"script/mutate: without a mutant, the unit tests of {room} must pass:\n{problem}")
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def failing_case(room, cpu_s, unit=None):
    """The first test case of the room that fails, or nothing. The cases named after the unit run first."""
    return (unit and failing_among(room, cpu_s, f"[#{unit}_test]")) or failing_among(room, cpu_s)


def failing_among(room, cpu_s, *cases):
    def set_limits():
        resource.setrlimit(resource.RLIMIT_AS, (TEST_MEMORY, TEST_MEMORY))
        resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s + 1))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report.xml"
        try:
            code = subprocess.run([BUILD / "tests" / f"unit_{room}", "--abort", "-#", "-r", "xml", "-o", report,
                                   *cases], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder,
                                  check=False, timeout=TEST_TIMEOUT_S, preexec_fn=set_limits).returncode
            how = "" if code >= 0 else f" ({signal.Signals(-code).name})"
        except subprocess.TimeoutExpired:
            code, how = 1, " (SIGXCPU)"
        how = how.replace("SIGXCPU", "does not end")
        if code == 0:
            return ""
        text = report.read_text(errors="replace") if report.exists() else ""
        cases = re.findall(r'<TestCase name="([^"]*)"', text)
        return f"{room}: {cases[-1] if cases else '?'}{how}"


def rooms_to_test(path, edges):
    """The room of a file first; for a header the quick rooms that use it too."""
    room = path.split("/")[1]
    users = [name for name in QUICK_ROOMS if room in edges.get(name, ()) and name != room]
    return [room] + (users if path.endswith(".hpp") else [])


def outcome(mutant, source, edges, jobs, cpu_s):
    """(NOTICED, test case), (SURVIVED, "") or (INVALID, "")"""
    copy = TREE / mutant.path
    copy.write_text(mutant.applied(source), encoding="utf-8")
    try:
        for room in rooms_to_test(mutant.path, edges):
            if build(room, jobs, {"CCACHE_READONLY": "1"}):  # nobody needs a mutant's object again
                return INVALID, ""
            if case := failing_case(room, cpu_s[room], pathlib.Path(mutant.path).stem):
                return NOTICED, case
        return SURVIVED, ""
    finally:
        copy.write_text(source, encoding="utf-8")


def sources_of(target):
    """{path: source} of a room or a file."""
    top = ROOT / (target if target.startswith("src/") else f"src/{target}")
    paths = [top] if top.is_file() else sorted(top.glob("*.[ch]pp"))
    if not paths:
        sys.exit(f"script/mutate: {target} is neither a room nor a file; examples: http, src/http/chunked.cpp")
    return {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in paths}


def one_line(text):
    return " ".join(text.split()) or "nothing"


def run_target(target, count, options, edges, cpu_s, results):
    """Runs mutants until `count` of them have compiled."""
    sources = sources_of(target)
    valid = 0
    for mutant in mutants.shuffled(sources, f"{options.seed} {target}"):
        if count and valid == count:
            return
        source = sources[mutant.path]
        result, case = (SURVIVED, "") if options.list else outcome(mutant, source, edges, options.jobs, cpu_s)
        valid += result != INVALID
        results[result] += 1
        shown = "" if options.list else f"{result}{': ' if case else ''}{case}"
        print(f"{mutant.place(source):42} {one_line(mutant.before)}  ->  {one_line(mutant.after):8}  {shown}".rstrip(),
              flush=True)


def main():
    parser = argparse.ArgumentParser(usage=__doc__, add_help=False)
    parser.add_argument("-h", "--help", action="store_true")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("targets", nargs="*", default=DEFAULT_TARGETS)
    options = parser.parse_args()
    if options.help:
        print(__doc__.strip())
        return
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # the copy is restored on the way
    edges = layers.edges((ROOT / "CMakeLists.txt").read_text(encoding="utf-8"))
    cpu_s = {}  # that a run of a room's tests may take
    if not options.list:
        update_copy()
        configure()
        for room in sorted({room for target in options.targets for path in sources_of(target)
                            for room in rooms_to_test(path, edges)}):
            cpu_s[room] = 5 + int(4 * check_unchanged(room, options.jobs))
    results = collections.Counter()
    for index, target in enumerate(options.targets):
        share = options.count // len(options.targets) + (index < options.count % len(options.targets))
        if share or options.count == 0:
            run_target(target, share, options, edges, cpu_s, results)
    if not options.list:
        print(f"{results[NOTICED]} of {results[NOTICED] + results[SURVIVED]} mutants were noticed, "
              f"{results[INVALID]} did not compile (seed {options.seed})")


if __name__ == "__main__":
    main()

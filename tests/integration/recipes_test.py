"""The configurations of the documents do what they say: each whole recipe, and other files of the tree, are tested with
`weir test` and a scenario of docs/scenarios.

DOCUMENT/HEADING.yaml is for the first configuration under that heading, which the test writes to weir.yaml beside it.
Those in files/ name a file of the tree."""

import re
import shutil
import tempfile
import unittest
from pathlib import Path

from harness.weir import run

ROOT = Path(__file__).resolve().parents[2]
SCENARIOS = ROOT / "docs" / "scenarios"
BLOCK = re.compile(r"^```(.*)\n((?:.*\n)*?)```$", re.MULTILINE)


def slug(heading):
    """As in a link to the heading."""
    return re.sub(r"[^\w -]", "", heading.lower()).strip().replace(" ", "-")


def document(name):
    return ROOT / ("README.md" if name == "readme" else f"docs/{name}.md")


def configurations(text):
    """{slug of the heading: the first whole configuration below it}"""
    found = {}
    for part in re.split(r"^#+ ", text, flags=re.MULTILINE):
        heading, _, body = part.partition("\n")
        whole = [block for kind, block in BLOCK.findall(body) if kind == "yaml" and re.search("^routes:", block, re.M)]
        if whole:
            found[slug(heading)] = whole[0]
    return found


class Recipes(unittest.TestCase):
    def check(self, scenario):
        result = run("test", str(scenario))
        self.assertEqual((result.returncode, result.stderr), (0, ""), result.stdout)
        self.assertRegex(result.stdout, r"yaml: \d+ steps? ok\n$")

    def test_every_scenario_holds(self):
        tested = 0
        for scenario in sorted(SCENARIOS.rglob("*.yaml")):
            with self.subTest(scenario=scenario.relative_to(SCENARIOS)):
                tested += 1
                if scenario.parent.name == "files":
                    self.check(scenario)
                    continue
                known = configurations(document(scenario.parent.name).read_text())
                self.assertIn(scenario.stem, known, "no heading has a whole configuration")
                with tempfile.TemporaryDirectory(prefix="weir-recipe-") as directory:
                    (Path(directory) / "weir.yaml").write_text(known[scenario.stem])
                    self.check(shutil.copy(scenario, directory))
        self.assertGreater(tested, 15)

    def test_every_recipe_has_a_scenario(self):
        known = configurations(document("recipes").read_text())
        tested = {scenario.stem for scenario in (SCENARIOS / "recipes").glob("*.yaml")}
        self.assertEqual(set(known), tested)

    def test_what_a_recipe_shows_of_a_scenario_is_in_the_file(self):
        shown = [text for kind, text in BLOCK.findall(document("recipes").read_text()) if kind == "yaml scenario"]
        files = [file.read_text() for file in (SCENARIOS / "recipes").glob("*.yaml")]
        self.assertTrue(shown)
        for text in shown:
            self.assertTrue(any(text in file for file in files), text)

    def test_the_examples_of_the_page_about_scenarios(self):
        """A block `yaml` is the configuration of the blocks `yaml scenario` after it; a block after one of these is
        what is printed."""
        blocks = BLOCK.findall((ROOT / "docs" / "testing-limits.md").read_text())
        tested = 0
        with tempfile.TemporaryDirectory(prefix="weir-recipe-") as directory:
            for position, (kind, text) in enumerate(blocks):
                if kind == "yaml":
                    (Path(directory) / "weir.yaml").write_text(text)
                if kind != "yaml scenario":
                    continue
                tested += 1
                (Path(directory) / "limits.yaml").write_text(text)
                result = run("test", "limits.yaml", cwd=directory)
                expected = blocks[position + 1] if position + 1 < len(blocks) else ("end", "")
                if expected[0] == "":
                    command, _, printed = expected[1].partition("\n")
                    self.assertEqual(command, "$ weir test limits.yaml")
                    self.assertEqual(re.sub("[0-9a-f]{32}", "HASH", result.stdout),
                                     re.sub("[0-9a-f]{32}", "HASH", printed))
                else:
                    self.assertEqual((result.returncode, result.stderr), (0, ""), result.stdout)
        self.assertGreater(tested, 2)

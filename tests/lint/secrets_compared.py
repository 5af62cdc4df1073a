"""The text of a Secret is compared by Secret::equals only, whose time does not depend on the first difference."""

import re

from classes import code_of
from tree import line_of

TYPE = "src/base/secret.hpp"
REVEALED = re.compile(r"\breveal\(\)\s*(?:[!=]=|<=>|\.(?:compare|starts_with|ends_with|find)\b)"
                      r"|(?:[!=]=|<=>)\s*[\w.>\[\]()*-]*\breveal\(\)"
                      r"|\b(?:str|mem|CRYPTO_mem)n?cmp\s*\([^;]*\breveal\(\)|\bequal\s*\([^;]*\breveal\(\)")
WHOLE = re.compile(r"\btext_\s*(?:[!=]=|<=>|\.compare\b)|(?:[!=]=|<=>)\s*(?:\w+\.)?text_(?!\.size\(\))|=\s*default\s*;")


def check(tree):
    for file in tree.below("src", ".hpp", ".cpp"):
        code = code_of(tree.text(file))
        for found in REVEALED.finditer(code):
            yield f"{file}:{line_of(code, found.start())}: compares the text of a secret; use Secret::equals"
    code = code_of(tree.text(TYPE)) if tree.has(TYPE) else ""
    for found in WHOLE.finditer(code):
        if "Secret() = default" not in code[:found.end()].rpartition("\n")[2]:
            yield f"{TYPE}:{line_of(code, found.start())}: compares up to the first difference; use equals"

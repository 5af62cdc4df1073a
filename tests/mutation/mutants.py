"""Mutants of C++ sources: one operator, constant or early return of a formatted file, changed. Pure.

The sources are formatted by clang-format, which writes spaces around binary operators and none around the brackets of
templates, pointers and references. Operators are found by that, without a parser."""

import dataclasses
import random
import re

TOKEN = re.compile(r"""
    (?P<skip>//[^\n]* | /\*.*?\*/ | ^[ \t]*\#(?:\\\n|[^\n])* | static_assert\b[^;]*; | \boperator\s*[^\s\w(]+
           | R"(?P<mark>[^(\s]*)\(.*?\)(?P=mark)" | "(?:\\.|[^"\\\n])*")
  | (?P<character>'(?:\\(?:x[0-9a-fA-F]+|[0-7]+|.)|[^'\\])')
  | (?P<number>0[xX][0-9a-fA-F']+(?:[uUlL]+)?|[0-9][0-9']*(?:\.[0-9]+)?[a-zA-Z_]*)
  | (?P<word>[A-Za-z_]\w*)
  | (?P<operator><=>|<<=|>>=|->|\+\+|--|&&|\|\||::|<<|>>|[-+*/%&|^!=<>]=|[^\s\w])
""", re.MULTILINE | re.DOTALL | re.VERBOSE)

BINARY = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "&&": "||", "||": "&&",
          "+": "-", "-": "+", "*": "/", "/": "*", "%": "*", "+=": "-=", "-=": "+=", "*=": "/=", "/=": "*=",
          "<<": ">>", ">>": "<<", "&": "|", "|": "&", "^": "&"}
UNARY = {"++": "--", "--": "++", "!": ""}
WORDS = {"true": "false", "false": "true"}
INTEGER = re.compile(r"(0[xX][0-9a-fA-F']+|(?:[1-9][0-9']*|0))([a-zA-Z_]*)")


@dataclasses.dataclass(frozen=True)
class Mutant:
    path: str
    start: int  # offset in the source
    before: str
    after: str

    def applied(self, source):
        """The source with the change; ValueError if the source is not the one that it was made from."""
        end = self.start + len(self.before)
        if source[self.start:end] != self.before:
            raise ValueError(f"{self.path}: no {self.before!r} at offset {self.start}")
        return source[:self.start] + self.after + source[end:]

    def place(self, source):
        """FILE:LINE:COLUMN"""
        before = source[:self.start]
        return f"{self.path}:{before.count(chr(10)) + 1}:{self.start - before.rfind(chr(10))}"


def other_number(text):
    """0 for 1, otherwise the next one; None for a fraction."""
    found = INTEGER.fullmatch(text)
    if not found:
        return None
    digits, suffix = found.groups()
    value = int(digits.replace("'", ""), 0)
    return f"{0 if value == 1 else value + 1}{suffix}"


def other_character(text):
    """The next printable character; a space for an escape."""
    if text[1] == "\\":
        return "' '"
    return "'a'" if text[1] in "&~" else f"'{chr(ord(text[1]) + 1)}'".replace("\\", "\\\\")


def other_operator(text, source, start):
    spaced = source[start - 1:start].isspace() and source[start + len(text):start + len(text) + 1].isspace()
    return BINARY.get(text) if spaced else UNARY.get(text)


def statement_end(tokens, index):
    """The offset after the semicolon that ends the statement of tokens[index]."""
    depth = 0
    for token in tokens[index:]:
        depth += (token[0] in "({[") - (token[0] in ")}]")
        if token[0] == ";" and depth == 0:
            return token.end()
    return None


def mutants_of(path, source):
    """Every mutant of one file, in the order of the source."""
    tokens = [token for token in TOKEN.finditer(source) if token.lastgroup != "skip" or token[0][0] in "\"R"]
    for index, token in enumerate(tokens):
        kind, text, start = token.lastgroup, token[0], token.start()
        if kind == "number":
            after = other_number(text)
        elif kind == "character":
            after = other_character(text)
        elif kind == "operator":
            after = other_operator(text, source, start)
        elif text == "return" and index and tokens[index - 1][0] == ")":
            text, after = source[start:statement_end(tokens, index)], "{}"
        else:
            after = WORDS.get(text)
        if after is not None:
            yield Mutant(path, start, text, after)


def shuffled(sources, seed):
    """The mutants of {path: source}, in an order that depends on the sources and the seed alone."""
    found = [mutant for path in sorted(sources) for mutant in mutants_of(path, sources[path])]
    random.Random(seed).shuffle(found)
    return found

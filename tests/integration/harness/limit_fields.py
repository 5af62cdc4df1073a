"""The rate limit fields of an answer, taken apart by the grammar of RFC 9651."""

import re
from dataclasses import dataclass

VALUE = r'\d+|"[a-z-]*"'
ITEM = re.compile(rf'\s*"((?:[^"\\]|\\.)*)"((?:;[a-z]+=(?:{VALUE}))*)\s*(?:,|$)')


def items(text):
    """`"a";q=1;w=2, "b";q=3;qu="x"` -> {'a': {'q': 1, 'w': 2}, 'b': {'q': 3, 'qu': 'x'}}, in order."""
    found, at = {}, 0
    while at < len(text):
        match = ITEM.match(text, at)
        if not match:
            raise AssertionError(f"not a list of strings with parameters: {text!r}")
        parameters = (p.split("=") for p in match[2].split(";") if p)
        found[match[1]] = {key: value.strip('"') if '"' in value else int(value) for key, value in parameters}
        at = match.end()
    return found


@dataclass
class LimitFields:
    policies: dict
    state: dict
    limit: int
    remaining: int
    reset: int
    retry_after: int


def limit_fields(response):
    def number(name):
        value = response[name]
        return None if value is None else int(value)

    return LimitFields(
        policies=items(response["RateLimit-Policy"] or ""),
        state=items(response["RateLimit"] or ""),
        limit=number("RateLimit-Limit"), remaining=number("RateLimit-Remaining"),
        reset=number("RateLimit-Reset"), retry_after=number("Retry-After"))

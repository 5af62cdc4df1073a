"""The Prometheus text format, read strictly."""

import re

SAMPLE = re.compile(r'^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$')
LABEL = re.compile(r'([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"(?:,|$)')


def parse(text):
    """{(name, frozenset of labels): value}; fails on a sample without a type or given twice."""
    samples, types = {}, {}
    for line in text.splitlines():
        if line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            if name in types:
                raise AssertionError(f"{name} has two types")
            types[name] = kind
        if line.startswith("#") or not line:
            continue
        match = SAMPLE.match(line)
        if not match:
            raise AssertionError(f"not a sample: {line!r}")
        family = re.sub(r"_(bucket|sum|count)$", "", match[1])
        if match[1] not in types and types.get(family) != "histogram":
            raise AssertionError(f"no type before {line!r}")
        key = (match[1], frozenset(LABEL.findall(match[2] or "")))
        if key in samples:
            raise AssertionError(f"twice: {line!r}")
        samples[key] = float(match[3])
    if not text.endswith("\n"):
        raise AssertionError("the last line does not end")
    return samples


def labelled(samples, name, **labels):
    return samples.get((name, frozenset(labels.items())), 0)

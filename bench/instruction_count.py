"""Instructions per request: the arithmetic and the table of script/bench instructions."""

import dataclasses

TOLERANCE = 1.03  # a measured value above this share of the recorded one fails the row


@dataclasses.dataclass(frozen=True)
class Run:
    requests: int
    instructions: int  # of the whole process, from start to exit


@dataclasses.dataclass(frozen=True)
class Result:
    title: str
    measured: float
    recorded: int | None  # None: no value is recorded for this row


def per_request(short, long):
    """Instructions per request: start and exit are the same in both runs and cancel out."""
    if long.requests <= short.requests:
        raise ValueError(f"the second run needs more requests than the first: {long.requests} after {short.requests}")
    return (long.instructions - short.instructions) / (long.requests - short.requests)


def exceeds(result):
    return result.recorded is not None and result.measured > result.recorded * TOLERANCE


def table(results):
    """The results as a markdown table; a row above the tolerance is marked."""
    lines = ["| work | instructions/request | recorded | ratio |", "|---|---:|---:|---:|"]
    for result in results:
        recorded = ratio = "none"
        if result.recorded is not None:
            recorded, ratio = f"{result.recorded:,}", f"{result.measured / result.recorded:.3f}"
        mark = " (above)" if exceeds(result) else ""
        lines.append(f"| {result.title} | {result.measured:,.0f} | {recorded} | {ratio}{mark} |")
    return "\n".join(lines)

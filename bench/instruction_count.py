"""Instructions per request: the arithmetic and the table of script/bench instructions."""

import dataclasses

TOLERANCE = 1.03  # a measured value above this share of the recorded one fails the row
# What a row may cost beside another one, by the names of both: finding a route does not depend on the number of routes,
# and to hold a slot costs little more than to count a request.
BOUNDS = {"distinct_routes": ("one_route", 1.1), "shared_routes": ("one_route", 1.3), "in_progress": ("one_key", 1.04)}


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


def broken_bounds(measured):
    """Messages for the rows of `measured`, {name: value}, that cost too much beside another one of them."""
    for name, (other, most) in BOUNDS.items():
        if name in measured and other in measured and measured[name] > measured[other] * most:
            yield f"{name} costs {measured[name] / measured[other]:.2f} times {other}; at most {most}"


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

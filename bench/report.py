"""The samples of all rounds as a markdown table of medians, each with its ratio to the first peer's."""

import os
import pathlib
import platform
import re
import statistics
import subprocess

COLUMNS = (  # field, heading, format
    ("cpu_us", "CPU µs/request", "{:.1f}"),
    ("store_cpu_us", "CPU µs/request in Redis", "{:.1f}"),
    ("rate", "requests/s", "{:,.0f}"),
    ("p50_ms", "p50 ms", "{:.2f}"),
    ("p99_ms", "p99 ms", "{:.2f}"),
    ("memory_mb", "memory MB", "{:.1f}"),
)


def ratio(field, samples, reference):
    """The median of the ratios of the same rounds."""
    return statistics.median(getattr(one, field) / getattr(other, field) if getattr(other, field) else float("nan")
                             for one, other in zip(samples, reference))


def cell(field, form, samples, reference):
    median = statistics.median(getattr(sample, field) for sample in samples)
    return f"{form.format(median)} ({ratio(field, samples, reference):.2f})"


def table(rows, results):
    """rows: {name: Row}; results: {row name: {peer: [Sample of each round]}}"""
    used = [column for column in COLUMNS
            if any(getattr(sample, column[0]) for peers in results.values() for one in peers.values() for sample in one)]
    lines = ["| work | proxy | " + " | ".join(heading for _, heading, _ in used) + " |",
             "|---|---|" + "---:|" * len(used)]
    for row, peers in results.items():
        reference = next(iter(peers.values()))
        for name, samples in peers.items():
            cells = (cell(field, form, samples, reference) for field, _, form in used)
            lines.append(f"| {rows[row].title} | {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def comparisons(rows, results):
    """The CPU time per request of each row that is compared with another one, as its ratio for each peer; empty if there
    is none."""
    compared = [row for row in rows.values() if row.beside in results]
    if not compared:
        return ""
    names = list(next(iter(results.values())))
    lines = ["| CPU time per request of | beside | " + " | ".join(names) + " |",
             "|---|---|" + "---:|" * len(names)]
    for row in compared:
        own, other = results[row.name], results[row.beside]
        cells = (f"{ratio('cpu_us', own[name], other[name]):.2f}" for name in names)
        lines.append(f"| {row.title} | {rows[row.beside].title} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def version(command):
    """The version in what the command prints, or what it prints."""
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    text = (ran.stdout + ran.stderr).strip()
    found = re.search(r"\d+\.\d+[\w.]*", text)
    return found.group(0) if found else text.partition("\n")[0]


def processor():
    model = re.search(r"^model name\s*:\s*(.*)$", pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8"), re.M)
    return model.group(1) if model else platform.machine()


def circumstances(versions, options, load_averages):
    programs = ", ".join(f"{name} {number}" for name, number in versions.items())
    before, after = load_averages
    return (f"{programs}; {processor()}, {os.cpu_count()} cores, Linux {platform.release()}. "
            f"One worker on one core, load and upstream (100 bytes), one process, on another; "
            f"{options.connections} connections, access log {options.log or 'off'}; "
            f"load average {before:.1f} before and {after:.1f} after; "
            f"medians of {options.rounds} interleaved rounds of {options.seconds} s, in brackets the ratio to "
            f"{next(iter(versions))}.")

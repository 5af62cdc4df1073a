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


def cell(field, form, samples, reference):
    """Median, and the median of the ratios of the same rounds."""
    own = [getattr(sample, field) for sample in samples]
    other = [getattr(sample, field) for sample in reference]
    ratio = statistics.median(a / b if b else float("nan") for a, b in zip(own, other))
    return f"{form.format(statistics.median(own))} ({ratio:.2f})"


def table(results):
    """results: {row title: {peer: [Sample of each round]}}"""
    used = [column for column in COLUMNS
            if any(getattr(sample, column[0]) for peers in results.values() for one in peers.values() for sample in one)]
    lines = ["| work | proxy | " + " | ".join(heading for _, heading, _ in used) + " |",
             "|---|---|" + "---:|" * len(used)]
    for title, peers in results.items():
        reference = next(iter(peers.values()))
        for name, samples in peers.items():
            cells = (cell(field, form, samples, reference) for field, _, form in used)
            lines.append(f"| {title} | {name} | " + " | ".join(cells) + " |")
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


def circumstances(versions, options):
    programs = ", ".join(f"{name} {number}" for name, number in versions.items())
    return (f"{programs}; {processor()}, {os.cpu_count()} cores, Linux {platform.release()}. "
            f"One worker on one core, load and upstream (100 bytes), one process, on another; "
            f"{options.connections} connections, access log {options.log or 'off'}; "
            f"medians of {options.rounds} interleaved rounds of {options.seconds} s, in brackets the ratio to "
            f"{next(iter(versions))}.")

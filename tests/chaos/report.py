"""The rounds of a run as a table."""

import collections
import statistics

HEADS = ["topology", "fault", "rounds", "requests", "without Redis", "beyond the quota", "allowed",
         "back after (median, most)", "violations"]


def quotas(units, quota):
    return f"{units / quota:.2f}".rstrip("0").rstrip(".")


def table(rounds, quota_of):
    """Rounds are dicts; one row for each topology and fault. Numbers beyond the quota are in quotas of one client."""
    groups = collections.defaultdict(list)
    for one in rounds:
        groups[one["topology"], one["fault"]].append(one)
    rows = [HEADS, ["---"] * 2 + ["---:"] * (len(HEADS) - 2)]
    for (topology, fault), group in groups.items():
        requests = sum(one["requests"] for one in group)
        undecided = sum(one["undecided"] for one in group) / sum(one["strict_requests"] for one in group)
        back = [one["back_s"] for one in group]
        beyond, allowed = ([f"{policy} {quotas(max(one[what][policy] for one in group), unit.get(policy, 1))}"
                            for policy in group[0][what]] for what, unit in (("excess", quota_of), ("allowed", {})))
        rows.append([topology, fault, str(len(group)), str(requests),
                     f"{100 * undecided:.1f} %", ", ".join(beyond),
                     ", ".join(allowed), f"{statistics.median(back):.1f} s, {max(back):.1f} s",
                     str(sum(len(one["violations"]) for one in group))])
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)

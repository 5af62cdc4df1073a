"""The requests of clients with their answers, and the rules that every history must obey. Pure.

A round has clients of its own, whose quotas recover by next to nothing while it lasts. So the model is small: of each
client at most `quota` requests are admitted, plus what the faults of the round may cost; and a request is denied only
if the quota may have been used by then.
"""

import collections
from dataclasses import dataclass, field

ADMITTED, DENIED, UNDECIDED = 200, 429, 503
# The connection ended without an answer.
LOST = 0


@dataclass(frozen=True)
class Event:
    """A request: its client, when it was sent and answered, and its status."""
    client: str
    began_at: float
    ended_at: float
    status: int
    # Whether the instance that had the request was killed before it answered.
    is_killed: bool = False


@dataclass
class Allowance:
    """What the faults of a round may cost."""
    # Quotas that are lost or added.
    quotas: float = 0
    # Only counts from before this instant can be lost; None: others too.
    until: float = None
    # Units by which a step of the clock moves a quota.
    slack: int = 0
    # Numbers may be wrong, so denials may be.
    is_damaged: bool = False
    # A request may be denied while another instance holds what is left.
    is_leased: bool = False
    # Units that an instance held when it was killed: they are charged although no request had them.
    held: int = 0

    def units(self, events, quota):
        """The most that may be admitted beyond the quota, to the client of these events."""
        lost = self.quotas * quota
        if self.until is not None:
            lost = min(lost, sum(event.status != DENIED and event.began_at < self.until for event in events))
        return lost + self.slack


@dataclass
class Summary:
    requests: int = 0
    undecided: int = 0
    lost: int = 0
    # The most requests of one client that were admitted beyond its quota.
    excess: int = 0
    violations: list = field(default_factory=list)


def by_client(events):
    found = collections.defaultdict(list)
    for event in events:
        found[event.client].append(event)
    return found


def unanswered(events):
    """Only an instance that is killed leaves a request without an answer."""
    return [f"{event.client}: no answer to the request of {event.began_at:.3f}"
            for event in events if event.status == LOST and not event.is_killed]


def foreign(events, statuses):
    return [f"{event.client}: status {event.status}" for event in events if event.status not in statuses]


def early_denials(events, quota):
    """Denials that come before the quota can have been used: something was charged twice."""
    found = []
    charges = sorted(event.began_at for event in events if event.status != DENIED)
    for event in events:
        if event.status != DENIED:
            continue
        used = sum(began_at < event.ended_at for began_at in charges)
        if used < quota:
            found.append(f"{event.client}: denied after {used} of {quota}")
            break
    return found


def unused(events, quota):
    """Quota that is gone although no request can have used it. For a client whose quota was used up."""
    used = sum(event.status != DENIED for event in events)
    return [] if used >= quota else [f"{events[0].client}: {used} of {quota} can have been used, and it is denied"]


def excess(events, quota):
    return max(0, sum(event.status == ADMITTED for event in events) - quota)


def judge(events, quota, allowance, statuses, is_exact):
    """`is_exact`: denials come from the shared counts only, and the quota of every client was used up."""
    summary = Summary(requests=len(events), undecided=sum(event.status == UNDECIDED for event in events),
                      lost=sum(event.status == LOST for event in events))
    summary.violations = unanswered(events) + foreign(events, {*statuses, LOST})
    for client, own in by_client(events).items():
        beyond = excess(own, quota)
        summary.excess = max(summary.excess, beyond)
        if beyond > allowance.units(own, quota):
            summary.violations.append(f"{client}: {beyond} more than the quota of {quota}, "
                                      f"allowed are {allowance.units(own, quota):g}")
        if is_exact and not allowance.is_damaged:
            least = quota - allowance.slack - allowance.held
            summary.violations += ([] if allowance.is_leased else early_denials(own, least)) + unused(own, least)
    return summary

"""Waiting for a condition, never for a guess."""

import time

PATIENCE_S = 60.0


def eventually(condition, what, patience_s=PATIENCE_S):
    """Returns the first true value of `condition()`; fails when none comes in time."""
    give_up_at = time.monotonic() + patience_s
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > give_up_at:
            raise AssertionError(f"waited {patience_s:g} s in vain: {what}")
        time.sleep(0.005)


def settled(amount, what):
    """Waits until `amount()` no longer changes."""
    last = [None, 0]

    def unchanged():
        now = amount()
        last[1] = last[1] + 1 if now == last[0] else 0
        last[0] = now
        return last[1] >= 40

    eventually(unchanged, what)

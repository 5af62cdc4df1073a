"""Histories that break one rule each are noticed, and those that break none are not."""

import unittest

from history import ADMITTED, DENIED, LOST, UNDECIDED, Allowance, Event, judge

QUOTA = 3
STATUSES = {ADMITTED, DENIED, UNDECIDED}


def history(*statuses, client="a", **more):
    """One request after the other."""
    return [Event(client, at, at + 0.5, status, **more) for at, status in enumerate(statuses)]


class Judge(unittest.TestCase):
    def violations(self, events, allowance=Allowance(), statuses=STATUSES):
        return judge(events, QUOTA, allowance, statuses, is_exact=True).violations

    def test_a_quota_that_is_used_up_is_right(self):
        self.assertEqual(self.violations(history(200, 200, 200, 429, 429)), [])

    def test_each_client_has_a_quota(self):
        self.assertEqual(self.violations(history(200, 200, 200, 429) + history(200, 200, 200, 429, client="b")), [])

    def test_one_request_too_many(self):
        self.assertIn("1 more than the quota", self.violations(history(200, 200, 200, 200, 429))[0])

    def test_what_a_fault_may_cost(self):
        twice = history(*[200] * 6, 429)
        self.assertEqual(self.violations(twice, Allowance(quotas=1)), [])
        self.assertEqual(len(self.violations(twice, Allowance(quotas=0.9))), 1)

    def test_only_counts_from_before_the_loss_are_lost(self):
        events = history(*[200] * 5, 429)
        self.assertEqual(self.violations(events, Allowance(quotas=1, until=2)), [])
        self.assertEqual(self.violations(events, Allowance(quotas=1, until=1)),
                         ["a: 2 more than the quota of 3, allowed are 1"])

    def test_a_step_of_the_clock_moves_a_unit(self):
        for events in history(200, 200, 429), history(200, 200, 200, 200, 429):
            self.assertEqual(self.violations(events, Allowance(slack=1)), [])
        self.assertEqual(len(self.violations(history(200, 429), Allowance(slack=1))), 2)

    def test_a_request_that_was_charged_twice(self):
        found = self.violations(history(200, 200, 429))
        self.assertEqual([text.split(": ")[1] for text in found],
                         ["denied after 2 of 3", "2 of 3 can have been used, and it is denied"])

    def test_a_denial_that_comes_before_the_use(self):
        self.assertEqual(self.violations(history(200, 200, 429, 200)), ["a: denied after 2 of 3"])

    def test_a_request_that_was_sent_before_the_denial_ended_may_have_been_charged(self):
        events = history(200, 200, 429)
        events.append(Event("a", 2.1, 2.9, ADMITTED))
        self.assertEqual(self.violations(events), [])

    def test_a_request_without_a_decision_may_have_been_charged(self):
        self.assertEqual(self.violations(history(200, 503, 200, 429)), [])

    def test_only_a_killed_instance_leaves_a_request_without_an_answer(self):
        self.assertIn("no answer", self.violations(history(200, 200, LOST, 429))[0])
        self.assertEqual(self.violations(history(200, 200, LOST, 429, is_killed=True)), [])

    def test_a_status_that_no_one_expects(self):
        self.assertEqual(self.violations(history(200, 502, 200, 429)), ["a: status 502"])

    def test_damaged_numbers_may_deny(self):
        self.assertEqual(self.violations(history(200, 429), Allowance(quotas=1, is_damaged=True)), [])

    def test_a_denial_while_another_instance_holds_units(self):
        self.assertEqual(self.violations(history(200, 200, 429, 200), Allowance(is_leased=True)), [])

    def test_units_that_a_killed_instance_held(self):
        self.assertEqual(self.violations(history(200, 200, 429), Allowance(is_leased=True, held=1)), [])
        self.assertEqual(self.violations(history(200, 429), Allowance(is_leased=True, held=1)),
                         ["a: 1 of 2 can have been used, and it is denied"])

    def test_counts(self):
        events = history(200, 503, LOST, 200, 200, 200, 429, is_killed=True)
        summary = judge(events, QUOTA, Allowance(1), STATUSES, is_exact=True)
        self.assertEqual((summary.requests, summary.undecided, summary.lost, summary.excess, summary.violations),
                         (7, 1, 1, 1, []))


if __name__ == "__main__":
    unittest.main()

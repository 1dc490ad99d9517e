"""Runs the tests of another engine against this one, once, and prints the tables of docs/compatibility.md:

    python reference_table.py reference tests               # of `rlms`, in the folder of its sources
    python reference_table.py reference_dspy --deno TESTS…  # of dspy

The first argument is the plugin of this folder that puts this engine in the place of the other. Needs the package, pytest and what
the tests import.
"""

import re
import sys
from collections import Counter, defaultdict

import pytest


class Table:
    """What became of each test, by file."""

    def __init__(self):
        self.counts, self.skips, self.failures = defaultdict(Counter), defaultdict(Counter), []

    def pytest_runtest_logreport(self, report):
        if report.when != "call" and report.passed:
            return
        file = report.nodeid.split("::")[0]
        self.counts[file][report.outcome] += 1
        if report.skipped:
            reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
            self.skips[file][re.sub(r"^Skipped: ", "", reason)] += 1
        if report.failed:
            self.failures.append((report.nodeid, report.longrepr.reprcrash.message.splitlines()[0]))

    def pytest_collectreport(self, report):
        # A file that is skipped or cannot be imported as a whole.
        if report.outcome != "passed" and report.nodeid.endswith(".py"):
            self.counts[report.nodeid][report.outcome] += 1
            self.failures.append((report.nodeid, f"the whole file: {report.outcome}"))

    def show(self):
        print("| tests | passed | not applicable | failed |\n|---|---|---|---|")
        for file, counts in sorted(self.counts.items()):
            print(f"| `{file}` | {counts['passed']} | {counts['skipped']} | {counts['failed']} |")
        total = sum(self.counts.values(), Counter())
        print(f"| all | {total['passed']} | {total['skipped']} | {total['failed']} |\n\nNot applicable:")
        for file, reasons in sorted(self.skips.items()):
            print(f"  {file}: " + "; ".join(f"{n} {reason}" for reason, n in reasons.most_common(4)))
        print("Failed:")
        for test, line in self.failures:
            print(f"  {test}: {line}")


if __name__ == "__main__":
    plugin, *arguments = sys.argv[1:]
    table = Table()
    pytest.main(["-q", "--no-summary", "--continue-on-collection-errors", "-p", "no:cacheprovider", "-p", plugin, *arguments], plugins=[table])
    table.show()

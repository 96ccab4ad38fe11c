"""What a run of the tests costs: CPU seconds of each test, of each module, and of all processes together.

CPU seconds are the user's and the system's, of a test's own process and of its children that have ended.  Unlike
seconds of the clock, they depend little on what else the machine does.  A fixture is charged to the first test that
asks for it.
"""

import os
from collections import Counter

import pytest

MODULES, TESTS = 12, 30  # how many of the costliest are listed


def cpu_seconds():
    """The CPU time of this process and of its ended children until now."""
    return sum(os.times()[:4])


class Costs:
    """A plugin that measures in each worker, and adds up in the process that reports."""

    def __init__(self):
        self._begun = 0.0
        self._of_tests = Counter()
        self._of_workers = []

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self):
        self._begun = cpu_seconds()
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, call):
        report = yield
        if call.when == "teardown":
            report.cpu_seconds = cpu_seconds() - self._begun
        return report

    def pytest_runtest_logreport(self, report):
        self._of_tests[report.nodeid] += getattr(report, "cpu_seconds", 0.0)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session):
        if hasattr(session.config, "workeroutput"):  # this process is a worker of xdist
            session.config.workeroutput["cpu_seconds"] = cpu_seconds()

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node):
        self._of_workers.append(getattr(node, "workeroutput", {}).get("cpu_seconds", 0.0))

    def pytest_terminal_summary(self, terminalreporter):
        modules = Counter()
        for name, seconds in self._of_tests.items():
            modules[name.partition("::")[0]] += seconds
        terminalreporter.section("CPU seconds")
        for name, seconds in [*modules.most_common(MODULES), *self._of_tests.most_common(TESTS)]:
            terminalreporter.write_line(f"{seconds:7.2f}  {name}")
        terminalreporter.write_line(f"{self._whole():7.1f}  all tests, with the start of the processes that ran them")

    def _whole(self):
        """The CPU time of all processes; workers that have ended already are this one's children."""
        own = os.times()
        return own.user + own.system + (sum(self._of_workers) or own.children_user + own.children_system)

"""Judges a test run: which tests failed, were unsteady, or did not run.

A failed test runs again alone, three times, in the same build. If it passes each time, it is
unsteady: it is listed but is not a failure. A sanitizer report, a crash or a hang always fails.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from events import Run, Test
from program import WIDTH, Ending

# The number of times that a failed test runs again alone.
TRIES = 3
# More unsteady tests than this in one run of the gate are a failure.
MOST_UNSTEADY = 3
# If more tests than this fail, chance is not the reason, and only the first ones run again.
MOST_AGAIN = 12

RunTests = Callable[[list[str]], Ending]


@dataclass
class Finding:
    """A test and the message about it."""

    test: str
    message: str


@dataclass
class Verdict:
    """All results of a run that people need to know."""

    passed: int = 0
    failures: list[Finding] = field(default_factory=list)
    unsteady: list[Finding] = field(default_factory=list)
    skipped: list[Finding] = field(default_factory=list)

    @property
    def is_red(self) -> bool:
        return bool(self.failures) or len(self.unsteady) > MOST_UNSTEADY


def judge(filters: list[str], run_tests: RunTests) -> Verdict:
    """Runs the tests that match a filter, and repeats those that failed."""
    verdict = Verdict()
    first = run_tests(filters)
    if not (first.run.tests or first.crash or first.hang):
        wanted = " or ".join(filters) or "no filter at all"
        return Verdict(failures=[Finding("all tests", f"no test fits {wanted}")])
    runs = [first.run]
    _note_ending(first, verdict)
    guilty = _guilty(first)
    rest = [first.run.tests[test] for test in sorted(first.run.unfinished - guilty)]
    if (first.crash or first.hang) and rest:
        # Run the other tests in spite of the failure. A second crash ends the run.
        second = run_tests([test.filter for test in rest])
        runs.append(second.run)
        _note_ending(second, verdict)
        guilty |= _guilty(second)
    _note_tests(runs, guilty, verdict, run_tests)
    return verdict


def _note_tests(
    runs: list[Run], guilty: set[str], verdict: Verdict, run_tests: RunTests
) -> None:
    """Records the result of each test, except the guilty ones, which are already recorded."""
    tests: dict[str, Test] = {}
    failed: dict[str, str] = {}
    passed: set[str] = set()
    skipped: dict[str, str] = {}
    for run in runs:
        tests |= run.tests
        failed |= run.failed
        passed |= run.passed
        skipped |= run.skipped
    verdict.passed = len(passed - failed.keys())
    verdict.skipped += [Finding(tests[test].label, why) for test, why in sorted(skipped.items())]
    for number, (test, message) in enumerate(sorted(failed.items())):
        finding = Finding(tests[test].label, message)
        if number >= MOST_AGAIN:
            finding.message += f"\n(did not run again: {len(failed)} tests failed)"
            verdict.failures.append(finding)
        elif red := _second_failure(tests[test], verdict, run_tests):
            finding.message += f"\n({red})"
            verdict.failures.append(finding)
        else:
            verdict.unsteady.append(finding)
    unseen = tests.keys() - passed - failed.keys() - skipped.keys() - guilty
    if unseen:
        names = sorted(tests[test].label for test in unseen)
        listed = ", ".join(names[:5] + (["…"] if len(names) > 5 else []))
        verdict.failures.append(
            Finding(f"{len(unseen)} tests", f"did not run to their end: {listed}"))


def _second_failure(test: Test, verdict: Verdict, run_tests: RunTests) -> str | None:
    """Runs a test again, and returns how it failed, or None if it passed each time."""
    for number in range(1, TRIES + 1):
        ending = run_tests([test.filter])
        _note_ending(ending, verdict, test)
        if ending.run.failed or ending.crash or ending.hang or ending.reports:
            return f"and failed again alone, in try {number} of {TRIES}"
        if test.identifier not in ending.run.passed:
            return f"and did not run in try {number} of {TRIES}"
    return None


def _note_ending(ending: Ending, verdict: Verdict, test: Test | None = None) -> None:
    """Records failures of the run itself: hangs, crashes, sanitizer reports, other issues."""
    name = test.label if test else "the test program"
    if ending.hang:
        names = [ending.run.tests[test].label for test in sorted(_guilty(ending))]
        verdict.failures.append(Finding(
            f"HANG in {', '.join(names) or name}", f"{ending.hang}\n{_where(ending)}"))
    if ending.crash:
        culprit = crashed_test(ending)
        verdict.failures.append(Finding(
            f"CRASH in {culprit.label if culprit else name}", f"{ending.crash}\n{_where(ending)}"))
    for report in ending.reports:
        verdict.failures.append(Finding(f"SANITIZER in {name}", _beginning(report, 30)))
    verdict.failures += [Finding(name, issue) for issue in ending.run.other_issues]
    if ending.status and not (
            ending.hang or ending.crash or ending.reports or ending.run.failed
            or ending.run.other_issues):
        verdict.failures.append(Finding(name, f"ended with status {ending.status}"))


def _guilty(ending: Ending) -> set[str]:
    """Returns the tests that crashed the program or made it hang."""
    run = ending.run
    if ending.crash:
        return {test.identifier for test in [crashed_test(ending)] if test}
    if not ending.hang:
        return set()
    # If at most WIDTH tests are unfinished, they were all running.
    return run.overdue or (run.unfinished if len(run.unfinished) <= WIDTH else set())


def crashed_test(ending: Ending) -> Test | None:
    """Returns the test that the crashed thread's backtrace names, by file and line."""
    for file, line in _frames(ending.output):
        before = [test for test in ending.run.tests.values()
                  if test.file == file and test.line <= line]
        if before:
            return max(before, key=lambda test: test.line)
    return None


def _frames(output: list[str]) -> list[tuple[str, int]]:
    """Returns the files and lines of the crashed thread's frames."""
    frames = []
    is_crashed = False
    for line in output:
        if line.startswith("Thread "):
            is_crashed = "crashed" in line
        if is_crashed and " at /" in line:
            place = line.rsplit(" at ", 1)[1].split(":")
            if len(place) > 1 and place[1].isdigit():
                frames.append((place[0], int(place[1])))
    return frames


def _where(ending: Ending) -> str:
    """Returns the program's last error messages and the frames of the crashed thread."""
    errors = [line for line in ending.output if "Fatal error" in line or "*** " in line]
    frames = [f"{Path(file).name}:{line}" for file, line in _frames(ending.output)]
    return "\n".join(errors[-4:] + ([f"at {', '.join(frames[:8])}"] if frames else []))


def _beginning(text: str, lines: int) -> str:
    return "\n".join(text.splitlines()[:lines])

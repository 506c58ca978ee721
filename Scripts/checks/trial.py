"""Tries mutants: plants each, builds, runs its tests, and says which test caught it."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from subprocess import Popen, TimeoutExpired
from typing import BinaryIO

from events import Run
from mutants import Mutant, MutantError, Sources
from program import WIDTH
from verdict import MOST_AGAIN, TRIES, Finding
from workspace import Workspace

# The time limit for the build, and for the tests, of a mutant, in seconds.
LIMIT = 300
# The time limit for the build without a bug, and for the tests of all mutants together without one,
# in seconds.
UNCHANGED_LIMIT = 1800
# One failure is enough. This additional time, in seconds, shows which other tests also fail.
AFTER_FAILURE = 5


@dataclass(frozen=True)
class Outcome:
    """The result of a mutant's trial."""

    mutant: Mutant
    verdict: str
    is_caught: bool
    build_seconds: float
    test_seconds: float

    @property
    def seconds(self) -> float:
        return self.build_seconds + self.test_seconds


class Trial:
    """Tries mutants, each in a freshly opened workspace."""

    def __init__(
        self, workspace: Workspace, sources: Sources, program: Path, logs: Path
    ) -> None:
        self._workspace = workspace
        self._sources = sources
        self._program = program
        self._logs = logs

    def attempt(self, mutant: Mutant) -> Outcome:
        """Plants a mutant, builds, and runs its tests."""
        log = self._new_log(mutant.name)
        start = time.monotonic()
        with self._workspace:
            for path, text in self._sources.plant(mutant).items():
                self._workspace.write(path, text)
            self._build(mutant.name, log, LIMIT)
            built = time.monotonic()
            status, run = self._test([mutant.tests], log, LIMIT)
            tested = time.monotonic()
        if not run.tests:
            raise _no_tests(mutant, log)
        is_caught, verdict = _judge(status, run)
        return Outcome(mutant, verdict, is_caught, built - start, tested - built)

    def prove(self, mutants: Sequence[Mutant]) -> list[Finding]:
        """Fails unless the tests of each mutant exist and pass without a bug.

        Returns the tests that failed once and passed each time when they ran again alone.
        """
        log = self._new_log("unchanged")
        filters = sorted({mutant.tests for mutant in mutants})
        unsteady: list[Finding] = []
        with self._workspace:
            self._build("the package without any bug", log, UNCHANGED_LIMIT)
            status, run = self._test(filters, log, UNCHANGED_LIMIT, UNCHANGED_LIMIT)
            if run.has_ended and run.failed and len(run.failed) <= MOST_AGAIN:
                unsteady = self._passing_alone(run, log)
        for mutant in mutants:
            fitting = {test for test in run.tests if re.search(mutant.tests, test)}
            if not fitting:
                raise _no_tests(mutant, log)
            if fitting <= run.skipped.keys():
                raise MutantError(f"{mutant.name} names only skipped tests: {mutant.tests}")
        if status != 0 and (not unsteady or len(unsteady) < len(_failures(run))):
            reasons = _failures(run) or ["they hang" if status is None else "they crash"]
            raise MutantError(
                "\n".join([f"tests fail without any bug (full log: {log})", *reasons[:10]]))
        return unsteady

    def _passing_alone(self, run: Run, log: Path) -> list[Finding]:
        """Runs each failed test again alone, and returns those that pass each time."""
        return [
            Finding(run.tests[test].label, message) for test, message in run.failed.items()
            if all(self._test([run.tests[test].filter], log, LIMIT)[0] == 0
                   for _ in range(TRIES))]

    def _new_log(self, name: str) -> Path:
        log = self._logs / f"{name}.log"
        log.unlink(missing_ok=True)
        return log

    def _build(self, name: str, log: Path, seconds: float) -> None:
        # This leaves out programs that no test starts.
        command = ["Scripts/build", "--product", self._program.stem]
        with self._workspace.started(command, log) as process:
            try:
                status = process.wait(seconds)
            except TimeoutExpired:
                raise MutantError(f"{name} takes more than {seconds} s to build") from None
        if status != 0:
            errors = [line for line in log.read_text(errors="replace").splitlines()
                      if "error:" in line]
            raise MutantError(
                "\n".join([f"{name} cannot be built (full log: {log})", *errors[:10]]))

    def _test(
        self, filters: Sequence[str], log: Path, seconds: float,
        after_failure: float = AFTER_FAILURE
    ) -> tuple[int | None, Run]:
        """Runs the tests that match one of the filters, and returns their results.

        The status is None if they exceeded the time limit, or the additional time after a failure.
        """
        stream = Path(".build/mutants.events")
        command = [
            str(self._program), "--testing-library", "swift-testing",
            "--experimental-maximum-parallelization-width", str(WIDTH),
            "--event-stream-output-path", str(stream), "--event-stream-version", "0"]
        for pattern in filters:
            command += ["--filter", pattern]
        self._workspace.write(str(stream), "")
        with ((self._workspace.root / stream).open("rb") as events,
              self._workspace.started(command, log, _environment()) as process):
            return _watch(process, events, seconds, after_failure)


def _watch(
    process: Popen, events: BinaryIO, seconds: float, after_failure: float
) -> tuple[int | None, Run]:
    """Reads the events of a test program until it ends or its time is over."""
    run = Run()
    rest = b""
    end = time.monotonic() + seconds
    while True:
        status = process.poll()
        *lines, rest = (rest + events.read()).split(b"\n")
        for line in filter(None, lines):
            run.read(line.decode(errors="replace"))
        now = time.monotonic()
        if _failures(run):
            end = min(end, now + after_failure)
        if status is not None or now > end:
            return status, run
        time.sleep(0.1)


def _judge(status: int | None, run: Run) -> tuple[bool, str]:
    """Returns whether a mutant is caught, and which test or crash caught it."""
    failures = _failures(run)
    if failures:
        more = f" and {len(failures) - 1} more" if len(failures) > 1 else ""
        return True, f"caught by {failures[0]}{more}"
    if status is None:
        return False, "MISSED: the tests hang"
    return (False, "MISSED") if status == 0 else (True, "caught by a crash")


def _failures(run: Run) -> list[str]:
    return sorted(run.tests[test].label for test in run.failed) + run.other_issues


def _no_tests(mutant: Mutant, log: Path) -> MutantError:
    return MutantError(
        f"{mutant.name} names the tests {mutant.tests}, none of which exists (full log: {log})")


def _environment() -> dict[str, str]:
    # Swift's runtime tags its pointers, so LeakSanitizer reports their objects as leaks.
    settings = {"ASAN_OPTIONS": "detect_leaks=0", "LLVM_PROFILE_FILE": "/dev/null"}
    environment = {**os.environ, **settings}
    if environment.get("COVERAGE") == "1":
        # The coverage build has no sanitizer, which the tests would ask for.
        environment.pop("SANITIZE", None)
    return environment

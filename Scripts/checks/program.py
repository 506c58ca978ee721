"""Runs a test program once, and ends it if it hangs."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from events import Run

# The time without an event after which the program counts as hung: a minute more than the longest
# `.timeLimit` of almost all tests. While a test with a longer limit runs, the time is a minute more
# than that limit.
SILENCE = float(os.environ.get("TEST_SILENCE", 11 * 60))
# The time for a test to notice that it was cancelled, after its own time limit.
GRACE = float(os.environ.get("TEST_GRACE", 60))
# The time for an aborted program to print the backtraces of its threads.
ABORT = 60
BACKTRACE_END = "Backtrace took"
# With more tests at once, those that wait would take time from those that work.
WIDTH = 8
PR_SET_CHILD_SUBREAPER = 36
# The status of a program that has no matching test: EX_UNAVAILABLE of sysexits.h.
NO_TESTS = 69


@dataclass
class Ending:
    """How a run of the program ended."""

    run: Run
    status: int
    output: list[str]
    # The reason why the program was killed, or None.
    hang: str | None
    # The reports of sanitizers in this program and in the programs that it started.
    reports: list[str]

    @property
    def crash(self) -> str | None:
        """The signal or status that ended the program in the middle of the tests, or None."""
        if self.hang or self.run.has_ended or self.status == NO_TESTS:
            return None
        if self.status < 0:
            return signal.Signals(-self.status).name
        return f"the program ended with status {self.status} in the middle of the tests"


class Program:
    """A built test program, with the environment that its tests need."""

    def __init__(self, path: Path, environment: dict[str, str], log: Path) -> None:
        self.path = path
        self.environment = environment
        self.log = log
        # Programs that tests start become children of this process when the test program ends, so
        # that they can be killed, too.
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)

    def run(self, filters: list[str], skips: list[str] = [], show=lambda line: None) -> Ending:
        """Runs the tests that match a filter, and calls `show` with each line of output."""
        with tempfile.TemporaryDirectory(prefix="sq-tests-") as folder:
            stream = Path(folder, "events")
            reports = Path(folder, "reports")
            reports.mkdir()
            stream.touch()
            command = [str(self.path), "--testing-library", "swift-testing",
                       "--experimental-maximum-parallelization-width", str(WIDTH),
                       "--event-stream-output-path", str(stream), "--event-stream-version", "0"]
            for pattern in filters:
                command += ["--filter", pattern]
            for pattern in skips:
                command += ["--skip", pattern]
            process = subprocess.Popen(
                command, env=self._environment(reports), stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
            output: list[str] = []
            reader = threading.Thread(target=self._copy, args=(process, output, show))
            reader.start()
            try:
                watch = _Watch(process, stream, output)
                hang = watch.until_end()
            finally:
                _end(process)
            # A program that outlives the tests would keep the pipe open.
            reader.join()
            return Ending(watch.run, process.returncode, output, hang, _texts(reports))

    def _environment(self, reports: Path) -> dict[str, str]:
        environment = dict(self.environment)
        # Swift's runtime tags its pointers, so LeakSanitizer reports their objects as leaks.
        environment["ASAN_OPTIONS"] = f"detect_leaks=0:log_path={reports}/address"
        # By default, each program that a test starts would wait for a second at its end.
        environment["TSAN_OPTIONS"] = f"atexit_sleep_ms=100:log_path={reports}/thread"
        # By default, Swift Testing takes a backtrace whenever an error is thrown, which can take
        # half of a test's time. No report shows these backtraces.
        environment["SWT_SWIFT_ERROR_BACKTRACING_ENABLED"] = "0"
        return environment

    def _copy(self, process: subprocess.Popen, output: list[str], show) -> None:
        with process.stdout, self.log.open("a", buffering=1, encoding="utf-8") as log:
            for line in process.stdout:
                text = line.decode("utf-8", "replace").rstrip("\n")
                output.append(text)
                log.write(text + "\n")
                show(text)


class _Watch:
    """Reads the stream while the program runs, and decides whether it hangs."""

    def __init__(self, process: subprocess.Popen, stream: Path, output: list[str]) -> None:
        self.run = Run()
        self._process = process
        self._output = output
        self._stream = stream.open(encoding="utf-8")
        self._rest = ""
        self._last_event = time.monotonic()
        self._overdue_since: dict[str, float] = {}

    def until_end(self) -> str | None:
        """Waits for the program's end or, if it hangs, aborts it and returns the reason."""
        with self._stream:
            while True:
                has_ended = self._process.poll() is not None
                self._read()
                if has_ended:
                    return None
                # Tests check whether processes that they have killed are gone.
                _reap(self._process)
                if reason := self._hang():
                    self._abort()
                    return reason
                time.sleep(0.2)

    def _abort(self) -> None:
        """Makes the program print its threads' backtraces, after which it may keep running."""
        self._process.send_signal(signal.SIGABRT)
        end = time.monotonic() + ABORT
        while self._process.poll() is None and time.monotonic() < end:
            if any(line.startswith(BACKTRACE_END) for line in self._output[-100:]):
                return
            time.sleep(0.2)

    def _read(self) -> None:
        lines = (self._rest + self._stream.read()).split("\n")
        self._rest = lines.pop()
        for line in lines:
            self.run.read(line)
        now = time.monotonic()
        if lines:
            self._last_event = now
        self._overdue_since = {
            test: self._overdue_since.get(test, now) for test in self.run.overdue}

    def _hang(self) -> str | None:
        now = time.monotonic()
        for test, since in self._overdue_since.items():
            if now - since > GRACE:
                return (f"{self.run.tests[test].label} went on for {GRACE:.0f} s after its time "
                        "limit")
        silence = now - self._last_event
        # The limit is read from files, so it is read only when it matters.
        if silence > SILENCE and silence > self.run.limit + GRACE:
            return f"no test began or ended for {silence:.0f} s"
        return None


def _end(process: subprocess.Popen) -> None:
    """Kills the program, if it still runs, and all processes that it started."""
    while processes := _descendants(os.getpid()):
        for identifier in processes:
            try:
                os.kill(identifier, signal.SIGKILL)
            except ProcessLookupError:
                pass
        process.poll()
        _reap(process)
        time.sleep(0.02)
    process.wait()


def _reap(process: subprocess.Popen) -> None:
    """Reaps ended child processes of this process, except the program itself."""
    for identifier in _children(os.getpid()):
        if identifier != process.pid:
            try:
                os.waitpid(identifier, os.WNOHANG)
            except ChildProcessError:
                pass


def _descendants(process: int) -> list[int]:
    """Returns all running descendants of a process."""
    found = []
    for child in _children(process):
        found += [child] + _descendants(child)
    return found


def _children(process: int) -> list[int]:
    """Returns the child processes of a process, or an empty list if the process has ended."""
    tasks = Path(f"/proc/{process}/task")
    while tasks.exists():
        try:
            return [int(child) for task in os.listdir(tasks)
                    for child in (tasks / task / "children").read_text().split()]
        except (FileNotFoundError, ProcessLookupError):
            # A thread has just ended, and its children now belong to another thread.
            pass
    return []


def _texts(folder: Path) -> list[str]:
    return [file.read_text(encoding="utf-8", errors="replace").strip()
            for file in sorted(folder.iterdir())]

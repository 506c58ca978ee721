"""Tests of verdicts on a sample program whose tests fail, crash, hang and race on command."""

import json
import os
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "Scripts/checks"))

import program
import report
from events import Run
from program import Program, _Watch
from verdict import Finding, Verdict, judge

SAMPLE = Path(__file__).parent / "Sample"


def built_sample(*options: str) -> Path:
    """Builds the sample package outside the project's own builds and returns its program."""
    scratch = ROOT / ".build" / "-".join(["sample", *(option.split("=")[-1] for option in options)])
    command = ["swift", "build", "--build-tests", "--package-path", str(SAMPLE),
               "--scratch-path", str(scratch), *options]
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    return scratch / "debug/samplePackageTests.xctest"


class VerdictTests(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.program = built_sample()
        cls.racing = built_sample("--sanitize=thread")

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def verdict(self, faults: str, path: Path | None = None, *filters: str) -> Verdict:
        """Runs the sample with faults in some of its tests and returns the verdict."""
        environment = dict(os.environ, SAMPLE_FAULTS=faults, SAMPLE_FOLDER=str(self.folder))
        sample = Program(path or self.program, environment, self.folder / "log")
        return judge(list(filters), lambda filters: sample.run(filters))

    def names(self, findings: list[Finding]) -> list[str]:
        return [finding.test for finding in findings]

    def test_all_pass(self) -> None:
        verdict = self.verdict("")
        self.assertEqual(verdict.failures, [])
        self.assertEqual(verdict.unsteady, [])
        self.assertEqual(verdict.passed, 7)
        self.assertFalse(verdict.is_red)

    def test_a_skipped_test_has_its_reason(self) -> None:
        self.assertEqual(
            [(finding.test.split("/")[1], finding.message)
             for finding in self.verdict("").skipped],
            [("a test that cannot run() (SampleTests.swift:12)", "it needs a thing")])

    def test_a_test_that_fails_twice_is_a_failure(self) -> None:
        verdict = self.verdict("fails")
        self.assertEqual(len(verdict.failures), 1)
        self.assertIn("a (strange) [name] fails", verdict.failures[0].test)
        self.assertIn("failed again alone, in try 1 of 3", verdict.failures[0].message)
        self.assertTrue(verdict.is_red)

    def test_a_test_that_fails_once_is_unsteady(self) -> None:
        verdict = self.verdict("lucky=1")
        self.assertEqual(verdict.failures, [])
        self.assertEqual(len(verdict.unsteady), 1)
        self.assertIn("bad luck", verdict.unsteady[0].message)
        self.assertFalse(verdict.is_red)

    def test_one_failure_in_three_retries_is_a_failure(self) -> None:
        verdict = self.verdict("lucky=1,4")
        self.assertIn("in try 3 of 3", verdict.failures[0].message)
        self.assertEqual(verdict.unsteady, [])

    def test_a_crash_is_a_failure_and_the_other_tests_run(self) -> None:
        verdict = self.verdict("crashes fails")
        names = self.names(verdict.failures)
        self.assertTrue(any(name.startswith("CRASH in ") and "crashes" in name for name in names))
        self.assertTrue(any("a (strange) [name] fails" in name for name in names))
        self.assertEqual(verdict.passed, 5)

    def test_a_hang_is_a_failure_and_the_other_tests_run(self) -> None:
        self.addCleanup(setattr, program, "SILENCE", program.SILENCE)
        program.SILENCE = 15
        verdict = self.verdict("hangs")
        self.assertTrue(verdict.failures[0].test.startswith("HANG in "))
        self.assertEqual(verdict.passed, 6)
        self.assertTrue(verdict.is_red)

    def test_a_data_race_is_a_failure_without_a_retry(self) -> None:
        self.assertFalse(self.verdict("", self.racing).is_red)
        verdict = self.verdict("races", self.racing)
        self.assertTrue(verdict.failures[0].test.startswith("SANITIZER in "))
        self.assertIn("WARNING: ThreadSanitizer", verdict.failures[0].message)
        self.assertEqual(verdict.unsteady, [])

    def test_a_program_that_a_test_leaves_running_is_terminated(self) -> None:
        self.verdict("leaves")
        identifier = (self.folder / "left").read_text()
        self.assertFalse(Path("/proc", identifier).exists())

    def test_a_filter_that_matches_no_test_is_a_failure(self) -> None:
        self.assertIn("no test fits", self.verdict("", None, "NoSuchTest").failures[0].message)


class LimitTests(unittest.TestCase):
    def event(self, run: Run, kind: str, test: str) -> None:
        run.read(json.dumps(
            {"kind": "event", "payload": {"kind": kind, "testID": test, "messages": []}}))

    def run_of(self, *files: Path) -> Run:
        """Returns a run whose tests have their files' names and have not started."""
        run = Run()
        for file in files:
            run.read(json.dumps({"kind": "test", "payload": {
                "kind": "function", "id": file.name,
                "sourceLocation": {"_filePath": str(file), "line": 1}}}))
        return run

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.short, self.long = (Path(folder.name, name) for name in ["short", "long"])
        self.short.write_text("@Suite(.timeLimit(.minutes(3))) struct A {}")
        self.long.write_text(
            "@Suite(.timeLimit(.minutes(1))) struct B {\n  @Test(.timeLimit(.minutes(30)))")

    def test_the_limit_is_the_longest_one_of_the_running_tests(self) -> None:
        run = self.run_of(self.short, self.long, Path("Module/NoFile.swift"))
        self.assertEqual(run.limit, 0)
        for test, limit in [("NoFile.swift", 0), ("short", 180), ("long", 1800)]:
            self.event(run, "testStarted", test)
            self.assertEqual(run.limit, limit)
        self.event(run, "testEnded", "long")
        self.assertEqual(run.limit, 180)

    def test_silence_is_a_hang_only_after_the_limit_of_a_running_test(self) -> None:
        stream = self.short.with_name("events")
        stream.touch()
        watch = _Watch(None, stream, [])
        self.addCleanup(watch._stream.close)
        watch.run = self.run_of(self.short, self.long)
        for test, silence in [("short", program.SILENCE), ("long", 1800 + program.GRACE)]:
            self.event(watch.run, "testStarted", test)
            watch._last_event = time.monotonic() - silence + 5
            self.assertIsNone(watch._hang())
            watch._last_event = time.monotonic() - silence - 5
            self.assertIn("no test began or ended", watch._hang())


class ProcessTests(unittest.TestCase):
    def test_children_are_found_although_a_thread_ends_meanwhile(self) -> None:
        child = subprocess.Popen(["sleep", "60"])
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        for name in ["listdir", "scandir"]:
            real = getattr(os, name)
            with mock.patch(f"os.{name}", side_effect=[FileNotFoundError, real("/proc/self/task")]):
                self.assertIn(child.pid, program._children(os.getpid()))

    def test_a_process_that_has_ended_has_no_children(self) -> None:
        child = subprocess.Popen(["true"])
        child.wait()
        self.assertEqual(program._children(child.pid), [])


class ReportTests(unittest.TestCase):
    def test_more_than_three_unsteady_tests_are_a_failure(self) -> None:
        unsteady = [Finding(f"test {number}", "bad luck") for number in range(3)]
        self.assertEqual(report.counts(Verdict(7, [], unsteady)), "10 passed, 0 failed")
        unsteady.append(Finding("test 3", "bad luck"))
        self.assertEqual(report.counts(Verdict(7, [], unsteady)), "11 passed, 1 failed")
        self.assertTrue(Verdict(7, [], unsteady).is_red)

    def test_a_written_verdict_is_read_back_unchanged(self) -> None:
        verdict = Verdict(3, [Finding("a", "b\nc")], [Finding("d", "")], [Finding("e", "f")])
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "record")
            report.write(verdict, path)
            self.assertEqual(report.read(path), verdict)

    def test_the_report_ends_with_the_counts(self) -> None:
        text = report.text(Verdict(1, [Finding("a", "b")]))
        self.assertEqual(text.splitlines()[-1], "1 passed, 1 failed")


if __name__ == "__main__":
    unittest.main()

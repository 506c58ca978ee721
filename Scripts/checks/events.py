"""Reads the event stream of a Swift Testing program: what happened to each test."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from pathlib import Path

# Swift Testing writes this when a test exceeds its own `.timeLimit`.
TIME_LIMIT_MESSAGE = "Time limit was exceeded"


@dataclass(frozen=True)
class Test:
    """A test function: the unit that fails, is skipped and runs again."""

    identifier: str
    file: str
    line: int

    @property
    def label(self) -> str:
        """The name to show: target, suite, function, file and line."""
        name = self.identifier.rsplit("/", 1)[0].replace("`", "")
        return f"{name} ({Path(self.file).name}:{self.line})"

    @property
    def filter(self) -> str:
        """A regular expression for `--filter` that selects this test and no other."""
        return "^" + re.sub(r"[\\.^$|?*+(){}\[\]]", r"\\\g<0>", self.identifier) + "$"

    @property
    def limit(self) -> float:
        """The longest `.timeLimit` in the test's file, in seconds; 0 if it has none.

        The event stream does not contain the limits.
        """
        path = Path(self.file)
        text = path.read_text(encoding="utf-8") if path.is_file() else ""
        minutes = re.findall(r"\.timeLimit\(\.minutes\((\d+)\)\)", text)
        return 60.0 * max(map(int, minutes), default=0)


@dataclass
class Run:
    """The tests of one run, up to the last line read from the stream."""

    tests: dict[str, Test] = field(default_factory=dict)
    started: set[str] = field(default_factory=set)
    ended: set[str] = field(default_factory=set)
    skipped: dict[str, str] = field(default_factory=dict)
    # Each failed test with its first message.
    failed: dict[str, str] = field(default_factory=dict)
    # Tests that exceeded their own time limit and have not ended.
    overdue: set[str] = field(default_factory=set)
    # Issues that belong to no test.
    other_issues: list[str] = field(default_factory=list)
    has_ended: bool = False

    @property
    def passed(self) -> set[str]:
        """The tests that ended without an issue."""
        return self.ended - self.failed.keys()

    @property
    def unfinished(self) -> set[str]:
        """The tests that neither ended nor were skipped."""
        return self.tests.keys() - self.ended - self.skipped.keys()

    @property
    def limit(self) -> float:
        """The longest time limit of a test that runs, in seconds; 0 if there is none."""
        return max((self.tests[test].limit for test in self.started - self.ended), default=0)

    def read(self, line: str) -> None:
        """Reads one line of the stream."""
        record = json.loads(line)
        payload = record["payload"]
        if record["kind"] == "test":
            self._add_test(payload)
        elif record["kind"] == "event":
            self._add_event(payload)

    def _add_test(self, payload: dict) -> None:
        if payload["kind"] != "function":
            return
        place = payload["sourceLocation"]
        identifier = payload["id"]
        self.tests[identifier] = Test(
            identifier, place.get("filePath") or place.get("_filePath") or place["fileID"],
            place["line"])

    def _add_event(self, payload: dict) -> None:
        test = payload.get("testID")
        match payload["kind"]:
            case "testStarted" if test in self.tests:
                self.started.add(test)
            case "testEnded" if test in self.tests:
                self.ended.add(test)
                self.overdue.discard(test)
            case "testSkipped" if test in self.tests:
                self.skipped[test] = "; ".join(payload.get("_comments") or []) or _message(payload)
            case "issueRecorded" if not payload["issue"].get("isKnown"):
                self._add_issue(test, _message(payload))
            case "runEnded":
                self.has_ended = True

    def _add_issue(self, test: str | None, message: str) -> None:
        if test not in self.tests:
            self.other_issues.append(f"{test}: {message}" if test else message)
            return
        self.failed.setdefault(test, message)
        if message.startswith(TIME_LIMIT_MESSAGE) and test not in self.ended:
            self.overdue.add(test)


def _message(payload: dict) -> str:
    return "\n".join(message["text"] for message in payload["messages"])

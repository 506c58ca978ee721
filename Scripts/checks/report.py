"""Writes verdicts as text for people, and as files that the gate adds up."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

from verdict import MOST_UNSTEADY, Finding, Verdict


def text(verdict: Verdict, before_counts: list[str] = []) -> str:
    """Returns everything that a run found, the most important last: failures, then the counts."""
    parts = _list("Skipped, with the reasons:", verdict.skipped)
    parts += _list("UNSTEADY: failed once, and passed three times alone. Find the cause:",
                   verdict.unsteady)
    parts += _list("FAILED:", verdict.failures)
    if are_too_many(len(verdict.unsteady)):
        parts.append(f"\nFAILED: more than {MOST_UNSTEADY} tests were unsteady.\n")
    return "".join(parts + before_counts) + f"\n{counts(verdict)}"


def are_too_many(unsteady: int) -> bool:
    """Returns whether this number of unsteady tests is a failure by itself."""
    return unsteady > MOST_UNSTEADY


def counts(verdict: Verdict) -> str:
    """Returns the last line of a run."""
    return (f"{verdict.passed + len(verdict.unsteady)} passed, "
            f"{len(verdict.failures) + are_too_many(len(verdict.unsteady))} failed")


def write(verdict: Verdict, path: Path) -> None:
    """Writes a verdict to a file."""
    path.write_text(json.dumps(dataclasses.asdict(verdict)), encoding="utf-8")


def read(path: Path) -> Verdict:
    """Reads a verdict that `write` has written."""
    content = json.loads(path.read_text(encoding="utf-8"))
    lists = {name: [Finding(**finding) for finding in content.get(name, [])]
             for name in ("failures", "unsteady", "skipped")}
    return Verdict(passed=content["passed"], **lists)


def _list(title: str, findings: list[Finding]) -> list[str]:
    if not findings:
        return []
    lines = [f"\n== {title}\n"]
    for finding in findings:
        lines.append(f"{finding.test}\n")
        lines += [f"    {line}\n" for line in finding.message.splitlines()]
    return lines

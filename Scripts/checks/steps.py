"""Runs the gate's steps, also after a failed one, and adds up their results."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import report
from verdict import Finding, Verdict

# The number of last lines that are shown of a failed step.
LAST_LINES = 40


@dataclass(frozen=True)
class Step:
    """A command that must succeed. If it runs tests, it writes its verdict to a file."""

    name: str
    command: list[str]
    environment: dict[str, str] = field(default_factory=dict)
    has_record: bool = False


@dataclass
class Result:
    """The findings of a step, and its use of time."""

    step: Step
    verdict: Verdict
    seconds: float
    # The share of the processors' time that was idle.
    idle: float


def run(group: list[Step], logs: Path) -> list[Result]:
    """Runs steps at the same time, shows only failures, and writes all output to files."""
    with ThreadPoolExecutor(max(len(group), 1)) as pool:
        return list(pool.map(lambda step: _result(step, logs), group))


def _result(step: Step, logs: Path) -> Result:
    log = logs / f"{step.name}.log"
    print(f"== {step.name}: {' '.join(step.command)}", flush=True)
    start, before = time.monotonic(), _processor_times()
    with tempfile.TemporaryDirectory(prefix="sq-gate-") as folder:
        record = Path(folder, "record")
        command = step.command + (["--record", str(record)] if step.has_record else [])
        status, lines = _run(command, os.environ | step.environment, log, step.has_record)
        seconds = time.monotonic() - start
        verdict = _verdict(step, status, lines, record)
    outcome = "FAILED" if verdict.is_red else "passed"
    print(f"== {step.name}: {outcome} in {seconds:.0f} s", flush=True)
    return Result(step, verdict, seconds, _idle_share(before, _processor_times()))


def summary(results: list[Result], whole: float) -> str:
    """Returns the end of the gate's output: a list of all failures, the times, the counts."""
    total = Verdict()
    for result in results:
        name = result.step.name
        total.passed += result.verdict.passed
        for found, all_found in [
            (result.verdict.failures, total.failures), (result.verdict.unsteady, total.unsteady),
            (result.verdict.skipped, total.skipped)]:
            all_found += [Finding(f"{name}: {item.test}", item.message) for item in found]
    times = "".join(f"{result.seconds:6.0f} s  {result.idle:4.0%} idle  {result.step.name}\n"
                    for result in results)
    return (report.text(total, [f"\n== Times:\n{times}{whole:6.0f} s              in all\n"]))


def is_red(results: list[Result]) -> bool:
    """Returns whether a change must not be merged."""
    unsteady = sum(len(result.verdict.unsteady) for result in results)
    return any(result.verdict.failures for result in results) or report.are_too_many(unsteady)


def _run(
    command: list[str], environment: dict[str, str], log: Path, shows: bool
) -> tuple[int, list[str]]:
    lines: list[str] = []
    process = subprocess.Popen(
        command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT)
    with log.open("w", buffering=1, encoding="utf-8") as file:
        for line in process.stdout:
            text = line.decode("utf-8", "replace")
            file.write(text)
            lines.append(text.rstrip("\n"))
            if shows and text.startswith(("✘", "↳")):
                sys.stdout.write(text)
                sys.stdout.flush()
    return process.wait(), lines


def _verdict(step: Step, status: int, lines: list[str], record: Path) -> Verdict:
    if record.exists():
        verdict = report.read(record)
        if status and not verdict.is_red:
            verdict.failures.append(Finding(step.name, _last(status, lines)))
        return verdict
    if status == 0:
        return Verdict(passed=1)
    return Verdict(failures=[Finding(step.name, _last(status, lines))])


def _last(status: int, lines: list[str]) -> str:
    return "\n".join([*lines[-LAST_LINES:], f"(status {status})"])


def _processor_times() -> tuple[int, int]:
    """Returns the processors' idle clock ticks, and all their clock ticks."""
    fields = [int(value) for value in Path("/proc/stat").read_text().splitlines()[0].split()[1:9]]
    return fields[3] + fields[4], sum(fields)


def _idle_share(before: tuple[int, int], after: tuple[int, int]) -> float:
    return (after[0] - before[0]) / max(after[1] - before[1], 1)

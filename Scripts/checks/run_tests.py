"""Runs a built test program, and repeats failed tests as `verdict` says, for Scripts/test."""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

import report
from program import Program
from verdict import judge


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("program", type=Path)
    parser.add_argument("--log", type=Path, required=True)
    parser.add_argument("--record", type=Path)
    parser.add_argument("--filter", action="append", default=[])
    parser.add_argument("--skip", action="append", default=[])
    arguments = parser.parse_args()

    arguments.log.parent.mkdir(parents=True, exist_ok=True)
    arguments.log.write_bytes(b"")
    # Some systems let a user's group write new files; the SDK refuses such files.
    os.umask(0o022)
    program = Program(arguments.program, dict(os.environ), arguments.log)
    start = time.monotonic()

    def run_tests(filters: list[str]):
        # Tests that run alone were chosen by name, and are not among the skipped ones.
        return program.run(filters, arguments.skip if filters == arguments.filter else [], _show)

    verdict = judge(arguments.filter, run_tests)
    print(f"{report.text(verdict)}", flush=True)
    print(f"in {time.monotonic() - start:.0f} s; all that was printed: {arguments.log}",
          file=sys.stderr)
    if arguments.record:
        report.write(verdict, arguments.record)
    return 1 if verdict.is_red else 0


_shows_details = False


def _show(line: str) -> None:
    """Shows a failure when it happens. Other lines are only in the log."""
    global _shows_details
    if line.startswith(("✘", "↳")):
        if line.startswith("✘") or _shows_details:
            print(line, flush=True)
        _shows_details = True
    else:
        _shows_details = False


if __name__ == "__main__":
    sys.exit(main())

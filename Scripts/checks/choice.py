"""Chooses mutants for a limited time: first those in changed files, then others by chance."""

from __future__ import annotations

import random
import subprocess
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from mutants import Mutant, Sources

CHANGED = "in a changed file"
BY_CHANCE = "by chance"
# The age of the commit to compare with, in seconds before HEAD, unless a commit is named.
BASE_AGE = 12 * 60 * 60


def base_commit(root: Path) -> str | None:
    """Returns the newest commit that is at least 12 hours older than HEAD, if there is one."""
    head = int(_git(root, "show", "--no-patch", "--format=%ct", "HEAD"))
    newest = _git(root, "rev-list", "--max-count=1", f"--min-age={head - BASE_AGE}", "HEAD")
    return newest.strip() or None


def changed_paths(root: Path, base: str) -> set[str]:
    """Lists the files that differ from a commit, committed or not, except merely moved files."""
    changes = _git(root, "diff", "--name-status", "--find-renames", "-z", base).split("\0")
    paths = set(_git(root, "ls-files", "-z", "--others", "--exclude-standard").split("\0")) - {""}
    fields = iter(changes)
    for status in fields:
        if not status:
            break
        path = next(fields)
        if status[0] in "RC":
            path = next(fields)
        if status != "R100":
            paths.add(path)
    return paths


def in_changed_files(
    mutants: Sequence[Mutant], sources: Sources, changed: set[str]
) -> list[Mutant]:
    """Returns the mutants with a place in a changed file."""
    return [mutant for mutant in mutants
            if any(place.path in changed for place in sources.locate(mutant))]


def choose(
    mutants: Sequence[Mutant], changed: Sequence[Mutant], seed: int,
    fits: Callable[[float], bool],
) -> Iterator[tuple[Mutant, str]]:
    """Yields mutants while one more fits into a share of the time.

    Mutants in changed files get at most half of the time. Only the seed decides the order.
    """
    order = random.Random(seed).sample(list(mutants), len(mutants))
    chosen = []
    for mutant in order:
        if mutant in changed:
            if not fits(0.5):
                break
            chosen.append(mutant)
            yield mutant, CHANGED
    for mutant in order:
        if mutant not in chosen:
            if not fits(1):
                break
            yield mutant, BY_CHANCE


def _git(root: Path, *arguments: str) -> str:
    return subprocess.run(
        ["git", *arguments], cwd=root, check=True, stdout=subprocess.PIPE, text=True).stdout

"""Reads mutants, finds their places in the sources, and plants them.

A mutant is a known bug: a sentence that says what it breaks, the filter of the tests that must
catch it, and hunks. A hunk names neither a file nor a line. It fits where its lines occur.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

SUFFIXES = (".swift", ".c", ".h")


class MutantError(Exception):
    """A mutant that cannot be read, does not fit the sources, or cannot be tried."""


@dataclass(frozen=True)
class Hunk:
    """Consecutive lines, each with its mark: ' ' for context, '-' for removed, '+' for added."""

    lines: tuple[tuple[str, str], ...]

    @property
    def old(self) -> list[str]:
        """The lines that must occur in the sources."""
        return [text for mark, text in self.lines if mark != "+"]


@dataclass(frozen=True)
class Mutant:
    name: str
    sentence: str
    tests: str
    hunks: tuple[Hunk, ...]


@dataclass(frozen=True)
class Place:
    """The place where a hunk fits: a file, and the index of the first line."""

    path: str
    line: int
    hunk: Hunk

    @property
    def end(self) -> int:
        return self.line + len(self.hunk.old)

    def __str__(self) -> str:
        return f"{self.path}:{self.line + 1}"


def read(path: Path) -> Mutant:
    """Reads a mutant from its file."""
    return parse(path.stem, path.read_text())


def parse(name: str, text: str) -> Mutant:
    """Reads a mutant from the text of its file."""
    head, *blocks = re.split(r"^@@.*\n", text, flags=re.MULTILINE)
    found = re.search(r"^tests:[ \t]*(\S.*)$", head, re.MULTILINE)
    if not found:
        raise MutantError(f"{name} names no tests")
    sentence = head[: found.start()].strip()
    if not sentence:
        raise MutantError(f"{name} does not say what it breaks")
    if not blocks:
        raise MutantError(f"{name} has no hunk")
    try:
        re.compile(found[1])
    except re.error as error:
        raise MutantError(f"{name}: the filter {found[1]} is wrong: {error}") from None
    return Mutant(name, sentence, found[1].strip(), tuple(_hunk(name, it) for it in blocks))


def _hunk(name: str, block: str) -> Hunk:
    lines = []
    for line in block.removesuffix("\n").split("\n"):
        # Editors remove the space of an empty line of context.
        mark, text = line[:1] or " ", line[1:]
        if mark not in " -+":
            raise MutantError(f"{name}: a line begins with neither ' ', '-' nor '+': {line}")
        lines.append((mark, text))
    hunk = Hunk(tuple(lines))
    if all(mark == " " for mark, _ in lines):
        raise MutantError(f"{name}: a hunk changes nothing")
    if not any(text.strip() for text in hunk.old):
        raise MutantError(f"{name}: a hunk has no line to find its place by")
    return hunk


def check_filter(mutant: Mutant, ids: Sequence[str]) -> None:
    """Fails if a filter, or one of the suites that it lists, fits none of the tests."""
    parts = [mutant.tests]
    if listed := re.fullmatch(r"(.*)\(([\w|]+)\)(/.*)", mutant.tests):
        parts = [listed[1] + suite + listed[3] for suite in listed[2].split("|")]
    for part in parts:
        if not any(re.search(part, test_id) for test_id in ids):
            raise MutantError(f"{mutant.name}: the filter {part} fits no test")


def source_paths(root: Path) -> list[str]:
    """Lists the sources that git tracks, or would track, below Sources and Demo."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "Sources", "Demo"],
        cwd=root, check=True, stdout=subprocess.PIPE, text=True).stdout
    paths = {path for path in listed.split("\0") if path.endswith(SUFFIXES)}
    return sorted(path for path in paths if (root / path).is_file())


class Sources:
    """The lines of all sources, and an index that finds a line whatever its indentation."""

    def __init__(self, root: Path, paths: Iterable[str]) -> None:
        self.files = {path: (root / path).read_bytes().decode().split("\n") for path in paths}
        self._index: defaultdict[str, list[tuple[str, int]]] = defaultdict(list)
        for path, lines in self.files.items():
            for number, line in enumerate(lines):
                self._index[line.strip()].append((path, number))

    def text(self, path: str) -> str:
        """Returns the text of a file without any mutant."""
        return "\n".join(self.files[path])

    def places(self, hunk: Hunk) -> list[Place]:
        """Finds every place where the hunk's context and removed lines occur consecutively."""
        wanted = _flush(hunk.old)
        # Search for the rarest line, and compare the lines around it.
        rarest = min(
            (index for index, text in enumerate(wanted) if text),
            key=lambda index: len(self._index.get(wanted[index].strip(), ())))
        found = []
        for path, number in self._index.get(wanted[rarest].strip(), ()):
            start = number - rarest
            if start >= 0 and _flush(self.files[path][start : start + len(wanted)]) == wanted:
                found.append(Place(path, start, hunk))
        return found

    def locate(self, mutant: Mutant) -> list[Place]:
        """Returns the place of each hunk. Fails if a hunk fits no place, or several."""
        located = []
        for number, hunk in enumerate(mutant.hunks, start=1):
            places = self.places(hunk)
            which = mutant.name if len(mutant.hunks) == 1 else f"{mutant.name}, hunk {number},"
            if not places:
                raise MutantError(f"{which} fits no place in the sources")
            if len(places) > 1:
                listed = ", ".join(str(place) for place in places)
                raise MutantError(f"{which} fits more than one place: {listed}")
            located.append(places[0])
        located.sort(key=lambda place: (place.path, place.line))
        for one, next_one in zip(located, located[1:]):
            if one.path == next_one.path and next_one.line < one.end:
                raise MutantError(f"{mutant.name}: two hunks overlap in {one.path}")
        return located

    def plant(self, mutant: Mutant) -> dict[str, str]:
        """Returns the new text of each file that the mutant changes. Writes nothing."""
        changed: dict[str, list[str]] = {}
        # Go from the last place to the first, so that earlier lines keep their numbers.
        for place in reversed(self.locate(mutant)):
            lines = changed.setdefault(place.path, list(self.files[place.path]))
            lines[place.line : place.end] = _planted(place.hunk, lines[place.line : place.end])
        return {path: "\n".join(lines) for path, lines in changed.items()}


def _planted(hunk: Hunk, standing: list[str]) -> list[str]:
    """Returns the lines that replace the lines at the hunk's place."""
    indentation = _indentation(hunk.old)
    place_indentation = _indentation(standing)
    rest = iter(standing)
    planted = []
    for mark, text in hunk.lines:
        if mark == "+":
            planted.append(_moved(text, indentation, place_indentation))
        elif mark == " ":
            planted.append(next(rest))
        else:
            next(rest)
    return planted


def _moved(line: str, indentation: str, place_indentation: str) -> str:
    """Indents a line of a block with one indentation for a place with another."""
    if line.startswith(indentation):
        text = line[len(indentation) :]
        return place_indentation + text if text else ""
    # The line ends the block of its neighbors, so it has less indentation than they have.
    text = line.lstrip()
    less = len(indentation) - (len(line) - len(text))
    return place_indentation[: max(0, len(place_indentation) - less)] + text if text else ""


def _indentation(lines: Iterable[str]) -> str:
    """Returns the common indentation of the lines, except empty ones."""
    return os.path.commonprefix(
        [line[: len(line) - len(line.lstrip())] for line in lines if line.strip()])


def _flush(lines: list[str]) -> list[str]:
    """Removes the common indentation of the lines."""
    width = len(_indentation(lines))
    return [line[width:] if line.strip() else "" for line in lines]

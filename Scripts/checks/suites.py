"""Reads the names of suites and tests from the tests' sources, without a build."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

_SUITE = re.compile(
    r"^\s*(?:@\w.*\s)?(?:(?:final|private|package|public) )*"
    r"(?:struct|class|actor|enum|extension) (\w+|`[^`]+`)", re.MULTILINE)
_TEST = re.compile(r"\bfunc\s+`([^`]+)`")


@dataclass(frozen=True)
class Suites:
    """The sentences of the tests in the files that declare or extend each suite."""

    sentences: dict[str, set[str]]

    @staticmethod
    def read(texts: Iterable[str]) -> Suites:
        sentences: defaultdict[str, set[str]] = defaultdict(set)
        for text in texts:
            found = _TEST.findall(text)
            if found:
                for suite in _SUITE.findall(text):
                    sentences[suite].update(found)
        return Suites(dict(sentences))

    @staticmethod
    def below(folder: Path) -> Suites:
        return Suites.read(path.read_text() for path in folder.rglob("*.swift"))


def test_ids(tests: Path) -> list[str]:
    """Returns an identifier for each test, as a filter sees it, except for its parameters."""
    ids = []
    for target in sorted(tests.glob("*/*Tests")) + [tests / "Fuzzers"]:
        for suite, sentences in Suites.below(target).sentences.items():
            ids += [f"{target.name}.{suite}/`{sentence}`(" for sentence in sorted(sentences)]
    return ids

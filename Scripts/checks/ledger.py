"""Reads the article Specifications, and finds its errors, such as tests that do not exist.

A row says what the SDK does for a section of a specification, and names the suites and the
sentences of the tests that show it. A renamed or removed test must change its rows too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from suites import Suites

ARTICLE = "Sources/SequencingOAuth/SequencingOAuth.docc/Specifications.md"

# A heading of the article begins with one of these names, and has at least one row.
SPECIFICATIONS = [
    *(f"RFC {number}" for number in (
        6749, 6750, 7009, 7515, 7516, 7517, 7518, 7519, 7521, 7522, 7523, 7591, 7592, 7636, 7638,
        7662, 8252, 8414, 8628, 8693, 8705, 8707, 9068, 9101, 9126, 9207, 9396, 9449, 9470, 9700,
        9701, 9728)),
    "OpenID Connect Core", "OpenID Connect Discovery", "OpenID Connect RP-Initiated Logout",
    "OpenID Connect Back-Channel Logout", "JARM", "FAPI 2.0 Security Profile",
    "FAPI 2.0 Message Signing", "Client ID Metadata Document", "ID-JAG", "rfc7523bis",
    "Refresh token expiration",
]

COLUMNS = ["section", "what", "done", "test", "why"]
DONE = {"yes", "no", "in part"}
NOTHING = "–"

# A suite, then the sentences of its tests:
# `SendTests` “a request is sent once if the server accepts its token”.
TEST = re.compile(r"`(\w+)`((?:\s*“[^”]+”)*)")
SENTENCE = re.compile(r"“([^”]+)”")


@dataclass(frozen=True)
class Row:
    """A section of a specification, and what the SDK does for it."""

    specification: str
    line: int
    section: str
    what: str
    done: str
    test: str
    why: str


def faults(article: str, suites: Suites) -> list[str]:
    """Returns what is wrong with an article, in the order of its lines."""
    rows, found = _rows(article)
    for row in rows:
        place = f"line {row.line}, {row.specification}, {row.section}"
        found += [f"{place}: {fault}" for fault in _faults(row, suites)]
    found += [f"there is no table of {name}" for name in SPECIFICATIONS
              if not any(_is_of(row, name) for row in rows)]
    return found


def _is_of(row: Row, name: str) -> bool:
    return re.match(re.escape(name) + r"\b", row.specification) is not None


def _rows(article: str) -> tuple[list[Row], list[str]]:
    """Returns the rows of all tables under a heading of a specification, and malformed lines."""
    rows: list[Row] = []
    found: list[str] = []
    heading = ""
    for number, line in enumerate(article.splitlines(), 1):
        if line.startswith("#"):
            heading = line.lstrip("# ")
        if not line.startswith("|") or not any(
                re.match(re.escape(name) + r"\b", heading) for name in SPECIFICATIONS):
            continue
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if cells == COLUMNS or all(re.fullmatch("-+", cell) for cell in cells):
            continue
        if len(cells) != len(COLUMNS):
            found.append(f"line {number}, {heading}: a row has {len(cells)} cells, not 5")
        else:
            rows.append(Row(heading, number, *cells))
    return rows, found


def _faults(row: Row, suites: Suites) -> Iterable[str]:
    if row.done not in DONE:
        yield f"\"{row.done}\" is neither yes, no nor in part"
    if not row.section or not row.what:
        yield "the section or the requirement is missing"
    if row.done == "yes" and row.test in ("", NOTHING):
        yield "no test shows it"
    if row.done in ("no", "in part") and row.why in ("", NOTHING):
        yield "the reason is missing"
    yield from _test_faults(row.test, suites)


def _test_faults(cell: str, suites: Suites) -> Iterable[str]:
    rest = TEST.sub("", cell)
    if rest.strip(f", {NOTHING}"):
        yield f"this names no test: {rest.strip(', ')}"
    for suite, texts in TEST.findall(cell):
        known = suites.sentences.get(suite)
        if known is None:
            yield f"there is no suite {suite}"
            continue
        for sentence in SENTENCE.findall(texts):
            if sentence not in known:
                yield f"{suite} has no test “{sentence}”"

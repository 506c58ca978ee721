"""Prints the public names at file scope of a package's modules, from its sources.

Usage: python3 Scripts/checks/public_names.py TITLE FOLDER MODULE...

TITLE is the package and its version, and FOLDER holds a folder of sources for each module. With
`toolchain` as FOLDER, the modules are those of the installed toolchain.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

# What a reader of braces must skip: comments, regular expressions with delimiters, and strings.
COMMENT_EDGE = re.compile(r"/\*|\*/")
REGEX = re.compile(r"(#+)/.*?/\1", re.DOTALL)
STRING = re.compile(r'(#*)("""(?=[^\S\n]*\n)|")')
OPEN, CLOSE = "{([", "})]"

DECLARATION = re.compile(
    r"(?P<attributes>(?:@[\w.]+(?:\(\))?\s+)*)"
    r"(?P<modifiers>(?:\b(?:public|open|final|indirect|nonisolated|distributed|prefix|postfix"
    r"|infix|private|fileprivate|internal|lazy|weak|unowned|unsafe)\b(?:\(\))?\s+)+)"
    r"(?:@[\w.]+(?:\(\))?\s+)*"
    r"(?:struct|class|enum|protocol|actor|typealias|func|let|var|macro)\s+"
    r"`?(?P<name>\w+|[^\w\s(<`]+)")


def names(source: str) -> set[str]:
    """Returns the names of the public declarations at file scope, for any platform."""
    return {match["name"] for match in DECLARATION.finditer(file_scope(source))
            if re.search(r"\b(public|open)\s", match["modifiers"])
            and "@_spi" not in match["attributes"]}


def file_scope(source: str) -> str:
    """Returns the code outside of braces, without comments and the content of strings."""
    kept: list[str] = []
    depth = position = 0
    while position < len(source):
        if end := _end_of_skipped(source, position):
            position = end
            kept.append(" ")
            continue
        character = source[position]
        depth -= character in CLOSE
        if depth == 0:
            kept.append(character)
        depth += character in OPEN
        position += 1
    if depth != 0:
        raise ValueError(f"the braces do not match: {depth}")
    return "".join(kept)


def _end_of_skipped(source: str, start: int) -> int | None:
    """Returns the end of a comment, a string or a regular expression at `start`, if any."""
    if source.startswith("//", start):
        end = source.find("\n", start)
        return end if end >= 0 else len(source)
    if source.startswith("/*", start):
        return _end_of_comment(source, start)
    if match := STRING.match(source, start):
        return _end_of_string(source, match)
    match = REGEX.match(source, start)
    return match.end() if match else None


def _end_of_comment(source: str, start: int) -> int:
    depth = 0
    for edge in COMMENT_EDGE.finditer(source, start):
        depth += 1 if edge[0] == "/*" else -1
        if depth == 0:
            return edge.end()
    return len(source)


def _end_of_string(source: str, opening: re.Match[str]) -> int:
    hashes, quotes = opening[1], opening[2]
    position = opening.end()
    while position < len(source):
        if source.startswith(quotes + hashes, position):
            return position + len(quotes + hashes)
        if source.startswith("\\" + hashes + "(", position):
            position = _end_of_interpolation(source, position + len(hashes) + 2)
        else:
            position += 2 if source[position] == "\\" and not hashes else 1
    return len(source)


def _end_of_interpolation(source: str, start: int) -> int:
    depth, position = 1, start
    while position < len(source) and depth > 0:
        if end := _end_of_skipped(source, position):
            position = end
            continue
        depth += (source[position] == "(") - (source[position] == ")")
        position += 1
    return position


def names_of_sources(folder: Path) -> set[str]:
    """Returns the names of all files in a module's folder."""
    if not folder.is_dir():
        raise SystemExit(f"error: there is no folder {folder}")
    found: set[str] = set()
    for file in sorted(folder.rglob("*.swift")):
        try:
            found |= names(file.read_text())
        except ValueError as error:
            raise SystemExit(f"error: {file}: {error}") from error
    return found


def names_of_toolchain(module: str) -> set[str]:
    """Returns the names of a module that comes with the compiler."""
    target = json.loads(subprocess.run(["swiftc", "-print-target-info"], check=True,
                                       capture_output=True).stdout)["target"]["triple"]
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["swift-symbolgraph-extract", "-module-name", module, "-target", target,
                        "-skip-synthesized-members", "-output-dir", folder], check=True)
        graph = json.loads(Path(folder, f"{module}.symbols.json").read_text())
    paths = [symbol["pathComponents"] for symbol in graph["symbols"]]
    return {path[0].split("(")[0] for path in paths if len(path) == 1}


def main(title: str, folder: str, modules: list[str]) -> None:
    print(title)
    for module in modules:
        found = (names_of_toolchain(module) if folder == "toolchain"
                 else names_of_sources(Path(folder, module)))
        for name in sorted(found):
            print(f"{module}.{name}")


if __name__ == "__main__":
    if len(sys.argv) < 4:
        raise SystemExit(__doc__)
    main(sys.argv[1], sys.argv[2], sys.argv[3:])

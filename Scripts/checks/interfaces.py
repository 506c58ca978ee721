"""Textual interfaces of Swift modules, from which the compiler builds them for another system.

A module of the toolchain on Linux fits only Linux. Its interface is a text that the compiler reads
for any system: declarations without bodies.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

# A comment or an attribute on a line of its own does not end a declaration.
ATTRIBUTE = re.compile(r"@\w+(\([^()]*\))?")
DECLARATION = re.compile(
    r"\b(struct|enum|class|func|let|var|typealias|protocol|extension|actor|init|subscript|case|"
    r"deinit|associatedtype|operator|macro|import)\b")
# The option to skip the bodies. When the compiler builds a module from an interface, it reads the
# option only in the interface's head.
BODILESS = "-experimental-skip-all-function-bodies"
SCOPE = re.compile(r"\b(struct|enum|class|protocol|extension|actor)\b")


def for_target(interface: str, target: str) -> str:
    """Returns the toolchain's interface of a module of the standard library for another system."""
    # Only the bodies of functions need Glibc, and they are skipped.
    interface = re.sub(
        r"^( *@backDeployed\(.*\)|import Glibc)\n", "", interface, flags=re.MULTILINE)
    return re.sub(
        r"^(// swift-module-flags: .*?)-target \S+(.*)$",
        lambda flags: (flags[1] + f"-target {target}" + flags[2]).replace(" -O ", " ").replace(
            "-library-level api", f"-disable-availability-checking {BODILESS}"),
        interface, count=1, flags=re.MULTILINE)


def synthesized(printed: str, unwanted: str, imports: Iterable[str]) -> str:
    """Returns the declarations that `swift-synthesize-interface` printed, ready for an interface.

    It leaves out declarations with an `unwanted` head, and completes those that are printed
    without their accessors.
    """
    lines = [line.rstrip() for line in printed.split("\n") if not line.lstrip().startswith("//")]
    text = "\n".join(_wanted(lines, re.compile(unwanted)))
    accessors = r"\1 { get set }"
    text = re.sub(r"^(.*\bsubscript[<(][^{\n]*)$", accessors, text, flags=re.MULTILINE)
    text = re.sub(
        r"^((?: |@\w+(?:\([^()]*\))? |\w+ )*var [^{\n=]*)$", accessors, text, flags=re.MULTILINE)
    text = re.sub(r"\b(internal|private|fileprivate|package)\(set\) ", "", text)
    return "".join(f"import {name}\n" for name in imports) + text + "\n"


def _wanted(lines: Sequence[str], unwanted: re.Pattern[str]) -> list[str]:
    """Returns the lines of wanted declarations, including those inside a type or an extension."""
    result: list[str] = []
    for declaration in _declarations(lines):
        end = next(index for index, line in enumerate(declaration) if _declares(line)) + 1
        if unwanted.search("\n".join(declaration[:end])):
            continue
        result += declaration[:end]
        body = declaration[end:]
        if body and SCOPE.search(declaration[end - 1]):
            body = [*_wanted(body[:-1], unwanted), body[-1]]
        result += body
    return result


def _declarations(lines: Sequence[str]) -> list[list[str]]:
    """Splits lines into declarations, each with its attributes before and its body after it."""
    result: list[list[str]] = []
    current: list[str] = []
    for line in filter(None, lines):
        current.append(line)
        is_inside = _indent(line) > _indent(current[0])
        if is_inside or line.endswith("{") or not (_declares(line) or line.strip() == "}"):
            continue
        result.append(current)
        current = []
    return result


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _declares(line: str) -> bool:
    return bool(DECLARATION.search(ATTRIBUTE.sub("", line)))

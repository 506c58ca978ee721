"""Type-checks the targets of the package for another system than this one.

The compiler reads the sources with the headers and the modules of that system. It proves nothing
about how the program runs there.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Protocol

ROOT = Path(__file__).resolve().parent.parent.parent
FOLDER = ROOT / ".build/systems"


class Obstacle(Exception):
    """A reason why the check cannot run on this machine."""


class Library(Protocol):
    """The headers and the modules of a system."""

    # The system, as the compiler and a person name it.
    target: str
    name: str
    # A place for modules of the package.
    folder: Path
    # The targets that cannot be checked.
    left_out: set[str]
    # The compiler's arguments, for Swift and for C.
    arguments: list[str]
    c_arguments: list[str]

    def roots(self, package: dict) -> list[str]:
        """Returns the targets to check; what they need is checked too."""


def main(description: str | None, make: Callable[[dict], Library]) -> int:
    """Checks all targets, or those in the arguments, for a system; returns the exit status."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help="check only these targets")
    names = parser.parse_args().targets
    os.chdir(ROOT)
    try:
        package = read_package()
        library = make(package)
    except Obstacle as obstacle:
        in_ci = os.environ.get("CI") == "true"
        print(f"{'error' if in_ci else 'note'}: the sources were not checked: {obstacle}",
              file=sys.stderr)
        return 1 if in_ci else 0
    if unknown := set(names) - {target["name"] for target in package["targets"]}:
        parser.error(f"there is no such target to check: {', '.join(sorted(unknown))}")
    errors = Check(package, library, names).run(names)
    print("".join(errors), end="", file=sys.stderr)
    if errors:
        print(f"error: the check for {library.name} found the errors above", file=sys.stderr)
    return 1 if errors else 0


def read_package() -> dict:
    """Returns what the manifest says, with a build folder of its own, which no build locks."""
    command = ["swift", "package", "--scratch-path", str(FOLDER / "package"), "dump-package"]
    environment = {key: value for key, value in os.environ.items() if key != "SQ_PARTS"}
    result = subprocess.run(
        command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if result.returncode:
        raise Obstacle(f"the manifest could not be read:\n{result.stderr}")
    return json.loads(result.stdout)


class Check:
    """The compiler's errors in targets of the package."""

    def __init__(self, package: dict, library: Library, names: list[str]) -> None:
        """Finds the targets of a system to check; `names` may add tests."""
        self._library = library
        self._folder = library.folder / "package"
        self._folder.mkdir(parents=True, exist_ok=True)
        self._targets = {target["name"]: target for target in package["targets"]}
        order = self._order([*library.roots(package), *names])
        self.swift = [target for target in order if self._sources(target, "*.swift")]
        self._c = [target for target in order if target not in self.swift]

    def run(self, names: list[str]) -> list[str]:
        """Returns the errors, by default in all targets."""
        errors: list[str] = []
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            checks: list[Future[str]] = [pool.submit(self._check_c, target) for target in self._c]
            for target in self.swift:
                # The others need its declarations, even if its functions have errors.
                error = self._compile(target, [
                    "-emit-module", "-experimental-skip-all-function-bodies",
                    "-o", str(self._folder / f"{module(target)}.swiftmodule")])
                if error:
                    errors.append(error)
                    break
                if not names or target["name"] in names:
                    checks.append(pool.submit(self._compile, target, ["-typecheck"]))
            return errors + [check.result() for check in checks if check.result()]

    def _compile(self, target: dict, action: list[str]) -> str:
        """Returns the compiler's errors in a target."""
        features = [
            word for setting in target["settings"]
            for feature in setting["kind"].get("enableUpcomingFeature", {}).values()
            for word in ("-enable-upcoming-feature", feature)]
        modules = [word for c in self._c for word in ("-I", self._c_folder(c))]
        sources = self._sources(target, "*.swift")
        is_script = any(Path(source).name == "main.swift" for source in sources)
        return run([
            "swift-frontend", *action, "-module-name", module(target),
            *([] if is_script else ["-parse-as-library"]), "-swift-version", "6",
            "-package-name", "sequencing_oauth", "-D", "DEBUG", *features,
            *self._library.arguments, "-I", str(self._folder), *modules, *sources])

    def _check_c(self, target: dict) -> str:
        """Returns the compiler's errors in a target of C and in its headers."""
        sources = self._sources(target, "*.c") or self._sources(target, "*.h")
        return run([
            "clang", "-target", self._library.target, "-fsyntax-only", "-x", "c", "-Werror",
            "-Wno-pragma-once-outside-header", "-I", self._c_folder(target),
            *self._library.c_arguments, *sources])

    def _order(self, names: list[str]) -> list[dict]:
        """Returns the targets and what they need, each after what it needs."""
        result: dict[str, dict] = {}

        def add(name: str) -> None:
            target = self._targets[name]
            if name in result or name in self._library.left_out:
                return
            for dependency in target["dependencies"]:
                add(dependency["byName"][0])
            result[name] = target

        for name in names:
            add(name)
        return list(result.values())

    def _sources(self, target: dict, pattern: str) -> list[str]:
        folder = Path(target.get("path") or f"Sources/{target['name']}")
        excluded = [folder / name for name in target["exclude"]]
        return sorted(
            str(file) for file in folder.rglob(pattern)
            if not any(file.is_relative_to(path) for path in excluded))

    def _c_folder(self, target: dict) -> str:
        folder = Path(f"Sources/{target['name']}")
        return str(folder / "include" if (folder / "include").is_dir() else folder)


def products(package: dict) -> list[str]:
    """Returns the targets that the products consist of."""
    return sorted({name for product in package["products"] for name in product["targets"]})


def module(target: dict) -> str:
    return target["name"].replace("-", "_")


def run(command: list[str]) -> str:
    """Returns the command's output if it fails, or else an empty text."""
    result = subprocess.run(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True)
    return result.stdout if result.returncode else ""

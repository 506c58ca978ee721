"""Builds Swift's libraries for macOS as modules without code, to type-check against them.

The standard library's interfaces come from the toolchain. Darwin is made of Apple's headers.
Dispatch has the declarations of its version for Linux, and Foundation those of
FoundationEssentials, which macOS's Foundation contains.
"""

from __future__ import annotations

import fcntl
import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import interfaces
import typecheck

FILES = Path(__file__).resolve().parent / "darwin"
# The modules of the standard library, each after those that it imports.
STANDARD = ["Swift", "SwiftOnoneSupport", "_Builtin_float", "_Concurrency", "_StringProcessing",
            "Synchronization"]
# Declarations of Foundation that use macros or types that no interface can name.
NOT_IN_FOUNDATION = (
    r"\bPredicate|Expression|Attributed|\bAttribute(Scope|Container|Dynamic|Merge)|ScopedAttribute|"
    r"POSIXError|\bTemplate\b|\bmacro\b|^import|Span\b|Attribut\w*Configuration|SortDescriptor|"
    r"SortComparator")
# Declarations of Dispatch that name types of its C library.
NOT_IN_DISPATCH = r"^import|dispatch_|DispatchGroup : DispatchObject"
GROUP = "public class DispatchGroup : DispatchObject, @unchecked Sendable {\n  public init()\n}\n"

# The headers of other libraries, which are the same on all systems. zlib's are Apple's.
OTHERS = ["curl", "libpq-fe.h", "nghttp2", "openssl", "postgresql", "sqlite3.h"]
# The compiler's own headers that include the system's header of the same name.
INCLUDED = ["inttypes.h", "limits.h", "stdint.h"]


class DarwinLibrary:
    """The modules, and the compiler's arguments to use them."""

    name = "macOS"
    # It needs URLRequest, which this check's Foundation lacks.
    left_out = {"SequencingOAuthFoundation"}

    def __init__(self, folder: Path, version: str) -> None:
        """Prepares a build for a version of macOS, with the headers in a folder."""
        self._headers = folder / "macos"
        if not (self._headers / "sys/types.h").exists():
            raise typecheck.Obstacle(
                f"Apple's headers are missing in {self._headers}; run Scripts/install headers")
        if not shutil.which("swift-synthesize-interface"):
            raise typecheck.Obstacle("the toolchain has no swift-synthesize-interface")
        text = _run(["swiftc", "-print-target-info"])
        information = json.loads(text)
        self.target = f"arm64-apple-macosx{version}"
        self._resources = Path(information["paths"]["runtimeResourcePath"])
        self._host = information["target"]["moduleTriple"]
        self.folder = folder / "macos-modules"
        self._modules = self.folder / "modules"
        self._others = dict(_headers_of_others())
        # A libcurl that is newer than this machine's, if Scripts/install has got its headers.
        newer = sorted((folder / "trixie/usr/include").glob("*-linux-gnu/curl/*.h"))
        self._others |= {f"curl/{file.name}": file for file in newer}
        inputs = [Path(__file__), Path(interfaces.__file__), *sorted(FILES.iterdir())]
        self._state = "\n".join([
            text, self.target, repr(self._others), *(file.read_text() for file in inputs)])

    def roots(self, package: dict) -> list[str]:
        """Returns the targets of the products."""
        return typecheck.products(package)

    @property
    def c_arguments(self) -> list[str]:
        """The arguments of clang."""
        headers = self.folder / "headers"
        return ["-nostdlibinc", "-isystem", str(headers), "-isystem", str(self.folder / "others")]

    @property
    def arguments(self) -> list[str]:
        """The arguments of the compiler's frontend."""
        result = ["-target", self.target, "-disable-objc-interop", "-suppress-warnings",
                  "-module-cache-path", str(self.folder / "cache"),
                  "-plugin-path", str(self._resources / "host/plugins"),
                  "-I", str(self._resources / "shims"), "-I", str(self._modules)]
        clang = [f"-fmodule-map-file={self.folder}/headers/module.modulemap", *self.c_arguments]
        return result + [word for argument in clang for word in ("-Xcc", argument)]

    def build(self) -> None:
        """Builds the modules unless they are up to date, after any other process that builds."""
        with (self.folder.parent / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            state = self.folder / "state"
            if state.exists() and state.read_text() == self._state:
                return
            shutil.rmtree(self.folder, ignore_errors=True)
            self._modules.mkdir(parents=True)
            self._link_headers()
            self._build_modules()
            state.write_text(self._state)

    def _link_headers(self) -> None:
        """Links Apple's headers with their map, and the other libraries' headers."""
        own = self._resources / "clang/include"
        headers = self.folder / "headers"
        headers.mkdir()
        for file in self._headers.iterdir():
            # The compiler brings some headers itself, and a few of them include the system's.
            if file.name in INCLUDED or not (own / file.name).exists():
                (headers / file.name).symlink_to(file)
        shutil.copy(FILES / "module.modulemap", headers)
        for name, file in self._others.items():
            place = self.folder / "others" / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.symlink_to(file)

    def _build_modules(self) -> None:
        for name in STANDARD:
            self._compile(name, interfaces.for_target(self._toolchains(name), self.target))
        self._emit("Darwin", (FILES / "declarations.swift").read_text())
        common = ["Swift", "_Concurrency", "_StringProcessing"]
        for name, source, unwanted, imports, rest in [
            ("Dispatch", "Dispatch", NOT_IN_DISPATCH, [*common, "Darwin"], GROUP),
            ("Foundation", "FoundationEssentials", NOT_IN_FOUNDATION, common, ""),
        ]:
            printed = _run([
                "swift-synthesize-interface", "-module-name", source, "-target", self._host,
                "-module-cache-path", str(self.folder / "cache"),
                "-I", str(self._resources / "linux"), "-I", str(self._resources)])
            self._emit(name, interfaces.synthesized(printed, unwanted, imports) + rest)

    def _toolchains(self, name: str) -> str:
        path = self._resources / f"linux/{name}.swiftmodule/{self._host}.swiftinterface"
        try:
            return path.read_text()
        except OSError as error:
            raise typecheck.Obstacle(f"the toolchain has no interface of {name}: {error}") from error

    def _compile(self, name: str, interface: str) -> None:
        """Builds a module with the arguments in its interface's head."""
        self._build(name, interface, "-compile-module-from-interface",
                    *(["-parse-stdlib"] if name == "Swift" else []))

    def _emit(self, name: str, declarations: str) -> None:
        """Builds a module from declarations without bodies."""
        self._build(name, declarations, "-emit-module", "-enable-library-evolution",
                    "-disable-availability-checking", interfaces.BODILESS)

    def _build(self, name: str, interface: str, *options: str) -> None:
        path = self.folder / f"{name}.swiftinterface"
        path.write_text(interface)
        _run(["swift-frontend", *options, str(path), "-module-name", name,
              "-o", str(self._modules / f"{name}.swiftmodule"), *self.arguments])


def _headers_of_others() -> Iterator[tuple[str, Path]]:
    """Yields name and place of each header; some are in a folder for this processor."""
    for folder in [Path("/usr/include"), *sorted(Path("/usr/include").glob("*-linux-gnu"))]:
        for path in (folder / name for name in OTHERS):
            for file in sorted(path.rglob("*.h")) if path.is_dir() else [path]:
                if file.exists():
                    yield str(file.relative_to(folder)), file


def _run(command: list[str]) -> str:
    result = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if result.returncode:
        start = "\n".join(result.stderr.split("\n")[:20])
        raise typecheck.Obstacle(f"{' '.join(command[:4])} failed:\n{start}")
    return result.stdout

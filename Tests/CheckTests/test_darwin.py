"""Checks that the check for macOS finds what a Mac would not compile."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "Scripts/checks"))

import interfaces
import typecheck
from darwin_library import DarwinLibrary


class InterfaceTests(unittest.TestCase):
    PRINTED = """\
    import Glibc

    /// A box.
    @available(macOS 12, *)
    public struct Box : Sendable {

        public var content: String

        public subscript(index: Int) -> UInt8

        public func open() -> Bool

        public var macro: Secret { get }

        public struct Lid {

            internal(set) public var colour: Secret
        }
    }

    extension Secret {

        public func hide()
    }
    """

    def test_unwanted_declarations_are_left_out_also_inside_a_type(self) -> None:
        printed = "\n".join(line[4:] for line in self.PRINTED.split("\n"))
        self.assertEqual(
            interfaces.synthesized(printed, r"\bSecret\b|^import", ["Swift"]), """\
import Swift
@available(macOS 12, *)
public struct Box : Sendable {
    public var content: String { get set }
    public subscript(index: Int) -> UInt8 { get set }
    public func open() -> Bool
    public struct Lid {
    }
}
""")

    def test_an_interface_gets_the_other_systems_target(self) -> None:
        interface = (
            "// swift-module-flags: -target x86_64-linux-gnu -O -library-level api -static\n"
            "import Glibc\nimport Swift\n  @backDeployed(before: macOS 14.0)\npublic func run()\n")
        self.assertEqual(
            interfaces.for_target(interface, "arm64-apple-macosx15.0"),
            "// swift-module-flags: -target arm64-apple-macosx15.0 -disable-availability-checking "
            "-experimental-skip-all-function-bodies -static\nimport Swift\npublic func run()\n")


class DarwinLibraryTests(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        try:
            cls.library = DarwinLibrary(typecheck.FOLDER, "15.0")
            cls.library.build()
        except typecheck.Obstacle as obstacle:
            if os.environ.get("CI") == "true":
                raise
            raise unittest.SkipTest(str(obstacle)) from obstacle

    def errors(self, source: str) -> str:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "source.swift")
            file.write_text(source)
            result = subprocess.run(
                ["swift-frontend", "-typecheck", *self.library.arguments, str(file)],
                capture_output=True, text=True)
        self.assertEqual(result.returncode != 0, "error:" in result.stderr)
        return result.stderr

    def test_what_only_linux_has_is_an_error_with_its_line(self) -> None:
        for call in [
            "_ = epoll_create1(0)", "_ = eventfd(0, 0)", "_ = accept4(0, nil, nil, 0)",
            "_ = SOCK_CLOEXEC", "_ = ppoll(nil, 0, nil, nil)", "_ = posix_fallocate(0, 0, 0)",
            "_ = stat().st_mtim", "_ = CLOCK_MONOTONIC_COARSE", "_ = secure_getenv(\"HOME\")",
            "let type: Int32 = Int32(SOCK_STREAM.rawValue)", "import Glibc",
            "var thread = pthread_t()", "_ = clock_gettime(0, nil)",
        ]:
            with self.subTest(call):
                self.assertIn("source.swift:2:", self.errors(f"import Darwin\n{call}\n"))

    def test_a_newer_systems_function_is_an_error(self) -> None:
        self.assertIn("only available in macOS 26", self.errors("Task.immediate { 1 }\n"))
        self.assertIn("only available in macOS 27", self.errors("import Darwin\n_ = getumask()\n"))

    def test_what_macos_has_is_no_error(self) -> None:
        self.assertEqual(self.errors("""
            import Darwin
            import Dispatch
            import Foundation
            import Synchronization

            let count = Atomic(0)
            func open(_ url: URL) async throws -> Data {
              let file = open(url.path, O_RDONLY | O_CLOEXEC)
              guard file >= 0 else { throw CancellationError() }
              var status = stat()
              fstat(file, &status)
              let modified: Int = status.st_mtimespec.tv_sec
              let queue: Int32 = kqueue()
              DispatchQueue(label: "a").async { count.add(modified, ordering: .relaxed) }
              try await Task.sleep(for: .seconds(Int(queue)))
              return try JSONEncoder().encode(["a": Date()])
            }
            """), "")


if __name__ == "__main__":
    unittest.main()

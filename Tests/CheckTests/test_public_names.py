"""Tests of the names that are read from sources of Swift."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "Scripts/checks"))

from public_names import names


class PublicNamesTests(unittest.TestCase):
    def test_public_declarations_at_file_scope_are_found(self) -> None:
        source = """
            public struct A<T> { public struct Inner {} }
            @frozen @available(macOS 13, *)
            public indirect enum B { case b(String) }
            final public class C {}
            open class D {}
            public typealias E = A<Int>
            public protocol F: Sendable {}
            public func g(_ x: Int = (1 + 2)) -> Int { x }
            public func == (a: B, b: B) -> Bool { true }
            public private(set) var h = 1
            public let `i` = 2
            public actor J {}
            public nonisolated(unsafe) var k = { 3 }()
            #if os(macOS)
            public enum L {}
            #endif
            """
        self.assertEqual(names(source), set("ABCDEFghiJkL") | {"=="})

    def test_other_declarations_are_left_out(self) -> None:
        source = """
            struct A {}
            package enum B {}
            private let c = 1
            @_spi(Internals) public struct D {}
            public extension String { struct E {} }
            public import Foundation
            extension String { public func f() {} }
            """
        self.assertEqual(names(source), set())

    def test_comments_and_strings_are_skipped(self) -> None:
        source = r'''
            /* { /* public struct A {} */ { */
            // public struct B {
            let a = "{ \(["}"].joined(separator: "\"")) public struct C {"
            let b = #"" public struct D { \("#
            let c = #"""#
            let d = """
              public struct E { \"""
              """
            let e = #/[{"]/#
            public struct F {}
            '''
        self.assertEqual(names(source), {"F"})

    def test_braces_that_do_not_match_are_an_error(self) -> None:
        with self.assertRaises(ValueError):
            names("public struct A {")


if __name__ == "__main__":
    unittest.main()

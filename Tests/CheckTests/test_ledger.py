"""Tests that the article Specifications names tests that exist, and tests of that check."""

import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "Scripts/checks"))

import ledger
from suites import Suites

SOURCE = """
@Suite(.timeLimit(.minutes(1))) struct StateTests {
  @Test func `a wrong state is refused`() {}

  @Test(arguments: [1, 2])
  func `the right state is accepted`(_ value: Int) {}
}
"""

GOOD = ("| 4.1.2 | `state` is compared | yes | `StateTests` “a wrong state is refused”"
        " “the right state is accepted” | – |")


class ArticleTests(unittest.TestCase):
    def test_each_row_of_the_article_names_tests_that_exist(self) -> None:
        article = (ROOT / ledger.ARTICLE).read_text()
        self.assertEqual(ledger.faults(article, Suites.below(ROOT / "Tests")), [])


class LedgerTests(unittest.TestCase):
    def faults(self, *rows: str, heading: str = "### RFC 6749: The framework") -> list[str]:
        """Returns what is wrong with a table of RFC 6749 and good tables of the others."""
        names = [name for name in ledger.SPECIFICATIONS if name != "RFC 6749"]
        tables = [self.table(f"### {name}", GOOD) for name in names]
        article = "\n".join(["# Ledger", self.table(heading, *rows), *tables])
        return ledger.faults(article, Suites.read([SOURCE]))

    def table(self, heading: str, *rows: str) -> str:
        head = ["", "| section | what | done | test | why |", "|---|---|---|---|---|"]
        return "\n".join([heading, *head, *rows, ""])

    def fault(self, row: str) -> str:
        """Returns the only fault of a row, without its place."""
        found = self.faults(row)
        self.assertEqual(len(found), 1, found)
        place, _, fault = found[0].partition(": The framework, 4: ")
        self.assertTrue(place.startswith("line "), found)
        return fault

    def test_rows_of_all_kinds_are_accepted(self) -> None:
        rows = [GOOD, "| 4 | it | no | – | it is old |",
                "| 4 | it | in part | `StateTests`, `StateTests` “a wrong state is refused” | so |"]
        self.assertEqual(self.faults(*rows), [])

    def test_a_suite_or_a_sentence_that_does_not_exist_is_found(self) -> None:
        self.assertEqual(
            self.fault("| 4 | it | yes | `OtherTests` | – |"), "there is no suite OtherTests")
        self.assertEqual(
            self.fault("| 4 | it | yes | `StateTests` “a state is refused” | – |"),
            "StateTests has no test “a state is refused”")

    def test_a_test_cell_has_nothing_but_tests(self) -> None:
        self.assertEqual(
            self.fault("| 4 | it | yes | `StateTests`, see above | – |"),
            "this names no test: see above")

    def test_an_unknown_word_is_found(self) -> None:
        self.assertEqual(
            self.fault("| 4 | it | mostly | `StateTests` | – |"),
            "\"mostly\" is neither yes, no nor in part")

    def test_what_is_not_done_needs_a_reason_and_what_is_done_a_test(self) -> None:
        for done in ("no", "in part"):
            for why in ("", "–"):
                self.assertEqual(
                    self.fault(f"| 4 | it | {done} | `StateTests` | {why} |"),
                    "the reason is missing")
        self.assertEqual(self.fault("| 4 | it | yes | – | – |"), "no test shows it")

    def test_a_row_needs_a_requirement_and_all_cells(self) -> None:
        self.assertEqual(
            self.fault("| 4 |  | yes | `StateTests` | – |"),
            "the section or the requirement is missing")
        found = self.faults(GOOD, "| 4 | it | yes | `StateTests` |")
        self.assertEqual(len(found), 1, found)
        self.assertIn("a row has 4 cells, not 5", found[0])

    def test_a_missing_or_empty_table_is_found(self) -> None:
        missing = ["there is no table of RFC 6749"]
        self.assertEqual(self.faults(), missing)
        self.assertEqual(self.faults(GOOD, heading="### RFC 67490: Another"), missing)
        self.assertEqual(self.faults(GOOD, heading="### About RFC 6749"), missing)


if __name__ == "__main__":
    unittest.main()

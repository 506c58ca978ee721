"""Tests that read, plant and choose mutants in sources in a temporary folder."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "Scripts/checks"))

import choice
import mutants
import suites
from mutants import MutantError, Sources

HEAD = "It breaks.\n\ntests: \\.ATests/\n\n"

STATE = """\
struct State {
  func compare() {
    guard sent == received else {
      return
    }
    done()
  }
}
"""


class ReadingTests(unittest.TestCase):
    def test_reads_sentence_tests_and_hunks(self):
        mutant = mutants.parse("name", HEAD + "@@\n a\n-b\n+c\n@@\n-d\n")
        self.assertEqual(mutant.name, "name")
        self.assertEqual(mutant.sentence, "It breaks.")
        self.assertEqual(mutant.tests, "\\.ATests/")
        self.assertEqual([hunk.lines for hunk in mutant.hunks],
                         [((" ", "a"), ("-", "b"), ("+", "c")), (("-", "d"),)])

    def test_an_empty_line_is_context(self):
        mutant = mutants.parse("name", HEAD + "@@\n a\n\n-b\n")
        self.assertEqual(mutant.hunks[0].old, ["a", "", "b"])

    def test_a_line_of_code_may_begin_like_a_marker(self):
        mutant = mutants.parse("name", HEAD + "@@\n-@@ a\n--- b\n+++ c\n")
        self.assertEqual(mutant.hunks[0].lines, (("-", "@@ a"), ("-", "-- b"), ("+", "++ c")))

    def test_rejects_an_incomplete_mutant(self):
        hunk = "@@\n-a\n"
        cases = {
            "names no tests": "It breaks.\n\n" + hunk,
            "does not say what it breaks": "tests: A\n\n" + hunk,
            "has no hunk": HEAD,
            "the filter": "It breaks.\n\ntests: (A\n\n" + hunk,
            "changes nothing": HEAD + "@@\n a\n",
            "no line to find": HEAD + "@@\n+a\n",
            "neither": HEAD + "@@\n-a\nb\n",
        }
        for message, text in cases.items():
            with self.subTest(message), self.assertRaisesRegex(MutantError, message):
                mutants.parse("name", text)

    def test_ignores_a_line_of_tests_after_the_first_hunk(self):
        with self.assertRaisesRegex(MutantError, "names no tests"):
            mutants.parse("name", "It breaks.\n\n@@\n-tests: A\n")


class FilterTests(unittest.TestCase):
    def test_rejects_a_filter_that_fits_no_test(self):
        with tempfile.TemporaryDirectory() as folder:
            target = Path(folder, "Values/StateTests")
            target.mkdir(parents=True)
            Path(target, "ATests.swift").write_text(
                "struct `A state` {\n  @Test func\n    `is compared`()\n  {}\n}\n")
            ids = suites.test_ids(Path(folder))
        self.assertEqual(ids, ["StateTests.`A state`/`is compared`("])
        for tests in ["\\.`A state`/", "\\.`A state`/.*is compared", "StateTests\\."]:
            mutants.check_filter(mutants.parse("name", f"It.\ntests: {tests}\n@@\n-a\n"), ids)
        for tests in ["\\.A state/", "\\.`A state`/.*is kept", "ATests\\.", "\\.(ATests|BTests)/"]:
            with self.assertRaisesRegex(MutantError, "fits no test"):
                mutants.check_filter(mutants.parse("name", f"It.\ntests: {tests}\n@@\n-a\n"), ids)


class PlantingTests(unittest.TestCase):
    def plant(self, hunks, **files):
        """Plants hunks in files and returns the new text of each changed file."""
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                Path(folder, name).write_bytes(text.encode())
            sources = Sources(Path(folder), files)
            self.assertEqual({name: sources.text(name) for name in files}, files)
            return sources.plant(mutants.parse("name", HEAD + hunks))

    def test_replaces_lines(self):
        planted = self.plant(
            "@@\n-    guard sent == received else {\n+    guard true else {\n",
            a=STATE, b="other\n")
        self.assertEqual(planted, {"a": STATE.replace("sent == received", "true")})

    def test_removes_lines(self):
        planted = self.plant("@@\n     }\n-    done()\n", a=STATE)
        self.assertEqual(planted, {"a": STATE.replace("    done()\n", "")})

    def test_adds_lines_between_context(self):
        planted = self.plant("@@\n     done()\n+    again()\n   }\n", a=STATE)
        self.assertEqual(planted, {"a": STATE.replace("done()\n", "done()\n    again()\n")})

    def test_a_moved_block_keeps_its_own_indentation(self):
        hunk = "@@\n guard sent == received else {\n-  return\n+  if a {\n+    b\n+\n+  }\n }\n"
        planted = self.plant(hunk, a=STATE)
        self.assertEqual(
            planted,
            {"a": STATE.replace("      return\n", "      if a {\n        b\n\n      }\n")})

    def test_finds_a_block_that_has_less_indentation_in_the_source(self):
        hunk = "@@\n-        if a {\n-          b\n+          c\n+        }\n+      }\n"
        planted = self.plant(hunk, a="{\n  if a {\n    b\n}\n")
        self.assertEqual(planted, {"a": "{\n    c\n  }\n}\n}\n"})

    def test_fails_if_only_one_line_of_a_block_has_other_indentation(self):
        with self.assertRaisesRegex(MutantError, "fits no place"):
            self.plant("@@\n if a {\n-b\n", a="if a {\n  b\n")

    def test_an_empty_line_matches_any_indentation(self):
        planted = self.plant("@@\n   a\n\n-  b\n", a="    a\n  \n    b\n")
        self.assertEqual(planted, {"a": "    a\n  \n"})

    def test_fails_without_a_match(self):
        with self.assertRaisesRegex(MutantError, "^name fits no place"):
            self.plant("@@\n-absent\n", a=STATE)

    def test_fails_if_lines_between_are_missing(self):
        with self.assertRaisesRegex(MutantError, "fits no place"):
            self.plant("@@\n     guard sent == received else {\n-    }\n", a=STATE)

    def test_fails_with_two_matches_in_one_file(self):
        with self.assertRaisesRegex(MutantError, "more than one place: a:1, a:3$"):
            self.plant("@@\n-same\n", a="same\nother\n  same\n")

    def test_fails_with_matches_in_two_files(self):
        with self.assertRaisesRegex(MutantError, "more than one place: a:6, b:6$"):
            self.plant("@@\n-    done()\n", a=STATE, b=STATE)

    def test_context_decides_between_two_matches(self):
        planted = self.plant("@@\n other\n-same\n", a="same\nother\nsame\n")
        self.assertEqual(planted, {"a": "same\nother\n"})

    def test_plants_two_hunks_in_one_file(self):
        planted = self.plant(
            "@@\n-    done()\n@@\n-  func compare() {\n+  func compare(a: Int) {\n+    use(a)\n",
            a=STATE)
        self.assertEqual(planted, {"a": STATE.replace("    done()\n", "").replace(
            "compare() {\n", "compare(a: Int) {\n    use(a)\n")})

    def test_plants_hunks_in_two_files(self):
        planted = self.plant("@@\n-one\n@@\n-two\n+2\n", a="one\n1\n", b="two\n")
        self.assertEqual(planted, {"a": "1\n", "b": "2\n"})

    def test_the_error_names_the_hunk_without_a_match(self):
        with self.assertRaisesRegex(MutantError, "^name, hunk 2, fits no place"):
            self.plant("@@\n-    done()\n@@\n-absent\n", a=STATE)

    def test_rejects_overlapping_hunks(self):
        with self.assertRaisesRegex(MutantError, "overlap in a"):
            self.plant("@@\n-one\n two\n@@\n two\n-three\n", a="one\ntwo\nthree\n")

    def test_adds_no_final_newline_to_a_file(self):
        self.assertEqual(self.plant("@@\n-b\n+c\n", a="a\nb"), {"a": "a\nc"})
        self.assertEqual(self.plant("@@\n-a\n", a="a\nb"), {"a": "b"})
        self.assertEqual(self.plant("@@\n b\n+c\n", a="a\nb"), {"a": "a\nb\nc"})

    def test_keeps_all_other_bytes(self):
        self.assertEqual(self.plant("@@\n-a\n", a="“é”\t \na\n\r\n"), {"a": "“é”\t \n\r\n"})


class ListingTests(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        self.git("init", "--quiet")

    def git(self, *arguments, date="2020-01-01T00:00:00Z"):
        identity = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a",
                    "GIT_COMMITTER_EMAIL": "a@b", "GIT_COMMITTER_DATE": date}
        return subprocess.run(
            ["git", *arguments], cwd=self.root, env={**os.environ, **identity}, check=True,
            stdout=subprocess.PIPE, text=True).stdout.strip()

    def write(self, path, text):
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text)

    def commit(self, date):
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", "A", date=date)
        return self.git("rev-parse", "HEAD")

    def test_lists_tracked_and_new_sources_that_are_not_ignored(self):
        for path in ["Sources/A/a.swift", "Sources/C/c.h", "Demo/d.swift", "Tests/t.swift",
                     "Sources/A/a.md", "Sources/A/removed.swift"]:
            self.write(path, "a")
        self.write(".gitignore", "ignored*\n")
        self.commit("2020-01-01T00:00:00Z")
        (self.root / "Sources/A/removed.swift").unlink()
        self.write("Sources/A/new.swift", "a")
        self.write("Sources/A/ignored.swift", "a")
        self.assertEqual(
            mutants.source_paths(self.root),
            ["Demo/d.swift", "Sources/A/a.swift", "Sources/A/new.swift", "Sources/C/c.h"])

    def test_the_base_is_half_a_day_older_than_the_newest_commit(self):
        self.write("a", "1")
        self.commit("2020-01-01T00:00:00Z")
        self.assertIsNone(choice.base_commit(self.root))
        self.write("a", "2")
        base = self.commit("2020-01-02T08:00:00Z")
        for hour in (9, 20):
            self.write("a", str(hour))
            self.commit(f"2020-01-02T{hour:02}:00:00Z")
        self.assertEqual(choice.base_commit(self.root), base)

    def test_lists_changed_files_but_not_moved_ones(self):
        long_text = "".join(f"{number}\n" for number in range(50))
        for name in ("moved", "moved-and-changed", "changed", "committed", "same"):
            self.write(name, f"{name}\n{long_text}")
        base = self.commit("2020-01-01T00:00:00Z")
        self.write("committed", "2")
        self.commit("2020-01-02T00:00:00Z")
        self.git("mv", "moved", "elsewhere")
        self.git("mv", "moved-and-changed", "other")
        self.write("other", long_text)
        self.write("changed", "2")
        self.write("new", "2")
        self.assertEqual(
            choice.changed_paths(self.root, base), {"committed", "other", "changed", "new"})


class ChoiceTests(unittest.TestCase):
    def setUp(self):
        self.all = [mutants.parse(f"{number}", HEAD + "@@\n-a\n") for number in range(20)]
        self.changed = self.all[5:10]

    def choose(self, seed, steps):
        """Chooses mutants if each takes one step and there is time for `steps` steps."""
        chosen = []
        for mutant, reason in choice.choose(
                self.all, self.changed, seed, lambda share: len(chosen) + 1 <= share * steps):
            chosen.append((mutant.name, reason))
        return chosen

    def test_mutants_in_changed_files_come_first_and_get_half_the_time(self):
        chosen = self.choose(1, steps=8)
        self.assertEqual([reason for _, reason in chosen],
                         [choice.CHANGED] * 4 + [choice.BY_CHANCE] * 4)
        changed = {mutant.name for mutant in self.changed}
        self.assertLessEqual({name for name, _ in chosen[:4]}, changed)

    def test_no_mutant_is_chosen_twice(self):
        names = [name for name, _ in self.choose(2, steps=1000)]
        self.assertEqual(sorted(names, key=int), [mutant.name for mutant in self.all])

    def test_the_seed_decides_the_order(self):
        self.assertEqual(self.choose(3, steps=12), self.choose(3, steps=12))
        self.assertEqual(self.choose(3, steps=12)[:2], self.choose(3, steps=4)[:2])
        self.assertNotEqual(self.choose(3, steps=12), self.choose(4, steps=12))


if __name__ == "__main__":
    unittest.main()

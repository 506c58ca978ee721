"""Articles are read most on a code host, so their links and pictures must work there."""

import re
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "Scripts/checks"))

from catalog import headings

LINK = re.compile(r"\]\(([^)\s]+)\)")


def prose(path: Path) -> str:
    """Returns the text of a document without its samples."""
    return re.sub(r"```.*?```|`[^`\n]+`", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)


def faults(path: Path) -> list[str]:
    """Returns what a reader of a document on a code host would stumble over."""
    text = prose(path)
    found = [f"{path}: {part}" for part in re.findall(r"<doc:[^>]*>|^ *@[A-Z]\w* \{", text, re.M)]
    for target in LINK.findall(text):
        place, _, anchor = target.partition("#")
        if re.match(r"[a-z]+:", place):
            continue
        file = path.parent / place if place else path
        if not file.exists():
            found.append(f"{path}: no file {target}")
        elif anchor and anchor not in headings(file.read_text(encoding="utf-8")):
            found.append(f"{path}: no heading {target}")
    return found


class ArticleTests(unittest.TestCase):
    def test_each_link_and_picture_works_on_a_code_host(self) -> None:
        documents = [ROOT / "README.md", *sorted(ROOT.glob("Sources/*/*.docc/**/*.md"))]
        self.assertGreater(len(documents), 40)
        self.assertEqual([fault for document in documents for fault in faults(document)], [])

    def test_a_fault_is_found(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            document = Path(folder) / "A.md"
            document.write_text(
                "# A title\n\n[good](#a-title) `[sample](no)` [bad](B.md) [worse](A.md#b)\n\n"
                "<doc:C>\n\n@Row {\n}\n", encoding="utf-8")
            self.assertEqual(
                [fault.partition(": ")[2] for fault in faults(document)],
                ["<doc:C>", "@Row {", "no file B.md", "no heading A.md#b"])


if __name__ == "__main__":
    unittest.main()

"""Writes llms.txt and llms-full.txt, which tell a language model how to use the libraries.

    llms.py SITE

llms.txt lists the articles with a sentence each. llms-full.txt is one page: of each article for
users the first paragraph below each heading, the tables, and the samples.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from catalog import SAMPLE

ROOT = Path(__file__).resolve().parents[2]
MAIN = ROOT / "Sources/SequencingOAuth/SequencingOAuth.docc"

# The sections of the main page whose articles are not about writing a new program.
OTHER = {"Coming from another library", "Working on the SDK"}
# Articles that do not help to write a program.
LEFT_OUT = {"Changelog", "Specifications", "TheProgram", "Troubleshooting"}

LINK = re.compile(r"\[([^\]]+)\]\(([A-Za-z]+)\.md(?:#[^)]*)?\)")


def title(article: str) -> str:
    """Returns the title of an article: its first line."""
    return article.partition("\n")[0].lstrip("# ").replace("`", "")


def abstract(article: str) -> str:
    """Returns the sentence below the title."""
    return article.split("\n\n")[1].strip()


def topics() -> dict[str, list[str]]:
    """Returns the names of the articles by the headings of the main page's topics.

    A section that begins with a text is about names in the code.
    """
    page = (MAIN / "SequencingOAuth.md").read_text(encoding="utf-8")
    found: dict[str, list[str]] = {}
    for section in page.partition("## Topics")[2].split("\n### ")[1:]:
        heading, _, body = section.partition("\n")
        names = [name for _, name in LINK.findall(body)]
        if body.lstrip().startswith("- ") and names:
            found[heading] = names
    return found


def catalogs() -> list[Path]:
    """Returns the catalogs of the libraries, the main one first."""
    others = sorted(path for path in ROOT.glob("Sources/*/*.docc") if path != MAIN)
    return [MAIN, *others]


def blocks(article: str) -> list[str]:
    """Splits an article into paragraphs, tables, headings and whole samples."""
    found: list[str] = []
    for part in SAMPLE.split(article):
        found += [part] if part.startswith("```") else part.split("\n\n")
    return [text for block in found if (text := block.strip("\n"))]


def digest(article: str) -> str:
    """Returns the headings with their first paragraphs, the tables and the samples."""
    kept: list[str] = []
    fresh = True
    for block in blocks(article.partition("\n## Topics")[0]):
        is_heading = block.startswith("#")
        if is_heading or fresh or block.startswith(("```", "|")):
            kept.append(block)
        fresh = is_heading
    return LINK.sub(r"[\1](articles/\2.md)", "\n\n".join(kept))


def main(site: Path) -> None:
    """Writes both files, and the articles as they stand in the sources."""
    index = ["# SequencingOAuth", "> " + abstract((MAIN / "SequencingOAuth.md").read_text())]
    index.append("[All that follows for users of the libraries in one page](llms-full.txt)")
    whole: list[str] = []
    places = site / "articles"
    places.mkdir()
    sections = {heading: [MAIN / f"{name}.md" for name in names]
                for heading, names in topics().items()}
    for catalog in catalogs()[1:]:
        sections[catalog.stem] = sorted(
            catalog.glob("*.md"), key=lambda path: (path.stem != catalog.stem, path.stem))
    for heading, paths in sections.items():
        lines = []
        for path in paths:
            text = path.read_text(encoding="utf-8")
            (places / path.name).write_text(text, encoding="utf-8")
            lines.append(f"- [{title(text)}](articles/{path.name}): {abstract(text)}")
            is_guide = heading in OTHER or path.stem.startswith("MigratingFrom")
            if not is_guide and path.stem not in LEFT_OUT:
                whole.append(digest(text))
        index.append(f"## {heading}\n\n" + "\n".join(lines))
    (site / "llms.txt").write_text("\n\n".join(index) + "\n", encoding="utf-8")
    (site / "llms-full.txt").write_text("\n\n".join(whole) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))

"""Copies a catalog of articles into a folder, with the links that DocC follows:

    catalog.py CATALOG FOLDER

The articles have links and pictures that a code host shows: `[Design](Design.md)`, an anchor in
lower case, `![…](Images/refresh.svg)`. DocC wants the names of articles, headings and pictures.
"""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

LINK = re.compile(r"\]\((?:\.\./)?(?:([A-Z]\w*)\.md)?(?:#([^)\s]+))?\)")
PICTURE = re.compile(r"\]\((?:\.\./)?Images/([\w-]+)\.svg\)")
SAMPLE = re.compile(r"(```.*?```)", re.DOTALL)


def headings(article: str) -> dict[str, str]:
    """Returns the anchors of an article's headings: DocC's by those of a code host."""
    found = {}
    for heading in re.findall(r"^#+ (.+)$", SAMPLE.sub("", article), re.MULTILINE):
        name = re.sub(r"[^\w\- ]", "", heading).replace(" ", "-")
        found[name.lower()] = name
    return found


def converted(name: str, articles: dict[str, str]) -> str:
    """Returns an article with DocC's links."""

    def link(match: re.Match[str]) -> str:
        target, anchor = match.groups()
        if target is None and anchor is None:
            return match[0]
        place = f"doc:{target}" if target else f"doc:{name}"
        if anchor is None:
            return f"]({place})"
        # DocC itself reports an anchor that does not exist.
        exact = headings(articles.get(target or name, "")).get(anchor, anchor)
        return f"]({place}#{exact})"

    parts = SAMPLE.split(articles[name])
    # Every second part is a sample, which stays as it is.
    parts[::2] = [LINK.sub(link, PICTURE.sub(r"](\1)", part)) for part in parts[::2]]
    return "".join(parts)


def main(catalog: Path, folder: Path) -> None:
    """Copies the catalog."""
    shutil.copytree(catalog, folder)
    files = {path.stem: path for path in folder.rglob("*.md")}
    articles = {name: path.read_text(encoding="utf-8") for name, path in files.items()}
    for name, path in files.items():
        path.write_text(converted(name, articles), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))

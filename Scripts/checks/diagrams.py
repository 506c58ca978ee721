"""Draws the sequence diagrams of the articles as SVG, each beside its article.

Each picture has its own background and follows the reader's light or dark theme.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from pathlib import Path

SOURCES = Path(__file__).resolve().parents[2] / "Sources"
LANE, ROW, HEAD, MARGIN = 230, 40, 58, 16

STYLE = """
  svg { --page: #ffffff; --edge: #d0d7de; --text: #1f2328; --faint: #59636e; --line: #0969da }
  @media (prefers-color-scheme: dark) {
    svg { --page: #0d1117; --edge: #3d444d; --text: #f0f6fc; --faint: #9198a1; --line: #4493f8 }
  }
  .page { fill: var(--page) }
  .head { fill: var(--page); stroke: var(--edge) }
  .lane { stroke: var(--edge); stroke-dasharray: 3 4 }
  .arrow { stroke: var(--line); stroke-width: 1.4; fill: none }
  .tip { fill: var(--line) }
  text { fill: var(--text); stroke: var(--page); stroke-width: 4; paint-order: stroke;
    font: 13px system-ui, "Segoe UI", "DejaVu Sans", sans-serif }
  .name { font-weight: 600; text-anchor: middle }
  .note { fill: var(--faint) }
"""


@dataclass(frozen=True)
class Step:
    """An arrow between two lanes, or a note beside one if both are equal."""

    start: int
    end: int
    text: str


@dataclass(frozen=True)
class Diagram:
    """The lanes of a diagram and what happens between them, in order."""

    library: str
    name: str
    title: str
    lanes: list[str]
    steps: list[Step]


def diagram(library: str, name: str, title: str, lanes: str, *steps: str) -> Diagram:
    """Reads a diagram from lines such as `app > server: a request` or `app: a note`."""
    names = [lane.strip() for lane in lanes.split("|")]
    read = []
    for step in steps:
        places, text = step.split(": ", 1)
        start, _, end = places.partition(" > ")
        read.append(Step(names.index(start), names.index(end or start), text))
    return Diagram(library, name, title, names, read)


DIAGRAMS = [
    diagram(
        "SequencingOAuth", "sign-in", "A sign-in with the code flow",
        "app|SDK|browser|authorization server",
        "app > SDK: signIn()",
        "SDK: new state, nonce and PKCE verifier; opens a port of 127.0.0.1",
        "SDK > browser: opens the authorization URL",
        "browser > authorization server: state, nonce, code_challenge",
        "authorization server: the user signs in and consents",
        "authorization server > browser: redirect with code, state and iss",
        "browser > SDK: GET http://127.0.0.1:PORT/callback",
        "SDK: checks state, then iss, then error, then code",
        "SDK > authorization server: code and code_verifier",
        "authorization server > SDK: tokens",
        "SDK: checks the ID token; stores the tokens",
        "SDK > app: one callback",
    ),
    diagram(
        "SequencingOAuth", "refresh", "One refresh for all callers",
        "callers|SDK|token store|authorization server",
        "callers > SDK: token(), from any number of tasks",
        "SDK: the token has expired: one call refreshes, the others wait",
        "SDK > token store: takes the lease, reads the record",
        "token store > SDK: no newer token, and there is room for one",
        "SDK > authorization server: the refresh token",
        "authorization server > SDK: new tokens; the old refresh token has ended",
        "SDK > token store: saves the new tokens, gives the lease back",
        "SDK > callers: the new token, to all of them",
    ),
    diagram(
        "SequencingOAuthBackend", "fleet", "One refresh for a fleet",
        "host A|PostgreSQL|host B|authorization server",
        "host A > PostgreSQL: takes the account's lease",
        "host B > PostgreSQL: waits for the lease",
        "host A > authorization server: the refresh token",
        "authorization server > host A: new tokens",
        "host A > PostgreSQL: saves them and ends the lease",
        "PostgreSQL > host B: a notice: the lease has ended",
        "host B > PostgreSQL: takes the lease, reads the record",
        "PostgreSQL > host B: a newer token: no request is needed",
    ),
]


def svg(diagram: Diagram) -> str:
    """Returns the picture of a diagram."""
    centers = [MARGIN + LANE * index + LANE // 2 for index in range(len(diagram.lanes))]
    width = 2 * MARGIN + LANE * len(diagram.lanes)
    height = HEAD + ROW * len(diagram.steps) + MARGIN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">',
        f"<title>{escape(diagram.title)}</title>", f"<style>{STYLE}</style>",
        f'<rect class="page" width="{width}" height="{height}" rx="6"/>',
    ]
    for center, name in zip(centers, diagram.lanes):
        parts += [
            f'<line class="lane" x1="{center}" y1="40" x2="{center}" y2="{height - MARGIN}"/>',
            f'<rect class="head" x="{center - 80}" y="12" width="160" height="28" rx="5"/>',
            f'<text class="name" x="{center}" y="31">{escape(name)}</text>',
        ]
    for row, step in enumerate(diagram.steps):
        parts += drawing(step, centers, HEAD + ROW * row + ROW // 2)
    return "\n".join([*parts, "</svg>"]) + "\n"


def drawing(step: Step, centers: list[int], y: int) -> list[str]:
    """Returns the elements of a step whose arrow or note is at a height."""
    start, end = centers[step.start], centers[step.end]
    if start == end:
        # A note stands where the picture has room: to the left of the last lane.
        last = start == centers[-1]
        place = f'x="{start - 10}" text-anchor="end"' if last else f'x="{start + 10}"'
        return [f'<circle class="tip" cx="{start}" cy="{y}" r="3.5"/>',
                f'<text class="note" {place} y="{y + 4}">{escape(step.text)}</text>']
    direction = 1 if end > start else -1
    middle = (start + end) // 2
    return [
        f'<text x="{middle}" text-anchor="middle" y="{y - 5}">{escape(step.text)}</text>',
        f'<path class="arrow" d="M{start} {y + 3}H{end - 7 * direction}"/>',
        f'<path class="tip" d="M{end} {y + 3}l{-9 * direction} -4.5v9z"/>',
    ]


if __name__ == "__main__":
    for each in DIAGRAMS:
        folder = SOURCES / each.library / f"{each.library}.docc/Images"
        folder.mkdir(exist_ok=True)
        (folder / f"{each.name}.svg").write_text(svg(each), encoding="utf-8")

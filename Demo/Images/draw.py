"""Draws terminal screens, saved with `tmux capture-pane -e -p`, side by side as SVG.

The arguments are the files of the screens. The SVG goes to standard output, follows the reader's
light or dark theme, and keeps text as text.
"""

import re
import sys
from html import escape

COLUMN, ROW, FONT = 7, 18, 11.6
MARGIN, GAP = 14, 26

STYLE = """
  svg { --page: #ffffff; --edge: #d0d7de; --text: #1f2328 }
  @media (prefers-color-scheme: dark) {
    svg { --page: #010409; --edge: #3d444d; --text: #f0f6fc }
  }
  .screen { fill: var(--page); stroke: var(--edge) }
  .arrow { fill: none; stroke: #7d8590; stroke-width: 1.6 }
  text { fill: var(--text); white-space: pre; font: %spx ui-monospace, "SFMono-Regular",
    Menlo, Consolas, "DejaVu Sans Mono", "Liberation Mono", monospace }
  .line { fill: var(--text) }
""" % FONT

# Characters that are drawn as lines, because fonts leave gaps in them: length and thickness.
LINES = {"─": (1, 1), "━": (1, 2.6), "╸": (0.5, 2.6)}


def colour(number):
    """Returns a color of the 256-color palette, except the first 16, which the theme defines."""
    if number >= 232:
        return "#" + "%02x" % (8 + 10 * (number - 232)) * 3
    levels = [0, 95, 135, 175, 215, 255]
    number -= 16
    return "#%02x%02x%02x" % (levels[number // 36], levels[number // 6 % 6], levels[number % 6])


def change(style, codes):
    """Returns the style (bold or not, and the color) after an escape sequence."""
    bold, fill = style
    codes = [int(code or 0) for code in codes.split(";")]
    while codes:
        code = codes.pop(0)
        if code == 0:
            bold, fill = False, None
        elif code == 1:
            bold = True
        elif code == 39:
            fill = None
        elif code == 38 and codes[:1] == [5] and codes[1] >= 16:
            fill = colour(codes[1])
            del codes[:2]
        elif code != 49:
            sys.exit("draw.py: no drawing is known for the code %d" % code)
    return bold, fill


def screen(lines, left):
    """Yields the elements of one screen."""
    style = (False, None)
    for row, line in enumerate(lines):
        column = 0
        baseline = MARGIN + (row - 0.3) * ROW
        for codes, text in re.findall(r"\x1b\[([\d;]*)m|([^\x1b]+)", line):
            if not text:
                style = change(style, codes)
                continue
            # Split the text at two spaces, so that columns keep their places in any font.
            for part in re.finditer(r"[─━╸]+|[^─━╸\s]+(?: [^─━╸\s]+)*", text):
                x = left + (column + part.start()) * COLUMN
                yield element(part.group(), style, x, baseline)
            column += len(text)


def element(text, style, x, baseline):
    """Returns a piece of text, or the line that replaces it."""
    bold, fill = style
    looks = (["fill: " + fill] if fill else []) + (["font-weight: bold"] if bold else [])
    look = ' style="%s"' % "; ".join(looks) if looks else ""
    if text[0] not in LINES:
        return '<text x="%g" y="%g" textLength="%g"%s>%s</text>' % (
            x, baseline, len(text) * COLUMN, look, escape(text))
    length = sum(LINES[sign][0] for sign in text) * COLUMN
    thickness = LINES[text[0]][1]
    return '<rect class="line" x="%g" y="%g" width="%g" height="%g"%s/>' % (
        x, baseline - 4 - thickness / 2, length, thickness, look)


def main(paths):
    screens = [open(path, encoding="utf-8").read().split("\n") for path in paths]
    plain = [[re.sub(r"\x1b\[[\d;]*m", "", line).rstrip() for line in lines] for lines in screens]
    # The demo leaves the first row and two columns on each side free.
    columns = 2 + max(len(line) for lines in plain for line in lines)
    rows = max(row for lines in plain for row, line in enumerate(lines) if line)
    width, height = columns * COLUMN, rows * ROW + 2 * MARGIN
    whole = len(screens) * (width + GAP) - GAP
    print(
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %g %g" width="%g" height="%g">'
        % (whole + 2, height + 2, whole + 2, height + 2))
    print("<style>%s</style>" % STYLE)
    for number, lines in enumerate(screens):
        left = 1 + number * (width + GAP)
        if number:
            middle, tip = 1 + height / 2, left - 5
            print('<path class="arrow" d="M%g %gH%gm-5 -5l5 5l-5 5"/>' % (
                left - GAP + 5, middle, tip))
        print('<rect class="screen" x="%g" y="1" width="%g" height="%g" rx="8"/>' % (
            left, width, height))
        print("\n".join(screen(lines, left)))
    print("</svg>")


main(sys.argv[1:])

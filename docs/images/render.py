"""Draws a terminal's screen as an SVG: render.py TITLE COLUMNS < screen.ansi > picture.svg. Needs `rich`."""

import io
import re
import sys

from rich.console import Console
from rich.text import Text

# Rich's own format loads a font from elsewhere; a picture in a README must stand on its own.
FORMAT = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}">
<style>
.{unique_id}-matrix {{
  font-family: ui-monospace, "Cascadia Mono", "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace;
  font-size: {char_height}px; line-height: {line_height}px;
}}
.{unique_id}-title {{ font: bold 18px system-ui, sans-serif; }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal"><rect width="{terminal_width}" height="{terminal_height}"/></clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""

CELL = 12.2
BLANK = "&#160;"
PIECE = re.compile(r'<text class="([^"]+)" x="([^"]+)" y="([^"]+)" textLength="([^"]+)"[^>]*>([^<]*)</text>')


def placed(piece):
    """Puts a piece of text where its first letter is: some viewers drop blanks at the start and the end."""
    style, x, y, length, text = piece.groups()
    text = text.strip()
    width = float(length)
    while text.startswith(BLANK):
        text, x, width = text.removeprefix(BLANK), float(x) + CELL, width - CELL
    while text.endswith(BLANK):
        text, width = text.removesuffix(BLANK), width - CELL
    if not text:
        return ""
    return f'<text class="{style}" x="{float(x):.1f}" y="{y}" textLength="{width:.1f}">{text}</text>'


title, columns = sys.argv[1], int(sys.argv[2])
console = Console(record=True, width=columns, file=io.StringIO(), force_terminal=True, color_system="truecolor")
for line in sys.stdin.read().rstrip("\n").split("\n"):
    console.print(Text.from_ansi(line), no_wrap=True, overflow="crop", crop=True)
picture = PIECE.sub(placed, console.export_svg(title=title, code_format=FORMAT, unique_id="t"))
picture = re.sub(r'<clipPath id="t-line-.*?</clipPath>', "", picture, flags=re.DOTALL)
sys.stdout.write(re.sub(r"\n\s*\n+", "\n", picture))

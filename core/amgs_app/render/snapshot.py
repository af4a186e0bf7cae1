"""Snapshots: NAME.txt, NAME.svg and NAME.json of the pane shown last; the same state gives the same bytes."""

from __future__ import annotations

import difflib
import io
import re
from typing import TYPE_CHECKING

from amgs.errors import InputError, UsageError
from amgs_app.places.paths import write_whole
from amgs_app.render.canvas import Canvas
from amgs_app.render.catalogue import Look, draw, portable
from amgs_app.render.encode import to_json
from amgs_app.results.session import SnapshotFiles

if TYPE_CHECKING:
    from pathlib import Path

    from rich.text import Text

    from amgs_app.session import Operator

DIFF_LINES = 40
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")

# Rich's own frame asks a remote server for its font; this frame scales what the reader has.
_SVG = """<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font-family: "Fira Code", "DejaVu Sans Mono", Menlo, Consolas, monospace; \
font-size: {char_height}px; line-height: {line_height}px; font-variant-east-asian: full-width; }}
.{unique_id}-title {{ font-size: 18px; font-weight: bold; font-family: sans-serif; }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}" />
</clipPath>
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


def take_snapshot(operator: Operator, name: str, look: Look) -> SnapshotFiles:
    """Write the three files, or compare them if the target says so. look: returns another command's result.

    Raises UsageError for an invalid name or no pane, InputError if a file cannot be written.
    """
    if _NAME.fullmatch(name) is None:
        raise UsageError(f"{name!r} is not a valid file name.", way_out="Use letters, digits, `.`, `_` and `-`.")
    state = operator.panes.get(operator.pane)
    if state is None:
        raise UsageError(
            "No pane was shown yet.", way_out="Run `show overview` first, or any command that fills a pane."
        )
    target = operator.snapshots
    canvas = Canvas(*target.size, operator.palette, target.symbols)
    result = portable(state.result)
    picture = draw(operator, result, canvas, look)
    files = {
        f"{name}.txt": as_text(picture),
        f"{name}.svg": as_svg(picture, canvas, f"amgs · {operator.pane}"),
        f"{name}.json": to_json(result),
    }
    if target.check:
        differences = [line for file, content in files.items() for line in compare(target.folder / file, content)]
        target.differences.extend(differences)
        (target.changed if differences else target.same).append(name)
    else:
        for file, content in files.items():
            _write(target.folder / file, content)
    return SnapshotFiles(name, operator.pane, tuple(files), target.check)


def as_text(picture: Text) -> str:
    """Return the figure without colours and trailing blanks."""
    return "".join(f"{line.rstrip()}\n" for line in picture.plain.split("\n"))


def as_svg(picture: Text, canvas: Canvas, title: str) -> str:
    """Return the figure as SVG; equal figures give equal bytes."""
    from rich.console import Console

    console = Console(
        width=canvas.width,
        height=canvas.height,
        file=io.StringIO(),
        record=True,
        force_terminal=True,
        color_system="truecolor",
        legacy_windows=False,
    )
    console.print(picture, highlight=False, soft_wrap=True)
    svg = console.export_svg(title=title, theme=canvas.palette.terminal_theme(), code_format=_SVG, unique_id="amgs")
    return "".join(f"{line.rstrip()}\n" for line in svg.splitlines() if line.strip())


def compare(path: Path, content: str) -> list[str]:
    """Compare a file with the present content: a unified diff, a sentence, or nothing if they are equal."""
    try:
        expected = path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return [f"{path} is missing."]
    except (OSError, UnicodeDecodeError) as error:
        return [f"{path} cannot be read: {getattr(error, 'strerror', None) or 'it is not UTF-8'}."]
    if expected == content:
        return []
    if path.suffix == ".svg":
        return [f"{path} differs in its drawing."]
    lines = difflib.unified_diff(
        expected.splitlines(), content.splitlines(), f"{path} (kept)", f"{path} (now)", lineterm="", n=2
    )
    shown = list(lines)
    rest = len(shown) - DIFF_LINES
    more = [f"… and {rest} lines more"] if rest > 0 else []
    return ["\n".join([*shown[:DIFF_LINES], *more])]


def _write(path: Path, content: str) -> None:
    try:
        write_whole(path, content)
    except OSError as error:
        raise InputError(
            f"{path} cannot be written: {error.strerror}.",
            title="Cannot write the snapshot",
            way_out="Choose another folder with --out.",
        ) from error

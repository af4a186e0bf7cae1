"""Tables and sentences for the overview, layouts, settings, scripts and help; the stations of the overview's
loop; the namespaces of a database that holds the store; and the header line of the screen.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from rich.text import Text

from amgs.text.words import plural
from amgs.types import HealthLine, StoreStatus
from amgs.types.health import NamespaceSize, StoreTopology
from amgs_app.panes.row_filter import describe_filter
from amgs_app.render.canvas import Canvas, Figure, Piece, Region, clean, ink
from amgs_app.render.catalogue import entry, table_of, title_of
from amgs_app.render.format import WARNING, count, minute, share, short_count
from amgs_app.render.glyphs import HeaderPart, facts_line
from amgs_app.render.sheet import Column, ResultTable, facts, sheet, to_table

if TYPE_CHECKING:
    from datetime import datetime

    from rich.console import RenderableType

    from amgs_app.panes.layout import Layout
    from amgs_app.results.memory import SettingsList
    from amgs_app.results.overview import Overview
    from amgs_app.results.session import (
        CommandGroups,
        Expectation,
        HelpList,
        LayoutList,
        Recording,
        Saved,
        Shown,
        Sifted,
        SnapshotFiles,
        ThemeSet,
        VerbHelp,
    )
    from amgs_app.session import Operator


PANE_OF = {
    "inbox": "inbox",
    "consolidate": "inbox",
    "memory": "graph",
    "frame": "frame",
    "lifetime": "focus",
    "window": "focus",
    "decode": "focus",
    "feedback": "calibration",
}
"""The pane of each station."""
STATIONS: Final = tuple(PANE_OF)
"""Names in the order of the loop."""


def header(
    canvas: Canvas,
    *,
    status: StoreStatus | None = None,
    model: str = "",
    live: bool = True,
    threshold: float | None = None,
    recording: bool = False,
    sample_time: bool = False,
    read_only: bool = False,
) -> Text:
    """Draw a line: store, counts, model, time, Brier score, and whether the screen is live."""
    sheet = Figure(canvas.with_size(canvas.width, 1))
    palette = sheet.palette
    muted, plain, strong = ink(palette.muted), ink(palette.text), ink(palette.text, bold=True)
    state: tuple[Piece, ...] = (
        ("● live", ink(palette.good, bold=True)) if live else ("◂ past", ink(palette.warn, bold=True)),
    )
    if read_only:
        state = (("read-only ", ink(palette.warn, bold=True)), *state)
    facts = [HeaderPart(0, (("amgs", ink(palette.accent, bold=True)),))]
    if status is not None:
        name = clean(status.path).replace("\\", "/").rsplit("/", 1)[-1]
        total = sum(status.blocks.get(kind, 0) for kind in ("raw", "consolidated"))
        facts += [
            HeaderPart(4, ((name, plain),)),
            HeaderPart(2, ((count(total), strong), (" blocks", muted))),
            HeaderPart(3, ((count(status.blocks.get("raw", 0)), strong), (" raw", muted))),
            HeaderPart(8, ((count(status.edges), plain), (" edges", muted))),
        ]
    if threshold is not None:
        facts.append(HeaderPart(9, (("θ ", muted), (share(threshold), plain))))
    if model:
        facts.append(HeaderPart(5, ((clean(model), plain),)))
    if status is not None:
        hour = minute(status.now)
        facts.append(HeaderPart(7, ((f"{hour} sample time" if sample_time else hour, muted),)))
        if status.brier is not None:
            facts.append(HeaderPart(6, (("Brier ", muted), (share(status.brier), plain))))
    if recording:
        state = (("◉ rec ", ink(palette.readable(palette.bad, palette.panel), bold=True)), *state)
    facts.append(HeaderPart(1, state))
    facts_line(sheet, 0, facts, gap=2 if canvas.width < 100 else 3, x=1)
    return sheet.render()


_MOST_NAMESPACES = 8
_WIDE = 100


def topology_lines(status: StoreStatus, namespaces: Sequence[NamespaceSize]) -> tuple[HealthLine, ...]:
    """Return a line about the namespace; empty for a store in a file."""
    topology = status.topology
    if topology is None:
        return ()
    return (HealthLine("namespace", "well", _namespace(topology.namespace, namespaces), "status"),)


def _namespace(own: NamespaceSize, namespaces: Sequence[NamespaceSize]) -> str:
    """Return a namespace's position, blocks and size, in words."""
    place = f", one of {len(namespaces):,}" if len(namespaces) > 1 else ""
    parts = [f"{clean(own.name)}{place}", plural(own.blocks or 0, "block"), format_size(own.bytes)]
    parts += [] if own.changes is None else [f"change {count(own.changes)}"]
    if len(namespaces) > 1:
        parts.append(f"all {format_size(sum(namespace.bytes for namespace in namespaces))}")
    return " · ".join(parts)


def format_size(size: int) -> str:
    """Format bytes in decimal units: `3.4 GB`."""
    for limit, unit in ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if size >= limit:
            return f"{size / limit:.1f} {unit}"
    return f"{size} B"


def detail_height(status: StoreStatus, namespaces: Sequence[NamespaceSize], most: int) -> int:
    """Return the lines that `draw_detail` needs, at most `most`; 0 if there is a single namespace."""
    rows = len(namespaces) if status.topology is not None and len(namespaces) > 1 else 0
    return min(rows, _MOST_NAMESPACES, most - 1) + 1 if rows and most > 1 else 0


def draw_detail(region: Region, status: StoreStatus, namespaces: Sequence[NamespaceSize]) -> None:
    """Draw the namespaces, the open namespace first, then the largest."""
    if status.topology is not None and len(namespaces) > 1:
        _namespaces(region, status.topology, namespaces)


def _namespaces(region: Region, topology: StoreTopology, namespaces: Sequence[NamespaceSize]) -> None:
    palette = region.palette
    own = topology.namespace
    others = sorted((namespace for namespace in namespaces if namespace.name != own.name), key=lambda n: -n.bytes)
    every = [own, *others]
    shown = every[: region.height - 1]
    left = len(every) - len(shown)
    region.rule(0, "namespaces", f"{left:,} more" if left else "≈ as last estimated")
    for row, namespace in enumerate(shown, start=1):
        mine = namespace.name == own.name
        text = ink(palette.text, bold=mine)
        name_w = max(8, region.width - 36)
        region.put(1, row, clean(namespace.name), text, width=name_w)
        blocks = (
            "not known" if namespace.blocks is None else f"{'' if mine else '≈'}{short_count(namespace.blocks)} blocks"
        )
        x = name_w + 2
        region.put(x, row, blocks, text, width=14, align="right")
        region.put(x + 15, row, format_size(namespace.bytes), text, width=9, align="right")
        if namespace.changes is not None:
            region.put(x + 25, row, f"#{count(namespace.changes)}", ink(palette.muted), width=region.width - x - 25)


OPERATIONS = 100
"""Most journal entries in the overview."""


def _layout(layout: Layout) -> tuple[str, str, str]:
    return layout.pane, ", ".join(layout.beside) or "default", "●" if layout.large else ""


def _format_setting(value: object) -> str:
    """Format a setting's value as TOML."""
    return json.dumps(value, ensure_ascii=False)


def _draw_result(operator: Operator, result: Overview, canvas: Canvas) -> Text:
    from amgs_app.render.catalogue import places
    from amgs_app.render.rows import list_journal
    from amgs_app.workplace.figure import overview

    every = list_journal(operator.engine.memory.operations(OPERATIONS), operator.engine.clock.now())
    return overview(
        result.store,
        canvas,
        journal=every.keep(places(operator, "overview", every.fields)),
        health=result.health,
        frame=operator.last_frame,
        focus=result.focus,
        namespaces=result.namespaces,
    ).render()


def _counts(result: Overview) -> str:
    counts = result.store.blocks
    breakdown = ", ".join(f"{count:,} {status}" for status, count in counts.items() if count)
    blocks = plural(sum(counts.values()), "block") + (f" ({breakdown})" if breakdown else "")
    return f"{blocks}, {plural(result.store.edges, 'edge')}"


def _way(line: HealthLine) -> str:
    return f": `{line.verb}`" if line.verb and line.standing in ("act", "watch") else ""


def _portable(result: Overview) -> Overview:
    """Return the overview without the store's path."""
    return replace(result, store=replace(result.store, path=""))


@entry(figure=_draw_result, sentence=_counts, portable=_portable, stays=True)
def overview(result: Overview) -> ResultTable:
    from amgs_app.workplace.figure import SIGNS

    store = result.store
    pairs: list[tuple[str, Any]] = [
        ("store", store.path),
        ("now (sample time)" if result.sample_time else "now", store.now),
        *((f"blocks {status}", count) for status, count in store.blocks.items()),
        ("entropy of categories", f"{store.diversity.bits:.2f} of {store.diversity.most:.2f} bits"),
        ("edges", store.edges),
        ("frames", store.frames),
        ("mean relevance", store.mean_relevance),
        ("last consolidation", store.last_consolidation),
        ("Brier", store.brier),
        ("outcomes", store.outcomes),
        ("schema / changes", f"{store.schema_version} / {store.change_counter}"),
        *((line.side, line.told) for line in topology_lines(store, result.namespaces)),
        ("corpus", result.corpus or None),
        ("model", result.model + (" (loaded)" if result.model_loaded else "")),
        ("seed", result.seed),
        *((line.side, f"{SIGNS[line.standing]} {line.told}{_way(line)}") for line in result.health.lines),
    ]
    untrained = result.focus is not None and result.focus.untrained
    act = [line.side for line in result.health.lines if line.standing == "act"]
    need = "need" if len(act) > 1 else "needs"
    title = f"{plural(len(act), 'area')} {need} attention: {', '.join(act)}" if act else "Nothing needs attention"
    return facts(title, pairs, (f"! {WARNING}",) if untrained else ())


def _silent(result: Shown) -> str:
    del result
    return ""


@entry(sentence=_silent, quiet=True)
def tabulate_shown(result: Shown) -> ResultTable:
    return table_of(result.result)


def _theme(result: ThemeSet) -> str:
    return f"Theme {result.name}"


@entry(sentence=_theme, quiet=True)
def theme_set(result: ThemeSet) -> ResultTable:
    return sheet("", "theme in_use", [(name, "●" if name == result.name else "") for name in result.known])


@entry(sentence=title_of, quiet=True)
def tabulate_filter(result: Sifted) -> ResultTable:
    sift = result.sift
    rows = [(result.pane, sift.words, sift.order, "●" if sift.reverse else "")]
    return sheet(f"{result.pane}: {describe_filter(sift)}", "pane filter* order reverse", rows)


def _large(result: Layout) -> str:
    return f"{result.pane} is the large pane"


@entry(sentence=_large, quiet=True)
def layout(result: Layout) -> ResultTable:
    return sheet(f"Layout: {result.pane}", "pane beside* large", [_layout(result)])


def _layouts(result: LayoutList) -> str:
    return plural(len(result.rows), "layout")


@entry(sentence=_layouts)
def layout_list(result: LayoutList) -> ResultTable:
    rows = [(name, *_layout(layout)) for name, layout in result.rows]
    return sheet("Layouts" if rows else "No layouts", "name pane beside* large", rows)


def _recording(result: Recording) -> str:
    del result
    return "Recording; R again saves it"


@entry(sentence=_recording, quiet=True)
def recording(result: Recording) -> ResultTable:
    notes = ("`save FILE` writes what is done from here on as a script.",)
    return sheet("Recording", "since:n", [(result.since,)], notes)


@entry()
def settings_list(result: SettingsList) -> ResultTable:
    rows = [
        (
            setting.key,
            _format_setting(setting.value),
            _format_setting(setting.default),
            setting.place or "default",
            setting.description,
        )
        for setting in result.settings
    ]
    return sheet(f"Settings ({result.file})", "key value default from what_it_is*", rows)


def _describe_files(result: SnapshotFiles) -> str:
    return f"Wrote {', '.join(str(name) for name in result.files)}"


@entry(sentence=_describe_files)
def snapshot_files(result: SnapshotFiles) -> ResultTable:
    return sheet("", "pane file*", [(result.pane, name) for name in result.files])


@entry(quiet=True)
def tabulate_saved_file(result: Saved) -> ResultTable:
    return sheet(f"Saved {result.lines:,} lines", "file*", [(result.file,)])


@entry()
def expectation(result: Expectation) -> ResultTable:
    return sheet("", "metric found:n op wanted:n", [(result.metric, result.found, result.operator, result.wanted)])


def _help(result: HelpList, canvas: Canvas, now: datetime) -> RenderableType:
    from rich.console import Group

    del canvas, now
    if len(result.verbs) != 1:
        return to_table(table_of(result))
    parts: list[RenderableType] = [_render_verb(result.verbs[0])]
    if result.also:
        parts.append(to_table(replace(_tabulate_verbs(result.also), title="Also found")))
    return Group(*parts)


def _render_verb(verb: VerbHelp) -> RenderableType:
    from rich.text import Text

    text = Text()
    text.append(f"{verb.usage}\n", style="bold")
    text.append(f"{verb.text.rstrip()}\n")
    for label, meaning in verb.parameters:
        text.append(f"  {label:<14} ", style="bold")
        text.append(f"{meaning}\n")
    if verb.example:
        text.append(f"Example: {verb.example}\n")
    return text


def _tabulate_verbs(verbs: tuple[VerbHelp, ...]) -> ResultTable:
    return sheet("", "command what_it_does*", [(verb.usage.split(" [")[0], verb.summary) for verb in verbs])


@entry(page=_help)
def help_list(result: HelpList) -> ResultTable:
    if len(result.verbs) != 1:
        return _tabulate_verbs(result.verbs)
    only = result.verbs[0]
    also = f"Also found: {', '.join(verb.name for verb in result.also)}." if result.also else ""
    return sheet(only.usage, "argument meaning*", only.parameters, ("", only.text, also))


@entry()
def command_groups(result: CommandGroups) -> ResultTable:
    return ResultTable(
        plural(result.count, "command"),
        (Column("what for"), Column("commands", wide=True, folds=True)),
        tuple((heading, ", ".join(words)) for heading, words in result.groups),
        (
            "`help COMMAND` explains a command, `help WORD` finds commands by a word, `help --all` lists all,"
            " `help options` what every command takes.",
        ),
    )

"""Packs in the application: `pack …`, its results, and how they are shown."""

from __future__ import annotations

from typing import Final

from amgs_app.wing_views import TextSource, WingView

VIEW: Final = WingView(
    words=("pack",),
    about="Keep frames as packs, read them again, and see what became of that.",
    operations="amgs_app.views.packs.commands",
    entries="amgs_app.views.packs.entries",
    look="amgs_app.views.packs.commands:packs",
    listing="amgs_app.views.packs.row_fields:LISTING",
    terms="amgs_app.views.packs.glossary:WORDS",
    retired="amgs_app.views.packs.retired:RETIRED",
    source=TextSource(
        asked="From kept packs, instead of a frame",
        operation="pack assemble",
        nothing="No pack that is kept says anything of it.",
    ),
)
"""What the application gains."""

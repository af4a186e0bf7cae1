"""The recorder in the application: `record`, `recorded`, their results, and how they are shown."""

from __future__ import annotations

from typing import Final

from amgs_app.wing_views import WingView

VIEW: Final = WingView(
    words=("record", "recorded"),
    about="Take in what the memory of another program does, by OpenTelemetry.",
    heading="Watch another memory",
    operations="amgs_app.views.recorder.commands",
    entries="amgs_app.views.recorder.rows",
    look="amgs_app.views.recorder.commands:recorded",
    listing="amgs_app.views.recorder.rows:LISTING",
    terms="amgs_app.views.recorder.rows:TERMS",
)
"""What this wing adds to the application."""

"""Agents' sessions in the application: `session`, `follow`, their results, and how they are shown."""

from __future__ import annotations

from typing import Final

from amgs_app.wing_views import WingView

VIEW: Final = WingView(
    words=("session", "follow"),
    about="Look at the sessions of coding agents: what was lost, and what that cost.",
    heading="Look at an agent's sessions",
    operations="amgs_app.views.sessions.commands",
    entries="amgs_app.views.sessions.rows",
    look="amgs_app.views.sessions.commands:session",
    listing="amgs_app.views.sessions.lists:LISTING",
    terms="amgs_app.views.sessions.results:TERMS",
)
"""What this wing adds to the application."""

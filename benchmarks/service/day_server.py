"""The service with a clock that stands still until it is moved: `python -m benchmarks.service.day_server STORE MODEL`.

`POST /clock` with a number of seconds moves it.
"""

from __future__ import annotations

import sys
from datetime import timedelta
from typing import Annotated

from fastapi import APIRouter, Body

from amgs.clock import FixedClock
from amgs_app.engine import Options
from amgs_app.server.asking import Service
from amgs_app.server.hosting import DEFAULT
from amgs_app.server.running import serve
from benchmarks.large_corpus import NOW


def moving(service: Service) -> APIRouter:
    """The route that moves the clock of the one store."""
    router = APIRouter()

    @router.post("/clock")
    def move(seconds: Annotated[float, Body(gt=0)]) -> str:
        clock = service.namespaces.get(DEFAULT).engine.clock
        assert isinstance(clock, FixedClock)
        clock.advance(timedelta(seconds=seconds))
        return clock.now().isoformat()

    return router


if __name__ == "__main__":
    sys.exit(serve(Options(store=sys.argv[1], model=sys.argv[2], now=NOW), port=0, more=moving))

"""The operations of the workstation."""

from __future__ import annotations

from functools import lru_cache

from amgs_app.operations.registry import Registry


@lru_cache(maxsize=1)
def standard() -> Registry:
    """The registry of the workstation."""
    from amgs_app.operations import (
        bench,
        bench_focus,
        bench_lens,
        bench_stability,
        block,
        calibration,
        consolidation_plan,
        decay,
        exchange,
        focus,
        focus_control,
        focus_corpus,
        focus_lifetime,
        focus_trace,
        frame,
        frame_definitions,
        general,
        graph,
        lens,
        lifecycle,
        maintenance,
        montecarlo,
        script,
        search,
        training,
        tuning,
        utility,
        workspace,
    )

    return Registry.of_modules(
        (
            general,
            lifecycle,
            consolidation_plan,
            maintenance,
            montecarlo,
            block,
            search,
            frame,
            frame_definitions,
            graph,
            decay,
            calibration,
            tuning,
            exchange,
            focus,
            focus_control,
            focus_corpus,
            focus_lifetime,
            focus_trace,
            training,
            lens,
            script,
            workspace,
            utility,
            bench,
            bench_focus,
            bench_lens,
            bench_stability,
        )
    )

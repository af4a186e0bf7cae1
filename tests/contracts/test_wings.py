"""Wings: each has its folders, and what is made from the registry is as the registry makes it."""

from __future__ import annotations

import pytest

from amgs.wing_registry import WINGS, wings
from amgs_app.panes.layout import PANES
from amgs_app.wing_views import views
from amgs_tui.wing_panes import wing_panes
from scripts import wing_stubs
from scripts.wing_removal import FOLDERS, ROOT


def test_the_stub_of_the_parts_that_wings_add_is_made_from_the_registry() -> None:
    assert wing_stubs.PATH.read_text(encoding="utf-8") == wing_stubs.stub(), "make docs"


def test_every_folder_of_a_wing_is_in_the_registry() -> None:
    named = {path.parent.name for path in (ROOT / "core/amgs/wings").glob("*/__init__.py")}
    assert named == set(WINGS) == set(views()) >= set(wing_panes()) | set(wings())
    assert PANES[len(PANES) - len(wing_panes()) :] == tuple(wing_panes())


@pytest.mark.parametrize("name", WINGS)
def test_a_wing_has_a_folder_in_each_package_and_its_removal_takes_it(name: str) -> None:
    panes = ("amgs_tui/panes",) if name in wing_panes() else ()
    packages = ("core/amgs/wings", "core/amgs_app/views", *panes)
    assert set(packages) < set(FOLDERS)
    assert [folder for folder in packages if not (ROOT / folder / name / "__init__.py").is_file()] == []

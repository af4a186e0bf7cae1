"""The OpenAPI document: it says what is answered, and what it allows, and much that it does not, meets no fault."""

from __future__ import annotations

import json
from typing import Any, get_args, get_origin

import jsonschema_rs

from amgs.types import Block, Weights
from amgs_app.calls.registry import standard
from amgs_app.render.encode import plain, to_json
from amgs_app.server.answer_schema import AnswerSchemas, read_return_type
from amgs_app.server.routes import has_route
from tests.tui.poison import made

_HEX = "3e" * 32
"""What stands wherever a string may stand: a block's id is one."""


def _kinds(declared: Any) -> tuple[Any, ...]:
    return get_args(declared) if get_origin(declared) is not None else (declared,)


def test_every_answer_is_what_the_schema_of_its_operation_says() -> None:
    schemas = AnswerSchemas()
    checked = 0
    for operation in filter(has_route, standard()):
        declared = read_return_type(operation.function)
        schema = schemas.of(declared)
        fits = jsonschema_rs.validator_for(schema | {"components": {"schemas": schemas.components}})
        for kind in _kinds(declared):
            answer = json.loads(to_json(made(kind, _HEX)))
            fits.validate(answer)
            assert not fits.is_valid(answer | {"unheard": 1}), operation.name
            checked += 1
    assert checked > 100


def test_what_breaks_the_form_of_an_id_a_date_or_a_weight_is_no_answer() -> None:
    schemas = AnswerSchemas()
    block, weights = (
        jsonschema_rs.validator_for(
            schemas.of(kind) | {"components": {"schemas": schemas.components}}, validate_formats=True
        )
        for kind in (Block, Weights)
    )
    good = plain(made(Block, _HEX))
    assert block.is_valid(good)
    for wrong in ({"id": "3e"}, {"created_at": "yesterday"}, {"confidence": 1.5}, {"content": None}):
        assert not block.is_valid(good | wrong), wrong
    even = dict.fromkeys(("recency", "centrality", "confidence", "similarity", "reinforcement"), 0.2)
    assert weights.is_valid(even)
    assert not weights.is_valid(even | {"recency": -0.2})

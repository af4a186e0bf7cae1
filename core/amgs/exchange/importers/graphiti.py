"""Zep and graphiti: episodes, entities and facts with the time in which they held."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from amgs.exchange.importers.parsing import instant, some, text
from amgs.exchange.importers.records import ForeignFormat, ForeignRecords, ImportOptions, Records
from amgs.sessions.lines import name

_EPISODES = ("episodes", "episodic_nodes", "episode_nodes")
_ENTITIES = ("nodes", "entity_nodes", "entities", "community_nodes", "communities")
_FACTS = ("edges", "entity_edges", "facts")
_LINKS = ("episodic_edges", "community_edges", "has_episode_edges", "next_episode_edges")
_OF_EPISODES = ("source_description", "entity_edges", "role_type", "processed", "source")


class GraphitiImporter:
    """See the module."""

    name: ForeignFormat = "graphiti"
    program = "Zep and graphiti"

    def recognises(self, data: Any) -> bool:
        """Whether it holds facts, episodes or entities, in one list or in lists of their own."""
        if isinstance(data, dict):
            lists = [
                data[key] for key in (*_EPISODES, *_ENTITIES, *_FACTS) if isinstance(data.get(key), list)
            ]
            return any(some(one, _is_any) for one in lists)
        return some(data, _is_any)

    def read(self, data: Any, options: ImportOptions) -> ForeignRecords:
        """A block for each episode, each fact and the summary of each entity."""
        records = Records(self.name, options.ingest)
        episodes: list[tuple[str, dict[str, Any]]] = []
        entities: list[tuple[str, dict[str, Any]]] = []
        facts: list[tuple[str, dict[str, Any]]] = []
        if isinstance(data, dict):
            for keys, kind, found in (
                (_EPISODES, "episode", episodes),
                (_ENTITIES, "entity", entities),
                (_FACTS, "fact", facts),
            ):
                for key in keys:
                    found += records.objects(kind, data.get(key), key)
            for key in _LINKS:
                links = data.get(key)
                if isinstance(links, list) and links:
                    why = "it only ties an episode to what it mentions; the memory makes such ties itself"
                    records.leave("link", key, why, len(links))
        else:
            for here, one in records.objects("record", data, ""):
                if _is_fact(one):
                    facts.append((here, one))
                elif _is_episode(one):
                    episodes.append((here, one))
                elif _is_entity(one):
                    entities.append((here, one))
                else:
                    records.leave("record", here, "it is neither an episode, nor an entity, nor a fact")
        _take_episodes(records, episodes)
        _take_entities(records, entities)
        names = {name(one.get("uuid")): name(one.get("name")) for _, one in entities}
        for here, one in facts:
            _take_fact(records, one, here, names)
        return records.result()


def _is_fact(one: Mapping[str, Any]) -> bool:
    return isinstance(one.get("fact"), str) and ("uuid" in one or "source_node_uuid" in one)


def _is_episode(one: Mapping[str, Any]) -> bool:
    return isinstance(one.get("content"), str) and "uuid" in one and any(key in one for key in _OF_EPISODES)


def _is_entity(one: Mapping[str, Any]) -> bool:
    return "uuid" in one and "name" in one and ("summary" in one or "labels" in one) and "content" not in one


def _is_any(one: Mapping[str, Any]) -> bool:
    return _is_fact(one) or _is_episode(one) or _is_entity(one)


def _group(one: Mapping[str, Any]) -> dict[str, Any]:
    """The graph, user or thread that a record belongs to."""
    return {
        key: told for key in ("group_id", "user_id", "thread_id", "graph_id") if (told := name(one.get(key)))
    }


def _take_episodes(records: Records, episodes: list[tuple[str, dict[str, Any]]]) -> None:
    """Episodes in the order in which they happened; each message follows the one before it in its group."""
    before: dict[str, str] = {}
    for path, one in sorted(episodes, key=lambda each: _when(each[1])):
        group = _group(one)
        happened = one.get("valid_at") or one.get("created_at")
        messages = "/".join(group.values()) if name(one.get("source")) == "message" else ""
        role = name(one.get("role"))
        meta = (
            group
            | ({"speaker": role} if role else {})
            | records.original(one, path, without=("content", "valid_at", *group))
        )
        follows = {"follows": before[messages]} if messages and messages in before else {}
        last = records.fact(
            "episode",
            path,
            one.get("content"),
            source=records.source(*group.values(), name(one.get("uuid")) or path),
            at=records.instant(happened, f"{path}.valid_at"),
            title=name(one.get("name")),
            meta=meta | follows,
        )
        if messages and last:
            before[messages] = last


def _when(one: Mapping[str, Any]) -> tuple[bool, float]:
    at = instant(one.get("valid_at") or one.get("created_at"))
    return at is None, at.timestamp() if at is not None else 0.0


def _take_entities(records: Records, entities: list[tuple[str, dict[str, Any]]]) -> None:
    for path, one in entities:
        known, summary = name(one.get("name")), text(one.get("summary"))
        if summary is None or not summary.strip():
            records.leave("entity", path, "it has no summary; the facts name it")
            continue
        group = _group(one)
        records.fact(
            "entity",
            path,
            summary if not known or known.lower() in summary.lower() else f"{known}: {summary}",
            source=records.source(*group.values(), name(one.get("uuid")) or path),
            at=records.instant(one.get("created_at"), f"{path}.created_at"),
            title=known,
            meta=group | records.original(one, path, without=("summary", "created_at", *group)),
        )


def _take_fact(records: Records, one: dict[str, Any], path: str, names: Mapping[str, str]) -> None:
    group = _group(one)
    ends = {
        role: told
        for role, key in (("subject", "source_node"), ("object", "target_node"))
        if (told := names.get(name(one.get(f"{key}_uuid")), "") or name(one.get(f"{key}_name")))
    }
    relation = {"relation": told} if (told := name(one.get("name"))) else {}
    began = records.instant(one.get("valid_at"), f"{path}.valid_at")
    ended = records.instant(one.get("invalid_at") or one.get("expired_at"), f"{path}.invalid_at")
    records.fact(
        "fact",
        path,
        one.get("fact"),
        source=records.source(*group.values(), name(one.get("uuid")) or path),
        at=records.instant(one.get("created_at"), f"{path}.created_at") or began,
        meta=group | ends | relation | records.original(one, path, without=("fact", *group)),
        valid_from=began,
        valid_to=ended,
    )

"""Small documents in the shapes that other memories and chat programs export."""

from __future__ import annotations

from typing import Any

CHATGPT: list[dict[str, Any]] = [
    {
        "title": "Telescope",
        "create_time": 1735720200.0,
        "conversation_id": "c1",
        "current_node": "n4",
        "mapping": {
            "root": {"id": "root", "message": None, "parent": None, "children": ["n1"]},
            "n1": {
                "id": "n1",
                "parent": "root",
                "children": ["n2", "n2b"],
                "message": {
                    "id": "n1",
                    "author": {"role": "user", "name": None, "metadata": {}},
                    "create_time": 1735720201.5,
                    "content": {
                        "content_type": "multimodal_text",
                        "parts": [
                            {
                                "content_type": "image_asset_pointer",
                                "asset_pointer": "file-service://file-1",
                            },
                            "Which motor is this?",
                        ],
                    },
                    "metadata": {},
                },
            },
            "n2": {
                "id": "n2",
                "parent": "n1",
                "children": ["n3"],
                "message": {
                    "id": "n2",
                    "author": {"role": "assistant"},
                    "create_time": 1735720210.0,
                    "content": {"content_type": "text", "parts": ["An NK-90 stepper."]},
                    "metadata": {"model_slug": "gpt-4o"},
                },
            },
            "n2b": {
                "id": "n2b",
                "parent": "n1",
                "children": [],
                "message": {
                    "id": "n2b",
                    "author": {"role": "assistant"},
                    "create_time": 1735720205.0,
                    "content": {"content_type": "text", "parts": ["I cannot tell."]},
                },
            },
            "n3": {
                "id": "n3",
                "parent": "n2",
                "children": ["n4"],
                "message": {
                    "id": "n3",
                    "author": {"role": "tool", "name": "python"},
                    "create_time": 1735720211.0,
                    "content": {"content_type": "execution_output", "text": "200 steps"},
                },
            },
            "n4": {
                "id": "n4",
                "parent": "n3",
                "children": [],
                "message": {
                    "id": "n4",
                    "author": {"role": "assistant"},
                    "create_time": None,
                    "content": {"content_type": "code", "language": "python", "text": "steps = 200"},
                },
            },
        },
    }
]

CLAUDE: list[dict[str, Any]] = [
    {
        "uuid": "k1",
        "name": "Dome",
        "created_at": "2026-01-05T10:00:00.000000Z",
        "updated_at": "2026-01-05T10:05:00.000000Z",
        "account": {"uuid": "a1"},
        "chat_messages": [
            {
                "uuid": "m1",
                "text": "Please read the plan.",
                "content": [{"type": "text", "text": "Please read the plan."}],
                "sender": "human",
                "created_at": "2026-01-05T10:00:01.000000Z",
                "attachments": [
                    {
                        "file_name": "plan.txt",
                        "file_size": 30,
                        "file_type": "txt",
                        "extracted_content": "Grease the dome ring in March.",
                    }
                ],
                "files": [{"file_name": "dome.png"}],
            },
            {
                "uuid": "m2",
                "text": "",
                "content": [
                    {"type": "thinking", "thinking": "Hm."},
                    {"type": "tool_use", "name": "search", "input": {"q": "ring"}},
                    {"type": "tool_result", "name": "search", "content": [{"type": "text", "text": "1 hit"}]},
                    {"type": "text", "text": "March is noted."},
                ],
                "sender": "assistant",
                "created_at": "2026-01-05T10:00:09.000000Z",
                "attachments": [],
                "files": [],
            },
            {"uuid": "m3", "text": "", "content": [], "sender": "human", "attachments": [], "files": []},
        ],
    }
]

MEM0: dict[str, Any] = {
    "results": [
        {
            "id": "f4cbdb08",
            "memory": "Alex is vegetarian",
            "user_id": "alex",
            "categories": ["food"],
            "metadata": {"city": "Ulm"},
            "created_at": "2025-07-01T12:00:00-07:00",
            "updated_at": "2025-07-20T12:00:00-07:00",
        },
        {"id": "a2b8c3d4", "memory": "Alex is in Rome until Friday", "expiration_date": "2025-08-01"},
    ],
    "relations": [{"source": "alex", "relationship": "lives_in", "destination": "Ulm"}],
    "history": [
        {
            "id": "h1",
            "memory_id": "f4cbdb08",
            "old_memory": None,
            "new_memory": "Alex eats fish",
            "event": "ADD",
            "created_at": "2025-07-01T12:00:00-07:00",
        },
        {
            "id": "h2",
            "memory_id": "f4cbdb08",
            "old_memory": "Alex eats fish",
            "new_memory": "Alex is vegetarian",
            "event": "UPDATE",
            "created_at": "2025-07-01T12:00:00-07:00",
            "updated_at": "2025-07-20T12:00:00-07:00",
        },
    ],
}

LETTA: dict[str, Any] = {
    "agents": [
        {
            "id": "agent-0",
            "name": "Anna",
            "block_ids": ["block-0"],
            "messages": [
                {
                    "id": "message-0",
                    "role": "system",
                    "content": [{"type": "text", "text": "You are Anna."}],
                    "created_at": "2025-09-01T08:00:00Z",
                },
                {
                    "id": "message-1",
                    "role": "user",
                    "content": [
                        {
                            "type": "text",
                            "text": '{"type": "user_message", "message": "My dome leaks.", "time": "8:01"}',
                        }
                    ],
                    "created_at": "2025-09-01T08:01:00Z",
                },
                {
                    "id": "message-2",
                    "role": "assistant",
                    "content": [{"type": "text", "text": "He needs help."}],
                    "tool_calls": [
                        {
                            "id": "call-1",
                            "type": "function",
                            "function": {"name": "send_message", "arguments": '{"message": "Since when?"}'},
                        }
                    ],
                    "created_at": "2025-09-01T08:01:05Z",
                },
                {
                    "id": "message-3",
                    "role": "tool",
                    "content": [{"type": "text", "text": '{"status": "OK", "message": "None"}'}],
                    "tool_call_id": "call-1",
                    "created_at": "2025-09-01T08:01:06Z",
                },
            ],
        }
    ],
    "groups": [],
    "blocks": [{"id": "block-0", "label": "human", "value": "The user owns a dome.", "limit": 5000}],
    "files": [],
    "sources": [],
    "tools": [{"id": "tool-0", "name": "send_message"}, {"id": "tool-1", "name": "archival_memory_search"}],
    "mcp_servers": [],
    "metadata": {"revision_id": "47d2277e530d"},
    "created_at": "2025-09-02T08:00:00+00:00",
}

LETTA_EARLIER: dict[str, Any] = {
    "agent_type": "memgpt_agent",
    "name": "Anna",
    "core_memory": [{"label": "human", "value": "Owns a dome.", "created_at": "2025-04-01T08:00:00"}],
    "messages": [
        {"role": "user", "content": [{"type": "text", "text": "Hello."}], "created_at": "2025-04-01T08:00:00"}
    ],
    "tools": [],
    "version": "0.6.47",
}

GRAPHITI: dict[str, Any] = {
    "episodes": [
        {
            "uuid": "e2",
            "name": "chat 2",
            "group_id": "kendra",
            "source": "message",
            "source_description": "chat",
            "content": "Kendra: now I prefer Puma.",
            "created_at": "2025-03-03T09:00:00Z",
            "valid_at": "2025-02-02T09:00:00Z",
            "entity_edges": ["f2"],
        },
        {
            "uuid": "e1",
            "name": "chat 1",
            "group_id": "kendra",
            "source": "message",
            "source_description": "chat",
            "content": "Kendra: I love Adidas shoes.",
            "created_at": "2025-03-03T09:00:00Z",
            "valid_at": "2025-01-01T09:00:00Z",
            "entity_edges": ["f1"],
        },
    ],
    "nodes": [
        {
            "uuid": "n1",
            "name": "Kendra",
            "group_id": "kendra",
            "labels": ["Entity", "Person"],
            "summary": "Runs every day.",
            "name_embedding": [0.1, 0.2],
            "created_at": "2025-03-03T09:00:00Z",
        },
        {"uuid": "n2", "name": "Adidas", "group_id": "kendra", "labels": ["Entity"], "summary": ""},
    ],
    "edges": [
        {
            "uuid": "f1",
            "group_id": "kendra",
            "source_node_uuid": "n1",
            "target_node_uuid": "n2",
            "name": "LOVES",
            "fact": "Kendra loves Adidas shoes",
            "episodes": ["e1"],
            "created_at": "2025-03-03T09:00:00Z",
            "valid_at": "2025-01-01T09:00:00Z",
            "invalid_at": "2025-02-02T09:00:00Z",
            "expired_at": "2025-03-03T09:00:00Z",
        },
        {
            "uuid": "f2",
            "group_id": "kendra",
            "source_node_uuid": "n1",
            "target_node_uuid": "n3",
            "name": "PREFERS",
            "fact": "Kendra prefers Puma shoes",
            "created_at": "2025-03-03T09:00:00Z",
            "valid_at": "2025-02-02T09:00:00Z",
            "invalid_at": None,
        },
    ],
    "episodic_edges": [{"uuid": "x1", "source_node_uuid": "e1", "target_node_uuid": "n1"}],
}

LANGGRAPH: list[dict[str, Any]] = [
    {
        "namespace": ["memories", "user-1"],
        "key": "k1",
        "value": {"text": "Likes short answers", "rating": 5},
        "created_at": "2025-05-01T10:00:00+00:00",
        "updated_at": "2025-05-02T10:00:00+00:00",
    },
    {
        "namespace": ["memories", "user-1"],
        "key": "k2",
        "value": {"kind": "Memory", "content": {"content": "Works on domes"}},
        "created_at": "2025-05-01T11:00:00+00:00",
        "updated_at": "2025-05-01T11:00:00+00:00",
    },
    {"prefix": "profile.user-1", "key": "k3", "value": {"name": "Ilse", "age": 40}, "created_at": None},
]

OPENAI: dict[str, Any] = {
    "id": "thread-1",
    "created_at": 1735720200,
    "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "name": "Ilse", "content": [{"type": "text", "text": "How far is the moon?"}]},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "c", "type": "function", "function": {"name": "look_up", "arguments": '{"q":"moon"}'}}
            ],
        },
        {"role": "tool", "tool_call_id": "c", "content": "384400 km"},
        {"role": "assistant", "content": "384,400 km."},
    ],
}

ANTHROPIC: list[dict[str, Any]] = [
    {
        "type": "user",
        "uuid": "u1",
        "sessionId": "s1",
        "timestamp": "2026-02-01T09:00:00.000Z",
        "message": {"role": "user", "content": "Rename the dome module."},
    },
    {
        "type": "assistant",
        "uuid": "u2",
        "sessionId": "s1",
        "timestamp": "2026-02-01T09:00:05.000Z",
        "message": {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "I rename it."},
                {"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "mv a b"}},
            ],
        },
    },
    {"type": "summary", "summary": "Renaming", "leafUuid": "u2"},
]

SAMPLES: dict[str, Any] = {
    "chatgpt": CHATGPT,
    "claude": CLAUDE,
    "mem0": MEM0,
    "letta": LETTA,
    "graphiti": GRAPHITI,
    "langgraph": LANGGRAPH,
    "openai": OPENAI,
    "anthropic": ANTHROPIC,
}
"""One document of each format, by the format's name."""

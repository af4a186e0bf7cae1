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
                            {"content_type": "image_asset_pointer", "asset_pointer": "file-service://file-1"},
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
}

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

MCP: list[dict[str, Any]] = [
    {"type": "entity", "name": "Alex", "entityType": "person", "observations": ["Speaks Welsh", "Keeps bees"]},
    {"type": "entity", "name": "Ulm", "entityType": "city", "observations": []},
    {"type": "relation", "from": "Alex", "to": "Ulm", "relationType": "lives_in"},
]

SAMPLES: dict[str, Any] = {"chatgpt": CHATGPT, "claude": CLAUDE, "mcp": MCP, "mem0": MEM0, "messages": OPENAI}
"""One document of each format, by the format's name."""

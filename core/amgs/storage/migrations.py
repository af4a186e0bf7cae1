"""The schema as numbered steps, run from an empty database or from any older version, in both databases.

It holds the seven tables of AMGS §5.2 with their named columns, and the workstation's own: `meta`, the change counter,
the journal and more. Steps that were released never change. There are no foreign keys: DuckDB turns an update of a
referenced row into delete and insert and then refuses it, so `verify` looks for dangling references.
"""

from __future__ import annotations

_FIRST = """
CREATE TABLE meta (key VARCHAR PRIMARY KEY, value VARCHAR NOT NULL);
INSERT INTO meta VALUES ('store_id', uuid()::VARCHAR);

-- value: rises with every writing transaction. structure: its value at the last change of blocks, edges or
-- frames that derived indexes must follow.
CREATE TABLE change_counter (value BIGINT NOT NULL, structure BIGINT NOT NULL);
INSERT INTO change_counter VALUES (0, 0);

-- number: running number in order of arrival, what the indexes count by. revision: the change counter at
-- which the row last changed in a way that an index must follow: not by reinforcement.
CREATE TABLE memory_blocks (
    id VARCHAR PRIMARY KEY,
    content VARCHAR NOT NULL,
    created_at TIMESTAMP NOT NULL,
    last_reinforced_at TIMESTAMP NOT NULL,
    category VARCHAR NOT NULL,
    confidence DOUBLE NOT NULL,
    decay_lambda DOUBLE NOT NULL,
    embedding FLOAT[],
    status VARCHAR NOT NULL,
    is_self_component BOOLEAN NOT NULL,
    meta JSON NOT NULL,
    reinforcements BIGINT NOT NULL DEFAULT 0,
    number BIGINT NOT NULL,
    revision BIGINT NOT NULL
);

CREATE TABLE edges (
    source_id VARCHAR NOT NULL,
    target_id VARCHAR NOT NULL,
    relation_type VARCHAR NOT NULL,
    weight DOUBLE NOT NULL,
    confidence DOUBLE NOT NULL,
    created_at TIMESTAMP NOT NULL,
    last_reinforced_at TIMESTAMP NOT NULL,
    decay_lambda DOUBLE NOT NULL
);

CREATE TABLE frame_definitions (
    name VARCHAR PRIMARY KEY,
    frame_type VARCHAR NOT NULL,
    purpose VARCHAR NOT NULL,
    selection_rules JSON NOT NULL,
    scoring_weights JSON NOT NULL,
    assembly_strategy VARCHAR NOT NULL,
    budget BIGINT NOT NULL,
    refresh_hours DOUBLE NOT NULL,
    merge_strategy VARCHAR NOT NULL,
    budget_strategy VARCHAR NOT NULL,
    semantic_threshold DOUBLE,
    rescore_weights JSON
);

CREATE TABLE frame_compositions (
    parent_frame VARCHAR NOT NULL,
    child_frame VARCHAR NOT NULL,
    merge_strategy VARCHAR NOT NULL,
    budget_allocation DOUBLE NOT NULL,
    position INTEGER NOT NULL
);

CREATE TABLE scores_cache (
    block_id VARCHAR NOT NULL,
    frame_name VARCHAR NOT NULL,
    score DOUBLE NOT NULL,
    computed_at TIMESTAMP NOT NULL
);

-- timestamp: when the forecast was made. assembly_id: the frame it was made for. serial: order of arrival.
CREATE TABLE calibration_log (
    prediction_id VARCHAR NOT NULL,
    predicted DOUBLE NOT NULL,
    actual DOUBLE,
    brier_score DOUBLE,
    timestamp TIMESTAMP NOT NULL,
    decided_at TIMESTAMP,
    block_id VARCHAR NOT NULL,
    frame_name VARCHAR NOT NULL,
    assembly_id VARCHAR NOT NULL,
    category VARCHAR NOT NULL,
    serial BIGINT NOT NULL
);

CREATE TABLE reinforcement_log (
    block_id VARCHAR NOT NULL,
    event_type VARCHAR NOT NULL,
    timestamp TIMESTAMP NOT NULL,
    source VARCHAR NOT NULL
);

CREATE TABLE operations (
    id BIGINT PRIMARY KEY,
    kind VARCHAR NOT NULL,
    timestamp TIMESTAMP NOT NULL,
    summary VARCHAR NOT NULL,
    blocks BIGINT NOT NULL,
    edges BIGINT NOT NULL,
    undone BOOLEAN NOT NULL
);

-- What an operation found and left: before is NULL for what it made, after is NULL for what it took away.
-- key: a block's id, or "source target relation" of an edge. embedding: the block's embedding before.
CREATE TABLE operation_rows (
    operation_id BIGINT NOT NULL,
    target VARCHAR NOT NULL,
    key VARCHAR NOT NULL,
    before JSON,
    after JSON,
    embedding FLOAT[]
);
"""

_LIFECYCLE = """
-- What may supersede or contradict what, waiting for the operator. found_by and operation_id name journal entries:
-- the finding stands while found_by does, the verdict while operation_id does, so that undo needs no third place.
CREATE TABLE reviews (
    id BIGINT PRIMARY KEY,
    kind VARCHAR NOT NULL,
    older_id VARCHAR NOT NULL,
    newer_id VARCHAR NOT NULL,
    because VARCHAR NOT NULL,
    confidence DOUBLE NOT NULL,
    found_at TIMESTAMP NOT NULL,
    found_by BIGINT NOT NULL,
    verdict VARCHAR,
    operation_id BIGINT
);

-- Each edge that an assembly walked, once an assembly. source: the frame's name and id.
CREATE TABLE edge_walks (
    source_id VARCHAR NOT NULL,
    target_id VARCHAR NOT NULL,
    relation_type VARCHAR NOT NULL,
    timestamp TIMESTAMP NOT NULL,
    source VARCHAR NOT NULL
);
"""

_LEARNING = """
-- Definitions of a frame and of its children as they were, by the hash of their JSON.
CREATE TABLE frame_versions (hash VARCHAR PRIMARY KEY, definitions JSON NOT NULL);

-- Every logged assembly. weights: those asked for, NULL for the definition's. last_number, last_operation and
-- undone: how far the store was, so that it can be put back. walked: keys of the edges that were walked.
CREATE TABLE assemblies (
    serial BIGINT PRIMARY KEY,
    id VARCHAR NOT NULL,
    frame_name VARCHAR NOT NULL,
    query VARCHAR NOT NULL,
    timestamp TIMESTAMP NOT NULL,
    budget BIGINT NOT NULL,
    weights JSON,
    tokens BIGINT NOT NULL,
    entropy_bits DOUBLE NOT NULL,
    selected VARCHAR[] NOT NULL,
    walked VARCHAR[] NOT NULL,
    definition VARCHAR NOT NULL,
    setup VARCHAR NOT NULL,
    last_number BIGINT NOT NULL,
    last_operation BIGINT NOT NULL,
    undone BIGINT NOT NULL
);

-- The latest assembly of a frame for a request. identity: centrality of the blocks of self at that time.
CREATE TABLE frame_cache (
    frame_name VARCHAR NOT NULL,
    request VARCHAR NOT NULL,
    assembly JSON NOT NULL,
    computed_at TIMESTAMP NOT NULL,
    structure BIGINT NOT NULL,
    definition VARCHAR NOT NULL,
    identity JSON NOT NULL
);

-- The edges by which the block of a forecast was reached. counted: the operation that learned from it.
CREATE TABLE edge_forecasts (
    prediction_id VARCHAR NOT NULL,
    source_id VARCHAR NOT NULL,
    target_id VARCHAR NOT NULL,
    relation_type VARCHAR NOT NULL,
    counted BIGINT
);

-- What an operation learned of forecasts: the latest one whose operation stands is the curve in use.
CREATE TABLE forecast_curves (operation_id BIGINT NOT NULL, curve JSON NOT NULL);

-- The composite score that a forecast was made from; NULL where the forecast is the score itself.
ALTER TABLE calibration_log ADD COLUMN score DOUBLE;

-- What the monitors saw. detail: what the next look is compared with.
CREATE TABLE monitor_log (
    timestamp TIMESTAMP NOT NULL,
    kind VARCHAR NOT NULL,
    subject VARCHAR NOT NULL,
    value DOUBLE,
    detail JSON NOT NULL
);
"""

_KEPT_POOLS = """
-- The children whose candidates an assembly took over: by name, the serial of the assembly that scored them.
ALTER TABLE assemblies ADD COLUMN kept JSON;
"""

_REDO = """
-- What an undo found (found) and what it left, for a redo, which is gone: nothing is written here any more.
-- number: the running number, which a block that comes back gets again.
CREATE TABLE undone_blocks (
    operation_id BIGINT NOT NULL,
    found BOOLEAN NOT NULL,
    id VARCHAR NOT NULL,
    content VARCHAR NOT NULL,
    created_at TIMESTAMP NOT NULL,
    last_reinforced_at TIMESTAMP NOT NULL,
    category VARCHAR NOT NULL,
    confidence DOUBLE NOT NULL,
    decay_lambda DOUBLE NOT NULL,
    embedding FLOAT[],
    status VARCHAR NOT NULL,
    is_self_component BOOLEAN NOT NULL,
    meta JSON NOT NULL,
    number BIGINT NOT NULL
);

-- Also the edges that went because their block did, though the operation did not make them.
CREATE TABLE undone_edges (
    operation_id BIGINT NOT NULL,
    found BOOLEAN NOT NULL,
    source_id VARCHAR NOT NULL,
    target_id VARCHAR NOT NULL,
    relation_type VARCHAR NOT NULL,
    weight DOUBLE NOT NULL,
    confidence DOUBLE NOT NULL,
    created_at TIMESTAMP NOT NULL,
    last_reinforced_at TIMESTAMP NOT NULL,
    decay_lambda DOUBLE NOT NULL
);
"""

ADOPT_SOURCES = """
INSERT INTO source_blocks
    SELECT regexp_replace(place, '(#[0-9]+){1,2}$', ''),
        row_number() OVER (PARTITION BY regexp_replace(place, '(#[0-9]+){1,2}$', '') ORDER BY
            coalesce(try_cast(regexp_extract(place, '#([0-9]+)(#[0-9]+)?$', 1) AS BIGINT), 0), number),
        place, id, coalesce(valid_from, created_at), NULL, NULL, NULL
    FROM (SELECT id, number, created_at, valid_from, unnest(coalesce(CAST(meta->'$.sources' AS VARCHAR[]),
        CASE WHEN meta->>'$.source' IS NULL THEN [] ELSE [meta->>'$.source'] END)) AS place FROM memory_blocks);
INSERT INTO sources SELECT DISTINCT source, '', source FROM source_blocks;
UPDATE sources SET root = f.root, path = substr(name, f.size + 1) FROM (
    SELECT name AS known, arg_max(folder, length(prefix)) AS root, max(length(prefix)) AS size FROM sources, (
        SELECT unnest(json_keys(value)) AS folder, unnest(json_extract_string(value, '$.*')) AS prefix
        FROM meta WHERE key = 'kept:source folders' AND json_valid(value)) AS folders
    WHERE starts_with(name, prefix) AND (prefix <> '' OR regexp_matches(name, '\\.[A-Za-z0-9]+$')) GROUP BY name
) AS f WHERE sources.name = f.known;
UPDATE sources SET root = f.root, path = parse_filename(f.whole) FROM (
    SELECT unnest(json_keys(value)) AS whole, unnest(json_extract_string(value, '$.*')) AS known,
        parse_dirpath(whole) AS root FROM meta WHERE key = 'kept:source files' AND json_valid(value)
) AS f WHERE sources.name = f.known;
DELETE FROM meta WHERE key IN ('kept:source folders', 'kept:source files');
"""
"""Fills the tables of sources from the metadata of blocks written before these tables existed."""

_SOURCES = (
    """
-- From when to when what a block says held; NULL: from its creation, and to this day.
ALTER TABLE memory_blocks ADD COLUMN valid_from TIMESTAMP;
ALTER TABLE memory_blocks ADD COLUMN valid_to TIMESTAMP;
ALTER TABLE undone_blocks ADD COLUMN valid_from TIMESTAMP;
ALTER TABLE undone_blocks ADD COLUMN valid_to TIMESTAMP;
UPDATE memory_blocks SET valid_to = try_cast(meta->>'$.superseded_at' AS TIMESTAMP)
    WHERE contains(meta::VARCHAR, '"superseded_by"');

-- Where texts came from. root: the folder, "" for a text without a file. path: the file below it.
CREATE TABLE sources (name VARCHAR PRIMARY KEY, root VARCHAR NOT NULL, path VARCHAR NOT NULL);

-- Which source held which block, at which place of it, from when to when. locator: the block's name in its source,
-- `file` or `file#part`. added_by and ended_by name journal entries: the row counts while the one stands, and its end
-- while the other does, so that undo needs no third place; NULL: not journalled.
CREATE TABLE source_blocks (
    source VARCHAR NOT NULL,
    position BIGINT NOT NULL,
    locator VARCHAR NOT NULL,
    block_id VARCHAR NOT NULL,
    since TIMESTAMP NOT NULL,
    until TIMESTAMP,
    added_by BIGINT,
    ended_by BIGINT
);
"""
    + ADOPT_SOURCES
)

_WATERFALLS = """
-- What became of every candidate of the latest assemblies. serial: of the assembly. candidates: JSON, which nothing
-- in the database reads.
CREATE TABLE waterfalls (serial BIGINT NOT NULL, candidates VARCHAR NOT NULL);
"""

_SEARCHES = """
-- The latest searches. pool: how many candidates there were. candidates: the best of them as JSON.
CREATE TABLE searches (
    serial BIGINT NOT NULL,
    made_at TIMESTAMP NOT NULL,
    query VARCHAR NOT NULL,
    places BIGINT NOT NULL,
    pool BIGINT NOT NULL,
    candidates VARCHAR NOT NULL
);
"""

_MESSAGES = """
-- Conversations, exactly as they were said. number: from 1. calls: JSON, [[id, name, arguments], …]. answers: the id of
-- the call whose result it is, "" for any other. blocks: JSON, the ids of its pieces. added_by and ended_by: as in
-- source_blocks.
CREATE TABLE messages (
    conversation VARCHAR NOT NULL,
    number BIGINT NOT NULL,
    role VARCHAR NOT NULL,
    content VARCHAR NOT NULL,
    said_at TIMESTAMP,
    speaker VARCHAR NOT NULL,
    calls JSON NOT NULL,
    answers VARCHAR NOT NULL,
    pinned BOOLEAN NOT NULL,
    blocks JSON NOT NULL,
    added_by BIGINT,
    ended_by BIGINT
);
"""

_EXCHANGES = """
-- The latest requests of agents through the gateway. last: the last message of the conversation that the request, or
-- its answer, holds; 0 for none. record: the rest as JSON, without the texts of the conversation; nothing in the
-- database reads it.
CREATE TABLE exchanges (
    number BIGINT NOT NULL,
    made_at TIMESTAMP NOT NULL,
    conversation VARCHAR NOT NULL,
    last BIGINT NOT NULL,
    record VARCHAR NOT NULL
);
"""

_STANDING_MESSAGES = """
-- Messages that every context keeps whole because somebody said so. added_by and ended_by: as in source_blocks.
CREATE TABLE standing_messages (
    conversation VARCHAR NOT NULL,
    number BIGINT NOT NULL,
    added_by BIGINT,
    ended_by BIGINT
);
"""

# The tables of packs are created and stored whether the wing that reads them is there or not (`amgs.wing_registry`): a
# store that has packs opens, is exported and is erased from without it, and they are still there when it comes back.
_PACKS = """
-- Versions of packs. id: SHA-256 of title, keywords and members. members: JSON, [[block, role], …] in order. keywords:
-- JSON. added_by: the operation that kept it; retired_by: the one that retired it.
CREATE TABLE packs (
    name VARCHAR NOT NULL,
    version BIGINT NOT NULL,
    id VARCHAR NOT NULL,
    title VARCHAR NOT NULL,
    members JSON NOT NULL,
    keywords JSON NOT NULL,
    tokens BIGINT NOT NULL,
    created_at TIMESTAMP NOT NULL,
    query VARCHAR NOT NULL,
    frame VARCHAR NOT NULL,
    added_by BIGINT,
    retired_by BIGINT
);

-- What was read of packs. blocks: JSON, the ids of the members that were. outcome: 1 useful, 0 useless.
CREATE TABLE pack_uses (
    number BIGINT NOT NULL,
    name VARCHAR NOT NULL,
    version BIGINT NOT NULL,
    pack VARCHAR NOT NULL,
    used_at TIMESTAMP NOT NULL,
    query VARCHAR NOT NULL,
    session VARCHAR NOT NULL,
    tokens BIGINT NOT NULL,
    blocks JSON NOT NULL,
    outcome DOUBLE
);
"""

_MENTIONS = """
-- What words of messages mean. said_by: the journal entry that added the message, since a number is given again after
-- an undo. span_start, span_end: characters of its content. means: JSON, a list of names. antecedent: JSON, [number,
-- span_start, span_end] of what told it. added_by: the row counts while that journal entry stands and the message does.
CREATE TABLE mentions (
    conversation VARCHAR NOT NULL,
    number BIGINT NOT NULL,
    said_by BIGINT,
    span_start BIGINT NOT NULL,
    span_end BIGINT NOT NULL,
    kind VARCHAR NOT NULL,
    type VARCHAR NOT NULL,
    means JSON NOT NULL,
    antecedent JSON,
    confidence DOUBLE NOT NULL,
    because VARCHAR NOT NULL,
    detector VARCHAR NOT NULL,
    added_by BIGINT
);

-- The journal entry that had the parser read a message; NULL, or undone: it waits for that.
ALTER TABLE messages ADD COLUMN resolved_by BIGINT;
"""

_PACK_PROPOSALS = """
-- What could be done with packs. place: in its list, from 1 up; 0 for a candidate that was looked at and not queued.
-- packs, come, gone: JSON, names with versions, ids of blocks. features: JSON. found_by: the row counts while that
-- operation stands; verdict: while decided_by does.
CREATE TABLE pack_proposals (
    number BIGINT NOT NULL,
    found_by BIGINT NOT NULL,
    found_at TIMESTAMP NOT NULL,
    policy VARCHAR NOT NULL,
    explore DOUBLE NOT NULL,
    place BIGINT NOT NULL,
    propensity DOUBLE NOT NULL,
    action VARCHAR NOT NULL,
    packs JSON NOT NULL,
    name VARCHAR NOT NULL,
    come JSON NOT NULL,
    gone JSON NOT NULL,
    because VARCHAR NOT NULL,
    features JSON NOT NULL,
    sure DOUBLE NOT NULL,
    likely DOUBLE,
    bound DOUBLE NOT NULL,
    verdict VARCHAR,
    decided_by BIGINT
);
"""

_PACK_CREDITS = """
-- How much less likely an answer was without a pack that was read for it. number: of the reading in pack_uses. credit:
-- nats a token. model: what read it. credited_by: the row counts while that operation stands.
CREATE TABLE pack_credits (
    number BIGINT NOT NULL,
    credit DOUBLE NOT NULL,
    model VARCHAR NOT NULL,
    credited_by BIGINT NOT NULL
);
"""

_TASKS = """
-- What workers are asked to do. parameters: JSON. wanted_at: the change counter when it was asked for. state: waiting,
-- running, done or failed. not_before: of a running task the end of its lease, of a waiting one when it may be tried
-- again. attempts: how often it was claimed. result: what came of it, or why the last attempt failed.
CREATE TABLE tasks (
    number BIGINT PRIMARY KEY,
    kind VARCHAR NOT NULL,
    parameters JSON NOT NULL,
    wanted_at BIGINT NOT NULL,
    state VARCHAR NOT NULL,
    not_before TIMESTAMP,
    attempts BIGINT NOT NULL,
    worker VARCHAR NOT NULL,
    result VARCHAR NOT NULL,
    changed_at TIMESTAMP NOT NULL
);

-- Vectors of raw blocks, computed before their consolidation. text: SHA-256 of what was embedded. space: the embedder.
CREATE TABLE prepared_vectors (
    block_id VARCHAR PRIMARY KEY,
    text VARCHAR NOT NULL,
    space VARCHAR NOT NULL,
    embedding FLOAT[] NOT NULL
);
"""

_OUTBOX = """
-- What the latest changes touched, where several programs write (PostgreSQL): each follows the others by it. revision:
-- the change counter after the change. told: JSON, who did what. edges, clocks: JSON, the keys of edges and the ids of
-- blocks that were written; NULL where any may have been.
CREATE TABLE outbox (
    revision BIGINT NOT NULL PRIMARY KEY,
    told VARCHAR NOT NULL,
    edges VARCHAR,
    clocks VARCHAR
);
"""

_DELETED_BLOCKS = """
-- The ledger of hard pruning of a store that lies in no file: a block as it was deleted. line: JSON.
CREATE TABLE deleted_blocks (deleted_at TIMESTAMP NOT NULL, block_id VARCHAR NOT NULL, line JSON NOT NULL);
"""

_CENTRALITY = """
-- How central each block is in a large graph, as it was worked out last: in [0, 1], without those of 0.
CREATE TABLE centrality (
    block_id VARCHAR NOT NULL,
    score DOUBLE NOT NULL
);

-- What the scores in centrality are of, one row. structure: the structure counter of the graph. blocks, edges: how many
-- live blocks and edges there were. worked_out_at: the instant whose decay the edges had.
CREATE TABLE centrality_of (
    structure BIGINT NOT NULL,
    blocks BIGINT NOT NULL,
    edges BIGINT NOT NULL,
    worked_out_at TIMESTAMP NOT NULL
);
"""

_PROMPTS = """
-- System prompts and definitions of tools that agents sent through the gateway, once each. id: SHA-256 of content.
CREATE TABLE prompts (id VARCHAR NOT NULL, content VARCHAR NOT NULL);

-- Which request had which. position: their order in it, from 0. after: the number of the message of its conversation
-- that it stands behind, 0 at the beginning.
CREATE TABLE exchange_prompts (
    exchange BIGINT NOT NULL,
    position BIGINT NOT NULL,
    kind VARCHAR NOT NULL,
    after BIGINT NOT NULL,
    prompt VARCHAR NOT NULL
);

-- How many prompts were kept of a request, NULL where they were not; and its tokens as the model's server counted them,
-- NULL where it did not say.
ALTER TABLE exchanges ADD COLUMN prompt_count BIGINT;
ALTER TABLE exchanges ADD COLUMN fresh BIGINT;
ALTER TABLE exchanges ADD COLUMN written BIGINT;
ALTER TABLE exchanges ADD COLUMN cached BIGINT;
ALTER TABLE exchanges ADD COLUMN output BIGINT;
"""

_BLOCK_USES = """
-- Blocks that a model had in front of it when it answered, the latest. prediction_id: the forecast that this is the
-- outcome of, '' for none. used_by: by what the answer shows that it used the block: words, citation; '' where it does
-- not. chance: the share of other blocks that explain as much of the answer.
CREATE TABLE block_uses (
    number BIGINT NOT NULL,
    answered_at TIMESTAMP NOT NULL,
    block_id VARCHAR NOT NULL,
    prediction_id VARCHAR NOT NULL,
    used_by VARCHAR NOT NULL,
    chance DOUBLE NOT NULL
);
"""

NAME_TEXTS = """
UPDATE source_blocks SET source = coalesce(nullif(regexp_replace(locator, '(#[0-9]+){1,2}$', ''), ''), locator)
    WHERE source = '';
INSERT INTO sources SELECT DISTINCT source, '', source FROM source_blocks
    WHERE source NOT IN (SELECT name FROM sources) AND '' IN (SELECT name FROM sources);
DELETE FROM sources WHERE name = '';
"""
"""Gives long texts without a named source a name each, from their locators; before, they all shared the source ''."""

MIGRATIONS: tuple[str, ...] = (
    _FIRST,
    _LIFECYCLE,
    _LEARNING,
    _KEPT_POOLS,
    _REDO,
    _SOURCES,
    _WATERFALLS,
    _SEARCHES,
    _MESSAGES,
    _EXCHANGES,
    _STANDING_MESSAGES,
    _PACKS,
    _MENTIONS,
    _PACK_PROPOSALS,
    _PACK_CREDITS,
    _TASKS,
    _OUTBOX,
    _DELETED_BLOCKS,
    _CENTRALITY,
    _PROMPTS,
    _BLOCK_USES,
    NAME_TEXTS,
)
"""Step i brings a store from schema i to i + 1."""

LATEST = len(MIGRATIONS)

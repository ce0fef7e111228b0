"""Filling an installation: many keys, accounts, ledger rows or plugins, each in bulk."""

from pathlib import Path

from gateway_core.storage.stores import Stores
from gateway_core.storage.stores.connections import GROUP as CONNECTIONS
from gateway_core.storage.stores.key_usage import rebuild
from gateway_core.storage.stores.keys import GROUP as KEYS
from gateway_core.storage.stores.usage import GROUP as USAGE
from gateway_core.storage.stores.versions import raise_version

AT_ONCE = 250_000
"""Ledger rows in one transaction."""
DAYS = 90
"""Over which the ledger's rows are spread."""
_NUMBERS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :count)"
_KEYS = f"""
    {_NUMBERS}
    INSERT INTO api_keys
    SELECT 'bench-key-' || i, 'bench ' || i, machine_id, lower(hex(randomblob(32))), secret,
        is_active, expires_at, allowed_combos, policy, daily_limit_tokens, created_at, updated_at,
        version
    FROM n JOIN (SELECT * FROM api_keys ORDER BY created_at LIMIT 1)
"""
_ACCOUNTS = f"""
    {_NUMBERS}
    INSERT INTO connections
    SELECT 'bench-account-' || i, provider, 'none', 'bench ' || i, email, priority + i, is_active,
        data, NULL, created_at, updated_at
    FROM n JOIN (
        SELECT connections.* FROM connections JOIN nodes ON nodes.id = connections.provider
        WHERE nodes.prefix = 'plain'
    )
"""
_AGO = ":span * (:first + i - :whole)"
"""Seconds, less than none, between now and a row."""
_SQLITE = (
    f"strftime('%Y-%m-%dT%H:%M:%fZ', 'now', ({_AGO}) || ' seconds')",
    f"strftime('%Y-%m-%d', 'now', ({_AGO}) || ' seconds')",
)
_THEN = f"now() AT TIME ZONE 'UTC' + make_interval(secs => {_AGO})"
_POSTGRES = (
    f"""to_char({_THEN}, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')""",
    f"to_char({_THEN}, 'YYYY-MM-DD')",
)
_ROWS = f"""
    {_NUMBERS}
    INSERT INTO usage (
        id, request_id, started_at, finished_at, provider, model_asked, model_sent, connection_id,
        api_key_id, endpoint, client_format, upstream_format, stream, status, http_status,
        input_tokens, output_tokens, cached_tokens, cache_write_tokens, reasoning_tokens,
        estimated, cost, ttft_ms, duration_ms, attempts, dropped, day
    )
    SELECT :first + i, 'req-bench-' || (:first + i), <moment>, <moment>,
        'provider-' || (i % 20), 'plain/bench', 'bench-' || (i % 50), 'account-' || (i % 100),
        CASE WHEN i % 2 = 0 THEN low ELSE high END,
        '/v1/chat/completions', 'openai', 'openai', 0, 'ok', 200, 200, 60, 0, 0, 0, 0, 100, 20, 30,
        1, '[]', <day>
    FROM n CROSS JOIN (SELECT min(id) AS low, max(id) AS high FROM api_keys) AS keys
"""
_PLUGIN = '''"""A vendor that is never called."""

from gateway_core import Model, ProviderSpec, hookimpl

SPEC = ProviderSpec(
    id="{name}",
    name="{name}",
    base_url="https://{name}.invalid/v1",
    models=tuple(Model(f"model-{{number}}") for number in range(10)),
)


@hookimpl
def register_providers():
    return [SPEC]
'''


async def add_keys(stores: Stores, count: int) -> None:
    """Copies of the first key, each with a digest of its own."""
    async with stores.database.transaction() as transaction:
        await transaction.execute(_KEYS, count=count)
        await raise_version(transaction, KEYS)


async def add_accounts(stores: Stores, count: int) -> None:
    """Accounts without a secret, beside the one that the plain answers come from."""
    async with stores.database.transaction() as transaction:
        await transaction.execute(_ACCOUNTS, count=count)
        await raise_version(transaction, CONNECTIONS)


async def add_rows(stores: Stores, count: int) -> None:
    """Ledger rows up to now, of the two keys in turns, and their sums."""
    span = DAYS * 86_400 / max(count, 1)
    moment, day = _POSTGRES if stores.database.engine == "postgres" else _SQLITE
    sql = _ROWS.replace("<moment>", moment).replace("<day>", day)
    for first in range(0, count, AT_ONCE):
        part = min(AT_ONCE, count - first)
        async with stores.database.transaction() as transaction:
            await transaction.execute(sql, count=part, first=first, whole=count, span=span)
            await raise_version(transaction, USAGE, by=part)
    async with stores.database.transaction() as transaction:
        await rebuild(transaction)


def add_plugins(folder: Path, count: int) -> dict[str, str]:
    """Write trivial plugins and return the variables of a process that finds them."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(count):
        _plugin(folder, f"bench-vendor-{number:03}")
    return {"PYTHONPATH": str(folder)}


def _plugin(folder: Path, name: str) -> None:
    module = name.replace("-", "_")
    (folder / f"{module}.py").write_text(_PLUGIN.format(name=name))
    facts = folder / f"{module}-1.0.dist-info"
    facts.mkdir(exist_ok=True)
    (facts / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (facts / "entry_points.txt").write_text(f"[model_gateway]\n{name} = {module}\n")

"""Taking single providers and combos from one gateway to another."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from gateway_core.contracts.errors import BadRequest, Conflict
from gateway_core.pipeline.context import Collaborators
from gateway_core.storage.database import Queries, Statements

from .bodies import (
    Action,
    Bundle,
    Catalog,
    Choice,
    PlannedAccount,
    PlannedRow,
    Selection,
    SelectionPlan,
)
from .export import (
    SELECTION,
    Export,
    TableRows,
    head_of,
    portable_rows,
    portable_tables,
    secrets_of,
)
from .import_file import Loaded, read_tables
from .importing import Importing
from .sealed_columns import Row

TABLES = ("nodes", "connections", "combos")
"""In the order in which one needs the other."""
_STATE = {"testStatus": "reauth_required"}


class Step(Struct, frozen=True):
    """What is done with a row of a bundle."""

    table: str
    row: Row
    action: Action
    """``create``, ``replace``, or ``keep`` for an account that a bundle without secrets has."""


async def catalog(core: Collaborators) -> Catalog:
    """What can be chosen."""
    rows = await _stored(core.stores.database)
    accounts, names = rows["connections"], _names(core)
    return Catalog(
        providers=tuple(
            Choice(
                id=provider,
                name=names.get(provider, provider),
                count=sum(row["provider"] == provider for row in accounts),
            )
            for provider in sorted(_providers(rows))
        ),
        combos=tuple(
            Choice(id=row["id"], name=row["name"], count=len(msgspec.json.decode(row["models"])))
            for row in rows["combos"]
        ),
    )


async def plan_export(core: Collaborators, selection: Selection) -> SelectionPlan:
    """What a bundle would hold."""
    rows = _chosen(await _stored(core.stores.database), selection)
    return _plan([Step(table, row, "export") for table in TABLES for row in rows[table]])


async def export_bundle(core: Collaborators, selection: Selection, with_secrets: bool) -> Export:
    tables = await portable_tables()
    async with core.stores.database.reading() as view:
        rows = _chosen(await _stored(view), selection)
    secrets, head = secrets_of(core), head_of(core, SELECTION, with_secrets)
    return Export(
        **msgspec.structs.asdict(head),
        tables={
            name: TableRows(
                tuple(tables[name].columns),
                tuple(portable_rows(tables[name], rows[name], secrets, with_secrets)),
            )
            for name in TABLES
        },
    )


async def plan_apply(core: Collaborators, bundle: Bundle, selection: Selection) -> SelectionPlan:
    """What applying a bundle would do. Raises BadRequest, Conflict."""
    file = await _read(bundle)
    return _plan(await _steps(core.stores.database, file, bundle, selection))


async def apply_bundle(core: Collaborators, bundle: Bundle, selection: Selection) -> SelectionPlan:
    """Add what a bundle has, or put it in the place of what has the same id: all, or nothing.

    A stored credential never goes to another address: accounts that are here keep theirs and stay
    as they are where the bundle has no secrets. Raises BadRequest, Conflict.
    """
    file = await _read(bundle)
    async with core.stores.database.transaction() as transaction:
        steps = await _steps(transaction, file, bundle, selection)
        importing = Importing(core, transaction, with_secrets=bundle.secrets_included)
        for table in TABLES:
            written = [each for each in steps if each.table == table and each.action != "keep"]
            await _write(importing, transaction, file, table, written)
        await importing.finish()
    return _plan(steps)


async def _write(
    importing: Importing,
    transaction: Statements,
    file: Mapping[str, Loaded],
    table: str,
    steps: Sequence[Step],
) -> None:
    if not steps:
        return
    loaded = file[table]
    rows = [_without_credential(each.row) if table == "connections" else each.row for each in steps]
    sealed = await importing.sealed(Loaded(loaded.table, loaded.columns, rows))
    await transaction.execute_many(
        f"DELETE FROM {table} WHERE id = :id", [{"id": row["id"]} for row in rows]
    )
    try:
        await importing.insert(loaded.table, loaded.columns, sealed)
    except BadRequest as error:
        raise Conflict(f"{error.message}: one of another id is here already") from None


def _without_credential(row: Row) -> Row:
    """An account that comes without its credential says so."""
    if row.get("secrets") or row["auth_type"] == "none":
        return row
    data = _object(row["data"]) | _STATE
    return {**row, "data": msgspec.json.encode(data).decode()}


async def _read(bundle: Bundle) -> dict[str, Loaded]:
    tables = await portable_tables()
    known = {name: tables[name] for name in TABLES}
    return read_tables(bundle.tables, known, bundle.schema_version)


async def _steps(
    database: Queries, file: Mapping[str, Loaded], bundle: Bundle, selection: Selection
) -> list[Step]:
    """Raises Conflict where a node would lead stored credentials to another address."""
    stored = await _stored(database)
    here = {table: {row["id"]: row for row in stored[table]} for table in TABLES}
    rows = {table: file[table].rows if table in file else () for table in TABLES}
    if selection.providers or selection.combos:
        rows = _chosen(rows, selection)
    with_accounts = {row["provider"] for row in stored["connections"]}
    for node in rows["nodes"]:
        before = here["nodes"].get(node["id"])
        address = None if before is None else before["base_url"]
        if address != node["base_url"] and (before or node["id"] in with_accounts):
            raise Conflict(
                f"The node {node['name'][:64]} has another address here. Delete it and its "
                "accounts first: their credentials were saved for that address."
            )
    steps = []
    for table in TABLES:
        for row in rows[table]:
            action: Action = "replace" if row["id"] in here[table] else "create"
            if table == "connections" and action == "replace" and not bundle.secrets_included:
                action = "keep"
            steps.append(Step(table, row, action))
    return steps


async def _stored(database: Queries) -> dict[str, Sequence[Row]]:
    orders = {"connections": "provider, priority, id"}
    return {
        table: await database.fetch(
            f"SELECT * FROM {table} ORDER BY {orders.get(table, 'name, id')}"  # our own names
        )
        for table in TABLES
    }


def _chosen(rows: Mapping[str, Sequence[Row]], selection: Selection) -> dict[str, Sequence[Row]]:
    """The rows of a selection. Raises BadRequest for a name that stands for nothing."""
    providers, combos = set(selection.providers), set(selection.combos)
    known = {name for row in rows["combos"] for name in (row["id"], row["name"])}
    unknown = sorted((providers - _providers(rows)) | (combos - known))
    if unknown:
        raise BadRequest(f'Unknown provider or combo "{unknown[0][:64]}"')
    return {
        "nodes": [row for row in rows["nodes"] if row["id"] in providers],
        "connections": [row for row in rows["connections"] if row["provider"] in providers],
        "combos": [row for row in rows["combos"] if {row["id"], row["name"]} & combos],
    }


def _providers(rows: Mapping[str, Sequence[Row]]) -> set[str]:
    return {row["provider"] for row in rows["connections"]} | {row["id"] for row in rows["nodes"]}


def _names(core: Collaborators) -> dict[str, str]:
    return {id: spec.name for id, spec in core.snapshot.registry.providers.items()}


def _plan(steps: Sequence[Step]) -> SelectionPlan:
    def named(table: str) -> tuple[PlannedRow, ...]:
        return tuple(
            PlannedRow(id=each.row["id"], name=each.row["name"], action=each.action)
            for each in steps
            if each.table == table
        )

    return SelectionPlan(
        nodes=named("nodes"),
        connections=tuple(
            PlannedAccount(
                id=each.row["id"],
                name=each.row["name"],
                action=each.action,
                provider=each.row["provider"],
                auth_type=each.row["auth_type"],
            )
            for each in steps
            if each.table == "connections"
        ),
        combos=named("combos"),
    )


def _object(text: str) -> dict[str, Any]:
    try:
        return msgspec.json.decode(text, type=dict[str, Any])
    except msgspec.DecodeError:
        raise BadRequest("The data of an account cannot be read") from None

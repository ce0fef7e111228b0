"""What names a thing that gets another name: rewritten in the transaction that renames it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Literal, Protocol

import msgspec
from msgspec import Struct

from gateway_core.storage.database import Row, Statements
from gateway_core.storage.stores.combos import GROUP as COMBOS
from gateway_core.storage.stores.keys import GROUP as KEYS
from gateway_core.storage.stores.kv import ALIASES
from gateway_core.storage.stores.kv import group as kv_group
from gateway_core.storage.stores.versions import raise_version

from .setting_renames import rename_models


class Renaming(Protocol):
    """How names change; what does not name the thing is given back as it is."""

    def model(self, name: str) -> str:
        """The new spelling of a model's or combo's name, as calls spell it."""
        ...

    def combo(self, name: str) -> str:
        """The new name of a combo."""
        ...

    def policy(self, policy: Mapping[str, Any], key: str) -> Mapping[str, Any]:
        """The policy of the key with this name. Raises Conflict where it cannot be rewritten."""
        ...


class Rewritten(Struct, frozen=True, kw_only=True):
    """A row or setting that named what was renamed: what it lost, and what it got instead."""

    kind: Literal["combo", "alias", "key", "setting"]
    id: str
    name: str
    before: tuple[str, ...]
    after: tuple[str, ...]


async def rewrite(
    transaction: Statements, renaming: Renaming, updated_at: str
) -> tuple[Rewritten, ...]:
    """Rewrite combos, aliases, keys and settings. Raises what ``renaming`` raises."""
    return (
        *await _combos(transaction, renaming, updated_at),
        *await _aliases(transaction, renaming),
        *await _keys(transaction, renaming, updated_at),
        *(
            _rewritten("setting", {"id": key, "name": key}, *names)
            for key, names in (await rename_models(transaction, renaming.model)).items()
        ),
    )


async def _combos(transaction: Statements, renaming: Renaming, updated_at: str) -> list[Rewritten]:
    done = []
    for row in await transaction.fetch("SELECT id, name, models, members FROM combos"):
        before = msgspec.json.decode(row["models"], type=list[str])
        after = [renaming.model(name) for name in before]
        if after == before:
            continue
        members = [
            {**one, "model": renaming.model(str(one.get("model")))}
            for one in msgspec.json.decode(row["members"] or "[]")
        ]
        await transaction.execute(
            "UPDATE combos SET models = :models, members = :members, updated_at = :at "
            "WHERE id = :id",
            id=row["id"],
            models=msgspec.json.encode(after).decode(),
            members=msgspec.json.encode(members).decode() if row["members"] else None,
            at=updated_at,
        )
        done.append(_rewritten("combo", row, before, after))
    if done:
        await raise_version(transaction, COMBOS)
    return done


async def _aliases(transaction: Statements, renaming: Renaming) -> list[Rewritten]:
    done = []
    rows = await transaction.fetch("SELECT key, value FROM kv WHERE scope = :scope", scope=ALIASES)
    for row in rows:
        before = msgspec.json.decode(row["value"])
        after = renaming.model(before) if isinstance(before, str) else before
        if after != before:
            await transaction.execute(
                "UPDATE kv SET value = :value WHERE scope = :scope AND key = :key",
                scope=ALIASES,
                key=row["key"],
                value=msgspec.json.encode(after).decode(),
            )
            alias = {"id": row["key"], "name": row["key"]}
            done.append(_rewritten("alias", alias, [before], [after]))
    if done:
        await raise_version(transaction, kv_group(ALIASES))
    return done


async def _keys(transaction: Statements, renaming: Renaming, updated_at: str) -> list[Rewritten]:
    done = []
    for row in await transaction.fetch("SELECT id, name, policy, allowed_combos FROM api_keys"):
        policy = msgspec.json.decode(row["policy"])
        combos = msgspec.json.decode(row["allowed_combos"], type=list[str])
        new_policy = renaming.policy(policy, row["name"])
        new_combos = list(dict.fromkeys(map(renaming.combo, combos)))
        if (new_policy, new_combos) == (policy, combos):
            continue
        await transaction.execute(
            "UPDATE api_keys SET policy = :policy, allowed_combos = :combos, updated_at = :at, "
            "version = :version WHERE id = :id",
            id=row["id"],
            policy=msgspec.json.encode(new_policy).decode(),
            combos=msgspec.json.encode(new_combos).decode(),
            at=updated_at,
            version=await raise_version(transaction, KEYS),
        )
        before, after = [*_names(policy), *combos], [*_names(new_policy), *new_combos]
        done.append(_rewritten("key", row, before, after))
    return done


def _names(policy: Mapping[str, Any]) -> list[str]:
    access = policy.get("modelAccess") or {}
    return [*(policy.get("allowedModels") or ()), *(access.get("patterns") or ())]


def _rewritten(
    kind: Literal["combo", "alias", "key", "setting"],
    row: Row,
    before: Sequence[str],
    after: Sequence[str],
) -> Rewritten:
    lost, gained = Counter(before) - Counter(after), Counter(after) - Counter(before)
    return Rewritten(
        kind=kind, id=row["id"], name=row["name"], before=tuple(lost), after=tuple(gained)
    )

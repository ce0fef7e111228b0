"""Settings that name combos and models, when those get other names."""

from collections.abc import Callable, Mapping
from typing import Any

from gateway_core.storage.database import Statements
from gateway_core.storage.stores.settings import GROUP, read_parts, write_parts
from gateway_core.storage.stores.versions import raise_version


async def move_combo_strategy(transaction: Statements, name: str, to: str | None) -> None:
    """Keep ``comboStrategies`` in step with a combo that gets another name, or is deleted."""
    plain, sealed = await read_parts(transaction)
    strategies = plain.get("comboStrategies")
    if not isinstance(strategies, dict) or name not in strategies:
        return
    strategy = strategies.pop(name)
    if to is not None:
        strategies[to] = strategy
    await write_parts(transaction, plain, sealed)
    await raise_version(transaction, GROUP)


async def rename_models(
    transaction: Statements, rename: Callable[[str], str]
) -> Mapping[str, tuple[list[str], list[str]]]:
    """Rename models in the settings that name some; gives each changed one's before and after."""
    plain, sealed = await read_parts(transaction)
    changed = {}
    for key in ("comboStrategies", "mediaRoutes", "modelTimeouts", "pxpipeAllowedModels"):
        names = dict[str, str]()
        after = _renamed(plain.get(key), rename, names, key)
        if after != plain.get(key):
            plain[key] = after
            changed[key] = list(names), list(names.values())
    if changed:
        await write_parts(transaction, plain, sealed)
        await raise_version(transaction, GROUP)
    return changed


def _renamed(value: Any, rename: Callable[[str], str], names: dict[str, str], where: str) -> Any:
    """A setting with its models renamed: in lists, in ``judgeModel``, as keys of
    ``modelTimeouts``."""
    if isinstance(value, dict) and where == "modelTimeouts":
        for name in value:
            # A provider's own name stands for all of its models.
            names[name] = rename(name) if "/" in name else rename(f"{name}/")[:-1]
        return {names[name]: limits for name, limits in value.items()}
    if isinstance(value, dict):
        return {name: _renamed(inner, rename, names, name) for name, inner in value.items()}
    if isinstance(value, list):
        return [_renamed(inner, rename, names, "judgeModel") for inner in value]
    if not isinstance(value, str) or where != "judgeModel":
        return value
    names[value] = rename(value)
    return names[value]

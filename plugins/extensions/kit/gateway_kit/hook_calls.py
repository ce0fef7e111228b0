"""Asking a plugin's hooks directly, with the arguments they take and its settings as they begin."""

import inspect
from collections.abc import Mapping
from typing import Any


def said(plugin: object, hook: str, given: Mapping[str, object] = {}) -> Any:
    """What a hook says; an empty tuple when it is not implemented. Raises what the hook raises."""
    function = getattr(plugin, hook, None)
    if function is None:
        return ()
    offered = {"settings": default_settings(plugin), **given}
    taken = inspect.signature(function).parameters
    return function(**{name: value for name, value in offered.items() if name in taken})


def default_settings(plugin: object) -> object:
    """The plugin's settings before anybody has set one; ``None`` when it has none."""
    declare = getattr(plugin, "register_settings", None)
    return declare()() if declare is not None else None

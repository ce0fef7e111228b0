"""Asking a plugin's hooks directly, with the arguments they take and its settings as they begin."""

import inspect
from collections.abc import Mapping
from typing import Any


def call_hook(plugin: object, hook: str, arguments: Mapping[str, object] = {}) -> Any:
    """What a hook says; an empty tuple when it is not implemented. Raises what the hook raises."""
    function = getattr(plugin, hook, None)
    if function is None:
        return ()
    arguments_by_name = {"settings": read_default_settings(plugin), **arguments}
    parameters = inspect.signature(function).parameters
    return function(
        **{name: value for name, value in arguments_by_name.items() if name in parameters}
    )


def read_default_settings(plugin: object) -> object:
    """The plugin's settings before anybody has set one; ``None`` when it has none."""
    declare = getattr(plugin, "register_settings", None)
    return declare()() if declare is not None else None

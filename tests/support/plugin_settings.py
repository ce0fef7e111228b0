"""A plugin with settings, loaded in this process."""

from collections.abc import Mapping
from types import ModuleType
from typing import Annotated, Any

from msgspec import Meta, Struct

from gateway_core import hookimpl
from gateway_core.plugins import IMPORT_LIMIT, Loaded, PluginSettings, load, settings_of
from gateway_core.storage.stores.plugin_document import PluginDocument


class Acme(Struct, frozen=True, kw_only=True, rename="camel"):
    region: str = "eu"
    tries: Annotated[int, Meta(ge=1)] = 3
    hosts: tuple[str, ...] = ()
    is_loud: bool = False
    proxy: str | None = "http://p"
    api_key: str = ""

    def __post_init__(self) -> None:
        if self.region == "moon" and self.tries > 5:
            raise ValueError(f"the moon is called at most 5 times, not with {self.api_key}")


def plugin(struct: object = Acme, **hooks: Any) -> ModuleType:
    """A plugin with these settings; a function is the hook itself."""
    module = ModuleType("in_process")
    is_hook = callable(struct) and not isinstance(struct, type)
    module.register_settings = hookimpl(struct if is_hook else lambda: struct)  # type: ignore[attr-defined]
    for name, function in hooks.items():
        setattr(module, name, hookimpl(function))
    return module


def loaded(*, limit: float = IMPORT_LIMIT, **plugins: ModuleType) -> Loaded:
    extra = {name.replace("_", "-"): module for name, module in plugins.items()}
    return load(extra=extra, entry_points=False, limit=limit)


def settings(
    stored: Mapping[str, Any] = {},
    variables: Mapping[str, str] = {},
    program: Mapping[str, Any] = {},
) -> PluginSettings:
    """Those of one plugin, ``acme``."""
    documents = {"acme": PluginDocument(members=stored)}
    return settings_of(loaded(acme=plugin()), variables, {"acme": program}, documents)


def messages(found: PluginSettings) -> list[str]:
    return [problem.message for problem in found.problems]

"""The modules that a format is made of, as they are loaded, and what none of them may hold."""

import sys
from types import FunctionType, GeneratorType, ModuleType

from gateway_core import WireFormat

SIDE_EFFECTS = frozenset(
    {
        *("socket", "ssl", "_ssl", "_socket", "http", "urllib.request", "requests", "httpx"),
        *("httpx2", "aiohttp", "sqlite3", "apsw", "subprocess", "threading", "_thread"),
        *("multiprocessing", "asyncio", "concurrent", "os", "posix", "io", "_io", "pathlib"),
        *("shutil", "tempfile", "random", "time", "secrets", "anyio"),
    }
)
"""Modules that lead to the outside, to other threads, to chance or to a clock."""


def modules_of(wire: WireFormat) -> list[ModuleType]:
    """The modules of the format's own package that its sides reach, in no special order."""
    modules: dict[str, ModuleType] = {}
    names = [type(side).__module__ for side in (wire.client, wire.vendor) if side is not None]
    while names:
        name = names.pop()
        if name in modules or name not in sys.modules:
            continue
        module = modules[name] = sys.modules[name]
        package = module.__name__.partition(".")[0]
        for value in vars(module).values():
            if isinstance(value, ModuleType):
                reached = value.__name__
            elif isinstance(value, type | FunctionType):
                reached = str(value.__module__)
            else:
                continue
            if reached == package or reached.startswith(f"{package}."):
                names.append(reached)
    return list(modules.values())


def is_side_effect(value: object) -> bool:
    """Whether a module's value leads out, or is something that runs."""
    if isinstance(value, ModuleType):
        return _leads_out(value.__name__)
    if isinstance(value, GeneratorType):
        return True
    if isinstance(value, type) or callable(value):
        return _leads_out(str(getattr(value, "__module__", "")))
    return _leads_out(type(value).__module__)


def _leads_out(name: str) -> bool:
    return name in SIDE_EFFECTS or name.partition(".")[0] in SIDE_EFFECTS

"""Reading a plugin's source text: what it imports, and whether it may."""

import ast
import importlib.util
import pkgutil
from collections.abc import Iterator

import gateway_core

NETWORK = {
    *("aiohttp", "http.client", "httpcore", "httpcore2", "httpx", "httpx2", "requests", "socket"),
    *("urllib.request", "urllib3", "websockets"),
}
OURS = {
    *("gateway_core", "gateway_filters", "gateway_formats", "gateway_observing"),
    "gateway_providers",
}

PARTS = {"gateway_extension_config", "gateway_extension_mcp"}
"""Plugins that are released with the gateway and share modules of its command line, or of its
management API; what each may import is a rule of its own repository."""


def import_faults(package: str) -> Iterator[str]:
    """Imports of a plugin that a later version of the gateway may break, or that dial out."""
    if package in PARTS:
        return
    for module, text in _read_sources(package):
        for node in ast.walk(ast.parse(text)):
            names: list[tuple[str, str]] = []
            if isinstance(node, ast.Import):
                names = [(alias.name, "") for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and not node.level:
                names = [(node.module or "", alias.name) for alias in node.names]
            for origin, name in names:
                fault = _fault(package, origin, name)
                if fault:
                    yield f"{module} line {node.lineno}: {fault}"  # type: ignore[attr-defined]


def _read_sources(package: str) -> Iterator[tuple[str, str]]:
    spec = importlib.util.find_spec(package)
    if spec is None:
        return
    names = [package]
    if spec.submodule_search_locations is not None:
        names += [
            each.name
            for each in pkgutil.walk_packages(spec.submodule_search_locations, f"{package}.")
        ]
    for name in names:
        module = importlib.util.find_spec(name)
        source = getattr(module.loader, "get_source", None) if module else None
        text = source(name) if source else None
        if text:
            yield name, text


def _fault(package: str, origin: str, name: str) -> str | None:
    top = origin.partition(".")[0]
    full = f"{origin}.{name}"
    if any(each in (origin, full) or origin.startswith(f"{each}.") for each in NETWORK):
        return f"{origin} dials out; send through the transport that the executor is handed"
    if top == "gateway_core" and (origin != top or name not in gateway_core.__all__):
        return f"{full} is the gateway's own; only names of gateway_core itself stay"
    if top.startswith("gateway_") and top not in {*OURS, package.partition(".")[0]}:
        return f"{origin} belongs to another plugin"
    return None

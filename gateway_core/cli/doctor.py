"""Looks at what the gateway needs before it starts, and says what to do about the rest."""

import sys
from typing import Any

from ..config.data_dir import DataDir
from ..config.environment import Environment
from ..config.errors import DataDirInUse, StartRefused
from ..plugins.registry import Registry
from ..storage.opening import look_at
from .event_loop import UVLOOP, choose_loop
from .listening import ServerError, listen
from .options import load
from .servers import HYPERCORN, choose_server

GOOD, WORSE, BAD = "good", "worse", "bad"
A_PROVIDER = "pip install model-gateway-provider-<vendor>"
RUNS_ALREADY = "(a gateway that runs already is no fault)"
Finding = dict[str, Any]


def examine(environment: Environment, host: str, port: int) -> list[Finding]:
    """Findings, each with ``check``, ``state`` (good, worse or bad) and ``detail``."""
    registry = load(environment)[1]
    return [
        *(_python(), _server(registry), _port(host, port), _data(environment)),
        *_plugins(registry),
    ]


def _finding(check: str, state: str, detail: str) -> Finding:
    return {"check": check, "state": state, "detail": detail}


def _python() -> Finding:
    return _finding("python", GOOD, ".".join(map(str, sys.version_info[:3])))


def _server(registry: Registry) -> Finding:
    server, loop = choose_server(registry).name, choose_loop()
    detail = f"{server} on {loop}"
    if server == HYPERCORN or loop != UVLOOP:
        detail += "; pip install 'model-gateway[fast]' for faster ones"
        return _finding("server", WORSE, detail)
    return _finding("server", GOOD, detail)


def _port(host: str, port: int) -> Finding:
    try:
        listen(host, port).close()
    except ServerError as error:
        return _finding("port", WORSE, f"{error} {RUNS_ALREADY}")
    return _finding("port", GOOD, f"{host}:{port} is free")


def _data(environment: Environment) -> Finding:
    path = environment.data_path
    try:
        data_dir = DataDir(path, look_only=True)
        data_dir.check()
        look_at(data_dir)
    except DataDirInUse as error:
        return _finding("data directory", WORSE, f"{error} {RUNS_ALREADY}")
    except StartRefused as error:
        return _finding("data directory", BAD, str(error))
    told = path if data_dir.path.exists() else f"{path} is not there yet; the first start makes it"
    return _finding("data directory", GOOD, str(told))


def _plugins(found: Registry) -> list[Finding]:
    findings = [
        _finding(f"plugin {problem.plugin}", BAD if problem.fatal else WORSE, problem.message)
        for problem in found.problems
    ]
    if not found.formats:
        findings.append(
            _finding(
                "formats",
                BAD,
                "no wire format is installed; pip install model-gateway-format-<format>",
            )
        )
    if not found.providers:
        findings.append(_finding("providers", BAD, f"no provider is installed; {A_PROVIDER}"))
    counted = f"{len(found.formats)} formats and {len(found.providers)} providers"
    return [*findings, _finding("plugins", GOOD, counted)]

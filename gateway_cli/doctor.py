"""Looks at what the gateway needs before it starts, and says what to do about the rest."""

import sys
from typing import Any

import msgspec

from gateway_core.config.data_dir import DataDir
from gateway_core.config.environment import Environment
from gateway_core.config.errors import DataDirInUse, StartRefused
from gateway_core.config.settings import traits
from gateway_core.config.unsupported import SETTINGS, without_effect
from gateway_core.identity.sessions import jwt_secret
from gateway_core.routing.environment_accounts import variables_read
from gateway_core.storage.opening import look_at
from gateway_core.storage.sqlite.integrity import read_at_rest

from .event_loop import UVLOOP, choose_loop
from .listening import ServerError, listen
from .options import load
from .servers import HYPERCORN, choose_server

GOOD, WORSE, BAD = "good", "worse", "bad"
RUNS_ALREADY = "(a gateway that runs already is no fault)"
Finding = dict[str, Any]


def examine(environment: Environment, host: str, port: int) -> list[Finding]:
    """Findings, each with ``check``, ``state`` (good, worse or bad) and ``detail``."""
    findings = [_finding("python", GOOD, ".".join(map(str, sys.version_info[:3])))]
    registry = load(environment)[1]
    server, loop = choose_server(registry).name, choose_loop()
    if server == HYPERCORN or loop != UVLOOP:
        advice = "pip install 'model-gateway[fast]' for faster ones"
        findings.append(_finding("server", WORSE, f"{server} on {loop}; {advice}"))
    else:
        findings.append(_finding("server", GOOD, f"{server} on {loop}"))
    try:
        listen(host, port).close()
    except ServerError as error:
        findings.append(_finding("port", WORSE, f"{error} {RUNS_ALREADY}"))
    else:
        findings.append(_finding("port", GOOD, f"{host}:{port} is free"))
    data_dir = _data_dir(environment)
    findings += [data_dir, _sessions(environment)]
    if data_dir["state"] == GOOD:
        findings.extend(_settings(environment))
    read = variables_read(registry.providers.values())
    findings.extend(
        _finding("variables", BAD, sentence)
        for sentence in without_effect(environment.variables, read)
    )
    if registry.file_contents is not None:
        is_usable, detail = registry.file_contents.check()
        findings.append(_finding("files", GOOD if is_usable else BAD, detail))
    findings.extend(
        _finding(f"plugin {problem.plugin}", BAD if problem.fatal else WORSE, problem.message)
        for problem in registry.problems
    )
    if not registry.formats:
        missing = "no wire format is installed; pip install model-gateway-format-<format>"
        findings.append(_finding("formats", BAD, missing))
    if not registry.providers:
        missing = "no provider is installed; pip install model-gateway-provider-<vendor>"
        findings.append(_finding("providers", BAD, missing))
    counts = f"{len(registry.formats)} formats and {len(registry.providers)} providers"
    return [*findings, _finding("plugins", GOOD, counts)]


def _finding(check: str, state: str, detail: str) -> Finding:
    return {"check": check, "state": state, "detail": detail}


def _data_dir(environment: Environment) -> Finding:
    path = environment.data_path
    try:
        data_dir = DataDir(path, look_only=True)
        data_dir.check()
        look_at(data_dir)
    except DataDirInUse as error:
        return _finding("data directory", WORSE, f"{error} {RUNS_ALREADY}")
    except StartRefused as error:
        return _finding("data directory", BAD, str(error))
    if data_dir.path.exists():
        return _finding("data directory", GOOD, str(path))
    missing = f"{path} is not there yet; the first start makes it"
    return _finding("data directory", GOOD, missing)


def _sessions(environment: Environment) -> Finding:
    """Whether people can sign in. A secret that is ignored is logged as well."""
    try:
        secret = jwt_secret(environment, DataDir(environment.data_path, look_only=True))
    except StartRefused as error:
        return _finding("sessions", BAD, str(error))
    if secret is None:
        missing = "nobody can sign in to the dashboard: set JWT_SECRET to 32 random bytes or more"
        return _finding("sessions", WORSE, missing)
    return _finding("sessions", GOOD, "JWT_SECRET is usable")


def _settings(environment: Environment) -> list[Finding]:
    """Stored settings that nothing acts on."""
    document = read_settings_at_rest(DataDir(environment.data_path, look_only=True))
    return [
        _finding("settings", WORSE, f"{name} is stored, but has no effect in this version")
        for name in SETTINGS
        if document.get(name, traits()[name].default) != traits()[name].default
    ]


def read_settings_at_rest(data_dir: DataDir) -> dict[str, Any]:
    """The stored settings of a gateway that does not run, without those that are sealed."""
    path = data_dir.database
    if not path.exists() or not path.stat().st_size:
        return {}
    rows = read_at_rest(path, "SELECT data FROM settings WHERE id = 1")
    document: dict[str, Any] = msgspec.json.decode(rows[0][0]) if rows else {}
    return document

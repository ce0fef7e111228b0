"""Who may import whom, and where the doors to the outside are, read from the source text."""

import ast
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest
from kernel_names import ENGLISH, FIXED_NAMES, WORD, bundled_ids

import gateway_core

ROOT = Path(__file__).parents[1]
KIT = "plugins/extensions/kit"
"""The one extension that may use all of the gateway: it runs one in process."""
CONFIG = "plugins/extensions/config"
"""The extension that is a part of the command line, and calls a gateway as it does."""
MCP = "plugins/extensions/mcp"
"""The extension with management routes and a surface for clients, which writes to the ledger."""
ALLOWED = {
    "gateway_core": {"gateway_core"},
    "gateway_administration": {"gateway_administration", "gateway_core"},
    "gateway_cli": {"gateway_cli", "gateway_administration", "gateway_core"},
    "gateway_postgres": {"gateway_postgres", "gateway_core"},
    "gateway_formats": {"gateway_formats", "gateway_core"},
    "gateway_providers": {"gateway_providers", "gateway_formats", "gateway_core"},
    "gateway_dashboard_api": {
        "gateway_dashboard_api",
        "gateway_administration",
        "gateway_postgres",
        "gateway_core",
    },
    "gateway_services": {
        "gateway_services",
        "gateway_providers",
        "gateway_formats",
        "gateway_core",
    },
    "gateway_files": {"gateway_files", "gateway_core"},
    "gateway_realtime": {"gateway_realtime", "gateway_formats", "gateway_core"},
    "gateway_batches": {"gateway_batches", "gateway_files", "gateway_core"},
    "gateway_observing": {
        "gateway_observing",
        "gateway_dashboard_api",
        "gateway_administration",
        "gateway_core",
    },
    "gateway_native": {"gateway_native", "gateway_providers", "gateway_formats", "gateway_core"},
    "gateway_filters": {"gateway_filters", "gateway_administration", "gateway_core"},
    "gateway_groups": {"gateway_groups", "gateway_files", "gateway_core"},
    "plugins/formats": {"gateway_formats", "gateway_core"},
    "plugins/providers": {"gateway_providers", "gateway_formats", "gateway_core"},
    "plugins/servers": {"gateway_core"},
    "plugins/extensions": {"gateway_observing", "gateway_filters", "gateway_core"},
    CONFIG: {"gateway_cli", "gateway_core"},
    MCP: {"gateway_dashboard_api", "gateway_core"},
    KIT: {
        "gateway_cli",
        "gateway_administration",
        "gateway_core",
        "gateway_formats",
        "gateway_providers",
        "gateway_filters",
    },
}
"""Which of our packages each place may import, besides the module's own."""
WHOLE_KERNEL = (
    *("gateway_core", "gateway_dashboard_api", "gateway_services", "gateway_files"),
    *("gateway_cli", "gateway_postgres", "gateway_administration"),
    "gateway_realtime",
    "gateway_batches",
    "gateway_native",
    "gateway_observing",
    "gateway_filters",
    "gateway_groups",
)
"""Packages that may import any module of the kernel."""
LAYERS = (
    "contracts | hookspecs | gateway_core | config | storage | identity | plugins | "
    "upstream | metering | routing | pipeline | http | app | asgi __main__"
)
CONTRACTS = (
    "errors asgi | server usage shared_state file_contents observation | kinds | "
    "model native | conversation | seal | "
    "events | exchange | web_login sockets | provider | wire interceptor answer_filter"
)
NETWORK = {
    *("aiohttp", "ftplib", "http.client", "httpcore", "httpcore2", "httpx", "httpx2", "requests"),
    *("smtplib", "urllib.request", "urllib3", "websockets", "wsproto", "telnetlib", "socket"),
    *("google.auth.transport", "botocore.httpsession", "botocore.session", "anyio.connect_tcp"),
    *("asyncio.open_connection", "anyio.connect_unix", "asyncio.create_connection"),
}
DATABASE = {"aiosqlite", "apsw", "asyncpg", "psycopg", "psycopg_pool", "sqlite3", "sqlalchemy"}
FILES = {"shutil", "tempfile", "open", "io.open", "os.open", "os.fdopen", "aiofiles"}
FILE_METHODS = {"read_text", "write_text", "read_bytes", "write_bytes", "mkdir", "rmdir", "unlink"}
ENVIRONMENT = {"os.environ", "os.environb", "os.getenv", "os.putenv"}
PURE = ("gateway_formats", "gateway_core.contracts", "gateway_format_")
WAITS = (ast.Await, ast.AsyncFor, ast.AsyncWith)


class Module(NamedTuple):
    name: str
    place: str
    tree: ast.Module
    is_package: bool = False

    def is_in(self, *packages: str) -> bool:
        return any(_within(self.name, package) for package in packages)


Rule = Callable[[Module], Iterator[str]]


def _within(name: str, package: str) -> bool:
    return name == package or name.startswith(f"{package}.")


@cache
def modules() -> tuple[Module, ...]:
    homes = [(ROOT / place, place) for place in ALLOWED if not place.startswith("plugins")]
    inits = ROOT.glob("plugins/*/*/*/__init__.py")
    homes += [(init.parent, _place(init.parents[1])) for init in inits]
    return tuple(
        _module(path, home, place) for home, place in homes for path in sorted(home.rglob("*.py"))
    )


def _place(folder: Path) -> str:
    """Of a plugin's folder."""
    own = folder.relative_to(ROOT).as_posix()
    return own if own in ALLOWED else own.rpartition("/")[0]


def _module(path: Path, home: Path, place: str) -> Module:
    parts = path.relative_to(home.parent).with_suffix("").parts
    is_package = parts[-1] == "__init__"
    name = ".".join(parts[:-1] if is_package else parts)
    return Module(name, place, ast.parse(path.read_text("utf-8"), path), is_package)


def imports(module: Module) -> Iterator[tuple[str, str, str]]:
    """Each import: the module it is from, the name that is taken, if any, and its name here."""
    names_only = module.name in {"gateway_core", "gateway_core.hookspecs"}
    skipped = set(_typing_only(module.tree)) if names_only else set()
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, "", alias.asname or alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node not in skipped:
            origin = node.module or ""
            if node.level:
                up = node.level - module.is_package
                home = module.name.split(".")[: -up or None]
                origin = ".".join([*home, *filter(None, [origin])])
            yield from ((origin, alias.name, alias.asname or alias.name) for alias in node.names)


def _typing_only(tree: ast.Module) -> Iterator[ast.AST]:
    for node in tree.body:
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            yield from ast.walk(node)


def uses(module: Module) -> Iterator[str]:
    """Every import, every attribute of an imported name and every plain call, in full."""
    bindings = list(_bindings(module))
    bound = dict(bindings)
    yield from (meaning for _, meaning in bindings)
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if node.value.id in bound:
                yield f"{bound[node.value.id]}.{node.attr}"
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            yield bound.get(node.func.id, node.func.id)


def _bindings(module: Module) -> Iterator[tuple[str, str]]:
    """Names in the module's text, to what they stand for."""
    for origin, name, bound in imports(module):
        yield bound, f"{origin}.{name}" if name else origin
        if not name and bound == origin:
            yield (origin.partition(".")[0],) * 2


def _matches(module: Module, banned: set[str]) -> Iterator[str]:
    for use in uses(module):
        yield from (use for each in banned if _within(use, each))


def rooms(module: Module) -> Iterator[str]:
    own = module.name.partition(".")[0]
    for origin, _, _ in imports(module):
        package = origin.partition(".")[0]
        if package.startswith("gateway_") and package not in {own, *ALLOWED[module.place]}:
            yield package


def door(module: Module) -> Iterator[str]:
    if module.place in {*WHOLE_KERNEL, KIT, CONFIG, MCP}:
        return
    for origin, name, _ in imports(module):
        is_exported = origin == "gateway_core" and name in gateway_core.__all__
        if _within(origin, "gateway_core") and not is_exported:
            yield f"{origin}.{name}"


def _ranks(layers: str) -> dict[str, int]:
    return {name: i for i, layer in enumerate(layers.split("|")) for name in layer.split()}


def layers(module: Module) -> Iterator[str]:
    if module.place != "gateway_core":
        return
    ranks, own = _ranks(LAYERS), _layer(module.name)
    if own not in ranks:
        yield f"{own} has no layer"
        return
    for origin, name, _ in imports(module):
        if _within(origin, "gateway_core"):
            layer = _layer(f"{origin}.{name}" if name in ranks else origin)
            if ranks.get(layer, len(ranks)) > ranks[own]:
                yield layer


def _layer(name: str) -> str:
    parts = name.split(".")
    return parts[1] if len(parts) > 1 else parts[0]


def contracts(module: Module) -> Iterator[str]:
    if not module.is_in("gateway_core.contracts") or module.is_package:
        return
    ranks, own = _ranks(CONTRACTS), module.name.rpartition(".")[2]
    if own not in ranks:
        yield f"{own} has no place"
    for origin, name, _ in imports(module):
        if _within(origin, "gateway_core"):
            other = name if origin == "gateway_core.contracts" else origin.rpartition(".")[2]
            if ranks.get(other, len(ranks)) >= ranks.get(own, 0):
                yield other


def network(module: Module) -> Iterator[str]:
    doors = ("gateway_core.upstream.transport", "gateway_kit.mock_vendor")
    # The vendor's own client is the door to its store, and the library's to a mail server.
    own_doors = ("gateway_extension_object_store.bucket", "gateway_extension_alerts.mail")
    # It makes the library's client, and carries its requests by the gateway's own network.
    carriers = ("gateway_extension_mcp.outbound",)
    if not module.is_in(*doors, *own_doors, *carriers):
        is_server = module.place == "plugins/servers"
        owns_listener = is_server or module.is_in("gateway_cli", "gateway_core.contracts.server")
        # It frames messages, and opens nothing.
        framing = {"wsproto"} if is_server else set()
        yield from _matches(module, NETWORK - framing - ({"socket"} if owns_listener else set()))


def database(module: Module) -> Iterator[str]:
    if not module.is_in("gateway_core.storage", "gateway_postgres"):
        yield from _matches(module, DATABASE)


def files(module: Module) -> Iterator[str]:
    if module.place in {"gateway_dashboard_api", "gateway_files", "plugins/extensions", CONFIG}:
        return
    doors = (
        *("gateway_core.config.data_dir", "gateway_core.storage"),
        *("gateway_cli.whereabouts", "gateway_core.config.temporary_file"),
        "gateway_cli.upgrade_plan",
        "gateway_core.plugins.files",
        *(
            "gateway_kit.scaffold",
            "gateway_kit.results",
            "gateway_kit.bugs",
            "gateway_kit.cassettes",
        ),
        "gateway_batches.folder",
        "gateway_administration.machine",
    )
    if not module.is_in(*doors):
        yield from _matches(module, FILES)
        calls = (node.func for node in ast.walk(module.tree) if isinstance(node, ast.Call))
        for verb in calls:
            # An installed package's metadata is read by the same verb and is no file of ours.
            is_metadata = ast.unparse(verb).startswith(("distribution(", "distribution.read_text"))
            if isinstance(verb, ast.Attribute) and not is_metadata:
                yield from {verb.attr} & FILE_METHODS


def environment(module: Module) -> Iterator[str]:
    if not module.is_in("gateway_core.config.environment"):
        yield from _matches(module, ENVIRONMENT)


def purity(module: Module) -> Iterator[str]:
    is_pure = module.is_in("gateway_core.routing.access_policy", "gateway_core.routing.plan")
    if is_pure or module.name.startswith(PURE):
        for node in ast.walk(module.tree):
            if isinstance(node, WAITS):
                yield f"{type(node).__name__} in line {node.lineno}"


def names(module: Module) -> Iterator[str]:
    """Ids of bundled vendors and formats, which the kernel only knows from what plugins declare."""
    if module.place not in {"gateway_core", "gateway_cli"}:
        return
    fixed = FIXED_NAMES.get(module.name, {})
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = node.value
            for part in fixed:
                text = text.replace(part, "")
            found = {id for id in bundled_ids() if text == id}
            words = set(WORD.findall(text.lower()))
        else:
            found = set()
            words = {word for each in _identifiers(node) for word in each.lower().split("_")}
            words -= {word for part in fixed for word in part.split("_")}
        # An id that is an English word counts only where it is the whole string.
        found |= words & (bundled_ids() - ENGLISH)
        yield from (f"{id} in line {getattr(node, 'lineno', 1)}" for id in sorted(found))


def _identifiers(node: ast.AST) -> Iterator[str]:
    for field in ("id", "attr", "arg", "name"):
        value = getattr(node, field, None)
        if isinstance(value, str):
            yield value


def test_every_exception_for_a_name_is_still_needed() -> None:
    excused = [module for module in modules() if module.name in FIXED_NAMES]
    sources = {module.name: ast.unparse(module.tree) for module in excused}

    needless = [
        (name, t) for name, fixed in FIXED_NAMES.items() for t in fixed if t not in sources[name]
    ]

    assert needless == []


RULES: tuple[Rule, ...] = (
    *(rooms, door, layers, contracts),
    *(network, database, files, environment, purity, names),
)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_every_module_keeps_the_rule(rule: Rule) -> None:
    broken = [f"{module.name}: {breach}" for module in modules() for breach in rule(module)]

    assert broken == []


def test_every_package_is_looked_at() -> None:
    assert {module.place for module in modules()} >= {KIT, *(p for p in ALLOWED if "/" not in p)}


BAD = [
    (names, "gateway_core.plugins.trust", 'BUNDLED = ("groq", "xai")'),
    (names, "gateway_core.http.app", 'GENERATIVE = "gemini"'),
    (names, "gateway_core.http.app", "def is_claude(name): ..."),
    (names, "gateway_core.http.app", 'A = "together"'),
    (names, "gateway_core.http.models", 'VENDOR = "anthropic"'),
    (names, "gateway_core.upstream.endpoints", '"""As the anthropic API has it."""'),
    (rooms, "gateway_core.app", "import gateway_dashboard_api.plugin"),
    (rooms, "gateway_formats.sse", "from gateway_providers import jobs"),
    (rooms, "gateway_format_x", "from gateway_providers import jobs"),
    (rooms, "gateway_provider_x", "from gateway_provider_y import Y"),
    (rooms, "gateway_cli.main", "from gateway_kit import commands"),
    (rooms, "gateway_core.asgi", "from gateway_cli.serving import serve"),
    (rooms, "gateway_dashboard_api.plugin", "from gateway_cli.options import print_table"),
    (names, "gateway_cli.main", 'VENDOR = "groq"'),
    (network, "gateway_kit.providers.harness", "import socket"),
    (door, "gateway_formats.sse", "from gateway_core.contracts.wire import WireFormat"),
    (door, "gateway_provider_x", "from gateway_core import contracts"),
    (door, "gateway_provider_x", "import gateway_core"),
    (door, "gateway_extension_x", "from gateway_core.app import Gateway"),
    (rooms, "gateway_extension_x", "from gateway_formats import sse"),
    (rooms, "gateway_kit.commands", "from gateway_dashboard_api import plugin"),
    (layers, "gateway_core.storage.stores.keys", "from ...identity import peers"),
    (layers, "gateway_core.config.settings", "from gateway_core.app import Gateway"),
    (layers, "gateway_core.routing.plan", "from gateway_core import pipeline"),
    (layers, "gateway_core.plugins.guard", "def f():\n    from ..pipeline import dispatch"),
    (layers, "gateway_core.extras", ""),
    (contracts, "gateway_core.contracts.usage", "from .model import Model"),
    (contracts, "gateway_core.contracts.model", "from . import wire"),
    (contracts, "gateway_core.contracts.model", "from ..hookspecs import hookimpl"),
    (network, "gateway_provider_x", "import httpx2"),
    (network, "gateway_provider_x", "from urllib.request import urlopen"),
    (network, "gateway_provider_x", "from urllib import request"),
    (network, "gateway_provider_x", "def f():\n    import requests as r\n    r.get('u')"),
    (network, "gateway_core.pipeline.dispatch", "import anyio\nanyio.connect_tcp('h', 1)"),
    (database, "gateway_core.identity.sessions", "from apsw import Connection"),
    (database, "gateway_dashboard_api.database.change", "import psycopg"),
    (rooms, "gateway_core.storage.selection", "from gateway_postgres import engine"),
    (files, "gateway_core.identity.sessions", "open('x')"),
    (files, "gateway_core.app", "path.read_text()"),
    (files, "gateway_provider_x", "import os\nos.open('x', 0)"),
    (environment, "gateway_provider_x", "import os\nkey = os.environ['KEY']"),
    (environment, "gateway_cli.main", "from os import getenv"),
    (environment, "gateway_cli.main", "import os.path\nos.getenv('KEY')"),
    (environment, "gateway_cli.main", "import os as system\nsystem.environ"),
    (purity, "gateway_format_x", "async def f(x):\n    await x"),
    (
        purity,
        "gateway_core.routing.access_policy",
        "async def f(x):\n    async with x:\n        pass",
    ),
]
GOOD = [
    ("gateway_core.http.models", 'HEADER = "anthropic-version"'),
    ("gateway_core.pipeline.fusion", '"""Put together, with an echo."""'),
    ("gateway_provider_groq", 'ID = "groq"'),
    ("gateway_core.contracts.wire", "from .provider import Call"),
    ("gateway_core.upstream.transport.http", "import httpx2, socket"),
    ("gateway_core.storage.sqlite.engine", "import apsw\nfrom pathlib import Path\nopen('x')"),
    ("gateway_core.config.environment", "import os\nos.environ"),
    (
        "gateway_cli.main",
        "import socket\nfrom gateway_core.app import Gateway\nfrom . import group",
    ),
    (
        "gateway_core.plugins.registry",
        "from ..contracts.wire import WireFormat\nfrom . import load",
    ),
    ("gateway_kit.mock_vendor.server", "import socket"),
    ("gateway_kit.providers.harness", "from gateway_core.app import Gateway"),
    ("gateway_dashboard_api.access", "from gateway_core.storage.stores.keys import Keys"),
    ("gateway_provider_x", "from gateway_core import Model\nfrom .speech import Speech"),
    ("gateway_provider_x.speech", "from gateway_providers import jobs\nadapter.open(call)"),
    ("gateway_format_x", "from . import requests\nrequests.read('x')"),
    ("gateway_format_x.streams", "from gateway_formats.sse import Frames\nfrom . import replies"),
]


def _snippet(name: str, source: str) -> Module:
    package = name.partition(".")[0]
    places = {"gateway_kit": KIT, "gateway_extension_x": "plugins/extensions"}
    plugin = "plugins/formats" if package.startswith("gateway_format_") else "plugins/providers"
    place = package if package in ALLOWED else places.get(package, plugin)
    return Module(name, place, ast.parse(source))


@pytest.mark.parametrize(("rule", "name", "source"), BAD)
def test_a_breach_is_found(rule: Rule, name: str, source: str) -> None:
    assert list(rule(_snippet(name, source)))


@pytest.mark.parametrize(("name", "source"), GOOD)
def test_what_is_allowed_is_not_a_breach(name: str, source: str) -> None:
    module = _snippet(name, source)

    assert [breach for rule in RULES for breach in rule(module)] == []

"""Generates the reference pages from the declarations in the code.

``python tools/reference.py`` regenerates docs/reference; a test fails while a page is out of date.
"""

import inspect
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, cast

import msgspec

from gateway_batches import completion_routes, message_routes, operator_batches
from gateway_core import hookspecs, plugins
from gateway_core.config import environment, settings
from gateway_core.contracts import errors
from gateway_core.contracts.kinds import Kind
from gateway_core.contracts.provider import ProviderSpec, Service
from gateway_core.contracts.wire import WireFormat
from gateway_core.http import meta, models
from gateway_core.http.operations import RouteOperation
from gateway_core.identity.access import RULES, Access, Rule
from gateway_core.pipeline.context import Collaborators
from gateway_core.plugins import registry
from gateway_dashboard_api import routes as dashboard
from gateway_dashboard_api.vendors import manifest
from gateway_files import operator_files
from gateway_files import routes as files
from gateway_groups.routes import routes as group_routes
from gateway_native.routes import routes as native_routes
from gateway_realtime import routes as realtime
from gateway_services import images
from gateway_services.endpoints import services
from gateway_services.settings import Settings as ServiceSettings

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tools"))

import contracts_page  # noqa: E402
import toolkit_page  # noqa: E402

FOLDER = ROOT / "docs" / "reference"
_LINK = re.compile(r"https?://[^\s<>()]+[^\s<>().,;:]")


def table(head: tuple[str, ...], rows: Iterator[tuple[str, ...]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    lines += ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    return "\n".join(lines)


def code(text: object) -> str:
    return f"`{text}`" if str(text) else ""


def environment_page() -> str:
    rows = ((code(name), default, about) for name, default, about in environment.reference())
    return (
        "# Process variables\n\n"
        "Read once, when the gateway starts. A blank variable counts as unset. An invalid value "
        "stops the start with a message that names the variable.\n\n"
        "Each provider also names variables that may hold its key, such as `OPENAI_API_KEY`; one "
        "that is set becomes an account when the gateway starts.\n\n"
        "`HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY` are also read in small letters, "
        "which win.\n\n" + table(("variable", "default", "meaning"), rows) + "\n"
    )


def settings_page() -> str:
    used: list[tuple[str, ...]] = []
    unused: list[tuple[str, ...]] = []
    for key, trait in sorted(settings.traits().items()):
        row = (code(key), code(shown(trait.default)), trait.description, notes(trait))
        (used if is_read(trait.field) else unused).append(row)
    head = ("setting", "default", "meaning", "notes")
    return (
        "# Settings\n\n"
        "Stored in the database; `GET` and `PATCH /api/settings` read and change them. Keys that "
        "are not listed here are stored and returned unchanged. Setting a key to `null` restores "
        "its default.\n\n## In force\n\n" + table(head, iter(used)) + "\n\n"
        "## Without effect in this version\n\n"
        "They are checked, stored and returned, so that a configuration survives; nothing reads "
        "them yet.\n\n" + table(head, iter(unused)) + "\n"
    )


def is_read(field: str) -> bool:
    """Whether any code except the declaration reads a setting."""
    word = re.compile(rf"settings\.{field}\b")
    return any(word.search(source) for source in sources())


@cache
def sources() -> tuple[str, ...]:
    return tuple(
        path.read_text(encoding="utf-8")
        for package in (
            *("gateway_core", "gateway_cli", "gateway_dashboard_api"),
            *("gateway_files", "gateway_batches"),
        )
        for path in sorted((ROOT / package).rglob("*.py"))
        if path.name not in ("settings.py", "setting.py")
    )


def shown(value: Any) -> str:
    import msgspec

    return msgspec.json.encode(msgspec.to_builtins(value)).decode()


def notes(trait: Any) -> str:
    remarks = (
        (trait.never, "never shown"),
        (not trait.patch, "not changed by PATCH"),
        (trait.sealed, "encrypted at rest"),
        (trait.session_only, "hidden from API keys"),
        (trait.operator, "not changed by API keys"),
    )
    return ", ".join(text for applies, text in remarks if applies)


def tree(base: type[errors.GatewayError]) -> Iterator[type[errors.GatewayError]]:
    yield base
    for child in base.__subclasses__():
        if child.__module__ == errors.__name__:
            yield from tree(child)


def errors_page() -> str:
    rows = (
        (
            code(kind.__name__),
            str(kind.status),
            code(kind.type),
            code(kind.code or ""),
            (inspect.getdoc(kind) or "").split("\n")[0] if kind.__doc__ else "",
        )
        for kind in tree(errors.GatewayError)
    )
    return (
        "# Errors\n\n"
        "Every error that a client can get. The body has the shape of the client's "
        "wire format and contains the request's id, which is also in the header `x-request-id`. A "
        "vendor's own id, if it sent one, is `upstream_request_id`.\n\n"
        + table(("condition", "status", "type", "code", "meaning"), rows)
        + "\n"
    )


def hooks_page() -> str:
    functions = [
        (name, function)
        for name, function in vars(hookspecs).items()
        if inspect.isfunction(function) and function.__module__ == hookspecs.__name__
    ]
    parts = [
        f"## `{name}{inspect.signature(function)}`\n\n{inspect.getdoc(function)}\n"
        for name, function in functions
    ]
    return (
        "# Hooks\n\n"
        "A plugin is a module with one or more of these functions, each marked "
        "`@hookimpl`, and an entry point in the group `model_gateway`. Every hook is called once, "
        "while the gateway starts; no hook is `async`.\n\n" + "\n".join(parts)
    )


def formats_page() -> str:
    loaded = plugins.load(allowed=bundled())
    built = registry.build(loaded)
    docstrings = {
        plugin.name: inspect.getdoc(loaded.manager.get_plugin(plugin.name)) or ""
        for plugin in loaded.plugins
        if plugin.state is plugins.State.LOADED
    }
    rows = (format_row(built.formats[name]) for name in sorted(built.formats))
    vendors = (
        vendor_row(spec, docstrings[built.provider_plugins[name]])
        for name, spec in sorted(built.providers.items())
    )
    specs = (spec for _, spec in sorted(built.providers.items()))
    services = (service_row(spec) for spec in specs if stated_services(spec))
    names = dict.fromkeys(built.format_plugins[name] for name in sorted(built.formats))
    return (
        "# Formats and vendors\n\n"
        "What the bundled plugins declare. A model is called `<id>/<model>`; an alias can replace "
        "the id.\n\n## Formats\n\n"
        "The client side serves the paths; the vendor side calls vendors that speak the format.\n\n"
        + table(("id", "client paths", "client side", "vendor side", "stream type"), rows)
        + "\n\n## Vendors\n\n"
        "The first variable that is set becomes an account when the gateway starts; further "
        "variables go with it.\n\n" + table(VENDOR_HEAD, vendors) + "\n\n## Services\n\n"
        "What vendors do besides chat; [services](../services.md) has the endpoints. A word is an "
        "endpoint of its kind besides the main one.\n\n"
        + table(("id", *map(code, SERVICE_KINDS)), services)
        + "\n\n## Notes of each format\n\n"
        "The docstring of its plugin, with the options that `ProviderSpec.options` may set.\n\n"
        + "\n".join(format_notes(name, docstrings[name]) for name in names)
    )


VENDOR_HEAD = (
    *("id", "aliases", "format", "further formats", "variables for the key"),
    *("further variables", "base URL", "models", "documentation"),
)


def bundled() -> frozenset[str]:
    """The plugins of this checkout: others that are installed must not change the pages."""
    folders = (ROOT / "plugins" / kind for kind in ("providers", "formats"))
    providers, formats = ([path.parent.name for path in f.glob("*/*.toml")] for f in folders)
    return frozenset([*providers, *(f"format-{name}" for name in formats)])


def format_row(wire: WireFormat) -> tuple[str, ...]:
    return (
        code(wire.id),
        codes(endpoint.path for endpoint in wire.endpoints),
        "yes" if wire.client else "no",
        "yes" if wire.vendor else "no",
        code(wire.stream_type),
    )


def vendor_row(spec: ProviderSpec, docstring: str) -> tuple[str, ...]:
    link = _LINK.search(docstring)
    return (
        code(spec.id),
        codes(names_beside(spec)),
        code(spec.format),
        codes(sorted(spec.further_formats())),
        codes(spec.environment),
        codes(spec.environment_data),
        code(spec.base_url) if spec.base_url else "by the account",
        str(len(spec.models)),
        f"<{link[0]}>" if link else "",
    )


SERVICE_KINDS = (
    *(Kind.EMBEDDING, Kind.RERANK, Kind.MODERATION, Kind.IMAGE, Kind.SPEECH, Kind.TRANSCRIPTION),
    *(Kind.MUSIC, Kind.VIDEO, Kind.SEARCH, Kind.FETCH, Kind.DOCUMENT_PARSING, Kind.DECISION),
)


def service_row(spec: ProviderSpec) -> tuple[str, ...]:
    """A cell for each kind, with its endpoints; "yes" is the main one."""
    cells: dict[str, list[str]] = {kind: [] for kind in SERVICE_KINDS}
    for service in stated_services(spec):
        cells[service.kind].append(service.action or "yes")
    return code(spec.id), *(", ".join(words) for words in cells.values())


def stated_services(spec: ProviderSpec) -> list[Service]:
    """A vendor's services without those that are only assumed."""
    return [each for each in spec.services if not each.is_assumed]


def names_beside(spec: ProviderSpec) -> list[str]:
    """The aliases of a provider, each once, without its id."""
    names = dict.fromkeys(filter(None, (spec.alias, *spec.aliases)))
    return [name for name in names if name != spec.id]


def codes(texts: Iterable[str]) -> str:
    return ", ".join(map(code, texts))


def format_notes(plugin: str, docstring: str) -> str:
    name = plugin.removeprefix("format-")
    return f"### `{name}`\n\n```text\n{docstring}\n```\n"


TITLES = {
    "providers": "Accounts",
    "connections": "Accounts",
    "provider-nodes": "Nodes",
    "keys": "Gateway keys",
    "key-groups": "Gateway keys",
    "auth": "Login",
    "health": "Process",
    **dict.fromkeys(("init", "livez", "locale", "shutdown", "version", "openapi.json"), "Process"),
}
"""Headings of the management page, by the segment after ``/api``; others are their own heading."""


def access_page() -> str:
    head = ("class", "session", "CLI token", "key", "open", "this machine", "for")
    rows = (access_row(access, rule) for access, rule in RULES.items())
    return (
        "# Access\n\n"
        "The access classes of routes, and the credentials that each accepts.\n"
        "[Access](../access.md) describes the credentials.\n\n"
        + table(head, rows)
        + "\n"
        + "".join(map(of_class, Access))
    )


def access_row(access: Access, rule: Rule) -> tuple[str, ...]:
    marks = (rule.session, rule.cli, rule.key, rule.open, rule.local)
    cells = ("yes" if rule.anyone or mark else "" for mark in marks)
    return (code(access), *cells, rule.about)


def of_class(access: Access) -> str:
    """The routes of one class, with the methods of a path in one line."""
    methods: dict[str, list[str]] = {}
    for operation in operations():
        if operation.access is access:
            methods.setdefault(operation.path, []).append(operation.method)
    if not methods:
        return ""
    lines = (f"- `{path}` {', '.join(sorted(methods[path]))}" for path in sorted(methods))
    return "\n".join([f"\n## {access.capitalize()}\n", *lines, ""])


@cache
def operations() -> tuple[RouteOperation, ...]:
    """Every operation. Building the routes does not use the gateway's collaborators."""
    unused = cast(Collaborators, None)
    built = registry.build(plugins.load(allowed=bundled()))
    own = (
        *(*meta.routes(unused), *models.routes(unused), *images.routes()),
        *(*files.routes(unused), *operator_files.routes(unused)),
        *(*completion_routes.routes(unused), *message_routes.routes(unused)),
        *(*operator_batches.routes(unused), *realtime.routes(unused)),
        *group_routes(unused),
        *(*native_routes(unused, built.providers.values()), *manifest.routes_of(unused)),
    )
    routes = (*own, *dashboard.routes_of(unused))
    inference = (
        *(built.formats[name] for name in sorted(built.formats)),
        services(ServiceSettings()),
    )
    generated = (
        RouteOperation(
            method=endpoint.method,
            path=endpoint.path,
            access=Access.INFERENCE,
            purpose="ask a model",
        )
        for wire in inference
        for endpoint in wire.endpoints
    )
    return (*(operation for route in routes for operation in route.operations), *generated)


def management_page() -> str:
    groups: dict[str, list[RouteOperation]] = {}
    for operation in operations():
        if operation.path.startswith("/api/"):
            word = operation.path.split("/")[2]
            groups.setdefault(TITLES.get(word, word_title(word)), []).append(operation)
    return (
        "# Management routes\n\n"
        "Every route under `/api`, with its [access class](access.md).\n"
        "[Managing](../managing.md) explains the members and the errors. A member\n"
        "with a question mark is optional.\n\n"
        + "\n".join(group(title, groups[title]) for title in sorted(groups))
    )


def word_title(word: str) -> str:
    return word.replace("-", " ").capitalize()


def group(title: str, members: list[RouteOperation]) -> str:
    rows = (
        (
            operation.method,
            code(operation.path),
            operation.access.value,
            operation.purpose,
            members_of(operation.query),
            members_of(operation.body),
        )
        for operation in sorted(members, key=lambda each: (each.path, each.method))
    )
    head = ("method", "path", "class", "purpose", "query", "body")
    return f"## {title}\n\n{table(head, rows)}\n"


def members_of(kind: Any) -> str:
    """The members of a query or body, by their JSON names."""
    if kind is None:
        return ""
    if not (isinstance(kind, type) and issubclass(kind, msgspec.Struct)):
        return "an object" if "dict" in str(kind) else "a list"
    return ", ".join(
        code(field.encode_name if field.required else f"{field.encode_name}?")
        for field in msgspec.structs.fields(kind)
    )


PAGES: dict[str, Callable[[], str]] = {
    "environment.md": environment_page,
    "settings.md": settings_page,
    "errors.md": errors_page,
    "hooks.md": hooks_page,
    "contracts.md": contracts_page.page,
    "toolkit-of-formats.md": toolkit_page.page,
    "formats-and-vendors.md": formats_page,
    "access.md": access_page,
    "management.md": management_page,
}


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, page in PAGES.items():
        (FOLDER / name).write_text(page(), encoding="utf-8")
        print(f"wrote docs/reference/{name}")


if __name__ == "__main__":
    main()

"""What may be wrong with what a plugin registers, as sentences.

A fault sets the whole format or provider aside. What can be left out without
harming the rest (a model row, an alias, a second service of one kind) is left
out by :func:`mended`, which reports each. Nothing here raises for anything a
plugin wrote.
"""

import re
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from urllib.parse import urlsplit

from msgspec.structs import replace

from ..contracts.kinds import Kind
from ..contracts.model import Model
from ..contracts.provider import ProviderSpec, Service
from ..contracts.server import ServerSpec
from ..contracts.wire import WireFormat
from .bundled import distribution_of_format
from .struct_check import check_of, misfits

CREDENTIAL_HEADERS = frozenset({"authorization", "cookie", "proxy-authorization", "x-api-key"})
"""Never sent to everybody alike, and the manifest would publish them."""

LONGEST_TIMEOUT_MS = 24 * 3600 * 1000
MOST_TOKENS = 1 << 40

Report = Callable[[str], None]

_id = re.compile(r"[a-z0-9][a-z0-9._-]*")
_alias = re.compile(r"[^\s/]+")
_host = re.compile(
    r"(?:https?://)?(?:\[[0-9a-f:.]+\]|(?=[^:/]*[a-z0-9])[a-z0-9*_-]+(?:\.[a-z0-9*_-]+)*)(?::[0-9]{1,5})?"
)
_header = re.compile(r"[a-z0-9!#$%&'*+.^_`|~-]+")


def format_faults(wire: object) -> list[str]:
    """Why a wire format cannot be used; empty when it can."""
    if not isinstance(wire, WireFormat):
        return [f"expected a WireFormat, got {type(wire).__name__}"]
    faults = list(misfits(wire, WireFormat))
    if faults:
        return faults
    faults += _id_faults(wire.id)
    if wire.client is None and wire.vendor is None and not wire.endpoints:
        faults.append("has neither a client nor a vendor side")
    if wire.client is None and any(each.kind == Kind.LLM for each in wire.endpoints):
        faults.append("has endpoints for chat but no client side")
    for endpoint in wire.endpoints:
        if not endpoint.path.startswith("/"):
            faults.append(f"the endpoint path {endpoint.path!r} does not begin with a slash")
    return [*faults, *_header_faults(wire.headers), *_url_faults("base_url", wire.base_url)]


def provider_faults(spec: object, vendor_formats: Container[str]) -> list[str]:
    """Why a provider cannot be used; ``vendor_formats`` are those that vendors speak."""
    if not isinstance(spec, ProviderSpec):
        return [f"expected a ProviderSpec, got {type(spec).__name__}"]
    faults = list(misfits(spec, ProviderSpec))
    if faults:
        return faults
    faults += _id_faults(spec.id)
    if spec.format not in vendor_formats:
        faults.append(f"speaks the format {spec.format!r}, but {_absent(spec.format)}")
    faults += _url_faults("base_url", spec.base_url)
    for url in spec.base_urls:
        faults += _url_faults("base_urls", url)
    faults += _url_faults("responses_url", spec.responses_url)
    faults += _url_faults("native_url", spec.native_url)
    for name, url in spec.other_formats.items():
        faults += _url_faults(f"other_formats[{name!r}]", url)
    faults += _url_faults("models_url", spec.models_url, is_base=False)
    faults += _url_faults("keys_url", spec.keys_url, is_base=False)
    for name in ("authorize_url", "token_url", "device_url", "revoke_url") if spec.oauth else ():
        faults += _url_faults(name, getattr(spec.oauth, name), is_base=False)
    for socket in spec.sockets:
        if not re.match(r"wss?://", socket.url):
            faults.append(f"a socket must have a ws or wss URL: {socket.url!r}")
        faults += _url_faults("sockets", socket.http_url, is_base=False)
    for host in spec.hosts:
        if not _host.fullmatch(host):
            faults.append(
                f"hosts must hold names of hosts in small letters, without a path: {host!r}"
            )
        elif "*" in host and not is_bounded(host.partition("://")[2] or host):
            faults.append(f"the host {host!r} may hold no * in its last two labels")
    if spec.chat_path is not None and not spec.chat_path.startswith("/"):
        faults.append("chat_path does not begin with a slash")
    if spec.timeout_ms is not None and not 0 < spec.timeout_ms <= LONGEST_TIMEOUT_MS:
        faults.append("timeout_ms must be above zero and at most a day")
    if not _is_token_count(spec.default_context):
        faults.append("default_context is no number of tokens")
    faults += _header_faults(spec.headers)
    for name in sorted(CREDENTIAL_HEADERS & spec.headers.keys()):
        faults.append(f"headers hold {name!r}, which belongs to an account")
    if spec.auth.header is not None:
        faults += _header_faults({spec.auth.header.lower(): ""})
    return faults


def contract_faults(contract: type, value: object) -> list[str]:
    """Why an object that is to keep a contract, such as ``Interceptor``, cannot be used."""
    if check_of(contract)(value):
        return []
    article = "an" if contract.__name__[0] in "AEIOU" else "a"
    return [f"expected {article} {contract.__name__}, got {type(value).__name__}"]


def server_faults(server: object) -> list[str]:
    """Why a server cannot be used."""
    if not isinstance(server, ServerSpec):
        return [f"expected a ServerSpec, got {type(server).__name__}"]
    return list(misfits(server, ServerSpec)) or list(_id_faults(server.name))


def mended(spec: ProviderSpec, vendor_formats: Container[str], report: Report) -> ProviderSpec:
    """The provider without the parts that cannot be used; itself when all can."""
    left_out: list[str] = []
    note = left_out.append
    formats = {name: url for name, url in spec.other_formats.items() if name in vendor_formats}
    models = [each for each in spec.models if each.format is None or each.format in vendor_formats]
    model_counts = Counter(each.format for each in spec.models if each.format is not None)
    for name in dict.fromkeys((*spec.other_formats, *model_counts)):
        if name not in vendor_formats:
            count = model_counts[name]
            too = "" if not count else f", with {count} {'model' if count == 1 else 'models'}"
            note(f"the format {name!r} is left out{too}: {_absent(name)}")
    alias = next(_sound_aliases([] if spec.alias is None else [spec.alias], note), None)
    aliases = tuple(_sound_aliases(spec.aliases, note))
    sound_models = tuple(_sound_models(models, note))
    services: dict[tuple[str, str], Service] = {}
    for service in spec.services:
        label = service.kind, service.action
        if label in services:
            note(f"the service {'/'.join(filter(None, label))} is listed twice")
        else:
            services[label] = service
    for message in left_out:
        report(message)
    if not left_out:
        return spec
    return replace(
        spec,
        alias=alias,
        aliases=aliases,
        models=sound_models,
        services=tuple(services.values()),
        other_formats=formats,
    )


def _id_faults(id: str) -> Iterator[str]:
    if not _id.fullmatch(id):
        yield f"the id {id!r} may hold only small letters, digits and . _ - and no mark in front"


def _url_faults(name: str, url: str | None, *, is_base: bool = True) -> Iterator[str]:
    """What is wrong with a URL; ``is_base`` when paths are put behind it."""
    if url is None:
        return
    try:
        parts = urlsplit(url)
        host, secret = parts.hostname, parts.username is not None or parts.password is not None
    except ValueError:
        yield f"{name} is not a URL"
        return
    if secret:
        yield f"{name} holds a user name or password"  # the manifest would publish it
        return
    is_template = "{" in url
    is_web = parts.scheme in {"http", "https"} and bool(host)
    if not (is_template or is_web) or not url.isprintable() or " " in url:
        yield f"{name} must be an http or https URL: {url!r}"
    if is_base and url.endswith("/"):
        yield f"{name} ends with a slash: {url!r}"
    if is_base and ("?" in url or "#" in url):
        yield f"{name} has a query, so no path can follow it: {url!r}"


def is_bounded(host: str) -> bool:
    """Whether a host with ``*`` in it ends in two labels that are written out."""
    labels = host.partition(":")[0].split(".")
    return len(labels) > 2 and not any("*" in label for label in labels[-2:])


def _header_faults(headers: Mapping[str, str]) -> Iterator[str]:
    for name, value in headers.items():
        if not _header.fullmatch(name):
            yield f"the header name {name!r} must be a word in lower case"
        if not set(value).isdisjoint("\r\n\0"):
            yield f"the value of the header {name!r} holds a line break"


def _sound_aliases(aliases: Iterable[str], report: Report) -> Iterator[str]:
    for alias in aliases:
        if _alias.fullmatch(alias):
            yield alias
        else:
            report(f"the alias {alias!r} is left out: it may hold no slash and no space")


def _absent(name: str) -> str:
    """Why a format that no plugin registers cannot be used, and what to install for it."""
    reason = "no vendor format of that name is loaded"
    distribution = distribution_of_format(name)
    return f"{reason} (pip install {distribution})" if distribution else reason


def _sound_models(models: Iterable[Model], report: Report) -> Iterator[Model]:
    seen = set()
    for model in models:
        if not model.id or model.id != model.id.strip() or not model.id.isprintable():
            report(f"a model is left out: its id {model.id!r} cannot be written in a request")
        elif not (_is_token_count(model.context) and _is_token_count(model.max_output)):
            report(f"the model {model.id!r} is left out: it counts tokens that cannot be")
        elif (model.id, model.kind) in seen:
            report(f"the model {model.id!r} is listed twice as {model.kind}")
        else:
            seen.add((model.id, model.kind))
            yield model


def _is_token_count(number: int | None) -> bool:
    return number is None or 0 < number < MOST_TOKENS

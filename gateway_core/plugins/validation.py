"""What may be wrong with what a plugin registers, as sentences.

A fault sets the whole format or provider aside. What can be left out without
harming the rest (a model row, an alias, a second service of one kind) is left
out by :func:`mended`, which tells of each. Nothing here raises for anything a
plugin wrote.
"""

import re
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from urllib.parse import urlsplit

from msgspec.structs import replace

from ..contracts.interceptor import Interceptor
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
    return list(misfits(wire, WireFormat)) or list(_format_faults(wire))


def provider_faults(spec: object, vendor_formats: Container[str]) -> list[str]:
    """Why a provider cannot be used; ``vendor_formats`` are those that vendors speak."""
    if not isinstance(spec, ProviderSpec):
        return [f"expected a ProviderSpec, got {type(spec).__name__}"]
    return list(misfits(spec, ProviderSpec)) or list(_provider_faults(spec, vendor_formats))


def interceptor_faults(interceptor: object) -> list[str]:
    """Why an interceptor cannot be used."""
    if check_of(Interceptor)(interceptor):
        return []
    return [f"expected an Interceptor, got {type(interceptor).__name__}"]


def server_faults(server: object) -> list[str]:
    """Why a server cannot be used."""
    if not isinstance(server, ServerSpec):
        return [f"expected a ServerSpec, got {type(server).__name__}"]
    return list(misfits(server, ServerSpec)) or list(_id_faults(server.name))


def mended(spec: ProviderSpec, vendor_formats: Container[str], report: Report) -> ProviderSpec:
    """The provider without the parts that cannot be used; itself when all can."""
    left_out: list[str] = []
    note = left_out.append
    formats, models = _spoken(spec, vendor_formats, note)
    parts = {
        "alias": next(_sound_aliases([] if spec.alias is None else [spec.alias], note), None),
        "aliases": tuple(_sound_aliases(spec.aliases, note)),
        "models": tuple(_sound_models(models, note)),
        "services": tuple(_sound_services(spec.services, note)),
        "other_formats": formats,
    }
    for message in left_out:
        report(message)
    return replace(spec, **parts) if left_out else spec


def _format_faults(wire: WireFormat) -> Iterator[str]:
    yield from _id_faults(wire.id)
    if wire.client is None and wire.vendor is None:
        yield "has neither a client nor a vendor side"
    if wire.client is None and wire.endpoints:
        yield "has endpoints but no client side"
    for endpoint in wire.endpoints:
        if not endpoint.path.startswith("/"):
            yield f"the endpoint path {endpoint.path!r} does not begin with a slash"
    yield from _header_faults(wire.headers)
    yield from _url_faults("base_url", wire.base_url, base=True)


def _provider_faults(spec: ProviderSpec, vendor_formats: Container[str]) -> Iterator[str]:
    yield from _id_faults(spec.id)
    if spec.format not in vendor_formats:
        yield f"speaks the format {spec.format!r}, but {_absent(spec.format)}"
    for name, url, base in _urls(spec):
        yield from _url_faults(name, url, base=base)
    for host in spec.hosts:
        yield from _host_faults(host)
    if spec.chat_path is not None and not spec.chat_path.startswith("/"):
        yield "chat_path does not begin with a slash"
    if spec.timeout_ms is not None and not 0 < spec.timeout_ms <= LONGEST_TIMEOUT_MS:
        yield "timeout_ms must be above zero and at most a day"
    if not _is_token_count(spec.default_context):
        yield "default_context is no number of tokens"
    yield from _header_faults(spec.headers)
    for name in sorted(CREDENTIAL_HEADERS & spec.headers.keys()):
        yield f"headers hold {name!r}, which belongs to an account"
    if spec.auth.header is not None:
        yield from _header_faults({spec.auth.header.lower(): ""})


def _id_faults(id: str) -> Iterator[str]:
    if not _id.fullmatch(id):
        yield f"the id {id!r} may hold only small letters, digits and . _ - and no mark in front"


def _urls(spec: ProviderSpec) -> Iterator[tuple[str, str | None, bool]]:
    """Each URL with its field's name and whether paths are put behind it."""
    yield "base_url", spec.base_url, True
    for url in spec.base_urls:
        yield "base_urls", url, True
    yield "responses_url", spec.responses_url, True
    for name, url in spec.other_formats.items():
        yield f"other_formats[{name!r}]", url, True
    yield "models_url", spec.models_url, False
    if spec.oauth is not None:
        yield "authorize_url", spec.oauth.authorize_url, False
        yield "token_url", spec.oauth.token_url, False


def _url_faults(name: str, url: str | None, *, base: bool) -> Iterator[str]:
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
    if base and url.endswith("/"):
        yield f"{name} ends with a slash: {url!r}"
    if base and ("?" in url or "#" in url):
        yield f"{name} has a query, so no path can follow it: {url!r}"


def _host_faults(host: str) -> Iterator[str]:
    if not _host.fullmatch(host):
        yield f"hosts must hold names of hosts in small letters, without a path: {host!r}"
    elif "*" in host and not is_bounded(host.partition("://")[2] or host):
        yield f"the host {host!r} may hold no * in its last two labels"


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


def _spoken(
    spec: ProviderSpec, vendor_formats: Container[str], report: Report
) -> tuple[dict[str, str], list[Model]]:
    """The other formats that are loaded, and the models that speak a loaded one."""
    formats = {name: url for name, url in spec.other_formats.items() if name in vendor_formats}
    models = [each for each in spec.models if each.format is None or each.format in vendor_formats]
    silent = Counter(each.format for each in spec.models if each.format is not None)
    for name in dict.fromkeys((*spec.other_formats, *silent)):
        if name not in vendor_formats:
            count = silent[name]
            too = "" if not count else f", with {count} {'model' if count == 1 else 'models'}"
            report(f"the format {name!r} is left out{too}: {_absent(name)}")
    return formats, models


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
            report(f"the model {model.id!r} is listed twice as {model.kind.value}")
        else:
            seen.add((model.id, model.kind))
            yield model


def _is_token_count(number: int | None) -> bool:
    return number is None or 0 < number < MOST_TOKENS


def _sound_services(services: Iterable[Service], report: Report) -> Iterator[Service]:
    seen = set()
    for service in services:
        if service.kind in seen:
            report(f"the service {service.kind.value} is listed twice")
        else:
            seen.add(service.kind)
            yield service

"""What every bundled plugin has in common, as checks for an author's tests.

Each gives what is wrong as sentences, and none when all is well. They look at
values only; the caller has read the files.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any
from urllib.parse import unquote

import msgspec

from gateway_core import ProviderSpec, UpstreamRequest

HOST = "model-gateway"


def naming_faults(kind: str, id: str, project: Mapping[str, Any]) -> Iterator[str]:
    """Whether the names of one plugin agree.

    ``kind`` is ``provider`` or ``format``, ``id`` the name of the plugin's
    folder and ``project`` what its ``pyproject.toml`` holds.
    """
    module = f"gateway_{kind}_{id.replace('-', '_')}"
    key = id if kind == "provider" else f"{kind}-{id}"
    backend = project.get("tool", {}).get("uv", {}).get("build-backend", {})
    expected = {
        "the distribution": f"{HOST}-{kind}-{id}",
        "the entry points": {"model_gateway": {key: module}},
        "the module to build": module,
        "the root of the module": "",
    }
    actual = {
        "the distribution": project["project"]["name"],
        "the entry points": project["project"].get("entry-points"),
        "the module to build": backend.get("module-name"),
        "the root of the module": backend.get("module-root"),
    }
    for what, name in expected.items():
        if actual[what] != name:
            yield f"{what} should be {name!r}, not {actual[what]!r}"


def dependency_faults(project: Mapping[str, Any], extras: Collection[str] = ()) -> Iterator[str]:
    """Whether a plugin needs its host and the libraries ``extras``, and nothing else."""
    # A name ends where its extras, version or marker begins: PEP 508.
    names = {
        re.split(r"[\[<>=!~; ]", each, maxsplit=1)[0]
        for each in project["project"].get("dependencies", ())
    }
    expected = {HOST, *extras}
    for name in sorted(expected - names):
        yield f"the dependency {name} is missing"
    for name in sorted(names - expected):
        yield f"the dependency {name} is not known to be needed"


def docstring_faults(docstring: str | None) -> Iterator[str]:
    """Whether a plugin's module says what it is and where that is documented."""
    if not docstring:
        yield "the module has no docstring"
    elif "https://" not in docstring:
        yield "the docstring links to no documentation"


def variable_faults(spec: ProviderSpec) -> Iterator[str]:
    """Whether the process variables of a vendor are spelled as such, each once."""
    names = (*spec.environment, *spec.environment_data)
    for name in sorted(set(names)):
        if not name.isidentifier() or name != name.upper():
            yield f"the variable {name!r} is not in upper case"
        if names.count(name) > 1:
            yield f"the variable {name!r} is read twice"


def request_faults(request: UpstreamRequest, *, model: str, secret: str | None) -> Iterator[str]:
    """Whether a call names its model and shows its key, in the right places and only there.

    Without a secret nothing is said of keys: the vendor takes none in a header.
    """
    if secret is not None:
        # A key in a URL ends up in logs of proxies.
        bearers = [name for name, value in request.headers.items() if secret in value]
        if len(bearers) != 1:
            yield f"the key should be in one header, not in {bearers}"
        if secret in request.url or secret.encode() in request.body:
            yield "the key is in the URL or the body"
    for name in request.headers:
        if name != name.lower():
            yield f"the header {name} is not in lower case"
    members = msgspec.json.decode(request.body, type=dict[str, Any])
    if members.get("model") != model and model not in unquote(request.url):
        yield f"neither the URL nor the body names the model {model}"

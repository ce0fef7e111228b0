"""What every plugin folder keeps to: names, dependencies, documentation, and a call that works."""

import json
import subprocess
import sys
from collections import Counter
from functools import cache
from itertools import product
from typing import Any

import pytest
from parametrize_ids import parametrize_id
from plugin_folders import (
    GOLDEN,
    QUESTIONS,
    SECRET,
    Folder,
    ask,
    folders,
    models_of,
    registry_of,
    reported,
    specs_of,
)
from vendor_answers import INPUT_TOKENS, OUTPUT_TOKENS, STREAMED, WHOLE, WORDS

from gateway_core.plugins import load
from gateway_core.plugins.registry import build
from gateway_providers.testing import (
    dependency_faults,
    docstring_faults,
    naming_faults,
    request_faults,
    variable_faults,
)

FORMATS = folders("format")
PROVIDERS = folders("provider")
EXTRAS = {"bedrock": {"botocore"}, "edge-tts": {"edge-tts"}, "vertex": {"google-auth"}}
"""Libraries that a plugin needs besides its host."""
HEAVY = {"botocore", "google.auth", "cryptography"}
"""Libraries that take long to import, so that a plugin waits until it needs them."""
LONGEST_IMPORT = 0.5
"""Seconds of work, on a busy machine; the usual is a hundredth of that."""

every_plugin = pytest.mark.parametrize("folder", [*FORMATS, *PROVIDERS], ids=parametrize_id)
every_vendor = pytest.mark.parametrize("folder", PROVIDERS, ids=parametrize_id)

LOOK = """
import importlib, json, sys, time

def refuse(event, args):
    if event.startswith("socket.") and event != "socket.__new__":
        raise PermissionError(f"{event} while a plugin is imported")

import gateway_core.app, gateway_formats, gateway_providers
sys.addaudithook(refuse)
seen, found = set(sys.modules), {}
for name in json.load(sys.stdin):
    begun = time.process_time()
    try:
        importlib.import_module(name)
        trouble = None
    except Exception as error:
        trouble = repr(error)
    taken = time.process_time() - begun
    new = sorted(set(sys.modules) - seen)
    seen.update(new)
    found[name] = {"seconds": taken, "trouble": trouble, "new": new}
json.dump(found, sys.stdout)
"""


@cache
def imports() -> dict[str, Any]:
    """What importing every plugin, one after the other, does in a fresh process."""
    names = [folder.module_name for folder in [*FORMATS, *PROVIDERS]]
    ended = subprocess.run(
        [sys.executable, "-c", LOOK], input=json.dumps(names), capture_output=True, text=True
    )
    assert ended.returncode == 0, ended.stderr
    found: dict[str, Any] = json.loads(ended.stdout)
    return found


@every_plugin
def test_its_names_agree(folder: Folder) -> None:
    assert list(naming_faults(folder.kind, folder.id, folder.project())) == []


@every_plugin
def test_it_needs_no_more_than_it_must(folder: Folder) -> None:
    extras = EXTRAS.get(folder.id, set()) if folder.kind == "provider" else set()

    assert list(dependency_faults(folder.project(), extras)) == []


@every_plugin
def test_it_links_to_its_documentation(folder: Folder) -> None:
    assert list(docstring_faults(folder.module().__doc__)) == []


@every_plugin
def test_it_is_typed(folder: Folder) -> None:
    assert (folder.path / folder.module_name / "py.typed").is_file()


@every_plugin
def test_the_gateway_takes_all_it_brings(folder: Folder) -> None:
    registry = registry_of(folder)

    assert registry.problems == ()
    brought = registry.providers if folder.kind == "provider" else registry.formats
    assert folder.id in brought


@every_plugin
def test_importing_it_touches_no_network(folder: Folder) -> None:
    assert imports()[folder.module_name]["trouble"] is None


@every_plugin
def test_importing_it_is_quick(folder: Folder) -> None:
    seen = imports()[folder.module_name]

    assert HEAVY.isdisjoint(seen["new"])
    assert seen["seconds"] < LONGEST_IMPORT


def test_all_plugins_get_on_with_one_another() -> None:
    present = {folder.key: folder.module() for folder in [*FORMATS, *PROVIDERS]}

    registry = build(load(entry_points=False, extra=present))

    assert registry.problems == ()
    names = [
        name
        for spec in registry.providers.values()
        for name in {spec.id, spec.alias or spec.id, *spec.aliases}
    ]
    assert [name for name, count in Counter(names).items() if count > 1] == []


@every_vendor
def test_its_variables_are_spelled_as_such(folder: Folder) -> None:
    assert [fault for spec in specs_of(folder) for fault in variable_faults(spec)] == []


def test_no_two_vendors_read_one_variable() -> None:
    readers = Counter(
        name
        for folder in PROVIDERS
        for spec in specs_of(folder)
        for name in (*spec.environment, *spec.environment_data)
    )

    assert [name for name, count in readers.items() if count > 1] == []


@every_vendor
def test_what_it_tells_others_is_what_it_told_before(folder: Folder) -> None:
    for spec in specs_of(folder):
        copy = GOLDEN / f"{spec.id}.json"

        assert copy.is_file(), f"write {copy.name} with tests/support/golden.py"
        assert reported(folder, spec) == json.loads(copy.read_text()), "see tests/data/README.md"


def test_there_is_no_copy_of_a_vendor_that_is_gone() -> None:
    known = {spec.id for folder in PROVIDERS for spec in specs_of(folder)}

    assert {copy.stem for copy in GOLDEN.iterdir()} == known


NAMELESS = {"dify"}
"""Vendors whose key alone says what is asked."""
CALLS = [
    pytest.param(folder, client, stream, id=f"{folder}-{client}-{'stream' if stream else 'whole'}")
    for folder, client, stream in product(PROVIDERS, sorted(QUESTIONS), (False, True))
]


@pytest.mark.parametrize(("folder", "client", "stream"), CALLS)
def test_a_call_shows_its_key_and_names_its_model(
    folder: Folder, client: str, stream: bool
) -> None:
    for spec in specs_of(folder):
        for model in models_of(spec):
            request = ask(folder, spec, model, client, stream=stream).request

            # A vendor without keys gets none, and one that wants it in the URL none in a header.
            has_header = spec.auth.type != "none" and spec.auth.scheme != "query"
            secret = SECRET if has_header else None
            name = "" if spec.id in NAMELESS else model.id
            assert list(request_faults(request, model=name, secret=secret)) == []


@pytest.mark.parametrize(("folder", "client", "stream"), CALLS)
def test_an_answer_reaches_the_client(folder: Folder, client: str, stream: bool) -> None:
    for spec in specs_of(folder):
        for model in models_of(spec):
            exchange = ask(folder, spec, model, client, stream=stream)
            answer = (STREAMED if stream else WHOLE)[exchange.upstream_format]

            given = exchange.feed(answer) + exchange.close()

            assert exchange.failure is None
            assert WORDS.encode() in given
            assert exchange.usage is not None
            assert exchange.usage.input_tokens == INPUT_TOKENS
            assert exchange.usage.output_tokens == OUTPUT_TOKENS


@every_vendor
def test_an_account_may_name_another_address(folder: Folder) -> None:
    host = "http://127.0.0.1:8099"
    address = f"{host}/elsewhere"

    for spec in specs_of(folder):
        for model, client in product(models_of(spec), sorted(QUESTIONS)):
            request = ask(folder, spec, model, client, base_url=address).request

            # A format that the vendor serves at a base of its own keeps that path on the new host.
            assert request.url.startswith(f"{host}/")

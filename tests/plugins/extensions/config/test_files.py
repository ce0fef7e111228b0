"""Files with faults, gateways that cannot be reached, and what the API has that a file has not."""

import re
import subprocess
from pathlib import Path

import pytest
from config_files import ConfigCommand
from gateway_extension_config.id_collections import IdCollection
from gateway_extension_config.sections import SECTIONS
from gateway_process import COMMAND, running

ACTIONS = {
    "/api/auth/": "logins of people",
    "/api/oauth/": "logins of people",
    "/api/headroom/": "an action of a person",
    "/api/locale": "a cookie of one browser",
    "/api/connections": "another path of /api/providers",
    "/api/providers/reorder": "the priorities of accounts, all at once",
    "/api/providers/validate": "a test",
    "/api/providers/test-batch": "a test",
    "/api/providers/{id}/test": "a test",
    "/api/providers/{id}/test-models": "a test",
    "/api/providers/web-login/": "logins of people",
    "/api/provider-nodes/validate": "a test",
    "/api/combos/presets": "makes combos",
    "/api/models/availability": "ends pauses",
    "/api/models/auto-sync": "fetches lists of models",
    "/api/models/test": "a test",
    "/api/proxy-pools/{id}/test": "a test",
    "/api/proxy-pools/cloudflare-deploy": "an action",
    "/api/proxy-pools/vercel-deploy": "an action",
    "/api/settings/proxy-test": "a test",
    "/api/settings/auto-configure": "an action of a person",
    "/api/settings/firecrawl/detect": "an action of a person",
    "/api/settings/database": "moves the database",
    "/api/health/providers": "forgets findings",
    "/api/usage/": "the ledger",
    "/api/data-retention": "deletes once; what is deleted daily is a setting",
    "/api/translator/": "a tool of the dashboard",
    "/api/playground/": "a tool of the dashboard",
    "/api/mcp/control": "the same objects, for agents",
    "/api/version/": "the process",
    "/api/shutdown": "the process",
    "/api/batches/": "work of clients",
    "/api/files/": "files of clients",
    "/api/chat": "an endpoint of clients",
}
"""What writes and is no configuration, by path and what is below it."""


def test_every_object_that_the_api_writes_has_a_section(config: ConfigCommand) -> None:
    covered = {route for section in SECTIONS.values() for route in section.routes}
    written = {
        (method.upper(), path)
        for path, operations in config.world().document["paths"].items()
        for method in operations
        if path.startswith("/api/") and method in ("post", "put", "patch", "delete")
    }

    def is_action(path: str) -> bool:
        return any(path == a or path.startswith(a if a[-1] == "/" else f"{a}/") for a in ACTIONS)

    unknown = {route for route in written - covered if not is_action(route[1])}
    assert unknown == set(), "add a section to gateway_extension_config/sections.py"
    assert covered <= written


def test_every_member_that_the_api_writes_is_a_field(config: ConfigCommand) -> None:
    """A member that a list does not show could not be exported, and would differ for ever."""
    assert config("apply", file=config.full()).code == 0
    world = config.world()

    for section in SECTIONS.values():
        if not isinstance(section, IdCollection):
            continue
        rows = [each.row for each in world.stored(section.name)]
        shown = {member for row in rows for member in row}
        shown |= {member for row in rows for member in row.get("providerSpecificData") or ()}
        # Shown once they are set.
        shown |= {"globalPriority", "defaultModel", "modelId", "connectionProxyEnabled"}
        shown |= {"connectionProxyUrl", "connectionNoProxy"}
        assert set(section.members(world)) <= {*shown, *section.write_only}, section.name
        put = set(world.body_members("PUT", f"{section.path}/{{id}}"))
        known = {*section.members(world), *section.skipped, section.identity}
        if section.name == "keys":
            policy = world.document["components"]["schemas"]["KeyBody"]["properties"]
            known |= {each for each in policy if re.search("Limit|max|Budget|Models|Access", each)}
            known |= {"allowAutoCombos"}
        assert put <= known, section.name


FAULTS = {
    "section": ("comboz: {}", "1: there is no section comboz; did you mean combos?"),
    "form": ("- 1", "1: a configuration is a mapping of sections"),
    "version": ("version: 2", "1: only version 1 is read"),
    "names": ("combos: [one]", "1: combos has to be a mapping of names"),
    "object": ("combos:\n  one: 5", "2: combos/one has to be a mapping of fields"),
    "field": (
        "combos:\n  one:\n    modelz: []",
        "3: combos have no field modelz in a file; did you mean models?",
    ),
    "setting": (
        "settings:\n  fallbackStrategi: fallback",
        "2: settings have no field fallbackStrategi in a file; did you mean fallbackStrategy?",
    ),
    "fact": (
        "settings:\n  databaseEngine: postgres",
        "2: settings have no field databaseEngine in a file (changed with the database's own ",
    ),
    "type": ("combos:\n  one:\n    models: 5", "3: models does not fit: a list or null is needed"),
    "item": ("combos:\n  one:\n    models:\n    - a\n    - {}", "5: models.1 does not fit: text"),
    "enum": (
        "settings:\n\n  comboStrategy: fastest",
        "3: comboStrategy does not fit: one of auto, fallback,",
    ),
    "plain": ("aliases:\n  a: [1]", "2: aliases/a does not fit: text is needed"),
    "provider": (
        "connections:\n  opnai:\n    work: {apiKey: '${env:OPENAI_WORK_API_KEY}'}",
        "3: there is no provider opnai; did you mean openai?",
    ),
    "reference": (
        "connectionGroups:\n  Work: {connections: [openai/none]}",
        "2: connectionGroups/Work: connections has no openai/none",
    ),
    "plugin": (
        "plugins: {grok: {enabled: false}}",
        "1: there is no plugin grok; did you mean groq?",
    ),
    "settingless": (
        "pluginSettings: {groq: {a: 1}}",
        "1: the plugin groq has no settings, or is not loaded",
    ),
    "literal": (
        "connections:\n  openai:\n    work:\n      apiKey: sk-canary-literal",
        "4: a secret is written as ${env:NAME} or ${file:/path}, not in clear",
    ),
    "inner": (
        "connections:\n  bedrock:\n    a:\n      providerSpecificData:\n"
        "        secretAccessKey: canary-inner",
        "5: a secret is written as ${env:NAME}",
    ),
    "address": (
        "proxies:\n  a: {proxyUrl: 'http://ann:canary@127.0.0.1:1'}",
        "2: a secret is written as ${env:NAME}",
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_refused_with_its_line(config: ConfigCommand, name: str) -> None:
    text, message = FAULTS[name]

    refused = config("plan", file=text)

    assert refused.code == 1
    assert f"gateway.yaml:{message}" in refused.errors
    assert "canary" not in refused.errors + refused.output


def test_objects_of_one_name_are_told_apart_by_their_ids(config: ConfigCommand) -> None:
    world = config.world()
    for _ in range(2):
        world.call("POST", "/api/keys", {"name": "twin", "machineId": "any"})
    names = [each.name[0] for each in world.stored("keys")]

    refused = config("plan", file="keys: {twin: {isActive: false}}")
    made = config("apply", file=f'keys: {{"{names[0]}": {{isActive: false}}}}')

    assert all(re.fullmatch(r"twin \([0-9a-f-]+\)", name) for name in names)
    assert refused.code == 1
    assert f"twin is the name of several; write one of: {', '.join(names)}" in refused.errors
    assert made.code == 0, made.errors
    assert [e.fields["isActive"] for e in config.world().stored("keys")] == [False, True]


def test_a_key_goes_to_an_address_in_the_place_of_the_token(config: ConfigCommand) -> None:
    made = config.world().call("POST", "/api/keys", {"name": "ci", "machineId": "any"})
    file = "combos: {one: {models: [echo/echo]}}"

    wrong = config("plan", file=file, variables={"MODEL_GATEWAY_KEY": "sk-canary"})
    right = config("apply", file=file, variables={"MODEL_GATEWAY_KEY": made["key"]})
    refused = config(
        "apply",
        file="proxies: {a: {proxyUrl: 'http://127.0.0.1:1'}}",
        variables={"MODEL_GATEWAY_KEY": made["key"]},
    )
    exported = config("export", variables={"MODEL_GATEWAY_KEY": made["key"]})

    assert wrong.code == 1
    assert "canary" not in wrong.errors
    assert right.code == 0, right.errors
    assert refused.code == 1
    assert "! proxies/a could not be created: An API key may not set a proxy" in refused.output
    assert exported.code == 0, exported.errors
    assert "# keyGroups are left out: " in exported.output


def test_a_gateway_that_does_not_answer_is_an_error(config: ConfigCommand) -> None:
    refused = config("export", url="http://127.0.0.1:9")

    assert refused.code == 1
    assert "No gateway answers at http://127.0.0.1:9" in refused.errors


def test_the_command_finds_the_gateway_of_its_data_directory(tmp_path: Path) -> None:
    file = tmp_path / "gateway.yaml"
    file.write_text("combos: {one: {models: [echo/echo]}}")
    with running(tmp_path / "data") as here:
        environment = {"DATA_DIR": str(tmp_path / "data"), "PATH": "/usr/bin:/bin"}
        command = [COMMAND, "config", "apply", str(file)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True)

    assert here.url
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("1 applied.\n")

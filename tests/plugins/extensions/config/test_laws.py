"""What holds for every file, over a gateway with one of everything."""

import json
from pathlib import Path

from config_files import KEYS, ConfigCommand
from gateway_extension_config.documents import write_document
from gateway_extension_config.sections import SECTIONS
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

NOTHING = (0, "Nothing to do.\n")


def test_apply_makes_one_of_everything_and_is_idempotent(config: ConfigCommand) -> None:
    pending = config("plan", file=config.full())
    made = config("apply", file=config.full())
    again = config("apply", file=config.full())
    plan = config("plan", file=config.full())

    assert pending.code == 2
    assert made.code == 0, made.errors
    assert (again.code, again.output) == (0, "0 applied.\n")
    assert (plan.code, plan.output) == NOTHING
    assert "canary" not in pending.output + made.output + made.errors


def test_export_then_apply_changes_nothing(config: ConfigCommand) -> None:
    assert config("apply", file=config.full()).code == 0

    exported = config("export")
    plan = config("plan", "--prune", file=exported.output)
    again = config("apply", "--prune", file=exported.output)

    assert exported.code == 0
    assert "canary" not in exported.output
    assert {name for name in KEYS if name not in exported.output} == set()
    assert {name for name in SECTIONS if f"\n{name}:" not in exported.output} == set()
    assert (plan.code, plan.output) == NOTHING
    assert (again.code, again.output) == (0, "0 applied.\n")
    assert config("export").output == exported.output


def test_an_export_makes_the_same_at_an_empty_gateway(config: ConfigCommand) -> None:
    assert config("apply", file=config.full()).code == 0
    exported = config("export").output
    config.clear()

    made = config("apply", file=exported)

    assert made.code == 0, made.errors
    assert config("export").output.split("version:")[1] == exported.split("version:")[1]


PARTS = ("keys", "keyGroups", "settings", "connections", "customModels")


@settings(
    max_examples=4,
    deadline=None,
    # Each example is several calls of a served gateway, too dear to look for a smaller one.
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    limit=st.integers(1, 900),
    color=st.sampled_from(["red", "#123456"]),
    weight=st.integers(1, 50),
    names=st.sets(st.sampled_from(PARTS), min_size=1),
)
def test_a_partial_file_touches_nothing_else(
    config: ConfigCommand, limit: int, color: str, weight: int, names: set[str]
) -> None:
    if not config.world().stored("combos"):
        assert config("apply", file=config.full()).code == 0
    before = shown(config)
    part: dict[str, object] = {
        "keys": {"laptop": {"policy": {"rpmLimit": limit}}},
        "keyGroups": {"team": {"color": color}},
        "settings": {"comboStrategies": {"helpful": {"stickyRoundRobinLimit": weight}}},
        "connections": {"openai": {"work": {"providerSpecificData": {"region": f"r{weight}"}}}},
        "customModels": {"openai": {"llm": {"a-model": {"capabilities": {"maxOutput": limit}}}}},
    }
    part = {name: part[name] for name in names}

    made = config("apply", file=write_document(part))

    assert made.code == 0, made.errors
    after = shown(config)
    merge(before, part)
    assert after == before
    assert config("plan", file=write_document(part)).code == 0


def shown(config: ConfigCommand) -> dict[str, object]:
    """Everything that the gateway has, by section and name."""
    tree: dict[str, object] = {}
    world = config.world()
    for section in (each for each in SECTIONS if not each.startswith("plugin")):
        for stored in world.stored(section):
            place = tree.setdefault(section, {})
            for name in stored.name:
                place = place.setdefault(name, {})  # type: ignore[attr-defined]
            place.update(stored.fields)  # type: ignore[attr-defined]
    return json.loads(json.dumps(tree))  # type: ignore[no-any-return]


def merge(tree: dict[str, object], part: dict[str, object]) -> None:
    for name, value in part.items():
        inner = tree.get(name)
        if isinstance(value, dict) and isinstance(inner, dict):
            merge(inner, value)
        else:
            tree[name] = value


def test_what_is_not_in_the_file_goes_only_with_prune(config: ConfigCommand) -> None:
    file = "combos: {one: {models: [echo/echo]}}"
    config("apply", file="combos: {one: {models: [echo/echo]}, two: {models: [one]}}")

    kept, drift = config("plan", file=file), config("diff", file=file)
    pruning, pruned_drift = (
        config("plan", "--prune", file=file),
        config("diff", "--prune", file=file),
    )
    pruned = config("apply", "--prune", file=file)

    assert (kept.code, "combos/two is not in the file and stays" in kept.output) == (0, True)
    assert drift.code == 0
    assert (pruning.code, pruning.output) == (2, "- combos/two\n1 to delete.\n")
    assert (pruned_drift.code, pruned_drift.output) == (2, "combos/two is not in the file\n")
    assert (pruned.code, pruned.output) == (0, "- combos/two\n1 applied.\n")
    assert config("plan", "--prune", file=file).output == NOTHING[1]


def test_a_failure_in_the_middle_says_what_was_done_and_the_next_run_goes_on(
    config: ConfigCommand,
) -> None:
    file = (
        "proxies: {office: {proxyUrl: 'http://127.0.0.1:3128'}}\n"
        "aliases: {parrot: %s}\n"
        "combos: {one: {models: [echo/echo]}}\n"
    )

    broken = config("apply", file=file % "nobody/nothing")
    as_json = config("apply", "--json", file=file % "nobody/nothing")
    mended = config("apply", file=file % "echo/echo")

    assert broken.code == 1
    assert broken.output.startswith("+ proxies/office\n")
    assert "! aliases/parrot could not be created: Invalid model: " in broken.output
    assert "  combos/one was not begun\n1 applied, 1 refused, 1 not begun." in broken.output
    assert as_json.code == 1
    assert as_json.json["done"] == []
    assert as_json.json["failed"]["name"] == ["parrot"]
    assert [each["section"] for each in as_json.json["left"]] == ["combos"]
    assert mended.code == 0
    assert "proxies" not in mended.output
    assert mended.output.endswith("2 applied.\n")


def test_a_missing_variable_is_refused_before_anything_is_changed(
    config: ConfigCommand, tmp_path: Path
) -> None:
    file = (
        "combos: {one: {models: [echo/echo]}}\n"
        "connections:\n  openai:\n    work:\n      apiKey: ${env:NOT_THERE}\n"
        "    spare:\n      apiKey: ${file:key.txt}\n"
    )

    plan = config("plan", file=file)
    refused = config("apply", file=file)
    still_empty = config.world().stored("combos")
    (tmp_path / "key.txt").write_text("sk-canary-file\n")
    made = config("apply", file=file, variables={"NOT_THERE": "sk-canary"})

    assert plan.code == 2
    assert "! the environment variable NOT_THERE is not set\n" in plan.output
    assert refused.code == 1
    assert "gateway.yaml:5: the environment variable NOT_THERE is not set\n" in refused.errors
    assert "gateway.yaml:7: there is no file key.txt\nNothing was changed.\n" in refused.errors
    assert still_empty == ()
    assert made.code == 0, made.errors


def test_secrets_are_written_when_they_have_to_be(config: ConfigCommand) -> None:
    file = config.full()
    config("apply", file=file)

    moved = config("apply", file=file.replace("/v1", "/v2"))
    state = {each.name: each.row.get("testStatus") for each in config.world().stored("connections")}
    again = config("plan", "--secrets", file=file.replace("/v1", "/v2"))

    assert moved.code == 0, moved.errors
    assert "~ connections/here/local\n    apiKey: (secret, written)" in moved.output
    assert state[("here", "local")] == "unknown"
    assert again.code == 2
    assert again.output.count("(secret, written)") == 7


def test_the_texts_of_new_keys_go_to_a_file_of_the_owner(
    config: ConfigCommand, tmp_path: Path
) -> None:
    place = tmp_path / "keys.json"
    file = "keys: {one: {inferenceOnly: true}}"

    made = config("apply", "--new-keys", str(place), file=file)
    text = json.loads(place.read_text())["one"]
    second = config("apply", "--new-keys", str(place), file="keys: {two: {}}")

    assert made.code == 0, made.errors
    assert text.startswith("sk-")
    assert text not in made.output + made.errors
    assert place.stat().st_mode & 0o777 == 0o600
    assert second.code == 1
    assert [each.name for each in config.world().stored("keys")] == [("one",)]


def test_what_a_list_leaves_to_defaults_is_no_difference(config: ConfigCommand) -> None:
    """A rule of guardrails has more members than a person writes."""
    rules = """
version: 1
pluginSettings:
  extension-guardrails:
    rules: [{name: keys, kind: secrets, on: requests%s}]
"""
    applied = config("apply", file=rules % "")
    assert applied.code == 0, applied
    assert config("plan", file=rules % "").code == 0
    assert config("plan", file=rules % ", timeout: 5").code == 2
    assert config("apply", file=rules % ", timeout: 5").code == 0
    assert config("plan", file=rules % "").code == 2  # A list is owned as a whole.

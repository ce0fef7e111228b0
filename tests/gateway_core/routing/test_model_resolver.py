"""What a model name means, rule by rule and in their order."""

from collections.abc import Sequence

import pytest
from msgspec.structs import replace
from snapshots import account, combo, provider, snapshot_of

from gateway_core import Auth, BadRequest, GatewayError, Kind, Model, ProviderSpec
from gateway_core.contracts.errors import NoCredentials, NotAChatModel, NothingToTry, NotOfKind
from gateway_core.routing.model_resolver import (
    MAX_NAME,
    Resolved,
    family_combo,
    resolve,
    serves_chat,
)
from gateway_core.routing.snapshot import ConfigSnapshot

ACME = provider("acme", "gpt-1", "org/deep/model", alias="ac", aliases=("ack",))
ROUTER = provider("router", "plain", alias="ro", passthrough_models=True)
NODE = ProviderSpec(
    id="node-7", name="Mine", alias="mine", base_url="http://x/v1", auth=Auth(type="optional")
)


def meaning(
    snapshot: ConfigSnapshot, name: str, kind: Kind = Kind.LLM, *, decorated: bool = False
) -> str:
    """``provider|model``, or the combo's name."""
    found = resolve(snapshot, name, kind, decorated=decorated)
    if found.combo is not None:
        return found.combo.name
    assert found.target is not None
    return f"{found.target.provider.id}|{found.target.model.id}"


@pytest.mark.parametrize("prefix", ["acme", "ac", "ack"])
def test_a_provider_is_known_by_its_id_and_every_alias(prefix: str) -> None:
    assert meaning(snapshot_of(ACME), f"{prefix}/gpt-1") == "acme|gpt-1"


def test_further_slashes_belong_to_the_models_id() -> None:
    assert meaning(snapshot_of(ACME), "ac/org/deep/model") == "acme|org/deep/model"


def test_a_model_that_is_not_listed_is_sent_as_it_stands() -> None:
    assert meaning(snapshot_of(ACME), "ac/brand-new") == "acme|brand-new"


def test_a_built_in_wins_over_a_nodes_prefix() -> None:
    node = provider("node-9", alias="ac")

    assert meaning(snapshot_of(ACME, nodes=[node]), "ac/gpt-1") == "acme|gpt-1"


@pytest.mark.parametrize("name", ["mine/m", "node-7/m", "mine/mine/m", "node-7/mine/m"])
def test_a_nodes_own_prefix_is_dropped_once(name: str) -> None:
    assert meaning(snapshot_of(nodes=[NODE]), name) == "node-7|m"


def test_only_one_redundant_prefix_of_a_node_is_dropped() -> None:
    assert meaning(snapshot_of(nodes=[NODE]), "mine/mine/mine/m") == "node-7|mine/m"


def test_a_nodes_listed_model_keeps_what_looks_like_a_prefix() -> None:
    snapshot = snapshot_of(nodes=[NODE], models={"node-7": (Model("mine/m"),)})

    assert meaning(snapshot, "mine/mine/m") == "node-7|mine/m"


def test_a_built_ins_model_keeps_what_looks_like_a_prefix() -> None:
    assert meaning(snapshot_of(ROUTER), "ro/ro/auto") == "router|ro/auto"


@pytest.mark.parametrize("name", ["nobody/m", "acme/", "/m", "/"])
def test_an_unknown_prefix_or_no_model_has_no_credentials(name: str) -> None:
    with pytest.raises(NoCredentials):
        resolve(snapshot_of(ACME), name)


def test_a_combo_comes_before_an_alias_and_an_alias_before_a_beginning() -> None:
    spec = provider("acme", beginnings=("gpt-",))
    everything = snapshot_of(
        spec, ROUTER, combos=[combo("gpt-1", "acme/x")], aliases={"gpt-1": "router/plain"}
    )
    no_combo = snapshot_of(spec, ROUTER, aliases={"gpt-1": "router/plain"})

    assert meaning(everything, "gpt-1") == "gpt-1"
    assert meaning(no_combo, "gpt-1") == "router|plain"
    assert meaning(snapshot_of(spec, ROUTER), "gpt-1") == "acme|gpt-1"


def test_a_name_with_a_slash_is_never_a_combo_or_an_alias() -> None:
    snapshot = snapshot_of(ACME, combos=[combo("ac/gpt-1", "x/y")], aliases={"ac/gpt-1": "x/y"})

    assert meaning(snapshot, "ac/gpt-1") == "acme|gpt-1"


def test_an_alias_may_mean_a_combo_or_a_bare_model_but_never_another_alias() -> None:
    snapshot = snapshot_of(
        ACME,
        combos=[combo("team", "acme/gpt-1")],
        aliases={"a": "team", "b": "gpt-1", "c": "b"},
    )

    assert meaning(snapshot, "a") == "team"
    assert meaning(snapshot, "b") == "acme|gpt-1"
    with pytest.raises(BadRequest):
        resolve(snapshot, "c")


def test_the_longest_beginning_decides() -> None:
    snapshot = snapshot_of(
        provider("all", beginnings=("",)),
        provider("gpt", beginnings=("gpt-",)),
        provider("oss", beginnings=("gpt-oss",)),
    )

    assert meaning(snapshot, "gpt-oss-20b") == "oss|gpt-oss-20b"
    assert meaning(snapshot, "gpt-5") == "gpt|gpt-5"


def test_the_one_connected_provider_that_lists_a_model_serves_it() -> None:
    one = snapshot_of(ACME, ROUTER)
    two = snapshot_of(ACME, provider("other", "gpt-1"))
    not_connected = snapshot_of(ACME, provider("other", "gpt-1"), accounts=[account("a", "other")])

    assert meaning(one, "gpt-1") == "acme|gpt-1"
    assert meaning(not_connected, "gpt-1") == "other|gpt-1"
    with pytest.raises(BadRequest, match="Invalid model format"):
        resolve(two, "gpt-1")


@pytest.mark.parametrize(
    ("name", "error", "message"),
    [
        ("", BadRequest, "Missing model"),
        ("x" * (MAX_NAME + 1), BadRequest, "Invalid model format"),
        ("unheard-of", BadRequest, "Invalid model format"),
        ("auto/llama", NothingToTry, 'Combo "auto/llama" has no models'),
    ],
    ids=["empty", "too long", "unknown", "empty family"],
)
def test_a_name_without_a_meaning_is_refused(
    name: str, error: type[GatewayError], message: str
) -> None:
    with pytest.raises(error, match=message):
        resolve(snapshot_of(ACME), name)


def test_a_model_for_other_work_is_not_a_chat_model() -> None:
    mixed = provider("acme", "chat", Model("vectors", kind=Kind.EMBEDDING))
    only = provider("only", Model("vectors", kind=Kind.EMBEDDING))
    snapshot = snapshot_of(mixed, only)

    for name in ("acme/vectors", "only/vectors", "only/anything"):
        with pytest.raises(NotAChatModel):
            resolve(snapshot, name)
    assert meaning(snapshot, "acme/vectors", Kind.EMBEDDING) == "acme|vectors"
    with pytest.raises(NotOfKind, match="acme/chat is not a model for embedding"):
        resolve(snapshot, "acme/chat", Kind.EMBEDDING)


def test_of_two_rows_with_one_id_the_one_of_the_wanted_kind_is_taken() -> None:
    both = provider("acme", Model("m"), Model("m", kind=Kind.IMAGE))

    found = resolve(snapshot_of(both), "acme/m", Kind.IMAGE)

    assert found.target is not None
    assert found.target.model.kind is Kind.IMAGE


def test_a_provider_without_any_rows_is_taken_to_chat() -> None:
    snapshot = snapshot_of(provider("empty"), provider("v", Model("e", kind=Kind.EMBEDDING)))

    assert serves_chat(snapshot, snapshot.registry.providers["empty"])
    assert not serves_chat(snapshot, snapshot.registry.providers["v"])


def test_a_disabled_model_is_refused_by_name() -> None:
    snapshot = snapshot_of(ACME, models={"acme": ()}, hidden=frozenset({("acme", "gpt-1")}))

    with pytest.raises(BadRequest, match="disabled") as caught:
        resolve(snapshot, "ac/gpt-1")
    assert caught.value.code == "model_disabled"


@pytest.mark.parametrize("name", ["ac/GPT-1", "ac/gpt-1:fast", "ac/Gpt-1:fast", " ac/gpt-1\n"])
def test_no_spelling_of_a_disabled_model_is_taken(name: str) -> None:
    spec = replace(ACME, variants=(":fast",))
    snapshot = snapshot_of(spec, models={"acme": ()}, hidden=frozenset({("acme", "gpt-1")}))

    with pytest.raises(BadRequest, match="disabled"):
        resolve(snapshot, name)


def test_only_models_that_are_shown_are_taken_where_some_are() -> None:
    shown = {"acme": frozenset({"gpt-1", "brand-new"})}
    snapshot = snapshot_of(replace(ACME, variants=(":fast",)), shown=shown)

    assert meaning(snapshot, "ac/gpt-1:fast") == "acme|gpt-1:fast"
    assert meaning(snapshot, "ac/brand-new") == "acme|brand-new"
    for name in ("ac/org/deep/model", "ac/unlisted"):
        with pytest.raises(BadRequest, match="disabled"):
            resolve(snapshot, name)


def test_a_listed_model_goes_by_its_listed_spelling() -> None:
    twice = provider("acme", "Large", "large", alias="ac")

    assert meaning(snapshot_of(ACME), " ac/GPT-1 ") == "acme|gpt-1"
    assert meaning(snapshot_of(twice), "ac/large") == "acme|large"
    assert meaning(snapshot_of(ACME), "ac/Unlisted") == "acme|Unlisted"


@pytest.mark.parametrize(
    "rest",
    [
        *("./gpt-1", "x/../gpt-1", "..", ".", "/gpt-1", "gpt-1/", "org//deep", "gpt-1/."),
        *(
            "gpt-1?x",
            "gpt-1#x",
            "%67pt-1",
            "org\\gpt-1",
            "gpt-1;x",
            "org/ gpt-1",
            "a\tb",
            "a\u200b",
        ),
    ],
)
def test_a_name_that_could_be_read_as_another_one_is_refused(rest: str) -> None:
    with pytest.raises(BadRequest, match="Invalid model format"):
        resolve(snapshot_of(ACME), f"ac/{rest}")


def test_a_local_servers_model_may_be_the_path_of_a_file() -> None:
    files = provider("files", "/data/model.gguf", "../model.gguf")
    in_path = replace(files, format="gemini")

    assert meaning(snapshot_of(files), "files//data/model.gguf") == "files|/data/model.gguf"
    assert meaning(snapshot_of(files), "files/../model.gguf") == "files|../model.gguf"
    with pytest.raises(BadRequest):
        resolve(snapshot_of(in_path), "files/../model.gguf")


@pytest.mark.parametrize("name", ["g/models/flash", "g/models/models/flash", "g/flash"])
def test_what_a_format_writes_before_ids_is_no_part_of_one(name: str) -> None:
    spec = provider("google", alias="g", format="gemini")

    assert meaning(snapshot_of(spec), name) == "google|flash"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (" ac/gpt-1 ", "ac/gpt-1"),
        ("claude-ac/gpt-1[1m]", "ac/gpt-1"),
        ("claude-nick", "nick"),
        ("auto/gpt ", "auto/gpt"),
    ],
)
def test_what_was_asked_for_is_compared_without_decorations(name: str, expected: str) -> None:
    snapshot = snapshot_of(ACME, aliases={"nick": "acme/gpt-1"})

    assert resolve(snapshot, name, decorated=True).name == expected


def test_an_unlisted_model_gets_the_providers_usual_context() -> None:
    found = resolve(snapshot_of(provider("acme", default_context=4096)), "acme/new")

    assert found.target is not None
    assert found.target.model.context == 4096


CLAUDE = provider("anthropic", "claude-x", "claude-own[1m]", beginnings=("claude-",))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("claude-ac/gpt-1", "acme|gpt-1"),
        ("claude-ac/gpt-1[1m]", "acme|gpt-1"),
        ("ac/gpt-1[1m]", "acme|gpt-1"),
        ("anthropic/claude-own[1m]", "anthropic|claude-own[1m]"),
        ("claude-x", "anthropic|claude-x"),
        ("claude-x[1m]", "anthropic|claude-x"),
        ("claude-own[1m]", "anthropic|claude-own[1m]"),
        ("claude-team", "team"),
        ("claude-nick", "acme|gpt-1"),
        ("claude-auto/gpt", "auto/gpt"),
        ("claude-unheard-of", "anthropic|claude-unheard-of"),
    ],
)
def test_decorations_come_off_a_name_that_is_otherwise_unknown(name: str, expected: str) -> None:
    snapshot = snapshot_of(
        ACME, CLAUDE, combos=[combo("team", "ac/gpt-1")], aliases={"nick": "acme/gpt-1"}
    )

    assert meaning(snapshot, name, decorated=True) == expected


def test_decorations_stay_where_they_are_not_expected() -> None:
    with pytest.raises(NoCredentials):
        resolve(snapshot_of(ACME), "claude-ac/gpt-1")


def members_of_family(family: str, *specs: ProviderSpec, **fields: object) -> Sequence[str]:
    return family_combo(snapshot_of(*specs, **fields), f"auto/{family}", family).models  # type: ignore[arg-type]


def test_a_family_is_every_connected_chat_model_whose_own_id_begins_with_it() -> None:
    first = provider(
        "first", "glm-4", "GLM-5", "vendor/glm-6", "glmx", Model("glm-e", kind=Kind.EMBEDDING)
    )
    second = provider("second", "glm-4")

    found = members_of_family("glm", first, second)
    alone = members_of_family("glm", first, second, accounts=[account("a", "second")])

    assert found == ("first/glm-4", "first/GLM-5", "first/vendor/glm-6", "second/glm-4")
    assert alone == ("second/glm-4",)


def test_other_models_of_a_provider_with_the_familys_name_do_not_belong() -> None:
    spec = provider("gemini", "gemini-3", "gemma-4")

    assert members_of_family("gemini", spec) == ("gemini/gemini-3",)
    assert members_of_family("gemma", spec) == ("gemini/gemma-4",)


def test_the_zai_family_is_a_providers_models() -> None:
    assert members_of_family("zai", provider("glm", "glm-4", "cog", alias="zai"), ACME) == (
        "glm/glm-4",
        "glm/cog",
    )


def test_a_family_comes_before_a_provider_called_auto() -> None:
    auto = provider("auto", "gpt", "gpt.5")

    assert resolve(snapshot_of(auto, ACME), "auto/gpt").combo is not None
    assert resolve(snapshot_of(auto, ACME), "auto/gpt.5") == Resolved(
        target=resolve(snapshot_of(auto), "auto/gpt.5").target, name="auto/gpt.5"
    )

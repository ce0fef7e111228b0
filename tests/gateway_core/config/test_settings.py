from typing import Any

import pytest
from parametrize_ids import parametrize_id

from gateway_core.config.settings import (
    ComboStrategy,
    ErrorRule,
    ProviderStrategy,
    Settings,
    check_changes,
    patchable,
    read_settings,
    traits,
    with_defaults,
)
from gateway_core.contracts.errors import BadRequest


def test_an_empty_document_gives_the_defaults() -> None:
    settings = read_settings({})

    assert settings == Settings()
    assert (settings.require_api_key, settings.require_login) == (False, True)
    assert (settings.fallback_strategy, settings.sticky_round_robin_limit) == ("fill-first", 3)
    assert (settings.combo_strategy, settings.combo_sticky_round_robin_limit) == ("fallback", 1)


def test_nested_values_are_read() -> None:
    settings = read_settings(
        {
            "providerStrategies": {"acme": {"fallbackStrategy": "round-robin"}},
            "comboStrategies": {"fast": {"timeoutMs": 500, "somethingNew": 1}},
            "providerErrorRules": {"acme": [{"status": 418, "match": "tea", "cooldownMs": 5}]},
            "retryDelayByProvider": {"acme": "auto", "other": 7},
            "mediaRoutes": {"tts": ["acme/voice"]},
        }
    )

    assert settings.invalid == ()
    assert settings.provider_strategies == {
        "acme": ProviderStrategy(fallback_strategy="round-robin")
    }
    assert settings.combo_strategies == {"fast": ComboStrategy(timeout_ms=500)}
    rule = ErrorRule(status=418, match="tea", cooldown_ms=5)
    assert settings.provider_error_rules == {"acme": (rule,)}
    assert settings.retry_delay_by_provider == {"acme": "auto", "other": 7.0}
    assert settings.media_routes == {"tts": ("acme/voice",)}


def test_undeclared_keys_are_kept_aside() -> None:
    settings = read_settings(
        {"requireApiKey": True, "newThing": {"a": 1}, "extra": 2, "invalid": 3}
    )

    assert settings.extra == {"newThing": {"a": 1}, "extra": 2, "invalid": 3}
    assert settings.require_api_key


def test_a_stored_value_that_makes_no_sense_never_stops_the_others() -> None:
    settings = read_settings({"requireApiKey": "yes", "stickyRoundRobinLimit": 5})

    assert settings.invalid == ("requireApiKey",)
    assert (settings.require_api_key, settings.sticky_round_robin_limit) == (False, 5)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("requireApiKey", "true"),
        ("requireApiKey", 1),
        ("stickyRoundRobinLimit", 0),
        ("stickyRoundRobinLimit", 11),
        ("fallbackStrategy", "random"),
        ("disabledFreeProviders", "acme"),
        ("disabledFreeProviders", [1]),
        ("mediaRoutes", {"smell": ["acme/nose"]}),
        ("mediaRoutes", []),
        ("dataRetentionDays", 3651),
        ("providerErrorRules", {"acme": [{"scope": "universe"}]}),
        ("providerErrorRules", {"one": [{}] * 25, "two": [{}] * 26}),
        ("retryDelayByProvider", {"acme": -1}),
    ],
    ids=parametrize_id,
)
def test_a_change_that_makes_no_sense_is_refused_by_name(key: str, value: Any) -> None:
    with pytest.raises(BadRequest) as caught:
        check_changes({"hidePaidModels": True, key: value})

    assert caught.value.message == f"Invalid {key}"


def test_fifty_error_rules_are_allowed() -> None:
    check_changes({"providerErrorRules": {"one": [{}] * 25, "two": [{}] * 25}})


def test_a_change_may_clear_a_key_and_set_unknown_ones() -> None:
    check_changes({"requireApiKey": None, "somethingNew": [1, "a"]})


def test_a_patch_cannot_touch_what_has_a_route_of_its_own() -> None:
    protected = (
        "password",
        "passwordSessionEpoch",
        "mitmSudoEncrypted",
        "postgresUrl",
        "mfaEnabled",
        "mfaSecret",
        "mfaBackupCodes",
    )

    assert patchable({**dict.fromkeys(protected, "x"), "authMode": "a", "new": 1}) == {
        "authMode": "a",
        "new": 1,
    }


def test_what_needs_a_session_is_marked() -> None:
    marked = {key for key, trait in traits().items() if trait.session_only or trait.never}

    assert marked >= {
        "exposeComboOnly",
        "requireLogin",
        "requireApiKey",
        "authMode",
        "oidcIssuerUrl",
        "oidcClientId",
        "oidcClientSecret",
        "oidcScopes",
        "oidcLoginLabel",
        "tunnelDashboardAccess",
        "enableObservability",
        "outboundProxyEnabled",
        "outboundProxyUrl",
        "outboundNoProxy",
        "claudeClassifierCompat",
    }


def test_what_is_never_shown_is_marked() -> None:
    never = {key for key, trait in traits().items() if trait.never}

    assert never >= {"postgresUrl", "mfaSecret", "mfaBackupCodes", "password", "oidcClientSecret"}


def test_every_setting_is_described() -> None:
    assert all(trait.description.endswith(".") for trait in traits().values())


def test_the_second_factor_is_sealed_for_a_purpose_of_its_own() -> None:
    assert traits()["mfaSecret"].sealed == "mfa"
    assert {traits()[key].sealed for key in ("postgresUrl", "outboundProxyUrl")} == {"settings"}


def test_a_document_is_completed_with_defaults_and_loses_nothing() -> None:
    whole = with_defaults({"comboStrategies": {"a": {"somethingNew": 1}}, "new": None})

    assert whole["comboStrategies"] == {"a": {"somethingNew": 1}}
    assert "new" in whole
    assert whole["stickyRoundRobinLimit"] == 3
    assert whole["quotaTrackerState"]["pageSize"] == 20
    assert traits().keys() <= whole.keys()


def test_secrets_are_not_in_the_repr() -> None:
    settings = read_settings(
        {
            "password": "canary-1",
            "mfaSecret": "canary-2",
            "outboundProxyUrl": "http://user:canary-3@proxy",
            "strangeToken": "canary-4",
        }
    )

    assert "canary" not in repr(settings)
    assert "canary" not in str(settings.__rich_repr__())

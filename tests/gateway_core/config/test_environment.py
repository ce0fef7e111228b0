from pathlib import Path

import pytest

from gateway_core.config.environment import (
    VARIABLES,
    WEEK_MS,
    Environment,
    LogLevel,
    Mode,
    default_host,
    default_port,
    from_environ,
    from_process,
    reference,
)
from gateway_core.config.errors import ConfigError


def test_an_empty_environment_gives_every_default() -> None:
    environment = from_environ({})

    assert environment == Environment()
    assert environment.max_body_mb == 50
    assert (environment.connect_timeout_ms, environment.first_byte_timeout_ms) == (60_000, 200_000)
    assert (environment.idle_timeout_ms, environment.whole_timeout_ms) == (360_000, 600_000)
    assert (environment.keepalive_ms, environment.plugin_timeout_ms) == (10_000, 4_000)


def test_values_are_read_by_type() -> None:
    environment = from_environ(
        {
            "PORT": " 8080 ",
            "HOSTNAME": "::1",
            "GATEWAY_MODE": "Container",
            "LOG_LEVEL": "warn",
            "GATEWAY_BLOCK_PLUGINS": "acme, other ,,",
            "SSE_KEEPALIVE_MS": "0",
        }
    )

    assert (environment.port, environment.hostname) == (8080, "::1")
    assert environment.mode is Mode.CONTAINER
    assert environment.log_level is LogLevel.WARN
    assert environment.block_plugins == ("acme", "other")
    assert environment.keepalive_ms == 0


@pytest.mark.parametrize("blank", ["", " ", "\t\n"])
def test_a_blank_value_counts_as_unset(blank: str) -> None:
    environment = from_environ({"PORT": blank, "API_KEY_SECRET": blank, "LOG_LEVEL": blank})

    assert environment == Environment()


@pytest.mark.parametrize(
    ("name", "value", "accepted"),
    [
        ("PORT", "abc", "a whole number from 0 to 65535"),
        ("PORT", "65536", "a whole number from 0 to 65535"),
        ("PORT", "-1", "a whole number from 0 to 65535"),
        ("PORT", "1e3", "a whole number from 0 to 65535"),
        ("PORT", "８０", "a whole number from 0 to 65535"),
        ("GATEWAY_MAX_BODY_MB", "0", "a whole number from 1 to 4096"),
        ("FETCH_CONNECT_TIMEOUT_MS", "0", "a whole number of 1 or more"),
        ("GATEWAY_MAX_BODY_MB", "50mb", "a whole number from 1 to 4096"),
        ("LOG_LEVEL", "loud", "one of DEBUG, INFO, WARN, ERROR"),
        ("GATEWAY_MODE", "prod", "one of cli, source, production, container"),
    ],
)
def test_a_wrong_value_names_the_variable_the_value_and_what_is_accepted(
    name: str, value: str, accepted: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        from_environ({name: value})

    assert str(caught.value) == f"{name} does not accept {value!r}: it takes {accepted}."


@pytest.mark.parametrize("value", ["0", "-5", "1.5", "2e3", "0x10", "ten", "+5", "9" * 200])
def test_a_wrong_backoff_value_stops_the_start(value: str) -> None:
    with pytest.raises(ConfigError, match="BACKOFF_BASE_MS does not accept"):
        from_environ({"BACKOFF_BASE_MS": value, "BACKOFF_MAX_LEVEL": "4"})


def test_the_longest_backoff_is_seven_days() -> None:
    environment = from_environ({"BACKOFF_MAX_MS": str(WEEK_MS + 1)})

    assert environment.backoff_max_ms == 604_800_000


@pytest.mark.parametrize(
    "variables",
    [
        {"BACKOFF_BASE_MS": "5000", "BACKOFF_MAX_MS": "4999"},
        {"BACKOFF_BASE_MS": "300001"},
        {"BACKOFF_BASE_MS": str(WEEK_MS + 1), "BACKOFF_MAX_MS": str(WEEK_MS + 2)},
    ],
    ids=["both given", "above the default maximum", "above the cap"],
)
def test_a_backoff_maximum_below_the_base_restores_the_whole_schedule(
    variables: dict[str, str],
) -> None:
    environment = from_environ({**variables, "BACKOFF_MAX_LEVEL": "3"})

    assert (environment.backoff_base_ms, environment.backoff_max_ms) == (2000, 300_000)
    assert environment.backoff_max_level == 15


def test_a_backoff_maximum_that_equals_the_base_stands() -> None:
    environment = from_environ({"BACKOFF_BASE_MS": "700", "BACKOFF_MAX_MS": "700"})

    assert (environment.backoff_base_ms, environment.backoff_max_ms) == (700, 700)


def test_a_vendors_own_variables_are_kept_as_they_stand() -> None:
    environment = from_environ({"ACME_API_KEY": "canary-1", "EMPTY": " "})

    assert environment.variables == {"ACME_API_KEY": "canary-1"}


def test_secrets_are_not_in_the_repr() -> None:
    environment = from_environ(
        {"API_KEY_SECRET": "canary-1", "MACHINE_ID_SALT": "canary-2", "ACME_API_KEY": "canary-3"}
    )

    assert "canary" not in repr(environment)
    assert "canary" not in str(environment.__rich_repr__())
    assert "port=None" in repr(environment)


@pytest.mark.parametrize(
    ("mode", "port", "host"),
    [
        (Mode.CLI, 20128, "0.0.0.0"),
        (Mode.SOURCE, 20127, "127.0.0.1"),
        (Mode.PRODUCTION, 20128, "127.0.0.1"),
        (Mode.CONTAINER, 20128, "0.0.0.0"),
    ],
)
def test_the_mode_decides_where_to_listen(mode: Mode, port: int, host: str) -> None:
    assert (default_port(mode), default_host(mode)) == (port, host)


def test_the_data_directory_is_hidden_in_the_home_directory(tmp_path: Path) -> None:
    assert from_environ({"HOME": str(tmp_path)}).data_path == tmp_path / ".gateway"


def test_a_given_data_directory_is_made_absolute(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    assert from_environ({"DATA_DIR": "here"}).data_path == tmp_path / "here"


def test_the_process_environment_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PORT", "4567")

    assert from_process().port == 4567


def test_the_reference_names_every_variable_once_and_describes_it() -> None:
    rows = reference()

    names = [name for name, _, _ in rows]
    assert len(set(names)) == len(names) == len(VARIABLES)
    assert all(default and description.endswith(".") for _, default, description in rows)
    assert ("BACKOFF_MAX_LEVEL", "15", "How often a cool-down may double.") in rows


@pytest.mark.parametrize("name", ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"])
def test_proxy_variables_are_read_in_both_spellings_and_small_letters_win(name: str) -> None:
    def read(**variables: str) -> object:
        return getattr(from_environ(variables), name.lower())

    assert read(**{name: "http://a:1"}) == "http://a:1"
    assert read(**{name.lower(): "http://b:1"}) == "http://b:1"
    assert read(**{name: "http://a:1", name.lower(): "http://b:1"}) == "http://b:1"
    assert read(**{name: " "}) is None


def test_a_proxys_address_may_lack_its_scheme() -> None:
    assert from_environ({"HTTPS_PROXY": "proxy.lan:3128"}).https_proxy == "http://proxy.lan:3128"


@pytest.mark.parametrize(
    "url", ["ftp://x", "http://", "http://a b", "http://a/path?x", "socks4://a"]
)
def test_what_is_no_proxys_address_is_refused_without_repeating_it(url: str) -> None:
    with pytest.raises(
        ConfigError, match=r"^HTTPS_PROXY does not accept the given value: "
    ) as raised:
        from_environ({"https_proxy": url})
    assert url not in str(raised.value)

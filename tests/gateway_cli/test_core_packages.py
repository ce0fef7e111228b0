"""What the gateway stands on."""

import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest
from drop_ins import files_of, unpack

from gateway_cli.core_packages import core_versions
from gateway_core.plugins.sources import plain


def test_the_gateway_and_all_it_needs_are_named_with_their_versions() -> None:
    versions = core_versions()

    for name in ("model-gateway", "msgspec", "starlette", "click"):
        assert versions[name] == version(name)


def test_what_an_asked_extra_of_a_needed_package_needs_is_named_too() -> None:
    assert {"h2", "socksio", "hpack"} <= core_versions().keys()


def test_what_nobody_asks_for_is_left_out() -> None:
    assert "mypy" not in core_versions()


def test_extras_lead_to_what_they_need_and_circles_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    needs = ("b[one] >= 1", 'c ; extra == "kit"', "absent", 'e; python_version > "3"')
    core = files_of("model-gateway", "", requires=needs)
    core["model_gateway-1.0.dist-info/METADATA"] += "Provides-Extra: kit\n"
    unpack(tmp_path, core)
    unpack(tmp_path, files_of("b", "", requires=('D_d; extra == "one"', 'x; extra == "two"')))
    unpack(tmp_path, files_of("d-d", "", requires=("model-gateway",)))
    for name in ("c", "e", "x"):
        unpack(tmp_path, files_of(name, ""))
    monkeypatch.setattr(sys, "path", [str(tmp_path)])

    assert set(core_versions()) == {"model-gateway", "b", "c", "d-d", "e"}


def test_a_gateway_that_is_no_package_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", [str(tmp_path)])

    with pytest.raises(PackageNotFoundError):
        core_versions()


@pytest.mark.parametrize("name", ["Acme_Cloud", "acme.cloud", "acme--cloud", "acme-cloud"])
def test_a_name_has_one_plain_spelling(name: str) -> None:
    assert plain(name) == "acme-cloud"

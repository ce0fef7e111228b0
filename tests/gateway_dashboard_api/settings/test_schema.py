"""The shapes of the settings document follow from how the settings are declared."""

from msgspec.structs import fields

from gateway_core.config.settings import traits
from gateway_dashboard_api.settings.document import PASSWORD, derive
from gateway_dashboard_api.settings.schema import SettingsChange, SettingsDocument


def test_a_change_has_what_may_be_patched_and_the_password() -> None:
    names = {field.encode_name for field in fields(SettingsChange)}

    assert names == {trait.key for trait in traits().values() if trait.patch} | set(PASSWORD)


def test_the_document_has_what_is_shown_and_what_follows_from_it() -> None:
    names = {field.encode_name for field in fields(SettingsDocument)}

    assert names == {trait.key for trait in traits().values() if not trait.never} | set(
        derive({}, {})
    )


def test_every_member_may_be_left_out() -> None:
    assert not any(field.required for field in (*fields(SettingsChange), *fields(SettingsDocument)))

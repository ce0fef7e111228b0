"""What the plugin brings."""

import gateway_provider_cohere
import pluggy
from gateway_provider_cohere import CHAT, COHERE

from gateway_core import VendorSide, hookimpl
from gateway_core.plugins.validation import format_faults, mended, provider_faults


def test_the_plugin_brings_its_format_and_its_vendor() -> None:
    manager = pluggy.PluginManager(hookimpl.project_name)
    manager.register(gateway_provider_cohere)

    assert manager.hook.register_formats() == [[CHAT]]
    assert manager.hook.register_providers() == [[COHERE]]


def test_the_kernel_finds_no_fault_with_them() -> None:
    left_out: list[str] = []

    assert format_faults(CHAT) == []
    assert provider_faults(COHERE, {CHAT.id}) == []
    assert mended(COHERE, {CHAT.id}, left_out.append) == COHERE
    assert left_out == []


def test_the_address_is_the_second_versions_chat(vendor: VendorSide) -> None:
    path = vendor.path("command-a-03-2025", stream=True)

    assert f"{COHERE.base_url}{path}" == "https://api.cohere.com/v2/chat"

"""What the plugin brings."""

import subprocess
import sys

import gateway_provider_bedrock
import pluggy
from gateway_provider_bedrock import BEDROCK, CONVERSE

from gateway_core import hookimpl
from gateway_core.plugins.validation import format_faults, mended, provider_faults


def test_the_plugin_brings_its_format_and_its_vendor() -> None:
    manager = pluggy.PluginManager(hookimpl.project_name)
    manager.register(gateway_provider_bedrock)

    assert manager.hook.register_formats() == [[CONVERSE]]
    assert manager.hook.register_providers() == [[BEDROCK]]


def test_the_kernel_finds_no_fault_with_them() -> None:
    left_out: list[str] = []

    assert format_faults(CONVERSE) == []
    assert provider_faults(BEDROCK, {CONVERSE.id}) == []
    assert mended(BEDROCK, {CONVERSE.id}, left_out.append) == BEDROCK
    assert left_out == []


def test_the_signing_library_is_not_read_before_it_is_needed() -> None:
    program = "import sys, gateway_provider_bedrock; sys.exit('botocore' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0

"""What the commands cost every other sub-command, which loads them to find its own."""

import subprocess
import sys

LOOK = """
import sys
import click
import gateway_extension_config as plugin
root = click.Group()
plugin.register_commands(root)
print(sorted(root.commands), "jsonschema" in sys.modules)
"""


def test_the_library_of_schemas_waits_for_a_file_to_check() -> None:
    ended = subprocess.run([sys.executable, "-c", LOOK], capture_output=True, text=True, check=True)

    assert ended.stdout.strip() == "['config'] False"

"""What the plugin costs a gateway without rules."""

import subprocess
import sys

LIBRARIES = ("re2", "jsonschema_rs", "stdnum", "py3langid", "numpy")
LOOK = f"""
import sys
import gateway_extension_guardrails as plugin
plugin.register_interceptors(), plugin.register_answer_filters(), plugin.Settings()
print([name for name in {LIBRARIES} if name in sys.modules])
"""


def test_without_rules_none_of_their_libraries_is_loaded() -> None:
    ended = subprocess.run([sys.executable, "-c", LOOK], capture_output=True, text=True, check=True)

    assert ended.stdout.strip() == "[]"

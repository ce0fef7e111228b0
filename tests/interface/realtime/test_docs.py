"""The program on the page about sockets runs as it is printed."""

import re
import subprocess
import sys
from pathlib import Path

from gateway_process import running

PAGE = Path(__file__).parents[3] / "docs" / "realtime.md"


def test_the_program_of_the_page_holds_a_conversation(tmp_path: Path) -> None:
    text = PAGE.read_text(encoding="utf-8")
    (source,) = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)

    with running(tmp_path) as here:
        source = source.replace("http://127.0.0.1:20128", here.url)
        ended = subprocess.run(
            [sys.executable, "-W", "error", "-c", source],
            capture_output=True,
            text=True,
            timeout=60,
        )

    assert ended.returncode == 0, ended.stderr
    assert "Say hello" in ended.stdout

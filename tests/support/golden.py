"""Regenerates the golden copies in tests/data/providers; with names, only those of these plugins.

    .venv/bin/python tests/support/golden.py

Read the difference before you commit it: sidecars and operators rely on what
is said there.
"""

import json
import sys

from plugin_folders import GOLDEN, folders, reported, specs_of


def main(wanted: list[str]) -> None:
    GOLDEN.mkdir(parents=True, exist_ok=True)
    for folder in folders("provider"):
        if not wanted or folder.id in wanted:
            for spec in specs_of(folder):
                text = json.dumps(reported(folder, spec), indent=1, ensure_ascii=False)
                (GOLDEN / f"{spec.id}.json").write_text(text + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])

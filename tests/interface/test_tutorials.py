"""The pages for plugin authors, executed command by command."""

from pathlib import Path

import pytest
from page_reader import Reader
from tutorial_page import Block, blocks

DOCS = Path(__file__).parents[2] / "docs"
SHOWN = Block("sh", "", "echo one\necho two in 3.20s\n")


@pytest.mark.parametrize(
    "name",
    [
        *("tutorial-provider", "tutorial-extension", "tutorial-format"),
        *("writing-an-extension", "publishing"),
    ],
)
def test_every_block_of_the_page_works(name: str, tmp_path: Path) -> None:
    every = blocks(DOCS / f"{name}.md")
    reader = Reader(tmp_path)

    try:
        for block in every:
            reader.follow(block)
    finally:
        reader.stop()

    assert {"sh", "text"} <= {block.kind for block in every}


@pytest.mark.parametrize("text", ["one\ntwo in 0.10s\n", "...\ntwo in 0.10s\n", "one\n..."])
def test_output_on_a_page_may_omit_times_and_elided_parts(text: str, tmp_path: Path) -> None:
    reader = Reader(tmp_path)

    reader.follow(SHOWN)
    reader.follow(Block("text", "", text))

    assert reader.printed == "one\ntwo in 3.20s\n"


@pytest.mark.parametrize(
    "wrong",
    [
        Block("text", "", "one\n"),
        Block("text", "", "one\ntwo in 0.10s\nthree\n"),
        Block("text", "", "...three...\n"),
        Block("diff", "file", "-nine\n+ten\n"),
        Block("diff", "file", "-twice\n+once\n"),
        Block("json", "file", "{}\n"),
        Block("console", "", "model-gateway plugins install acme --nowhere\n"),
        Block("console", "", "model-gateway plugins applaud acme\n"),
        Block("toml", "file", "a = 1\n"),
        Block("sh", "once", "echo\n"),
    ],
    ids=lambda block: f"{block.kind} {block.text[:40]!r}",
)
def test_a_wrong_page_is_detected(wrong: Block, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("twice\ntwice\n")
    reader = Reader(tmp_path)

    reader.follow(SHOWN)

    with pytest.raises(AssertionError):
        reader.follow(wrong)

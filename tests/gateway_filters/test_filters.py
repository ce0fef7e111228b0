"""Which filters are in force, and what happens where none can be."""

from pathlib import Path

import pytest
from admin_gateway import opened
from answer_filters import SettableFilter, filter_plugin

pytestmark = pytest.mark.anyio


async def test_one_that_fails_again_and_again_is_left_out(tmp_path: Path) -> None:
    broken, sound = SettableFilter(), SettableFilter()
    broken.mode, sound.mode, sound.word = "raises", "hides", "Hi"
    plugins = {"broken": filter_plugin(broken), "sound": filter_plugin(sound)}
    async with opened(tmp_path, {}, more=plugins) as admin:
        await admin.connect()

        answers = [await admin.chat("ac/large") for _ in range(6)]

        shown = {each.json()["choices"][0]["message"]["content"] for each in answers}
        assert shown == {"▇"}
        [problem] = admin.core.snapshot.registry.problems
        reported = "filter SettableFilter failed 5 times in a row and is left out"
        assert (problem.plugin, problem.message) == ("broken", reported)
        assert len(broken.opened) == 5


async def test_an_answer_does_not_pass_where_nothing_runs_the_filters(tmp_path: Path) -> None:
    nothing = type("Nothing", (), {})()
    plugins = {"hiding": filter_plugin(SettableFilter()), "filters": nothing}
    async with opened(tmp_path, {}, more=plugins) as admin:
        await admin.connect()

        response = await admin.chat("ac/large")

        assert response.status_code == 500
        assert admin.vendor.calls("/chat/completions") == []


async def test_what_is_no_filter_is_refused(tmp_path: Path) -> None:
    half = SettableFilter()
    half.timeout = "soon"  # type: ignore[assignment]
    async with opened(tmp_path, {}, more={"half": filter_plugin(half)}) as admin:
        [problem] = admin.core.snapshot.registry.problems

        assert problem.message == (
            "answer filter is refused: expected an AnswerFilter, got SettableFilter"
        )
        assert admin.core.state.filtering is None

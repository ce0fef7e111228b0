"""The parts of the benchmarks that need no process: reading /proc, ratios, bytes and tables."""

import struct
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from benchmarks import (
    answers,
    instructions,
    kinds,
    others,
    peers,
    processes,
    questions,
    report,
    results,
    scale,
    targets,
)
from benchmarks.rounds import ratio
from benchmarks.scenarios import FULL, QUICK
from benchmarks.targets import Target

STAT = "42 (a ) b) S 1 42 42 0 -1 4194560 900 0 3 0 150 25 7 8 20 0 4 0 100 1 2"
STATUS = "Name:\tgateway\nState:\tS (sleeping)\nVmHWM:\t 4096 kB\nVmRSS:\t 2048 kB\nThreads:\t3\n"


def test_processor_time_is_user_and_system_time_of_the_process_itself() -> None:
    assert processes.ticks_of(STAT) == 175


def test_memory_is_told_in_mebibytes() -> None:
    assert processes.memory_of(STATUS) == processes.Memory(rss=2.0, peak=4.0)


@pytest.mark.parametrize(
    ("available", "measured", "vendor", "load"),
    [((3,), 3, 3, 3), ((0, 1), 0, 1, 1), ((0, 1, 2, 3), 0, 1, 2)],
    ids=["one core", "two cores", "four cores"],
)
def test_the_measured_part_has_a_core_of_its_own_where_there_is_one(
    available: tuple[int, ...], measured: int, vendor: int, load: int
) -> None:
    shared = processes.cores(available)

    assert shared.measured == {measured}
    assert shared.vendor == {vendor}
    assert shared.load == {load}


def test_a_ratio_is_the_median_of_the_rounds_ratios() -> None:
    assert ratio([10, 30, 50], [10, 10, 10]) == 3
    assert ratio([1.0], [0.0]) is None


@pytest.mark.parametrize("size", questions.SIZES.values(), ids=questions.SIZES.keys())
def test_a_question_has_the_size_that_was_asked_for(size: int) -> None:
    body = questions.chat("plain/bench", size, is_stream=False)

    assert size <= len(body) <= size * 1.05
    assert msgspec.json.decode(body)["model"] == "plain/bench"


def test_every_stream_of_the_vendor_has_its_events_in_pieces_of_their_own(tmp_path: Path) -> None:
    answers.write_all(tmp_path)

    for mode in answers.MODES:
        pieces = _pieces((tmp_path / mode.name).read_bytes())
        is_whole = mode.is_burst or not mode.is_stream
        assert len(pieces) == 1 if is_whole else len(pieces) >= answers.EVENTS
        assert pieces[0].startswith(b"HTTP/1.1 200 OK\r\n")


def test_every_line_up_names_modes_sizes_and_peers_that_exist() -> None:
    known = {peer.name for peer in peers.PEERS}

    for scenario in (*FULL, *QUICK):
        assert scenario.mode in answers.BY_NAME
        assert scenario.size in questions.SIZES
        assert known.issuperset(scenario.peers)


def test_every_line_up_beside_others_names_modes_and_peers_that_exist() -> None:
    known = {peer.name for peer in others.OTHERS}

    for scenario in others.BESIDE:
        assert scenario.mode in answers.BY_NAME
        assert known.issuperset(scenario.peers)


def test_only_known_words_are_replaced_in_a_peer() -> None:
    assert peers.filled("http { listen {port}; }", {"port": 8080}) == "http { listen 8080; }"


def test_a_table_lines_up() -> None:
    drawn = report.table(("peer", "µs"), [("nginx", "1"), ("gateway", "20")])

    assert drawn.splitlines() == [
        "| peer    | µs |",
        "|---------|----|",
        "| nginx   | 1  |",
        "| gateway | 20 |",
    ]


def test_only_what_is_between_the_marks_of_a_page_changes() -> None:
    page = f"before\n{report.BEGIN}\nold\n{report.END}\nafter\n"

    assert report.placed(page, "new") == f"before\n{report.BEGIN}\n\nnew\n{report.END}\nafter\n"


@pytest.mark.parametrize(
    ("measured", "is_least", "verdict"),
    [(4.0, False, "met"), (6.0, False, "missed"), (4.0, True, "missed"), (6.0, True, "met")],
)
def test_a_target_is_judged_by_its_limit(measured: float, is_least: bool, verdict: str) -> None:
    assert Target("a", 5.0, "×", measured, is_least=is_least).verdict == verdict


def test_an_embeddings_call_is_judged_beside_a_chat() -> None:
    beside = kinds.Kinds(
        connections=32, chat_cpu=50, embeddings_cpu=60, ratio=1.2, chat_p50=1, embeddings_p50=1
    )
    found = replace(results.begun(), kinds=(beside,))

    assert [(target.limit, target.verdict) for target in targets.targets(found)] == [
        (1.0, "missed")
    ]
    assert "50 and 60 µs: 1.20 times" in report.report(found)

    beside_long = replace(beside, long_cpu=80, long_ratio=0.75)
    assert "80 and 60 µs: 0.75 times" in report.report(replace(found, kinds=(beside_long,)))


def test_a_long_chat_answer_is_as_long_as_that_of_embeddings(tmp_path: Path) -> None:
    answers.write_all(tmp_path)

    lengths = {
        name: len(_pieces((tmp_path / name).read_bytes())[0].partition(b"\r\n\r\n")[2])
        for name in ("embeddings", "long", "large", "huge")
    }
    assert lengths["embeddings"] == lengths["long"]
    assert (lengths["large"], lengths["huge"]) == (200 * 1024, 5 * 1024 * 1024)


def test_an_embeddings_question_has_the_size_that_was_asked_for() -> None:
    body = questions.embeddings("embeddings/bench", 1024)

    assert len(body) == 1024


def test_results_survive_their_file(tmp_path: Path) -> None:
    found = results.begun()

    results.keep(found, tmp_path / "latest.json")

    read = msgspec.json.decode((tmp_path / "latest.json").read_bytes(), type=results.Results)
    assert read == found
    assert found.taken_at in report.report(found)


def test_a_dearer_answer_is_noticed() -> None:
    before = instructions.Counted(plain=1000.0, python="3.11", machine="x86_64")
    after = instructions.Counted(plain=1050.0, python="3.11", machine="x86_64")

    assert not instructions.is_within(after, before)
    assert "+5.0%, OVER" in instructions.compared(after, before)
    assert instructions.is_within(before, after)


def test_the_total_of_a_callgrind_file_is_read() -> None:
    assert instructions.total_of("summary: 0\nfn=x\ntotals: 42\n") == 42


def test_the_large_installations_are_as_large_as_promised() -> None:
    grown = {each.name: (each.small, each.large) for each in scale.growths(5_000_000)}

    assert grown["keys"] == (100, 100_000)
    assert grown["accounts"] == (10, 10_000)
    assert grown["ledger rows"] == (0, 5_000_000)
    assert grown["plugins"][1] == 200


def _pieces(data: bytes) -> list[bytes]:
    """What follows the pause, piece by piece."""
    found, at = [], 4
    while at < len(data):
        (size,) = struct.unpack_from("=I", data, at)
        found.append(data[at + 4 : at + 4 + size])
        at += 4 + size
    return found

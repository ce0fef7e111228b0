"""What is found in texts, however they are cut: nothing of it is given out, in bounded memory."""

import time
from collections.abc import Sequence

import pytest
from gateway_extension_guardrails.expressions import compiled
from gateway_extension_guardrails.personal import personal
from gateway_extension_guardrails.scanner import LONGEST, Detector, Scanner
from gateway_extension_guardrails.secrets import secrets
from hypothesis import given
from hypothesis import strategies as st

KEY = f"sk-proj-{'aB3_' * 40}"
JWT = f"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.{'dozjgNryP4' * 5}"
LINES = "\n".join(["MIIEpAIBAAKCAQEA" * 4] * 30)
PEM = f"-----BEGIN RSA PRIVATE KEY-----\n{LINES}\n-----END RSA PRIVATE KEY-----"
SECRETS = [
    (KEY, "openai_key"),
    (f"sk-ant-api03-{'x9' * 30}", "anthropic_key"),
    ("sk-a1b2c3d4e5f6a7b8-k9x8w7-0a1b2c3d", "gateway_key"),
    (f"AIza{'Sy1' * 12}"[:39], "google_key"),
    ("AKIAIOSFODNN7EXAMPLE", "aws_key"),
    (f"ghp_{'Z1' * 18}", "github_token"),
    (f"github_pat_{'11A' * 8}", "github_token"),
    (f"glpat-{'a1' * 10}", "gitlab_token"),
    ("xoxb-123456789012-abcdefGHIJ", "slack_token"),
    (f"sk_live_{'4eC3' * 6}", "stripe_key"),
    (f"hf_{'aB' * 17}", "huggingface_token"),
    (f"npm_{'aB1' * 12}", "npm_token"),
    (f"gsk_{'aB1' * 16}", "groq_key"),
    (f"SG.{'aB1' * 7}.{'aB1' * 14}", "sendgrid_key"),
    (JWT, "jwt"),
    (PEM, "private_key"),
]
PERSONAL = [
    ("ada.lovelace+math@ex-ample.co.uk", "email"),
    ("+49 (170) 123-45 67", "phone"),
    ("0049 170 1234567", "phone"),
    ("(555) 123-4567", "phone"),
    ("DE89 3704 0044 0532 0130 00", "iban"),
    ("GB82WEST12345698765432", "iban"),
    ("4111 1111 1111 1111", "card"),
    ("378282246310005", "card"),
    ("192.168.1.20", "ip"),
    ("2001:db8::8a2e:370:7334", "ip"),
    ("fe80::1", "ip"),
]
NONE = [
    "sk-short",
    "4111 1111 1111 1112",
    "0000 0000 0000 0000",
    "GB82 WEST 1234 5698 7654 33",
    "999.1.1.1",
    "at 12:30:45 today",
    "mail@nowhere",
    "-----BEGIN CERTIFICATE-----",
    "1234567890123456789012345",
]
ALL = secrets() + personal(())
WORDS = ["", " ", "Hello, ", "ünï ", "日本 ", "\n", "x", ".", "-", "1234 ", *(n for n in NONE)]


def scan(pieces: Sequence[str], detectors: Sequence[Detector] = ALL) -> tuple[str, list[str]]:
    scanner, output, labels = Scanner(detectors, lambda label: f"<{label}>"), "", []
    for at, piece in enumerate(pieces):
        text, found = scanner.feed(piece, is_last=at == len(pieces) - 1)
        output += text
        labels += found
    return output, labels


@pytest.mark.parametrize(("text", "label"), SECRETS + PERSONAL)
def test_what_is_looked_for_is_found_in_a_sentence(text: str, label: str) -> None:
    output, labels = scan([f"Here: {text}, and more."])

    assert label in labels
    assert text not in output
    assert output.startswith("Here: <")
    assert output.endswith(", and more.")


@pytest.mark.parametrize("text", NONE)
def test_what_only_looks_like_it_stays(text: str) -> None:
    assert scan([f"Here: {text} and more"]) == (f"Here: {text} and more", [])


@pytest.mark.parametrize(("text", "label"), SECRETS + PERSONAL)
def test_at_any_cut_nothing_of_it_is_given_out(text: str, label: str) -> None:
    sentence = f"It is ünï {text} — no more."
    whole = scan([sentence])

    for cut in range(1, len(sentence)):
        assert scan([sentence[:cut], sentence[cut:]]) == whole, cut
    assert scan(list(sentence)) == whole


@given(
    st.lists(st.sampled_from([*WORDS, *(text for text, _ in SECRETS + PERSONAL)]), max_size=8),
    st.lists(st.integers(1, 40), max_size=60),
)
def test_texts_are_the_same_however_they_are_cut(words: list[str], sizes: list[int]) -> None:
    text = left = "".join(words)
    pieces = []
    while left and sizes:
        size = sizes.pop()
        pieces.append(left[:size])
        left = left[size:]

    assert scan([*pieces, left]) == scan([text])


def test_a_key_without_an_end_is_found_to_its_end() -> None:
    pieces = ["Key: sk-", *["a1B2" * 16] * 500, " done"]

    assert scan(pieces) == ("Key: <openai_key> done", ["openai_key"])


def test_a_private_key_without_an_end_takes_all_that_follows() -> None:
    pieces = [f"See {PEM[:900]}", "more of it ", "and more"]

    assert scan(pieces) == ("See <private_key>", ["private_key"])


def test_memory_and_what_is_held_back_have_an_end() -> None:
    scanner, given_out, most, held = Scanner(ALL, str), 0, 0, 0
    pieces = ["lorem ipsum ", "x" * 50_000, PEM * 20, "a1 " * 9000, KEY, "word " * 4000] * 3
    for at, piece in enumerate(pieces):
        given_out += len(scanner.feed(piece, is_last=at == len(pieces) - 1)[0])
        most = max(most, len(scanner._buffer))
        if piece.startswith("word"):
            held = max(held, len(scanner._buffer))
    assert most < 200_000
    assert held < 1024


@pytest.mark.parametrize("pattern", ["secret: .+", r"\bpass\w*", "(?i)ünï.{0,9}x", "^begin|end$"])
@given(text=st.text("aps:secr tünïx begind\n", max_size=300), cuts=st.data())
def test_an_operators_pattern_is_found_however_a_text_is_cut(
    pattern: str, text: str, cuts: st.DataObject
) -> None:
    detectors = [Detector(pattern=compiled(pattern), label="own", longest=400)]
    at = sorted(cuts.draw(st.lists(st.integers(0, len(text)), max_size=9)))
    pieces = [text[a:b] for a, b in zip([0, *at], [*at, len(text)], strict=True)]

    assert scan(pieces, detectors) == scan([text], detectors)


def test_a_match_that_does_not_end_is_followed_so_far() -> None:
    detectors = [Detector(pattern=compiled("secret.*"), label="own", longest=8)]

    output, labels = scan(["a secret", *["b" * 1000] * 12, "\nover"], detectors)
    assert (output, labels) == ("a <own>\nover", ["own"])

    scanner, given_out = Scanner(detectors, lambda _: "#"), ""
    for _ in range(100):
        given_out += scanner.feed("secret" + "b" * 1000, is_last=False)[0]
        assert len(scanner._buffer) < 2 * LONGEST
    assert given_out.startswith("#")


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (r"(a+)+$", "a" * 100_000 + "!"),
        (r"(x|xx|xxx)*y", "x" * 100_000),
        (r"(.*)(.*)(.*)(.*)[^a]$", "a" * 100_000),
    ],
)
def test_no_pattern_takes_long(pattern: str, text: str) -> None:
    detectors = [Detector(pattern=compiled(pattern), label="own", longest=256)]

    begun = time.process_time()
    scan([text], detectors)

    # An engine that goes back would take years.
    assert time.process_time() - begun < 2


@pytest.mark.parametrize(
    "text",
    ["4111 " * 20_000, "1" * 100_000, "a@" * 50_000, "-----BEGIN " * 9000, "DE89 " * 20_000],
    ids=["groups", "digits", "signs", "marks", "accounts"],
)
def test_no_text_takes_long(text: str) -> None:
    begun = time.process_time()
    scan([text])

    assert time.process_time() - begun < 4


@pytest.mark.parametrize("pattern", ["(", "(?<=a)b", r"(a)\1", "a{1,5000}", r"\pL{1000}", "\ud800"])
def test_what_the_engine_does_not_take_is_refused_with_a_reason(pattern: str) -> None:
    with pytest.raises(ValueError, match=r"pattern .* is refused: \w"):
        compiled(pattern)

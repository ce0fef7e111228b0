"""Shapes of secrets: keys of vendors, private keys, and the gateway's own keys.

Vendors document the beginnings of their keys so that scanners find them, as in
https://docs.github.com/en/code-security/secret-scanning/introduction/supported-secret-scanning-patterns.
"""

from functools import cache

from .expressions import compiled
from .scanner import Detector

_WORD = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_-"
_LONGEST = 256
_SHAPES = {
    # Four parts, the last one a check of eight digits: see the page on keys.
    "gateway_key": r"sk-[a-z0-9]{4,32}-[a-z0-9]{4,32}-[0-9a-f]{8}",
    "anthropic_key": r"sk-ant-[A-Za-z0-9_-]{20,}",
    "openrouter_key": r"sk-or-v1-[0-9a-f]{32,}",
    "openai_key": r"sk-(?:proj-|svcacct-|admin-)?[A-Za-z0-9_-]{20,}",
    "google_key": r"AIza[0-9A-Za-z_-]{35}",
    "aws_key": r"(?:AKIA|ASIA)[0-9A-Z]{16}",
    "github_token": r"(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{22,})",
    "gitlab_token": r"glpat-[A-Za-z0-9_-]{20,}",
    "slack_token": r"xox[abeoprs]-[A-Za-z0-9-]{10,}",
    "stripe_key": r"[rs]k_(?:live|test)_[A-Za-z0-9]{16,}",
    "huggingface_token": r"hf_[A-Za-z0-9]{30,}",
    "npm_token": r"npm_[A-Za-z0-9]{36,}",
    "groq_key": r"gsk_[A-Za-z0-9]{40,}",
    "xai_key": r"xai-[A-Za-z0-9]{40,}",
    "perplexity_key": r"pplx-[A-Za-z0-9]{40,}",
    "replicate_token": r"r8_[A-Za-z0-9]{30,}",
    "twilio_key": r"SK[0-9a-f]{32}",
}
_DOTTED = {
    "sendgrid_key": r"SG\.[A-Za-z0-9_-]{16,64}\.[A-Za-z0-9_-]{16,}",
    # RFC 7519, section 3.1: the head of a JWT is a JSON object, in base64url.
    "jwt": r"eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}",
}
# RFC 7468, section 10, and OpenPGP's and OpenSSH's own.
_PRIVATE = r"-----%s [A-Z0-9 ]{0,32}PRIVATE KEY(?: BLOCK)?-----"


@cache
def secrets() -> tuple[Detector, ...]:
    """What finds them."""
    return (
        _shapes(_SHAPES, _LONGEST, _WORD),
        _shapes({"sendgrid_key": _DOTTED["sendgrid_key"]}, _LONGEST, _WORD + b"."),
        _shapes({"jwt": _DOTTED["jwt"]}, 8192, _WORD + b"."),
        Detector(
            pattern=compiled(_PRIVATE % "BEGIN"),
            label="private_key",
            longest=100,
            alphabet=b"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 -",
            end=compiled(_PRIVATE % "END"),
        ),
    )


def _shapes(shapes: dict[str, str], longest: int, alphabet: bytes) -> Detector:
    either = "|".join(f"(?P<{label}>{shape})" for label, shape in shapes.items())
    return Detector(
        pattern=compiled(rf"\b(?:{either})"),
        label="secret",
        longest=longest,
        alphabet=alphabet,
        tail=_WORD,
    )

"""Which credential opens which route (5.2). Every route names its class; one that does not is shut.

A class is a row of ``RULES``. The gate, the reference page and the test of
every route against every credential all read it from here.
"""

from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct

from ..contracts.errors import Forbidden, InvalidKey, LocalOnly, Unauthorized
from .caller import Caller

REMOTE = "API key required for remote API access"
SURFACE_KEY = "gateway key required"
UNAUTHORIZED = "Unauthorized"


class Access(StrEnum):
    """The classes of routes."""

    PUBLIC = "public"
    INFERENCE = "inference"
    CATALOG = "catalog"
    MANAGEMENT = "management"
    OWN_KEY = "own-key"
    OPERATOR = "operator"
    SESSION = "session"
    PROTECTED = "protected"
    LOCAL = "local"
    COMMAND_LINE = "command-line"
    SURFACE = "surface"
    CONTROL = "control"
    ISOLATED = "isolated"


class Rule(Struct, frozen=True, kw_only=True):
    """Who may pass. ``session``, ``cli``, ``key``, ``open`` and ``local`` are credentials."""

    about: str
    anyone: bool = False
    session: bool = False
    cli: bool = True
    key: bool = False
    open: bool = False
    """A caller on this machine while requireLogin is off."""
    local: bool = False
    """A caller on this machine, whatever requireLogin says."""
    here: bool = False
    """The credential counts only on this machine; the command line's counts anywhere."""
    refusal: str = UNAUTHORIZED


RULES: Mapping[Access, Rule] = {
    Access.PUBLIC: Rule(about="Needs no credential.", anyone=True),
    Access.INFERENCE: Rule(
        about="Client routes: any caller on this machine, and a valid gateway key from anywhere. "
        "requireApiKey is checked by the route itself.",
        key=True,
        local=True,
        refusal=REMOTE,
    ),
    Access.CATALOG: Rule(
        about="Lists of models, which the dashboard may read too.",
        session=True,
        key=True,
        local=True,
        refusal=REMOTE,
    ),
    Access.MANAGEMENT: Rule(
        about="The management API. An API key without any restriction may also write, and one for "
        "inference only is refused.",
        session=True,
        key=True,
        open=True,
    ),
    Access.OWN_KEY: Rule(
        about="What an API key shows of itself, whatever it is for.",
        session=True,
        key=True,
        open=True,
    ),
    Access.OPERATOR: Rule(
        about="The management API, where no API key is accepted.", session=True, open=True
    ),
    Access.SESSION: Rule(about="Wants a person who has logged in.", session=True, cli=False),
    Access.PROTECTED: Rule(about="Always protected, requireLogin or not.", session=True),
    Access.LOCAL: Rule(
        about="Only for this machine: the CLI token, or a local caller who is let in anyway.",
        session=True,
        open=True,
        here=True,
    ),
    Access.COMMAND_LINE: Rule(
        about="Only for the command line, which needs no proof that a person would be asked for.",
        here=True,
    ),
    Access.SURFACE: Rule(
        about="Gateway protocol surfaces, which check their own gateway key.",
        local=True,
        refusal=SURFACE_KEY,
    ),
    Access.CONTROL: Rule(
        about="The control server, for callers of the management API who may write. It lets in "
        "callers on this machine too, while requireApiKey is off; the route checks that, and "
        "what a key may do.",
        session=True,
        key=True,
        open=True,
        local=True,
    ),
    Access.ISOLATED: Rule(
        about="Only at the host name of the assisted login, where nothing else is served; "
        "the route checks its own grant or cookie.",
        anyone=True,
    ),
}
SHUT = Rule(about="A route without a class.", cli=False)
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
CLIENT = frozenset({Access.INFERENCE, Access.CATALOG})
"""Classes of client routes, where a bad key is called one."""


def permit(access: Access, caller: Caller, method: str = "GET", *, reveals: bool = False) -> None:
    """Let a caller pass or say why not. Raises Unauthorized, InvalidKey, LocalOnly, Forbidden.

    ``reveals`` is true of a request for a secret in the clear.
    """
    rule = RULES.get(access, SHUT)
    if rule.anyone or (rule.cli and caller.is_cli):
        return
    if rule.here and not caller.is_local:
        raise LocalOnly
    if (rule.session and caller.session is not None) or (rule.open and caller.is_open):
        return
    # Where keys count, one that is saved but no longer good is worse than none (5.1).
    if rule.local and caller.is_local and not (rule.key and caller.was_refused):
        return
    if caller.key is None:
        if rule.here:
            raise LocalOnly
        if access in CLIENT and caller.has_shown:
            raise InvalidKey
        raise Unauthorized(rule.refusal)
    if not rule.key:
        raise Forbidden("An API key cannot be used here")
    if access is not Access.MANAGEMENT:
        return
    if caller.key.inference_only:
        raise Forbidden("This API key is for inference only")
    if reveals:
        raise Forbidden("An API key cannot reveal secrets")
    if method not in SAFE_METHODS and caller.key.is_restricted:
        raise Forbidden("A restricted API key cannot change anything here")

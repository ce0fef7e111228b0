"""One rule, as the operator writes it."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

Kind = Literal["pattern", "secrets", "personal", "length", "language", "schema", "judge", "service"]
Action = Literal["block", "redact", "flag", "shadow"]
PERSONAL = ("email", "phone", "iban", "card", "ip")
LONGEST_MATCH = 4096
"""Characters of a match that are held back in a stream, at most."""
FINDING = ("pattern", "secrets", "personal")
"""Kinds that find places in a text, which can be replaced."""

_NEEDS: Mapping[str, tuple[str, ...]] = {
    "pattern": ("patterns",),
    "length": ("most",),
    "language": ("languages",),
    "schema": ("schema",),
    "judge": ("model", "instructions"),
    "service": ("url",),
}
"""Members without which a rule of a kind says nothing."""
_TAKES: Mapping[str, tuple[str, ...]] = {
    **_NEEDS,
    "pattern": ("patterns", "ignore_case", "longest"),
    "personal": ("find",),
    "judge": ("model", "instructions", "most"),
    "service": ("url", "most"),
}
_OWN = frozenset(name for names in _TAKES.values() for name in names)


class Rule(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """What to look for, where, and what to do."""

    name: Annotated[
        str,
        Meta(description="What notes and refusals call it.", pattern="^[a-z0-9][a-z0-9-]{0,63}$"),
    ]
    kind: Annotated[Kind, Meta(description="What is looked for.")]
    action: Annotated[
        Action,
        Meta(
            description="Refuse the request or end the answer, replace what was found, note it, "
            "or note what blocking would have met."
        ),
    ] = "block"
    on: Annotated[
        Literal["requests", "answers", "both"], Meta(description="Where it is looked for.")
    ] = "both"
    keys: Annotated[
        tuple[str, ...],
        Meta(description="Only calls of these keys: ids or names, with * for anything."),
    ] = ()
    models: Annotated[
        tuple[str, ...],
        Meta(description="Only calls of these models, such as acme/*; any of a model's names."),
    ] = ()
    message: Annotated[
        str, Meta(description="What the client reads when it blocks.", max_length=1000)
    ] = ""
    replacement: Annotated[
        str,
        Meta(
            description="What stands in the place of what was found; empty names it.",
            max_length=200,
        ),
    ] = ""
    patterns: Annotated[
        tuple[Annotated[str, Meta(min_length=1, max_length=2000)], ...],
        Meta(description="Regular expressions in RE2's syntax.", max_length=200),
    ] = ()
    ignore_case: Annotated[bool, Meta(description="Whether patterns ignore case.")] = False
    longest: Annotated[
        int,
        Meta(
            description="The longest match of a pattern, characters: so much of a stream is held "
            "back.",
            ge=1,
            le=LONGEST_MATCH,
        ),
    ] = 256
    find: Annotated[
        tuple[Literal["email", "phone", "iban", "card", "ip"], ...],
        Meta(description="Which personal data; empty is all."),
    ] = ()
    most: Annotated[
        int,
        Meta(
            description="The longest text, characters; for a judge or service the longest that it "
            "is shown, 100000 unless set.",
            ge=0,
            le=10_000_000,
        ),
    ] = 0
    languages: Annotated[
        tuple[Annotated[str, Meta(pattern="^[a-z]{2,3}$")], ...],
        Meta(description="Languages that are allowed, by their ISO 639 codes."),
    ] = ()
    schema: Annotated[
        dict[str, Any] | None, Meta(description="JSON Schema of each text of an answer.")
    ] = None
    model: Annotated[str, Meta(description="The model that judges.")] = ""
    instructions: Annotated[
        str, Meta(description="What the judge is to allow and to refuse.", max_length=20_000)
    ] = ""
    url: Annotated[str, Meta(description="The service that is asked.")] = ""
    timeout: Annotated[
        float, Meta(description="Seconds for a judge's or service's answer.", gt=0, le=30)
    ] = 10.0
    on_failure: Annotated[
        Literal["block", "pass"],
        Meta(description="What becomes of a text that a rule could not check."),
    ] = "block"

    def __post_init__(self) -> None:
        kind = self.kind
        for name in _NEEDS.get(kind, ()):
            if not getattr(self, name):
                raise ValueError(f"rule {self.name}: a rule of kind {kind} needs {name}")
        defaults = {field.name: field.default for field in msgspec.structs.fields(Rule)}
        for name in sorted(_OWN.difference(_TAKES.get(kind, ()))):
            if getattr(self, name) != defaults[name]:
                raise ValueError(f"rule {self.name}: a rule of kind {kind} takes no {name}")
        if self.action == "redact" and kind not in FINDING:
            raise ValueError(
                f"rule {self.name}: redact needs a kind that finds places: {', '.join(FINDING)}"
            )
        if kind == "schema" and self.on != "answers":
            raise ValueError(f"rule {self.name}: a schema is for answers; set on to answers")
        if kind == "service" and not self.url.startswith(("http://", "https://")):
            raise ValueError(f"rule {self.name}: url must begin with http:// or https://")
        self._compile()

    def _compile(self) -> None:
        """Raises ValueError for what no library takes."""
        if self.kind == "pattern":
            from .expressions import compiled

            for pattern in self.patterns:
                try:
                    compiled(pattern, ignore_case=self.ignore_case)
                except ValueError as error:
                    raise ValueError(f"rule {self.name}: {error}") from None
        elif self.kind == "schema":
            from .schemas import validator

            try:
                validator(self.schema or {})
            except ValueError as error:
                raise ValueError(f"rule {self.name}: {error}") from None
        elif self.kind == "language":
            from .languages import check_known

            try:
                check_known(self.languages)
            except ValueError as error:
                raise ValueError(f"rule {self.name}: {error}") from None

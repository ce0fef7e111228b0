"""What is watched, and who is told."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

Security = Literal["starttls", "tls", "none"]
Share = Annotated[float, Meta(ge=0, le=1)]


class Settings(Struct, frozen=True, kw_only=True, rename="camel"):
    """A threshold of 0 switches its rule off."""

    webhook_url: Annotated[
        str,
        Meta(
            description="Gets a POST with each alert as JSON.",
            extra={"secret": True, "variable": "GATEWAY_ALERTS_WEBHOOK_URL"},
        ),
    ] = ""
    webhook_secret: Annotated[
        str,
        Meta(
            description="Signs what the webhook gets, by standardwebhooks.com: whsec_ and base64.",
            extra={"secret": True, "variable": "GATEWAY_ALERTS_WEBHOOK_SECRET"},
        ),
    ] = ""
    slack_url: Annotated[
        str,
        Meta(
            description="An incoming webhook of Slack, or of what takes the same body.",
            extra={"secret": True, "variable": "GATEWAY_ALERTS_SLACK_URL"},
        ),
    ] = ""
    smtp_host: Annotated[
        str,
        Meta(
            description="The mail server; empty sends no mail.",
            extra={"variable": "GATEWAY_ALERTS_SMTP_HOST"},
        ),
    ] = ""
    smtp_port: Annotated[int, Meta(description="Its port.", ge=1, le=65535)] = 587
    smtp_security: Annotated[
        Security, Meta(description="How the connection to it is protected.")
    ] = "starttls"
    smtp_user: Annotated[str, Meta(description="The name to log in with; empty for none.")] = ""
    smtp_password: Annotated[
        str,
        Meta(
            description="The password to it.",
            extra={"secret": True, "variable": "GATEWAY_ALERTS_SMTP_PASSWORD"},
        ),
    ] = ""
    mail_from: Annotated[str, Meta(description="The sender's address.")] = ""
    mail_to: Annotated[tuple[str, ...], Meta(description="The receivers' addresses.")] = ()

    every_seconds: Annotated[
        int, Meta(description="How often the figures are compared.", ge=15, le=3600)
    ] = 60
    limit_share: Annotated[
        Share, Meta(description="A key has used so much of one of its limits.")
    ] = 0.8
    spend_factor: Annotated[
        float,
        Meta(
            description="An hour costs so many times what an hour of the last seven days cost.",
            ge=0,
        ),
    ] = 3.0
    spend_least: Annotated[
        float, Meta(description="In dollars; an hour that costs less is no jump.", ge=0)
    ] = 5.0
    error_share: Annotated[
        Share, Meta(description="So many of a provider's calls failed within ten minutes.")
    ] = 0.25
    error_calls: Annotated[
        int, Meta(description="Fewer calls than that say nothing about errors.", ge=1)
    ] = 20
    rest_seconds: Annotated[
        int, Meta(description="An account rests for at least so long.", ge=0)
    ] = 300

    @property
    def has_destination(self) -> bool:
        return any((self.webhook_url, self.slack_url, self.smtp_host))

    def __post_init__(self) -> None:
        for address in (self.webhook_url, self.slack_url):
            if address and not address.startswith(("https://", "http://")):
                raise ValueError("the address must begin with https:// or http://")
        if self.smtp_host and not (self.mail_from and self.mail_to):
            raise ValueError("mail needs mailFrom and mailTo")
        for text in (self.mail_from, *self.mail_to):
            if any(each in text for each in "\r\n") or (text and "@" not in text):
                raise ValueError("an address of mail looks like name@host")

"""Where an account's requests go: each region has a host of its own."""

import re

from gateway_core import BadRequest, Credential, Target

DEFAULT_REGION = "us-east-1"
# The region becomes part of a host, so nothing but a region's form may pass.
_REGION = re.compile(r"[a-z]{2,4}(-[a-z]+)+-\d{1,2}")


def region_of(credential: Credential) -> str:
    """The account's region, which becomes part of a host. Raises BadRequest for any other word."""
    region = credential.data.get("region") or DEFAULT_REGION
    if not isinstance(region, str) or not _REGION.fullmatch(region):
        raise BadRequest("The region of the account is not an AWS region")
    return region


def address(target: Target, credential: Credential, path: str) -> str:
    """The account's own base URL where it has one, else its region's host."""
    own = credential.data.get("baseUrl")
    if isinstance(own, str) and own:
        return f"{own.rstrip('/')}{path}"
    region = region_of(credential)
    # The partition of China has a domain of its own.
    domain = "amazonaws.com.cn" if region.startswith("cn-") else "amazonaws.com"
    return f"https://bedrock-runtime.{region}.{domain}{path}"

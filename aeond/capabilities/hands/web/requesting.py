"""What the tools of the web have in common: their targets, their previews and their errors."""

from typing import Annotated, Final

from pydantic import Field

from aeond.capabilities.egress.exchange import Response, followed_ports
from aeond.capabilities.egress.gate import Gate
from aeond.capabilities.egress.urls import Url, parse_url
from aeond.domain.plans.approvals import CallPreview
from aeond.domain.policy import Access, Target, TargetKind
from aeond.errors import ToolError

MAX_URL_CHARS: Final = 2_000
MAX_CHARS: Final = 32 << 10
MAX_BODY_BYTES: Final = 4 << 20
FETCH_SECONDS: Final = 30.0

WebAddress = Annotated[
    str, Field(min_length=1, max_length=MAX_URL_CHARS, description="Address with http:// or https://")
]


def allowed_url(gate: Gate, text: str) -> Url:
    """The address of an allowed host. ToolError (reason URL_INVALID, HOST_NOT_ALLOWED)."""
    url = parse_url(text)
    gate.require_allowed(url)
    return url


def targets_of(url: Url) -> tuple[Target, ...]:
    """The hosts that a request may reach, redirections included."""
    return tuple(Target(TargetKind.HOST, name, Access.USE) for name in followed_ports(url))


def preview_of(method: str, url: Url) -> CallPreview:
    return CallPreview(host=f"{', '.join(followed_ports(url))} ({method} {url})")


def require_success(response: Response) -> None:
    """ToolError (reason HTTP_STATUS) for a response that reports an error."""
    if response.status >= 400:
        raise ToolError(
            f"{response.url.host_port} responded with the status {response.status}",
            reason="HTTP_STATUS",
            field="url",
            retryable=response.status >= 500,
        )

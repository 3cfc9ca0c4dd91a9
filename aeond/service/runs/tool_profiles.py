"""Named lists of allowed tools, which requests refer to."""

from collections.abc import Mapping
from dataclasses import replace

from aeond.domain.runs.run import RunRequest
from aeond.errors import InvalidInputError

Profiles = Mapping[str, tuple[str, ...]]


class ToolProfiles:
    """The configured profiles: patterns of tools by name."""

    def __init__(self, profiles: Profiles) -> None:
        self._profiles = profiles

    def adopt(self, profiles: Profiles) -> None:
        """Applies these profiles to new runs; a run keeps the patterns that it was created with."""
        self._profiles = profiles

    def applied(self, request: RunRequest) -> RunRequest:
        """The request with the tools of its profile. InvalidInputError (reason TOOL_PROFILE_UNKNOWN), or
        TOOLS_AND_PROFILE for a request with both."""
        if not request.tool_profile:
            return request
        if request.tools is not None:
            raise InvalidInputError(
                "the request has tools and a tool profile: choose one of them",
                reason="TOOLS_AND_PROFILE",
                field="request.tool_profile",
            )
        patterns = self._profiles.get(request.tool_profile)
        if patterns is None:
            known = ", ".join(sorted(self._profiles)) or "none"
            raise InvalidInputError(
                f"there is no tool profile {request.tool_profile!r:.80}; configured in tools.profiles: {known}",
                reason="TOOL_PROFILE_UNKNOWN",
                field="request.tool_profile",
            )
        return replace(request, tools=patterns)

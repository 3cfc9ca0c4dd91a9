"""Implementation of PolicyService."""

from aeond.api.v1 import policy_pb2 as pb
from aeond.domain.runs.run import Caller
from aeond.server.calls import PolicyCalls
from aeond.server.wire import checks
from aeond.server.wire.requests import TOOL_CALL
from aeond.server.wire.table import to_wire

MAX_POLICY_CHARS = 256 * 1024
MAX_SOURCES = 16
MAX_SOURCE_CHARS = 512


class PolicyShim:
    def __init__(self, calls: PolicyCalls) -> None:
        self._calls = calls

    async def get_policy(self, _request: pb.GetPolicyRequest, _caller: Caller) -> pb.GetPolicyResponse:
        return to_wire(await self._calls.in_force(), pb.GetPolicyResponse)

    async def test_policy(self, request: pb.TestPolicyRequest, caller: Caller) -> pb.TestPolicyResponse:
        checks.required(request, "call")
        call = TOOL_CALL.read(request.call, "call")
        workspace = checks.folder_path(request.workspace, "workspace")
        checks.at_most(request.taint, "taint", MAX_SOURCES)
        taint = tuple(checks.bounded_text(one, "taint", MAX_SOURCE_CHARS) for one in request.taint)
        return to_wire(await self._calls.test(call, workspace, taint, caller.owner), pb.TestPolicyResponse)

    async def replay_policy(self, request: pb.ReplayPolicyRequest, caller: Caller) -> pb.ReplayPolicyResponse:
        run_id = checks.word(request.run_id, "run_id")
        text = checks.bounded_text(request.policy, "policy", MAX_POLICY_CHARS)
        return to_wire(await self._calls.replay(run_id, text, caller), pb.ReplayPolicyResponse)

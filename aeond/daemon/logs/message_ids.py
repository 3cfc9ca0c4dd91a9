"""The MESSAGE_ID of each kind of log record, for `journalctl MESSAGE_ID=...` and for the explanations that
`journalctl -x` takes from `systemd/aeond.catalog`.

A kind is given in code as `extra={"kind": ...}`. An id never changes and is never reused for another kind.
"""

from collections.abc import Mapping
from typing import Final

MESSAGE_IDS: Final[Mapping[str, str]] = {
    "daemon_ready": "2876963759da627f88573e324d5dd535",
    "daemon_stopping": "e932a62a995ced7cb15eedfb1eece32b",
    "daemon_stopped": "c8e85244c6dd4eeb11a7ae6f1a2641f9",
    "config_reloaded": "897a194ce61ff161115d9cf399901361",
    "config_refused": "0809ee0917f159992acae5c1180c3eab",
    "not_alive": "af74ee2a43419ddc6fef7134eec53099",
    "engine_changed": "6b641c89c69ac48cbadcf85640817c64",
    "engine_rests": "b73a0f95563aa5b90a425b624e414155",
    "mcp_server_lost": "01fcbba3d5724c68b186a827e6b02bb4",
    "connection_refused": "2c4414b4c019e3259bc4505009a7e530",
    "call_broke": "d3d929d0b2f3fc4e60a3e4167fa0f444",
    "run_broke": "b5da4940cdac4f688ae59254d32ddfc0",
    "run_created": "6b5e7af2d2fcdaabc325422d02da4893",
    "run_started": "f4fe789e083996b5d4da6748482c4d49",
    "route_chosen": "529a9824524a3f2ffa8836416f99bb60",
    "run_planned": "88f9e2d4c7588d5b8633f8e3970290cc",
    "planning_failed": "80579cbb5f669665576e73bd45084686",
    "policy_decided": "3d5e8c0b6a5f4a7c9a1d5c2f7b0e4d18",
    "step_ended": "e4bd0cd45c7e90988b89a5778a6ba4b1",
    "pass_evaluated": "cba12b3288c0ce28fc5df1e6c18c3759",
    "plan_refined": "147493d011784eda18feba3bc52850f3",
    "input_requested": "584442dff8132920e76753b939fcbb7c",
    "input_answered": "50377dec42fb4d98b0a8e8a25d9023d9",
    "approval_requested": "7a8627e9d6a49364ff8195199b70aeea",
    "approval_decided": "02a5b30777b9958ee81d1c9243a06392",
    "child_started": "981bf8cb5c8aa32d13261b0907b49178",
    "child_ended": "4548cb4fca5a25f78629688563e17254",
    "budget_exhausted": "458562c3680ef7890431c1baeb0fbc9f",
    "run_cancelled": "f21b865fe6f5a9eed4cd4a2fb1295d68",
    "run_parked": "8ef123c2842fd796446d27ec2a89eacb",
    "run_resumed": "5a0107228fe51b5c147b23bff2b7e91e",
    "run_suspended": "9d592682eaa75559fa958c2465f11b5e",
    "run_decided": "a00016951779711fe3880247c9ed3bcb",
    "run_ended": "ea8ddc6a2cb36e699ea29dd0665edff7",
}

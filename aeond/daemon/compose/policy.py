"""Composes the policy: the rules in force, and who is trusted."""

from pathlib import Path

from aeond.capabilities.policy.loading import load_policy
from aeond.capabilities.policy.rule_policy import RulePolicy
from aeond.capabilities.policy.trust import Trust
from aeond.daemon.config.paths import real_names
from aeond.daemon.config.schema import Config
from aeond.errors import InvalidInputError


def opened_policy(config: Config) -> RulePolicy:
    """The configured policy. InvalidInputError (reason POLICY_INVALID) if its file cannot be used, or if a run could
    write it."""
    section = config.policy
    if not section.file:
        return load_policy(section.profile, None)
    file = Path(section.file).expanduser()
    (real,) = real_names([file])
    for folder in real_names(config.workspaces.writable):
        if Path(real).is_relative_to(folder):
            raise InvalidInputError(
                f"policy.file {file} is inside {folder}, where runs may write: move it elsewhere",
                reason="POLICY_INVALID",
                field="policy.file",
            )
    return load_policy(section.profile, file)


def configured_trust(config: Config) -> Trust:
    """The trusted and untrusted folders, with links resolved."""
    return Trust(real_names(config.policy.trusted), real_names(config.policy.untrusted))


def check_policy(config: Config) -> str:
    """A finding about the policy. InvalidInputError as at a start."""
    policy = opened_policy(config)
    return f"profile {policy.profile}, {len(policy.rules)} rules, version {policy.version}"

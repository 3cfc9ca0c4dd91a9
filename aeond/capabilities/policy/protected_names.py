"""Names of files that run code or hold keys: a change of one needs a person's consent, regardless of the requester.

A name protects the file itself and, for a folder, everything below it, wherever it is. Names are compared without case.
"""

from itertools import pairwise
from typing import Final

_SHELLS: Final = """\
.bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .inputrc .zshrc .zshenv
.zprofile .zlogin .zlogout .kshrc .cshrc .tcshrc .login .logout .xprofile .xinitrc .xsession
.xsessionrc .xserverrc .pam_environment .envrc
"""
_PROGRAMS: Final = """\
.vimrc .exrc .nvimrc .emacs .emacs.d .gdbinit .lldbinit .pythonrc .pythonstartup .mailcap .forward
.procmailrc .vscode .idea .devcontainer .husky .direnv .tmux.conf .git .gitconfig .gitmodules .hg
.hgrc .svn .npmrc .yarnrc .yarnrc.yml .pypirc autostart autostart-scripts plasma-workspace
environment.d cron.d crontab crontabs .irbrc .pryrc .rprofile .ipython .jupyter .sqliterc .psqlrc
.screenrc .muttrc .curlrc .wgetrc .bazelrc .gradle .m2 .mcp.json .cursor .claude .aider.conf.yml
.venv-engine .venv-aider .venv-llama sitecustomize.py usercustomize.py .pre-commit-config.yaml
.gitlab-ci.yml .github
"""
_KEYS: Final = """\
.ssh authorized_keys .gnupg .aws .azure .kube .docker .netrc .pgpass .git-credentials
.password-store .rhosts .shosts .k5login .vault-token
"""
PROTECTED_NAMES: Final = frozenset(f"{_SHELLS} {_PROGRAMS} {_KEYS}".split())
_PAIRS: Final = """\
systemd/user systemd/system .config/systemd .config/fish .config/git .config/nvim .config/aeond
share/aeond .config/hypr .config/sway .local/bin .local/lib share/applications share/dbus-1
.cargo/config.toml .cargo/bin .cargo/config profile.d/
"""
PROTECTED_PAIRS: Final = frozenset(
    (first, second) for first, _, second in (pair.partition("/") for pair in _PAIRS.split())
)
"""Two parts of a path in a row; an empty second part stands for any."""

_FIRST: Final = frozenset(first for first, _ in PROTECTED_PAIRS)


def protected_name(path: str) -> str:
    """The part of the path that is protected; "" if none is."""
    parts = path.casefold().split("/")
    if not PROTECTED_NAMES.isdisjoint(parts):
        return next(part for part in parts if part in PROTECTED_NAMES)
    if not _FIRST.isdisjoint(parts):
        for first, second in pairwise(parts):
            if (first, second) in PROTECTED_PAIRS or (first, "") in PROTECTED_PAIRS:
                return f"{first}/{second}"
    return ""

"""Names that run code or hold keys."""

import pytest

from aeond.capabilities.policy.protected_names import protected_name


@pytest.mark.parametrize(
    "path",
    [
        *("/home/a/.bashrc", "/home/a/.profile", "/home/a/w/.ssh/authorized_keys", "/home/a/w/.git/hooks/x"),
        *(
            "/home/a/w/.git/config",
            "/home/a/.config/autostart/x.desktop",
            "/home/a/.config/systemd/user/x.service",
        ),
        *(
            "/etc/systemd/system/x.timer",
            "/home/a/.local/bin/ls",
            "/home/a/.zshenv",
            "/home/a/.netrc",
            "/w/.envrc",
        ),
        *(
            "/home/a/.local/share/applications/x.desktop",
            "/w/.vscode/tasks.json",
            "/w/.GIT/hooks/x",
            "/w/.BashRC",
        ),
        *(
            "/home/a/.config/fish/config.fish",
            "/home/a/.cargo/config.toml",
            "/etc/profile.d/x.sh",
            "/etc/cron.d/x",
        ),
        *("/home/a/.local/share/aeond/llama/xllamacpp/__init__.py", "/home/a/w/.venv-llama/aeond-llama.json"),
    ],
)
def test_a_protected_name(path: str) -> None:
    """Names are found in every folder and in any case."""
    assert protected_name(path)


@pytest.mark.parametrize(
    "path",
    [
        "/home/a/w/notes.md",
        "/home/a/w/git/hooks",
        "/home/a/bashrc",
        "/w/config/x",
        "/w/.gitignore",
        "/w/systemd",
    ],
)
def test_an_ordinary_name(path: str) -> None:
    """Names that are merely similar are not protected."""
    assert protected_name(path) == ""

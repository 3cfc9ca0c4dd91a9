"""Secrets: where one may lie, and what is refused at the start because it lies where others can read it.

A secret is a credential of systemd, or a file that only its owner can read. One in the environment is in
`/proc/PID/environ`, in crash reports and in every child; one in the configuration is in backups and in what
people paste. Both end the start, named by their variable or key and never by their value.
"""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from aeond.errors import RefusedError
from aeond.plain_files import read_plain

MAX_SECRET_BYTES: Final = 1 << 16

# Services that aeond can be configured to talk to, or that libraries of its engines look for by themselves.
_SERVICES: Final = (
    "AEOND", "ANTHROPIC", "AZURE_OPENAI", "COHERE", "DEEPSEEK", "GEMINI", "GROQ", "HF", "HUGGING_FACE",
    "HUGGINGFACE", "MISTRAL", "OPENAI", "OPENROUTER", "TOGETHER", "VLLM", "XAI",
)  # fmt: skip
_VARIABLE: Final = re.compile(
    rf"(?:{'|'.join(_SERVICES)})(?:_[A-Z0-9]+)*?_(?:API_KEY|KEY|TOKEN|SECRET|PASSWORD)", re.IGNORECASE
)
_KEY: Final = re.compile(r"(?:.*_)?(?:api_?key|key|token|secret|password)", re.IGNORECASE)
_WAYS: Final = "give it as a credential of systemd (LoadCredential=NAME:FILE) or in a file of mode 0600"


def refuse_secrets_in_environment(environment: Mapping[str, str]) -> None:
    """RefusedError (reason SECRET_IN_ENVIRONMENT) when a variable that is set would hold a secret."""
    found = sorted(name for name, value in environment.items() if value and _VARIABLE.fullmatch(name))
    if found:
        raise RefusedError(
            f"{', '.join(found)} in the environment: aeond takes no secret from there, for every child and "
            f"/proc would have it too. Take it out (unset it, or UnsetEnvironment= in the unit) and {_WAYS}; "
            "the configuration names it",
            reason="SECRET_IN_ENVIRONMENT",
        )


def looks_secret(key: str) -> bool:
    """Whether a key of the configuration is called like one that would hold a secret."""
    return _KEY.fullmatch(key) is not None


def in_configuration(key: str) -> str:
    """What is to be said of a key that would hold a secret in the configuration."""
    return f"{key} would be a secret, which does not belong into this file: {_WAYS}, and name that here"


def read_secret(credential: str, file: str) -> str:
    """The secret in a credential of this service, or in a file; "" when neither is named.

    RefusedError: SECRET_MISSING when it is not there or empty, SECRET_READABLE when others than its owner
    can read the file, SECRET_BROKEN when it is no single line of text.
    """
    if credential:
        folder = os.environ.get("CREDENTIALS_DIRECTORY", "")
        if not folder or "/" in credential:
            raise _missing(f"credential {credential}", f"add LoadCredential={credential}:FILE to the unit")
        return _text(_content(Path(folder, credential), f"credential {credential}", guarded=False))
    if file:
        return _text(_content(Path(file).expanduser(), file, guarded=True))
    return ""


def secret_places(*files: str) -> tuple[Path, ...]:
    """Where secrets lie: the credentials of this service, if it has any, and these files ("" names none)."""
    return tuple(
        Path(name).expanduser() for name in (os.environ.get("CREDENTIALS_DIRECTORY", ""), *files) if name
    )


def _content(path: Path, name: str, *, guarded: bool) -> bytes:
    try:
        facts, content = read_plain(path, MAX_SECRET_BYTES)
    except OSError as error:
        raise _missing(name, f"it cannot be read ({error.strerror})") from error
    if guarded and facts.st_mode & 0o077:
        raise RefusedError(
            f"{name} holds a secret and others may read it: chmod 0600 it, and make a new secret if they could",
            reason="SECRET_READABLE",
        )
    if guarded and facts.st_uid not in (0, os.geteuid()):
        raise RefusedError(
            f"{name} holds a secret and belongs to another user: chown it", reason="SECRET_READABLE"
        )
    return content


def _text(content: bytes) -> str:
    if not content.strip():
        raise _missing("the secret", "what is there is empty")
    try:
        text = content.decode("ascii").strip()
    except UnicodeDecodeError:
        text = ""
    if not text.isprintable() or not text or len(content) > MAX_SECRET_BYTES:
        raise RefusedError("a secret must be one line of plain text", reason="SECRET_BROKEN")
    return text


def _missing(what: str, why: str) -> RefusedError:
    return RefusedError(f"{what} is not there: {why}", reason="SECRET_MISSING")

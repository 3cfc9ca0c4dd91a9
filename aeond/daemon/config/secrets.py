"""Secrets: where they may be stored, and the checks at start that reject insecure places.

A secret is a systemd credential, or a file that only its owner can read. A secret in the environment would be
visible in `/proc/PID/environ`, in crash reports and in every child process; one in the configuration ends up
in backups and in text that people share. Both prevent a start; the error gives the variable or key, never the
value.
"""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from aeond.errors import RefusedError
from aeond.plain_files import read_plain

MAX_SECRET_BYTES: Final = 1 << 16

# Services that aeond can be configured to use, or that libraries of its engines look for by themselves.
_SERVICES: Final = (
    "AEOND", "ANTHROPIC", "AZURE_OPENAI", "COHERE", "DEEPSEEK", "GEMINI", "GROQ", "HF", "HUGGING_FACE",
    "HUGGINGFACE", "MISTRAL", "OPENAI", "OPENROUTER", "TOGETHER", "VLLM", "XAI",
)  # fmt: skip
_VARIABLE: Final = re.compile(
    rf"(?:{'|'.join(_SERVICES)})(?:_[A-Z0-9]+)*?_(?:API_KEY|KEY|TOKEN|SECRET|PASSWORD)", re.IGNORECASE
)
# The short words only as the last word of a name: PWD is the working folder, and PGPASSFILE a file.
_KEY: Final = re.compile(
    r"(?:.*_)?(?:api_?key|key|token|secret|pass|pat)|.*_pwd|.*(?:password|passwd|passphrase)", re.IGNORECASE
)
_WAYS: Final = "store it as a systemd credential (LoadCredential=NAME:FILE) or in a file with mode 0600"


def refuse_secrets_in_environment(environment: Mapping[str, str]) -> None:
    """RefusedError (reason SECRET_IN_ENVIRONMENT) if a variable that usually holds a secret is set."""
    found = sorted(name for name, value in environment.items() if value and _VARIABLE.fullmatch(name))
    if found:
        raise RefusedError(
            f"{', '.join(found)} in the environment: aeond takes no secrets from there, because every"
            " child process and /proc would expose them. Remove it (unset, or UnsetEnvironment= in the"
            f" unit) and {_WAYS}; then refer to it in the configuration",
            reason="SECRET_IN_ENVIRONMENT",
        )


def looks_secret(key: str) -> bool:
    """Whether the name of a configuration key suggests a secret."""
    return _KEY.fullmatch(key) is not None


def in_configuration(key: str) -> str:
    """The error for a configuration key whose name suggests a secret."""
    return f"{key} looks like a secret, which must not be in this file: {_WAYS}, and refer to it here"


def read_secret(credential: str, file: str) -> str:
    """The secret in a credential of this service, or in a file; "" if neither is configured.

    RefusedError: SECRET_MISSING if it does not exist or is empty, SECRET_READABLE if users other than its
    owner can read the file, SECRET_BROKEN if it is not a single line of text.
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
    """The places of secrets: the credentials of this service, if any, and these files ("" for none)."""
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
            f"{name} contains a secret and other users may read it: run chmod 0600 on it, and replace"
            " the secret if it may have been read",
            reason="SECRET_READABLE",
        )
    if guarded and facts.st_uid not in (0, os.geteuid()):
        raise RefusedError(
            f"{name} contains a secret and belongs to another user: run chown on it", reason="SECRET_READABLE"
        )
    return content


def _text(content: bytes) -> str:
    if not content.strip():
        raise _missing("the secret", "it is empty")
    try:
        text = content.decode("ascii").strip()
    except UnicodeDecodeError:
        text = ""
    if not text.isprintable() or not text or len(content) > MAX_SECRET_BYTES:
        raise RefusedError("a secret must be one line of plain text", reason="SECRET_BROKEN")
    return text


def _missing(what: str, why: str) -> RefusedError:
    return RefusedError(f"{what} is missing: {why}", reason="SECRET_MISSING")

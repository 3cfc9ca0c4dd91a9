"""Writes the files of the desktop window for all users: `package/desktop.py DESTDIR PREFIX`."""
# ruff: noqa: INP001 (a program, not a package)

import sys
from pathlib import Path

from aeon_popup.integration import system_files


def main(destination: str, prefix: str) -> None:
    for path, text in system_files(f"{prefix}/bin/aeon-popup", Path(prefix)).items():
        target = Path(f"{destination}{path}")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])

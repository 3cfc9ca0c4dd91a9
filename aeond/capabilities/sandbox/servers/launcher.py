"""The first program of a sandboxed server: confines itself, then becomes the server.

The sandbox starts it as `python -I -m aeond.capabilities.sandbox.servers.launcher FOLDERS COMMAND...`. FOLDERS is a JSON
object with the lists `readable` and `writable` and the booleans `network` and `loopback`. With `-m MODULE` as the command, it calls `main`
of a module of aeond instead, which another process might not find behind the wall.
"""

import importlib
import json
import os
import sys

from aeond.capabilities.sandbox.confinement.process import confine_server
from aeond.errors import ToolError


def main() -> None:
    folders = json.loads(sys.argv[1])
    command = sys.argv[2:]
    os.umask(0o077)
    try:
        confine_server(**folders)
        if command[0] == "-m":
            importlib.import_module(command[1]).main()
            return
        os.execvp(command[0], command)  # noqa: S606 - the configured server, without a shell
    except (OSError, ToolError) as error:
        sys.exit(f"{command[0]} cannot be started: {error}")


if __name__ == "__main__":
    main()

"""A program that takes vLLM's command line, says at once that it is ready, and agrees to whatever it is asked.

If a pipe `falling-asleep` exists beside its socket, it answers a sleep request only after that pipe was opened for writing and closed.
"""

import sys
from pathlib import Path

SOURCE = """
import http.server, json, os, socketserver, sys, threading

LISTENING = sys.argv[sys.argv.index("--guard") + 1]
FALLING_ASLEEP = os.path.join(os.path.dirname(LISTENING), "falling-asleep")

class Agreeing(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        if self.path.startswith("/sleep") and os.path.exists(FALLING_ASLEEP):
            open(FALLING_ASLEEP).read()
        self.rfile.read(int(self.headers.get("content-length") or 0))
        self.send_response(200)
        self.send_header("content-length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def do_GET(self):
        self.do_POST()

    def address_string(self):
        return "the daemon"

    def log_message(self, *arguments):
        pass

server = socketserver.ThreadingUnixStreamServer(LISTENING, Agreeing)
threading.Thread(target=server.serve_forever, daemon=True).start()
print(json.dumps({"ready": True}), flush=True)
sys.stdin.read()
"""


def mute_python(folder: Path) -> Path:
    """An interpreter for a VllmEngine that always runs this program."""
    (folder / "mute.py").write_text(SOURCE)
    program = folder / "python"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{folder / "mute.py"}" "$@"\n')
    program.chmod(0o755)
    return program

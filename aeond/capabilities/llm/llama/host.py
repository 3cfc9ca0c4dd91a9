"""The process that llama.cpp lives in: xllamacpp's own server on a Unix socket, and nothing else.

A crash of the native code must not take the daemon along, so the daemon starts this file as a program
(`python -m aeond.capabilities.llm.llama.host ...`). Standard output carries one JSON line, `{"ready": true}`
or `{"error": "..."}`; the engine's log goes to standard error. The program ends when its standard input
closes or its parent dies, whichever is noticed first.
"""

import argparse
import ctypes
import json
import os
import resource
import signal
import sys
from pathlib import Path

PR_SET_PDEATHSIG = 1  # from <linux/prctl.h>


def die_with_parent(parent_pid: int) -> None:
    """Asks the kernel to kill this process with its parent, and leaves if the parent is gone already.

    Set here, after exec, because setting it between fork and exec runs Python in a half-made process.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_PDEATHSIG) was refused")
    if os.getppid() != parent_pid:
        os._exit(0)


def stand_back() -> None:
    """Where memory runs out this process goes before the daemon, and it leaves no core file of gigabytes."""
    Path("/proc/self/oom_score_adj").write_text("500", encoding="ascii")
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def private_stdout() -> int:
    """A descriptor for our own lines; whatever native code prints goes to standard error instead."""
    descriptor = os.dup(1)
    os.dup2(2, 1)
    return descriptor


def parse_arguments(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--parent", type=int, required=True, help="pid of the daemon")
    parser.add_argument("--socket", type=Path, required=True, help="where to listen; must not exist yet")
    parser.add_argument("--model", type=Path, required=True, help="GGUF file")
    parser.add_argument("--name", required=True, help="what the server calls the model")
    parser.add_argument("--slots", type=int, required=True, help="requests worked on at the same time")
    parser.add_argument("--context-length", type=int, required=True, help="tokens per slot")
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--batch", type=int, required=True, help="prompt tokens read at once, at most")
    parser.add_argument("--http-threads", type=int, required=True)
    parser.add_argument("--prompts", type=Path, required=True, help="folder for read prompts")
    parser.add_argument("--library", type=Path, help="folder with a build of xllamacpp for this processor")
    parser.add_argument("--chat-template", type=Path, help="Jinja file in place of the model's own template")
    return parser.parse_args(arguments)


def serve(options: argparse.Namespace) -> object:
    """Loads the model and listens; returns the server, which works in threads of its own."""
    if options.library is not None:
        sys.path.insert(0, str(options.library))
    import xllamacpp  # type: ignore[import-untyped]  # a native module without types

    if options.socket.suffix != ".sock":
        raise ValueError(f"the socket path must end in .sock: {options.socket}")
    params = xllamacpp.CommonParams()
    params.model.path = str(options.model)
    params.model_alias = {options.name}
    # A host that ends in .sock is a socket path; without one the server would open a loopback port.
    params.hostnames = [str(options.socket)]
    params.use_jinja = True  # templates with tools are Jinja
    if options.chat_template is not None:
        params.chat_template = options.chat_template.read_text(encoding="utf-8")
    params.n_parallel = options.slots
    params.n_ctx = options.context_length * options.slots  # the server divides it among its slots
    params.n_batch = params.n_ubatch = options.batch
    if options.library is not None:
        # Most prompts add a few words to a long one that is read already. Without flash attention a build for the processor reads
        # fewer than 64 tokens up to 1.8 times as fast; the wheel hardly does. ADR 0136 has the measurements.
        params.flash_attn_type = xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = options.threads
    params.cpuparams.poll = params.cpuparams_batch.poll = 0  # sleep between tokens: the cores are shared
    params.n_threads_http = options.http_threads
    params.cache_ram_mib = 0  # of prompts: which slot has read what is known to the daemon, which chooses
    params.slot_save_path = f"{options.prompts}/"
    params.fit_params = False  # the requested size or an error, never a silently smaller context
    params.ui = False
    params.offline = True
    params.endpoint_metrics = True
    params.verbosity = 2  # warnings and errors
    return xllamacpp.Server(params)


def main() -> None:
    options = parse_arguments(sys.argv[1:])
    die_with_parent(options.parent)
    stand_back()
    os.umask(0o077)
    out = private_stdout()
    try:
        server = serve(options)
    except (OSError, RuntimeError, ValueError, ImportError) as error:
        os.write(out, json.dumps({"error": str(error)}).encode() + b"\n")
        sys.exit(1)
    os.write(out, json.dumps({"ready": True}).encode() + b"\n")
    sys.stdin.buffer.read()  # returns when the daemon closes its end
    del server
    os._exit(0)


if __name__ == "__main__":
    main()

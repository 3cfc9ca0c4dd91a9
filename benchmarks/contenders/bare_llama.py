"""llama.cpp's own server with settings of its own, on a Unix socket, until standard input closes.

usage: python -m benchmarks.contenders.bare_llama SOCKET MODEL SETTINGS

SETTINGS is a JSON object of xllamacpp's parameters; `threads`, `poll`, `flash_attention`, `key_cache` and `value_cache`
stand for the nested ones; `library` is a folder with another build of xllamacpp.
"""

import json
import os
import sys
from typing import Any

CONTEXT_TOKENS = 4096


def started(socket: str, model: str, settings: dict[str, Any]) -> object:
    """The server, which works in threads of its own."""
    if "library" in settings:
        sys.path.insert(0, settings.pop("library"))
    import xllamacpp  # type: ignore[import-untyped]  # a native module without types

    parameters = xllamacpp.CommonParams()
    parameters.model.path = model
    parameters.hostnames = [socket]
    parameters.n_parallel = settings.pop("n_parallel", 1)
    parameters.n_ctx = CONTEXT_TOKENS * parameters.n_parallel
    threads = settings.pop("threads", len(os.sched_getaffinity(0)))
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = threads
    if "poll" in settings:
        parameters.cpuparams.poll = parameters.cpuparams_batch.poll = settings.pop("poll")
    if "flash_attention" in settings:
        parameters.flash_attn_type = getattr(
            xllamacpp.llama_flash_attn_type, f"LLAMA_FLASH_ATTN_TYPE_{settings.pop('flash_attention')}"
        )
    for name, parameter in (("key_cache", "cache_type_k"), ("value_cache", "cache_type_v")):
        if name in settings:
            setattr(parameters, parameter, getattr(xllamacpp.ggml_type, f"GGML_TYPE_{settings.pop(name)}"))
    for name, value in settings.items():
        setattr(parameters, name, value)
    parameters.cache_ram_mib = 0
    parameters.fit_params = parameters.ui = False
    parameters.offline = True
    parameters.verbosity = 1
    return xllamacpp.Server(parameters)


def main() -> None:
    out = os.dup(1)
    os.dup2(2, 1)  # what native code prints is not an answer
    server = started(sys.argv[1], sys.argv[2], json.loads(sys.argv[3]))
    os.write(out, b"ready\n")
    sys.stdin.read()
    del server
    os._exit(0)


if __name__ == "__main__":
    main()

"""Turns a GGUF file into a folder of safetensors, which is what vLLM loads.

A program of the engine's environment, which has transformers and knows nothing of aeond. It reports on
standard output, a JSON object a line: `{"activity": "converting", "progress": 0..1}`, and at last
`{"ready": true}` or `{"error": text}`. It ends with its parent.
"""

import argparse
import ctypes
import json
import os
import resource
import signal
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

PR_SET_PDEATHSIG = 1  # from <linux/prctl.h>
STEPS = 100


def die_with_parent(parent: int) -> None:
    """Has the kernel kill this process when its parent dies; leaves if that is gone already."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_PDEATHSIG) was refused")
    if os.getppid() != parent:
        os._exit(0)


def report(what: dict[str, object]) -> None:
    os.write(1, json.dumps(what).encode() + b"\n")


def reported(tensors: Iterable[Any], **_bar: object) -> Iterator[Any]:
    """The tensors one by one, as transformers' own progress bar gives them, with reports in place of the bar."""
    known = list(tensors)
    shown = -1
    for number, tensor in enumerate(known):
        step = STEPS * number // len(known)
        if step != shown:
            shown = step
            report({"activity": "converting", "progress": step / STEPS})
        yield tensor


def convert(source: Path, target: Path) -> None:
    """Writes weights in bfloat16, which holds what four or eight bits said, the tokenizer and its template."""
    report({"activity": "converting", "progress": 0.0})
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig, modeling_gguf_pytorch_utils

    modeling_gguf_pytorch_utils.tqdm = reported
    folder, name = str(source.parent), source.name
    tokenizer = AutoTokenizer.from_pretrained(folder, gguf_file=name)
    model = AutoModelForCausalLM.from_pretrained(
        folder,
        gguf_file=name,
        quantization_config=GgufConfig(gguf_file=name, dequantize=True),
        dtype=torch.bfloat16,
    )
    model.save_pretrained(target)
    tokenizer.save_pretrained(target)
    for path in (*target.iterdir(), target):
        descriptor = os.open(path, os.O_RDONLY)
        os.fsync(descriptor)
        os.close(descriptor)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--parent", type=int, required=True, help="pid of the daemon")
    parser.add_argument("--source", type=Path, required=True, help="GGUF file")
    parser.add_argument("--target", type=Path, required=True, help="folder to write; must not exist yet")
    options = parser.parse_args()
    die_with_parent(options.parent)
    Path("/proc/self/oom_score_adj").write_text("500", encoding="ascii")
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        convert(options.source, options.target)
    except (
        OSError,
        ValueError,
        RuntimeError,
        KeyError,
        ImportError,
        MemoryError,
    ) as error:
        report({"error": f"it cannot be converted: {type(error).__name__}: {error}"[:600]})
        sys.exit(1)
    report({"ready": True})


if __name__ == "__main__":
    main()

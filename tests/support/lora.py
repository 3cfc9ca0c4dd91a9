"""A small LoRA adapter of the small model, made of noise in the engine's environment, so that its output
differs."""

import subprocess
from pathlib import Path

from tests.support.vllm import PYTHON

PROGRAM = """
import json, sys
from pathlib import Path
import torch
from safetensors.torch import save_file

folder, rank = Path(sys.argv[1]), 8
folder.mkdir()
torch.manual_seed(1)
weights = {}
for layer in range(30):
    for name, width in (("q_proj", 576), ("v_proj", 192)):
        part = f"base_model.model.model.layers.{layer}.self_attn.{name}"
        weights[f"{part}.lora_A.weight"] = torch.randn(rank, 576) * 0.05
        weights[f"{part}.lora_B.weight"] = torch.randn(width, rank) * 0.05
save_file(weights, folder / "adapter_model.safetensors")
config = {"peft_type": "LORA", "task_type": "CAUSAL_LM", "r": rank, "lora_alpha": 16, "bias": "none"}
config |= {"target_modules": ["q_proj", "v_proj"], "base_model_name_or_path": "smollm2"}
(folder / "adapter_config.json").write_text(json.dumps(config))
"""


def noise(folder: Path) -> Path:
    """The adapter's new folder."""
    subprocess.run([PYTHON, "-c", PROGRAM, folder], check=True, capture_output=True)
    return folder

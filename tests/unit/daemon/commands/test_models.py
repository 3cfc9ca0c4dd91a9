"""`aeond models`: the catalogue, and the models that fit a machine."""

import json
import tomllib

import pytest

from aeond.daemon.commands.models import recommend, recommendations, show_models
from aeond.daemon.config.schema import Config
from aeond.daemon.exits import Exit
from aeond.daemon.main import main

GIB = 1 << 30


@pytest.mark.parametrize(
    ("ram", "model"),
    [
        (4, "qwen2.5-coder-1.5b-instruct"),
        (8, "qwen3-4b-instruct-2507"),
        (16, "qwen2.5-7b-instruct"),
        (32, "qwen3-30b-a3b-instruct-2507"),
    ],
)
def test_main_memory_of_usual_sizes_has_a_model(ram: int, model: str) -> None:
    """A machine without a GPU gets the most capable GGUF file that leaves room for other programs."""
    (found,) = recommendations(ram * GIB, 0)
    assert (found.engine, found.model) == ("llama_cpp", model)
    assert found.needed_bytes <= found.usable_bytes < ram * GIB


@pytest.mark.parametrize(
    ("gpu", "model"),
    [
        (8, "qwen2.5-7b-instruct"),
        (16, "qwen2.5-14b-instruct"),
        (24, "qwen3-30b-a3b-instruct-2507-awq"),
        (48, "qwen3-30b-a3b-instruct-2507"),
    ],
)
def test_gpus_of_usual_sizes_have_a_model(gpu: int, model: str) -> None:
    """A GPU gets the most capable safetensors that fit, before the model for the main memory."""
    first = next(recommendations(64 * GIB, gpu * GIB))
    assert (first.engine, first.model) == ("vllm", model)


def test_the_printed_configuration_is_valid() -> None:
    """Every recommended configuration is accepted as it is printed, and selects that model."""
    for ram, gpu in ((4, 0), (8, 8), (16, 16), (32, 24), (64, 48)):
        for found in recommendations(ram * GIB, gpu * GIB):
            config = Config.model_validate(tomllib.loads(found.config))
            assert (config.model.engine, config.model.name) == (found.engine, found.model)
            assert bool(config.model.hub_url) is not found.tried


def test_a_machine_without_room_has_no_model(capsys: pytest.CaptureFixture[str]) -> None:
    """Where nothing fits the command says so and ends with 1."""
    assert recommend(ram_gib=0.5, gpu_gib=0, as_json=False) is Exit.PROBLEM
    assert "no model of the catalogue fits" in capsys.readouterr().out


def test_the_commands_print_json(capsys: pytest.CaptureFixture[str]) -> None:
    """`list` and `recommend` print one object each with --json."""
    assert main(["models", "list", "--json"]) == Exit.OK
    listed = json.loads(capsys.readouterr().out)["models"]
    assert {row["name"] for row in listed} >= {"smollm2-135m-instruct", "qwen2.5-14b-instruct"}
    assert main(["models", "recommend", "--ram", "16", "--gpu", "0", "--json"]) == Exit.OK
    found = json.loads(capsys.readouterr().out)
    assert found["machine"] == {"ram_bytes": 16 * GIB, "gpu_bytes": 0}
    assert found["recommendations"][0]["model"] == "qwen2.5-7b-instruct"


def test_a_model_that_was_not_tried_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    """The list and the recommendation name models that this project has not run."""
    assert show_models(as_json=False) is Exit.OK
    listed = capsys.readouterr().out
    assert "not tried by this project" in listed
    assert "vLLM's parser hermes" in listed
    recommend(ram_gib=16, gpu_gib=0, as_json=False)
    assert "has not tried it" in capsys.readouterr().out

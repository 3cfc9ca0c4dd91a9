"""What is told of the work of models, in words."""

from aeon_cli.commands.models import metrics_in_words
from aeon_cli.showing import model_use_in_words
from aeond_client.models import EngineMetrics
from aeond_client.runs import ModelUse


def test_what_a_model_did_for_a_step_is_one_line() -> None:
    """Tokens read, found and written, and how long it took; what nobody measured is left out."""
    whole = ModelUse(1_200, 40, 1_150, 0.25, 3.5)
    assert model_use_in_words(whole) == (
        "1200 tokens read (1150 from before), 40 written, first after 0.2s, engine 3.5s"
    )
    assert model_use_in_words(ModelUse(7, 1)) == "7 tokens read, 1 written"


def test_what_is_measured_of_an_engine_is_two_lines() -> None:
    """The work at hand and its speed, then the prompts and how much of them was known; nothing before anything
    was asked."""
    metrics = EngineMetrics(2, 1, 1_000, 850, 60, 24.4, 0.31, 0.5, 150)
    assert metrics_in_words(metrics) == [
        "2 at work, 1 waiting, 24 tokens/s, first after 0.3s, cache 50% full",
        "1000 tokens of prompts, 85% from before; 60 written",
    ]
    assert metrics_in_words(None) == metrics_in_words(EngineMetrics()) == []

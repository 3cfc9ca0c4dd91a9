"""Printing of a complete run and of metrics."""

from aeon_cli.commands.models import metrics_in_words
from aeon_cli.runs.details import model_use_in_words
from aeond_client.records.models import EngineMetrics
from aeond_client.records.runs import ModelUse


def test_model_usage_of_a_step_is_one_line() -> None:
    """Model usage lists tokens read, cached and generated, and the time taken; unmeasured values are
    omitted.
    """
    whole = ModelUse(1_200, 40, 1_150, 0.25, 3.5)
    assert model_use_in_words(whole) == (
        "1200 tokens read (1150 from cache), 40 generated, first token after 0.2s, engine 3.5s"
    )
    assert model_use_in_words(ModelUse(7, 1)) == "7 tokens read, 1 generated"


def test_engine_metrics_are_two_lines() -> None:
    """Metrics show load and speed, then prompts and their cached share; nothing before the first request."""
    metrics = EngineMetrics(2, 1, 1_000, 850, 60, 24.4, 0.31, 0.5, 150)
    assert metrics_in_words(metrics) == [
        "2 running, 1 waiting, 24 tokens/s, first token after 0.3s, cache 50% full",
        "1000 prompt tokens, 85% from cache; 60 generated",
    ]
    assert metrics_in_words(None) == metrics_in_words(EngineMetrics()) == []

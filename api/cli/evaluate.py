"""`context-engine evaluate-extractor`."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import click

from api.cli.common import json_option, print_json, say
from context_engine.errors import UsageError
from context_engine.settings import load_settings
from workers.extraction.client import OllamaModel
from workers.extraction.evaluation.evaluate import evaluate
from workers.extraction.evaluation.model import load_conversations, shipped
from workers.extraction.extract import extract_with_cues, extract_with_model


@click.command("evaluate-extractor")
@click.option("--model", help="A model that Ollama has; default: the rules (cues).")
@click.option(
    "--data",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Folder of labelled conversations; default: the ones this project ships.",
)
@json_option
def command(model: str | None, data: Path | None, as_json: bool) -> int:
    """Measure how well insights are distilled, on labelled conversations.

    Nothing is written; a model is asked once for each part of a conversation.
    """
    conversations = load_conversations(data or shipped())
    if not conversations:
        raise UsageError(f"no labelled conversations in {data}")
    if model is None:
        report = evaluate(extract_with_cues, conversations)
    else:
        llm = OllamaModel.from_settings(load_settings())
        llm.model = model
        health = llm.health()
        if not health.ok:
            say(f"{model} does not answer: {health.reason}")
            return 1
        report = evaluate(partial(extract_with_model, llm=llm), conversations)
    figures = {"extractor": model or "cues", "conversations": len(conversations)} | report.as_json()
    if as_json:
        print_json(figures)
    else:
        _print(figures)
    return 0


def _print(figures: dict[str, Any], indent: str = "") -> None:
    for name, value in figures.items():
        if isinstance(value, dict):
            click.echo(f"{indent}{name}")
            _print(value, indent + "  ")
        elif isinstance(value, float):
            click.echo(f"{indent}{name:<24} {value:.3f}")
        else:
            click.echo(f"{indent}{name:<24} {'–' if value is None else value}")

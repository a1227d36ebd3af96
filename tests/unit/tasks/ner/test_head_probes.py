"""Heads without tags, fitted to a frozen encoder."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from tests.helpers.jobs import encoded
from tests.helpers.micro import save_micro_encoder
from tests.helpers.task_files import travels
from zh_albert.configio import build
from zh_albert.tasks.ner.examples import read_entity_examples
from zh_albert.tasks.ner.finetune import FinetuneConfig, TaggingJob, evaluate
from zh_albert.tasks.ner.networks import Head
from zh_albert.training.stages import silent

CONFIG = build(FinetuneConfig, {"window": {"max_length": 32, "stride": 8}})


@pytest.mark.parametrize("head", ["span", "global_pointer"])
def test_a_head_knows_most_entities_before_the_encoder_changes(head: Head, tmp_path: Path) -> None:
    examples = read_entity_examples(travels(tmp_path / "t.jsonl"))
    init = save_micro_encoder(tmp_path / "micro")
    config = replace(CONFIG, model=replace(CONFIG.model, head=head))
    job = encoded(TaggingJob(examples, [], config, init=init))
    before = {name: value.clone() for name, value in job.model.module.encoder.state_dict().items()}
    assert evaluate(job.model, examples)["f1"] < 0.1
    job.probe(silent)
    assert evaluate(job.model, examples)["f1"] > 0.7
    for name, value in job.model.module.encoder.state_dict().items():
        assert torch.equal(value, before[name])
    assert all(parameter.grad is None for parameter in job.model.module.parameters())

"""Texts of a class are drawn together before a head is fitted."""

from __future__ import annotations

import math
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from tests.helpers.micro import save_micro_encoder
from zh_albert.distillation.soft_targets import TeacherConfig
from zh_albert.errors import ConfigError
from zh_albert.tasks.classification.class_contrast import ClassContrastConfig, class_contrast
from zh_albert.tasks.classification.examples import TextExample, UnlabelledText
from zh_albert.tasks.classification.finetune import FinetuneConfig, ModelConfig, finetune
from zh_albert.tasks.pooler_probe import Summary
from zh_albert.tasks.windows import WindowConfig, collate_windows, merged_outputs
from zh_albert.training.config import TrainConfig
from zh_albert.training.events import Event, StageProgress

GOOD = [f"这家店{word}{thing}" for word in "好棒赞" for thing in "菜饭汤茶"]
BAD = [f"这家店{word}{thing}" for word in "坏差糟" for thing in "菜饭汤茶"]
EXAMPLES = [TextExample(t, "good") for t in GOOD] + [TextExample(t, "bad") for t in BAD]
CONTRAST = ClassContrastConfig(updates=30, peak_lr=3e-3, texts=12)


def test_the_loss_is_that_of_the_texts_of_the_same_class() -> None:
    torch.manual_seed(0)
    vectors, classes = torch.randn(5, 4), torch.tensor([0, 1, 0, 2, 0])  # one is alone in class 2
    expected = 0.0
    unit = vectors / vectors.norm(dim=-1, keepdim=True)
    for one in range(5):
        others = [other for other in range(5) if other != one]
        whole = sum(math.exp(float(unit[one] @ unit[other]) / 0.5) for other in others)
        same = [other for other in others if classes[other] == classes[one]]
        for other in same:
            likely = math.exp(float(unit[one] @ unit[other]) / 0.5) / whole
            expected -= math.log(likely) / len(same)
    assert float(class_contrast(vectors, classes, 0.5)) == pytest.approx(expected, rel=1e-5)
    alone = class_contrast(vectors, torch.arange(5), 0.5)
    assert float(alone) == 0


def fitted(folder: Path, **settings: Any) -> tuple[Any, list[Event]]:
    events: list[Event] = []
    config = FinetuneConfig(
        window=WindowConfig(max_length=16, stride=4),
        train=TrainConfig(epochs=0, batch_tokens=1000, seed=1),
        **settings,
    )
    model, _ = finetune(EXAMPLES, [], config, init=folder, observers=[events.append])
    return model, events


def test_classes_are_further_apart_and_a_run_tells_how_far_it_is(tmp_path: Path) -> None:
    encoder = save_micro_encoder(tmp_path / "encoder")
    (plain, _), (drawn, events), (again, _) = (
        fitted(encoder, contrast=contrast) for contrast in (None, CONTRAST, CONTRAST)
    )

    def margin(model: Any) -> float:
        inputs = collate_windows(model.encode([*GOOD, *BAD]), model.config.pad_token_id)
        with torch.no_grad():
            vectors = merged_outputs(Summary(model.module), inputs, 24)
        unit = vectors / vectors.norm(dim=-1, keepdim=True)
        cosines = unit @ unit.T
        return float(cosines[:12, :12].mean() - cosines[:12, 12:].mean())

    assert margin(drawn) > margin(plain) + 0.1
    told = [e for e in events if isinstance(e, StageProgress) and "contrast" in e.what]
    assert (told[-1].done, told[-1].total) == (30, 30)
    np.testing.assert_array_equal(drawn.scores(GOOD), again.scores(GOOD))


def test_texts_without_labels_are_of_no_class(tmp_path: Path) -> None:
    encoder = save_micro_encoder(tmp_path / "encoder")
    fitted(encoder)[0].save(tmp_path / "teacher", card="")
    further = [UnlabelledText(f"天气{number}") for number in range(40)]
    config = FinetuneConfig(
        window=WindowConfig(max_length=16, stride=4),
        train=TrainConfig(epochs=0, batch_tokens=1000, seed=1),
        teacher=TeacherConfig(model=str(tmp_path / "teacher")),
        contrast=CONTRAST,
    )
    without, with_them = (
        finetune(EXAMPLES, [], config, unlabelled=texts, init=encoder)[0].module.encoder
        for texts in ((), further)
    )
    for name, tensor in without.attention.state_dict().items():  # the head's start differs
        torch.testing.assert_close(with_them.attention.state_dict()[name], tensor)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"updates": 0}, "contrast.updates must be at least 1, got 0"),
        ({"texts": 3}, "contrast.texts must be at least 4, got 3"),
        ({"peak_lr": 0.0}, "contrast.peak_lr must be > 0, got 0.0"),
        ({"temperature": math.nan}, "contrast.temperature must be > 0, got nan"),
    ],
)
def test_settings_without_sense_are_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        ClassContrastConfig(**asdict(ClassContrastConfig()) | given)


def test_it_needs_a_class_for_each_text_and_a_trained_encoder(tmp_path: Path) -> None:
    several = FinetuneConfig(model=ModelConfig(head="multi_label"), contrast=CONTRAST)
    lists = [TextExample(text, ("good",)) for text in GOOD]
    encoder = save_micro_encoder(tmp_path / "encoder")
    for examples, config, init in (
        (lists, several, encoder),
        (EXAMPLES, FinetuneConfig(contrast=CONTRAST), None),
    ):
        with pytest.raises(ConfigError, match="one class for each text, and an encoder to start"):
            finetune(examples, [], config, init=init)

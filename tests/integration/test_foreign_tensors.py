"""What other programs may have written beside or instead of the weights."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from tests.helpers.conversions import (
    KERNEL,
    change_config,
    change_tensors,
    google_folder,
    refusal,
)
from zh_albert.checkpoints.convert import convert, read_any
from zh_albert.checkpoints.tensorflow.bundle import Bundle
from zh_albert.errors import CheckpointError
from zh_albert.tasks.catalog import network_of


@pytest.fixture
def google(tmp_path: Path) -> Path:
    return google_folder(tmp_path / "google")


def test_what_a_training_run_keeps_is_left_out_and_said(google: Path) -> None:
    slots = ("adam_m", "adam_v", "AdamWeightDecayOptimizer_1")
    change_tensors(google, {f"{KERNEL}/{slot}": torch.zeros(8, 8) for slot in slots})
    change_tensors(google, {"beta1_power": torch.tensor(0.5)})

    done = convert(google, google.parent / "ours", to="zh_albert")

    assert done.notes == [
        "left out as state of the training: 1 × …/AdamWeightDecayOptimizer_1, 1 × …/adam_m, "
        "1 × …/adam_v, beta1_power"
    ]


def test_moving_averages_are_taken_and_said(google: Path) -> None:
    bundle = Bundle(google / "model.ckpt")
    averages = {name: bundle.tensor(name) + 1 for name in bundle.names}
    change_tensors(google, {f"{n}/ExponentialMovingAverage": t for n, t in averages.items()})

    stored = read_any(google)

    assert torch.equal(stored.tensors["encoder.pooler.weight"], averages[KERNEL].t())
    assert stored.notes[0].startswith("weights are the exponential moving averages of 32 var")


@pytest.mark.parametrize("prefix", ["module/bert/", "albert/"])
def test_other_prefixes_are_read_and_named_as_they_are(prefix: str, google: Path) -> None:
    before = {name: tensor.clone() for name, tensor in read_any(google).tensors.items()}
    bundle = Bundle(google / "model.ckpt")
    changes: dict[str, torch.Tensor | None] = {}
    for name in bundle.names:
        if name.startswith("bert/"):
            changes |= {name: None, name.replace("bert/", prefix): bundle.tensor(name)}
    change_tensors(google, changes)
    after = read_any(google).tensors
    assert after.keys() == before.keys()
    assert all(torch.equal(tensor, before[name]) for name, tensor in after.items())

    change_tensors(google, {KERNEL.replace("bert/", prefix): torch.zeros(8, 9)})
    assert f"{prefix}pooler/dense/kernel: expected shape (8, 8), found (8, 9)" in refusal(google)


UP = "bert/encoder/transformer/group_0/inner_group_0/ffn_1/intermediate/dense"
QUERY = "bert/encoder/transformer/group_0/inner_group_0/attention_1/self/query/kernel"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({f"{UP}/kernel": torch.zeros(12, 8)}, f"{UP}/kernel: expected shape (8, 12), found (12,"),
        ({f"{UP}/kernel": None}, f"missing {UP}/kernel (8, 12)"),
        ({f"{UP}/kernel": torch.zeros(3, 4, 4)}, "expected shape (8, 12), found (3, 4, 4)"),
        ({f"{UP}/bias": torch.zeros(4, 4)}, f"{UP}/bias: expected shape (12,), found (16,)"),
        ({QUERY: torch.zeros(8, 4, 2)}, f"{QUERY}: expected shape (8, 8), found (8, 4, 2)"),
        ({QUERY: torch.zeros(2, 4, 8)}, f"{QUERY}: expected shape (8, 8), found (2, 4, 8)"),
        ({QUERY: torch.zeros(8)}, f"{QUERY}: expected shape (8, 8), found (8,)"),
        ({"bert/x/kernel": torch.zeros(2, 3)}, "left over bert/x/kernel (2, 3)"),
        ({"bert/x/kernel": torch.zeros(9, 1, 1)}, "left over bert/x/kernel (9, 1, 1)"),
        ({"bert/embeddings/word_embeddings": torch.zeros(14)}, "word_embeddings: expected shape"),
        (
            {"bert/embeddings/word_embeddings": torch.zeros(14, 4, 2)},
            "word_embeddings: expected shape (14, 2), found (14, 4, 2)",
        ),
        ({"bert/embeddings/word_embeddings": torch.tensor(0.0)}, "missing bert/embeddings/word_em"),
        ({"output_weights": torch.zeros(3, 8)}, "expected 3 labels, one for each row"),
        (
            {"cls/squad/output_weights": torch.zeros(2, 9), "cls/squad/output_bias": torch.ones(2)},
            "cls/squad/output_weights: expected shape (2, 8), found (2, 9)",
        ),
        ({"cls/squad/output_weights": torch.zeros(2, 8)}, "missing cls/squad/output_bias (2,)"),
        (
            {"end_logits/dense_0/kernel": torch.zeros(16, 8)},
            "a reader of SQuAD 2.0 by beam search",
        ),
        ({"start_logits/dense/kernel": torch.zeros(8, 1)}, "left over start_logits/dense/kernel"),
    ],
    ids=lambda value: str(value) if isinstance(value, str) else "",
)
def test_a_tensor_of_a_stranger_is_named_with_the_shape_it_has_there(
    changes: dict[str, torch.Tensor | None], message: str, google: Path
) -> None:
    change_tensors(google, changes)
    target = google.parent / "target"
    with pytest.raises(CheckpointError) as caught:
        convert(google, target, to="zh_albert", network_of=network_of)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not target.exists()


def test_a_missing_sentence_order_head_is_new_and_said(google: Path) -> None:
    order = ("cls/seq_relationship/output_weights", "cls/seq_relationship/output_bias")
    change_tensors(google, dict.fromkeys(order))

    done = convert(google, google.parent / "ours", to="zh_albert")

    assert done.notes == ["not in the source, and so untrained, always the same: sentence_order"]


def test_groups_of_a_width_that_no_file_pays_for_are_refused(google: Path) -> None:
    change_config(google, hidden_size=60_000, intermediate_size=60_000)
    change_tensors(google, {f"{UP}/kernel": torch.zeros(60_000, 1, 1)})

    assert "expected sizes that fit the weights beside it" in refusal(google)


def test_an_encoder_is_taken_out_of_a_reader_that_cannot_be_computed(google: Path) -> None:
    change_tensors(google, {"end_logits/dense_0/kernel": torch.zeros(16, 8)})

    done = convert(google, google.parent / "ours", to="zh_albert", task="encoder")

    assert done.notes == [
        "left out, without a place in a model for encoder: end_logits/dense_0/kernel"
    ]

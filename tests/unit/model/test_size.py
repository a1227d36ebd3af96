"""The published parameter counts, exactly; see numbers.md 2.1."""

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from zh_albert.model.config import PRESETS, AlbertConfig
from zh_albert.model.encoder import AlbertEncoder
from zh_albert.model.lstm_encoder import build_encoder
from zh_albert.model.pretraining_heads import AlbertForPretraining
from zh_albert.model.size import described, macs_per_token, parameter_counts

# Preset: encoder and pooler in google's layout, with both heads, in brightmart's layout.
PUBLISHED = {
    "tiny": (4_080_520, 4_142_594, 4_175_152),
    "small": (4_742_272, 4_813_706, 4_873_984),
    "base": (10_547_968, 10_669_322, 10_877_440),
    "large": (16_548_352, 16_702_986, 17_009_664),
    "xlarge": (57_589_248, 57_877_002, 58_577_920),
    "xxlarge": (221_459_968, 222_013_962, 223_503_360),
}


@pytest.mark.parametrize("preset", PUBLISHED)
def test_presets_have_the_published_counts(preset: str) -> None:
    google = parameter_counts(PRESETS[preset])
    brightmart = parameter_counts(replace(PRESETS[preset], embedding_layout="brightmart"))

    actual = (
        google["encoder_parameters"],
        google["parameters"],
        brightmart["encoder_parameters"],
    )
    assert actual == PUBLISHED[preset]


def test_there_are_no_other_presets() -> None:
    assert PRESETS.keys() == PUBLISHED.keys()


@pytest.mark.parametrize(
    ("sharing", "expected"),
    [("none", 88_514_560), ("attention", 62_511_616), ("ffn", 36_550_912), ("all", 10_547_968)],
)
def test_base_by_sharing(sharing: Any, expected: int) -> None:
    counts = parameter_counts(replace(PRESETS["base"], sharing=sharing))

    assert counts["encoder_parameters"] == expected


@pytest.mark.parametrize(
    ("preset", "expected"),
    [
        ("base", 11_683_584),
        ("large", 17_683_968),
        ("xlarge", 58_724_864),
        ("xxlarge", 222_595_584),
    ],
)
def test_english_vocabulary(preset: str, expected: int) -> None:
    counts = parameter_counts(replace(PRESETS[preset], vocab_size=30_000))

    assert counts["encoder_parameters"] == expected


def test_factorization_is_the_papers() -> None:
    config = replace(PRESETS["base"], vocab_size=30_000)
    with torch.device("meta"):
        embeddings = AlbertForPretraining(config).encoder.embeddings

    assert embeddings.word.weight.numel() + embeddings.projection.weight.numel() == 3_938_304


def test_parts_add_up_to_the_allocated_model() -> None:
    config = AlbertConfig(
        hidden_size=12, num_hidden_layers=3, num_attention_heads=2, intermediate_size=19
    )
    counts = parameter_counts(config)
    encoder_parts = sum(counts[part] for part in ("embeddings", "attention", "ffn", "pooler"))

    assert counts["encoder_parameters"] == encoder_parts
    assert (
        counts["parameters"]
        == encoder_parts + counts["mlm_head"] + counts["sentence_order_head"]
        == sum(parameter.numel() for parameter in AlbertForPretraining(config).parameters())
    )


SMALL = AlbertConfig(
    embedding_size=6,
    hidden_size=12,
    num_hidden_layers=3,
    num_attention_heads=2,
    intermediate_size=19,
)
PRUNED = replace(
    SMALL, head_size=5, plan=((0, 0), (1, 1), (0, 2)), block_heads=(1, 3), block_neurons=(7, 1, 4)
)


def test_macs_of_a_small_encoder_by_hand() -> None:
    layer = 4 * 12 * 12 + 2 * 9 * 12 + 2 * 12 * 19
    assert macs_per_token(SMALL, 9) == 6 * 12 + 3 * layer
    attention = 2 * (4 * 12 * 5 + 2 * 9 * 5) + 4 * 12 * 15 + 2 * 9 * 15
    assert macs_per_token(PRUNED, 9) == 6 * 12 + attention + 2 * 12 * (7 + 1 + 4)


@pytest.mark.parametrize("layout", ["google", "brightmart"])
@pytest.mark.parametrize("config", [SMALL, PRUNED])
def test_macs_are_those_that_pytorch_counts(config: AlbertConfig, layout: Any) -> None:
    encoder = AlbertEncoder(replace(config, embedding_layout=layout)).eval()
    ids = torch.ones(2, 9, dtype=torch.long)
    with FlopCounterMode(display=False) as counter, torch.inference_mode():
        # Attention written out, because the fused kernel of a CPU is not counted.
        encoder(ids, ids * 0, ids > 0, return_attention=True)

    assert counter.get_total_flops() == 2 * 2 * 9 * macs_per_token(config, 9)


def test_a_pruned_encoder_is_described_and_counted_by_its_blocks() -> None:
    assert described(PRUNED).startswith(
        "3 layers of width 12 that run 2 attention and 3 feed-forward blocks, heads 1, 3 of width "
        "5, neurons 7, 1, 4, embeddings"
    )
    counts = parameter_counts(PRUNED)
    assert counts["attention"] == 4 * (4 * 12 * 5) + 4 * 15 + 2 * 3 * 12
    assert counts["ffn"] == (2 * 12 + 1) * 12 + 3 * 3 * 12


def test_lstms_are_counted_and_described() -> None:
    config = replace(SMALL, layer="lstm", num_hidden_layers=2)
    counts = parameter_counts(config)
    encoder = build_encoder(config)
    assert counts["lstm"] == 2 * 2 * (4 * 6 * (12 + 6) + 2 * 4 * 6)
    assert counts["encoder_parameters"] == sum(p.numel() for p in encoder.parameters())
    assert {"attention", "ffn"}.isdisjoint(counts)
    matrices = [p for p in encoder.lstm.parameters() if p.ndim == 2]
    assert macs_per_token(config, 9) == 6 * 12 + sum(matrix.numel() for matrix in matrices)
    assert described(config).startswith("2 bidirectional LSTM layers of 6 units a direction, emb")
    assert described(replace(config, num_hidden_layers=1)).startswith("1 bidirectional LSTM layer ")

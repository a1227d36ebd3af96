"""Few bits: what is lost, what is not, and that rounding twice is rounding once."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from zh_albert.errors import ConfigError
from zh_albert.model.config import AlbertConfig
from zh_albert.model.pretraining_heads import AlbertForPretraining
from zh_albert.model.rounding import dequantized, group_size, is_rounded, rounded

GROUPS = st.none() | st.integers(1, 20)


@st.composite
def matrices(draw: st.DrawFn) -> torch.Tensor:
    """Rows of very different sizes; some numbers, and perhaps rows, are zero."""
    rows, columns = draw(st.integers(1, 6)), draw(st.integers(1, 40))
    generator = torch.Generator().manual_seed(draw(st.integers(0, 2**32)))
    sizes = torch.tensor(draw(st.lists(st.floats(-9, 6), min_size=rows, max_size=rows)))
    matrix = torch.randn(rows, columns, generator=generator) * (10**sizes)[:, None]
    matrix[torch.rand(rows, columns, generator=generator) < draw(st.floats(0, 1))] = 0
    return matrix


def largest(bits: int) -> int:
    return 90 if bits == 8 else 2 ** (bits - 1) - 1


@given(matrix=matrices(), bits=st.integers(2, 8), group=GROUPS)
def test_what_is_rounded_stays_as_it_is(matrix: torch.Tensor, bits: int, group: int | None) -> None:
    integers, scales = rounded(matrix, bits, group)
    restored = dequantized(integers, scales)
    again, same_scales = rounded(restored, bits, group)

    assert torch.equal(again, integers)
    if bits == 8 and group is None:
        torch.testing.assert_close(same_scales, scales, rtol=2**-23, atol=0)
    else:
        assert torch.equal(same_scales, scales)
        assert torch.equal(scales.bfloat16().float(), scales)
        assert torch.equal(dequantized(again, same_scales), restored)


@given(matrix=matrices(), bits=st.integers(2, 8), group=GROUPS)
def test_no_number_moves_further_than_half_a_step_unless_it_is_clipped(
    matrix: torch.Tensor, bits: int, group: int | None
) -> None:
    integers, scales = rounded(matrix, bits, group)
    size = matrix.shape[1] if group is None else group_size(matrix.shape[1], scales.shape[1])
    assert size is not None
    assert size <= (group or size)
    steps = scales.view(len(matrix), -1).repeat_interleave(size, 1)[:, : matrix.shape[1]]
    moved = (dequantized(integers, scales) - matrix).abs()

    assert integers.abs().max() <= largest(bits)
    assert not integers[matrix == 0].any()
    within = matrix.abs() <= largest(bits) * steps
    assert (moved[within] <= 0.50001 * steps[within]).all()
    assert (integers[~within].abs() == largest(bits)).all()


@pytest.mark.parametrize("bits", [2, 3, 4])
@pytest.mark.parametrize("group", [None, 32])
def test_the_scale_loses_less_than_that_of_the_largest_number(bits: int, group: int | None) -> None:
    matrix = torch.randn(20, 96, generator=torch.Generator().manual_seed(bits))
    parts = matrix.view(20, -1, group or 96)
    plain = parts.abs().amax(-1, keepdim=True) / largest(bits)
    usual = ((parts / plain).round() * plain - parts).square().sum((1, 2))
    found = (dequantized(*rounded(matrix, bits, group)) - matrix).square().sum(1)

    assert (found <= 1.01 * usual).all()
    assert found.sum() < 0.95 * usual.sum()


def test_groups_have_scales_of_their_own() -> None:
    matrix = torch.tensor([[7.0, -3.0, 70.0, 20.0, 700.0]])
    integers, scales = rounded(matrix, 4, 2)

    assert integers.tolist() == [[7, -3, 7, 2, 7]]
    assert scales.tolist() == [[1.0, 10.0, 100.0]]


@given(columns=st.integers(1, 300), group=st.integers(1, 300))
def test_the_number_of_groups_tells_their_size(columns: int, group: int) -> None:
    groups = -(-columns // group)
    size = group_size(columns, groups)

    assert size is not None
    assert (groups - 1) * size < columns <= groups * size
    assert size <= group


def test_scales_that_cannot_be_of_a_row_are_seen() -> None:
    assert group_size(5, 4) is None
    assert group_size(5, 6) is None


@pytest.mark.parametrize(("bits", "group"), [(1, None), (9, None), (4, 0)])
def test_impossible_roundings_are_refused(bits: int, group: int | None) -> None:
    with pytest.raises(ConfigError, match=r"bits must be 2 to 8|group must be at least 1 column"):
        rounded(torch.ones(2, 2), bits, group)


def test_the_layers_the_pooler_and_the_word_table_are_rounded() -> None:
    sizes = {"hidden_size": 4, "num_hidden_layers": 1, "num_attention_heads": 1}
    model = AlbertForPretraining(AlbertConfig(**sizes, intermediate_size=4, vocab_size=5))
    found = {name for name, _ in model.named_parameters() if is_rounded(name)}

    linears = [f"attention.0.{n}" for n in ("query", "key", "value", "dense")]
    parts = [*linears, "ffn.0.up", "ffn.0.down", "pooler", "embeddings.word"]
    assert found == {f"encoder.{part}.weight" for part in parts}


def test_of_lstms_both_matrices_of_both_directions_are_rounded() -> None:
    sizes = {"hidden_size": 4, "num_hidden_layers": 2, "num_attention_heads": 1}
    config = AlbertConfig(**sizes, intermediate_size=1, vocab_size=5, layer="lstm")
    model = AlbertForPretraining(config)
    found = {name for name, _ in model.named_parameters() if is_rounded(name)}

    matrices = {
        name
        for name, value in model.encoder.lstm.named_parameters(prefix="encoder.lstm")
        if value.ndim == 2
    }
    assert len(matrices) == 8
    assert found == {*matrices, "encoder.pooler.weight", "encoder.embeddings.word.weight"}

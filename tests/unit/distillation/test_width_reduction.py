"""Narrower blocks that compute nearly the same."""

from __future__ import annotations

import torch

from tests.helpers.wide_teacher import WIDE, teacher
from zh_albert.distillation.width_reduction import (
    mean_weights,
    read_attention,
    read_feed_forward,
    reduced_attention,
    reduced_feed_forward,
    write_linears,
)
from zh_albert.model.layer import AttentionBlock, FeedForwardBlock

GELU = torch.nn.functional.gelu


def test_attention_seen_through_a_basis_of_full_width_is_unchanged() -> None:
    wide = teacher()
    block = wide.attention[1]
    assert isinstance(block, AttentionBlock)
    basis = torch.linalg.qr(torch.randn(24, 24)).Q
    narrow = reduced_attention(read_attention(block), basis, heads=4, head_size=6)
    turned = AttentionBlock(WIDE)
    hidden = torch.randn(2, 7, 24)
    everything = torch.ones(1, 1, 1, 7, dtype=torch.bool)
    with torch.no_grad():
        write_linears(turned, narrow)
        expected, probabilities = block(hidden, everything, return_probabilities=True)
        block.norm = turned.norm = torch.nn.Identity()  # type: ignore[assignment]
        expected, _ = block(hidden, everything)
        found, found_probabilities = turned(hidden @ basis, everything, return_probabilities=True)
    torch.testing.assert_close(found_probabilities, probabilities, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(found @ basis.T, expected, rtol=1e-4, atol=1e-4)


def test_all_neurons_kept_is_the_same_block() -> None:
    block = teacher().ffn[0]
    assert isinstance(block, FeedForwardBlock)
    weights = read_feed_forward(block)
    kept = reduced_feed_forward(weights, torch.eye(24), torch.randn(50, 24), GELU, neurons=32)
    for before, after in zip(weights, kept, strict=True):
        torch.testing.assert_close(after, before)


def test_a_planted_idle_neuron_goes_first() -> None:
    block = teacher().ffn[0]
    with torch.no_grad():
        block.down.weight[:, 5] = 0  # type: ignore[union-attr]
    weights = read_feed_forward(block)
    kept = reduced_feed_forward(weights, torch.eye(24), torch.randn(50, 24), GELU, neurons=31)
    expected = torch.cat([weights.up[:5], weights.up[6:]])
    torch.testing.assert_close(kept.up, expected)


def test_a_mean_of_blocks_is_the_mean_of_their_weights() -> None:
    blocks = [read_feed_forward(block) for block in teacher().ffn]
    expected = torch.stack([block.up for block in blocks]).mean(0)
    torch.testing.assert_close(mean_weights(blocks).up, expected)


def test_two_runs_give_the_same_bits() -> None:
    """Also where the memory they get held something else before."""
    block, basis = read_attention(teacher().attention[0]), torch.linalg.qr(torch.randn(24, 12)).Q
    first = reduced_attention(block, basis, heads=4, head_size=3)
    for leftover in (1e30, -1e30, float("nan")):
        before = [torch.full((size,), leftover) for size in range(1, 400)]
        del before
        again = reduced_attention(block, basis, heads=4, head_size=3)
        assert all(torch.equal(a, b) for a, b in zip(again, first, strict=True))

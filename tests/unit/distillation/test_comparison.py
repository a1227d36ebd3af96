"""Distances of two networks: 0 for the same, bounded, blind to padding."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from tests.helpers.small_networks import small_batch, small_encoder
from zh_albert.distillation.comparison import (
    PARTS,
    compared_attention,
    compared_vectors,
    vectors_of,
)
from zh_albert.distillation.losses import attention_divergence, divergence
from zh_albert.distillation.match_terms import LOSSES, Loss, MatchTerm, What
from zh_albert.distillation.observation import Observed, observing
from zh_albert.errors import ConfigError

_VECTORS = ("embeddings", "states", "first", "pooled")
CASES = [
    (what, loss)
    for what, losses in LOSSES.items()
    for loss in losses
    if what not in ("masked_lm", "weights")
]


def observed(encoder: Any, batch: dict[str, Tensor]) -> Observed:
    with torch.no_grad(), observing(encoder, set(PARTS.values()) - {"masked"}) as found:
        encoder(**batch)
    return found


def distance(term: MatchTerm, ours: Observed, theirs: Observed, mask: Tensor) -> float:
    """Return the distance in the second layer of both."""
    if term.what not in _VECTORS:
        return compared_attention(term, ours, theirs, (2, 2), mask).item()
    layer = 0 if term.what == "embeddings" else 2
    own, other = (vectors_of(term, one, layer, mask) for one in (ours, theirs))
    there = mask if own.shape[1] == mask.shape[1] else torch.ones_like(mask[:, :1])
    assert term.loss is not None
    return compared_vectors(term.loss, own, other, there).item()


@pytest.mark.parametrize(("what", "loss"), CASES)
def test_the_same_network_is_at_0_and_another_is_not(what: What, loss: Loss) -> None:
    batch, term = small_batch(), MatchTerm(what=what, loss=loss)
    ours, theirs = observed(small_encoder(), batch), observed(small_encoder(1), batch)
    assert distance(term, ours, ours, batch["mask"]) == pytest.approx(0, abs=1e-6)
    assert distance(term, ours, theirs, batch["mask"]) > 1e-3


@pytest.mark.parametrize(("what", "loss"), CASES)
@settings(max_examples=12)
@given(lengths=st.lists(st.integers(1, 9), min_size=1, max_size=4), more=st.integers(1, 9))
def test_padding_does_not_matter(what: What, loss: Loss, lengths: list[int], more: int) -> None:
    term, found = MatchTerm(what=what, loss=loss), []
    networks = small_encoder(), small_encoder(1)
    for longest in (max(lengths), max(lengths) + more):
        batch = small_batch(lengths, longest=longest)
        ours, theirs = (observed(network, batch) for network in networks)
        found.append(distance(term, ours, theirs, batch["mask"]))
    assert found[0] == pytest.approx(found[1], rel=1e-4, abs=1e-6)


def vectors(seed: int) -> Tensor:
    return torch.randn(2, 5, 8, generator=torch.Generator().manual_seed(seed))


@given(st.integers(0, 99), st.floats(0.01, 100))
def test_normalized_and_cosine_are_bounded_and_blind_to_size(seed: int, scale: float) -> None:
    ours, theirs = vectors(seed), vectors(seed + 1)
    mask = torch.ones(2, 5, dtype=torch.bool)
    for loss, most in (("normalized", 4), ("cosine", 2)):
        found = compared_vectors(loss, ours, theirs, mask).item()  # type: ignore[arg-type]
        assert 0 <= found <= most
        scaled = compared_vectors(loss, scale * ours, theirs, mask).item()  # type: ignore[arg-type]
        assert scaled == pytest.approx(found, rel=1e-4)
        same = compared_vectors(loss, scale * ours, ours, mask).item()  # type: ignore[arg-type]
        assert same == pytest.approx(0, abs=1e-6)
        opposite = compared_vectors(loss, -scale * ours, ours, mask).item()  # type: ignore[arg-type]
        assert opposite == pytest.approx(most, rel=1e-5)


def test_the_mean_squared_error_is_over_all_numbers_of_real_tokens() -> None:
    ours, theirs = vectors(0), vectors(1)
    mask = torch.tensor([[True] * 5, [True, True, False, False, False]])
    expected = (ours - theirs)[mask].square().mean()
    torch.testing.assert_close(compared_vectors("mse", ours, theirs, mask), expected)


@pytest.mark.parametrize("changes", [{}, {"sharing": "all"}, {"block_heads": (3, 2, 1)}])
def test_attention_is_what_the_encoder_returns(changes: dict[str, Any]) -> None:
    encoder, batch = small_encoder(**changes), small_batch()
    found, mask = observed(encoder, batch), batch["mask"]
    wanted = encoder(**batch, return_attention=True).attention
    other = observed(small_encoder(1, **changes), batch)
    theirs = small_encoder(1, **changes)(**batch, return_attention=True).attention
    for layer in (1, 2, 3):
        real = (mask[:, None, :, None] & mask[:, None, None, :]).expand_as(wanted[layer - 1])
        ours, against = (one[layer - 1].detach() for one in (wanted, theirs))
        pair = (layer, layer)
        mse = MatchTerm(what="attention", loss="mse")
        torch.testing.assert_close(
            compared_attention(mse, found, other, pair, mask),
            (ours - against)[real].square().mean(),
        )
        kl = MatchTerm(what="attention", loss="kl")
        torch.testing.assert_close(
            compared_attention(kl, found, other, pair, mask),
            attention_divergence(ours, against, mask),
        )


def test_relations_compare_networks_of_any_width_and_heads() -> None:
    batch, term = small_batch(), MatchTerm(what="relations", heads=4)
    narrow = small_encoder(hidden_size=8, num_attention_heads=2)
    wide, mask = small_encoder(), batch["mask"]
    far = compared_attention(term, observed(narrow, batch), observed(wide, batch), (1, 3), mask)
    assert 0 < far.item() < 100


def test_heads_that_differ_are_refused_with_what_to_do() -> None:
    batch = small_batch()
    ours, theirs = (
        observed(small_encoder(num_attention_heads=2), batch),
        observed(small_encoder(), batch),
    )
    for what in ("attention", "attention_scores"):
        with pytest.raises(ConfigError, match=r"found 2 in layer 1 .* 3 in layer 3.*'relations'"):
            compared_attention(MatchTerm(what=what), ours, theirs, (1, 3), batch["mask"])  # type: ignore[arg-type]
    relations = MatchTerm(what="relations", heads=5)
    with pytest.raises(ConfigError, match="5 heads do not divide the width 12"):
        compared_attention(relations, ours, theirs, (1, 3), batch["mask"])


def test_masked_lm_logits_are_compared_softly() -> None:
    ours, theirs = vectors(0)[0], vectors(1)[0]
    assert divergence(ours, ours, 2.0).mean().item() == pytest.approx(0, abs=1e-6)
    wanted, log = (theirs / 2).softmax(-1), (ours / 2).log_softmax(-1)
    expected = 4 * (wanted * (wanted.log() - log)).sum(-1).mean()
    torch.testing.assert_close(divergence(ours, theirs, 2.0).mean(), expected)

"""Losses of sentence vectors: named negatives count, a teacher's cosines are followed."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from zh_albert.tasks.embedding.contrast import contrastive_loss, taught_loss


def drawn(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def test_a_negative_stands_among_the_second_texts() -> None:
    first, second, third = drawn(3, 4, 6)
    ids, negative_ids = torch.arange(8).view(4, 2), torch.arange(8, 12)
    found = contrastive_loss(
        first, second, ids, temperature=0.1, negatives=third, negative_ids=negative_ids
    )
    both = torch.cat([second, third])
    wide = F.cosine_similarity(first[:, None], both[None], dim=-1) / 0.1
    back = F.cosine_similarity(second[:, None], first[None], dim=-1) / 0.1
    right = torch.arange(4)
    expected = (
        F.cross_entropy(wide, right, reduction="sum")
        + F.cross_entropy(back, right, reduction="sum")
    ) / 2
    torch.testing.assert_close(found, expected)


def test_no_text_is_its_own_negative() -> None:
    first, second = drawn(2, 2, 6)
    ids = torch.tensor([[0, 1], [2, 3]])
    plain = contrastive_loss(first, second, ids)
    own = contrastive_loss(first, second, ids, negatives=first[:1], negative_ids=ids[0, :1])
    # To the first pair the negative is one of its texts; to the second it is a text like any other.
    assert own > plain
    alone = contrastive_loss(
        first[:1], second[:1], ids[:1], negatives=second[:1], negative_ids=ids[0, 1:]
    )
    assert alone == 0


def test_nothing_is_lost_with_the_teachers_vectors_whatever_their_length() -> None:
    theirs = drawn(5, 8)
    assert taught_loss(3 * theirs, theirs).item() == pytest.approx(0, abs=1e-5)
    turned = theirs @ torch.linalg.qr(drawn(8, 8, seed=1)).Q  # all cosines between texts stay
    assert taught_loss(F.pad(turned, (0, 1)), theirs).item() == pytest.approx(0, abs=1e-4)
    assert taught_loss(turned, theirs).item() > 1


def test_another_width_is_taught_by_cosines_alone() -> None:
    theirs, ours = drawn(6, 8), torch.nn.Parameter(drawn(6, 3, seed=2))
    optimizer = torch.optim.Adam([ours], lr=0.05)
    losses = []
    for _ in range(200):
        loss = taught_loss(ours, theirs, temperature=0.5)
        losses.append(loss.item())
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    assert losses[-1] < 0.3 * losses[0]
    wanted, found = (F.normalize(one) @ F.normalize(one).T for one in (theirs, ours.detach()))
    above = torch.triu(torch.ones(6, 6, dtype=torch.bool), 1)
    assert torch.corrcoef(torch.stack([wanted[above], found[above]]))[0, 1] > 0.8


def test_a_single_text_has_only_its_direction() -> None:
    ours, theirs = drawn(1, 4), drawn(1, 4, seed=1)
    torch.testing.assert_close(
        taught_loss(ours, theirs), 1 - F.cosine_similarity(ours, theirs).sum()
    )
    assert taught_loss(ours, drawn(1, 3)).item() == 0

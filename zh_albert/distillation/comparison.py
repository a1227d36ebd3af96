"""The distance of what two networks compute from the same tokens, for each kind of match term."""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from zh_albert.distillation.losses import attention_divergence, fraction_unexplained
from zh_albert.distillation.match_terms import Loss, MatchTerm, What
from zh_albert.distillation.observation import Observed
from zh_albert.errors import ConfigError

PARTS: dict[What, str] = {
    "embeddings": "embeddings",
    "states": "states",
    "first": "states",
    "pooled": "states",
    "attention_scores": "queries",
    "attention": "queries",
    "relations": "queries",
    "masked_lm": "masked",
}
"""The part of ``Observed`` that each kind of term reads; ``weights`` reads none."""


def parts_of(terms: Sequence[MatchTerm]) -> set[str]:
    """Return the parts of ``Observed`` that terms read."""
    return {PARTS[term.what] for term in terms if term.what in PARTS}


def vectors_of(term: MatchTerm, observed: Observed, layer: int, mask: Tensor) -> Tensor:
    """Return the vectors of a term that compares vectors. Shape: (batch, tokens, hidden).

    Args:
        term: ``embeddings``, ``states``, ``first`` or ``pooled``.
        observed: Of one network.
        layer: Counted from 1; 0 for the embeddings.
        mask: True for real tokens. Shape: (batch, length).
    """
    if term.what == "embeddings":
        assert observed.embeddings is not None
        return observed.embeddings
    state = observed.states[layer - 1]
    if term.what == "first":
        return state[:, :1]
    if term.what == "pooled":
        real = mask[..., None].to(state.dtype)
        return (state * real).sum(1, keepdim=True) / real.sum(1, keepdim=True).clamp(min=1)
    return state


def compared_vectors(loss: Loss, ours: Tensor, theirs: Tensor, mask: Tensor) -> Tensor:
    """Return the distance of vectors, the mean over real tokens. Shape: ().

    ``unexplained`` is ``fraction_unexplained``, ``mse`` the mean squared error, ``cosine`` 1 minus
    the cosine (Sanh et al. 2019, DistilBERT), ``normalized`` the squared distance of vectors of
    length 1, at most 4 (Sun et al. 2019, Patient KD).

    Args:
        loss: One of the above.
        ours: Shape: (batch, tokens, width).
        theirs: Without gradient. Shape: (batch, tokens, width).
        mask: True for real tokens. Shape: (batch, tokens); of one vector a text, (batch, 1).
    """
    theirs = theirs.float()
    if loss == "unexplained":
        return fraction_unexplained(ours, theirs, mask)
    ours = ours.float()
    if loss == "mse":
        each = (ours - theirs).square().mean(-1)
    elif loss == "cosine":
        each = 1 - F.cosine_similarity(ours, theirs, dim=-1)
    else:
        each = (F.normalize(ours, dim=-1) - F.normalize(theirs, dim=-1)).square().sum(-1)
    return torch.where(mask, each, 0.0).sum() / mask.sum().clamp(min=1)


def compared_attention(
    term: MatchTerm, ours: Observed, theirs: Observed, layers: tuple[int, int], mask: Tensor
) -> Tensor:
    """Return the distance of what attention computes, in one layer of each. Shape: ().

    Args:
        term: ``attention_scores``, ``attention`` or ``relations``.
        ours: Of the student.
        theirs: Of the teacher.
        layers: Layer of student and teacher, counted from 1.
        mask: True for real tokens. Shape: (batch, length).

    Raises:
        ConfigError: If the heads of both cannot be compared.
    """
    own, other = (layer - 1 for layer in layers)
    if term.what == "relations":
        heads = term.heads or ours.heads[own]
        found = []
        for part in ("queries", "keys", "values"):
            vectors = getattr(ours, part)[own], getattr(theirs, part)[other]
            mine, wanted = (_probabilities(_scores(one, one, heads), mask) for one in vectors)
            found.append(attention_divergence(mine, wanted, mask))
        return torch.stack(found).mean()
    if ours.heads[own] != theirs.heads[other]:
        raise ConfigError(
            f"match.what = {term.what!r} compares head by head: expected as many in both, found "
            f"{ours.heads[own]} in layer {layers[0]} of the student and {theirs.heads[other]} in "
            f"layer {layers[1]} of the teacher; match 'relations' instead"
        )
    scores = [
        _scores(one.queries[layer], one.keys[layer], one.heads[layer]).float()
        for one, layer in ((ours, own), (theirs, other))
    ]
    if term.what == "attention":
        scores = [_probabilities(one, mask) for one in scores]
        if term.loss == "kl":
            return attention_divergence(scores[0], scores[1], mask)
    real = (mask[:, None, :, None] & mask[:, None, None, :]).float()
    error = ((scores[0] - scores[1]) * real).square().sum()
    return error / (real.sum() * scores[0].shape[1]).clamp(min=1)


def _scores(left: Tensor, right: Tensor, heads: int) -> Tensor:
    """Return scaled products. Shape of the arguments: (batch, length, width); of the result:
    (batch, heads, length, length).
    """
    if left.shape[-1] % heads:
        raise ConfigError(
            f"match.heads: {heads} heads do not divide the width {left.shape[-1]} of queries"
        )
    first, second = (one.view(*one.shape[:2], heads, -1).transpose(1, 2) for one in (left, right))
    products: Tensor = first @ second.transpose(-2, -1) * first.shape[-1] ** -0.5
    return products


def _probabilities(scores: Tensor, mask: Tensor) -> Tensor:
    lowest = torch.finfo(scores.dtype).min
    return scores.masked_fill(~mask[:, None, None, :], lowest).softmax(-1)

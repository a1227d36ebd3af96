"""Linear-probe initialization of a tagger: its last layer fitted to the frozen encoder."""

from __future__ import annotations

from collections.abc import Iterator

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from zh_albert.hardware import is_bf16_faster
from zh_albert.model.token_tagger import TokenTagger
from zh_albert.tasks.tagging.merging import merged
from zh_albert.tokenization.encoding import INPUT_NAMES
from zh_albert.training.linear_probe import fit_linear

_TOKENS = 20_000  # used for the fit; more take longer and hardly improve it
_PENALTY = 0.01


def probe_emissions(network: TokenTagger, batches: Iterator[dict[str, Tensor]]) -> None:
    """Fit the last layer to the tags of tokens, without transitions; see ``fit_linear``.

    Args:
        network: A network with a trained encoder, which is not changed.
        batches: Inputs with ``tags``; only the first ones are used.
    """
    vectors: list[Tensor] = []
    tags: list[Tensor] = []
    with torch.inference_mode(), torch.autocast("cpu", torch.bfloat16, enabled=is_bf16_faster()):
        for inputs in batches:
            hidden = network.encoder(*(inputs[name] for name in INPUT_NAMES)).hidden
            joined, mask = merged(hidden, inputs)
            vectors.append(joined[mask])
            tags.append(inputs["tags"][mask])
            if sum(map(len, tags)) >= _TOKENS:
                break
    targets = torch.cat(tags)
    fit_linear(
        network.classifier,
        torch.cat(vectors),
        lambda emissions: F.cross_entropy(emissions, targets),
        penalty=_PENALTY,
    )

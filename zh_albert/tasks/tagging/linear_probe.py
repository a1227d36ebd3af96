"""Linear-probe initialization of a tagger: its last layer fitted to the frozen encoder."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

from zh_albert.hardware import is_bf16_faster
from zh_albert.model.encoder import AlbertEncoder
from zh_albert.model.token_tagger import TokenTagger
from zh_albert.tasks.tagging.merging import merged
from zh_albert.tokenization.encoding import INPUT_NAMES
from zh_albert.training.linear_probe import fit_linear

_TOKENS = 20_000  # used for the fit; more take longer and hardly improve it
_PENALTY = 0.01


def probe_emissions(network: TokenTagger, batches: Iterator[dict[str, Tensor]]) -> None:
    """Fit the last layer to the tags of tokens, without transitions; see ``probe_tokens``."""
    probe_tokens(
        network.encoder, network.classifier, batches, "tags", F.cross_entropy, penalty=_PENALTY
    )


def probe_tokens(
    encoder: AlbertEncoder,
    layer: nn.Linear,
    batches: Iterator[dict[str, Tensor]],
    name: str,
    loss: Callable[[Tensor, Tensor], Tensor],
    *,
    penalty: float,
) -> None:
    """Fit a layer to targets of tokens; see ``fit_linear``.

    Args:
        encoder: A trained encoder, which is not changed.
        layer: Reads the encoder's states.
        batches: Inputs with targets; only the first ones are used.
        name: Name of the targets.
        loss: Maps the layer's outputs and the targets of all tokens to their mean loss.
        penalty: See ``fit_linear``.
    """
    vectors: list[Tensor] = []
    found: list[Tensor] = []
    with frozen():
        for inputs in batches:
            hidden = encoder(*(inputs[one] for one in INPUT_NAMES)).hidden
            joined, mask = merged(hidden, inputs)
            vectors.append(joined[mask])
            found.append(inputs[name][mask])
            if sum(map(len, found)) >= _TOKENS:
                break
    targets = torch.cat(found)
    fit_linear(layer, torch.cat(vectors), lambda outputs: loss(outputs, targets), penalty=penalty)


@contextmanager
def frozen() -> Iterator[None]:
    """Compute an encoder's states without gradients, in the faster precision."""
    with torch.inference_mode(), torch.autocast("cpu", torch.bfloat16, enabled=is_bf16_faster()):
        yield

"""What a network says of whole texts: the average over their windows, by the tokens of each.

Classification, multiple choice and sentence vectors read long texts this way, in training as in
prediction; of a text that fits one window it is that window's output. Of choices it is the odds
that are averaged: what speaks for one stands in one window mostly, and must not be outvoted by the
others (docs/experiments.md, pairs and choices).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn

from zh_albert.model.config import AlbertConfig
from zh_albert.runtimes.selection import Runtimes
from zh_albert.tasks.windows import EncodedText, pad_windows, window_outputs
from zh_albert.tokenization.encoding import INPUT_NAMES


def collate_windows(texts: Sequence[EncodedText], pad_id: int) -> dict[str, Tensor]:
    """Pad the windows of several texts into one batch.

    Returns:
        ``token_ids``, ``type_ids``, ``mask``: Shape: (windows, length). ``owner``: the text of
        each window; ``share``: its share of the text's tokens. Shape: (windows,).
    """
    inputs = [window for text in texts for window in text.windows]
    owner = [index for index, text in enumerate(texts) for _ in text.windows]
    share = [len(window) / text.tokens for text in texts for window in text.windows]
    return {
        **pad_windows(inputs, pad_id),
        "owner": torch.tensor(owner),
        "share": torch.tensor(share),
    }


def merged_outputs(
    module: nn.Module, inputs: Mapping[str, Tensor], texts: int, *, odds: bool = False
) -> Tensor:
    """Run the network and merge the windows of each text.

    Args:
        module: Takes ``INPUT_NAMES`` and returns a row for each window: logits, or a vector.
        inputs: What ``collate_windows`` made.
        texts: Texts in the batch.
        odds: Average the exponentials of the outputs, and return the logarithm of that.

    Returns:
        Shape: (texts, width).
    """
    outputs: Tensor = module(*(inputs[name] for name in INPUT_NAMES))
    weighted = _counted(outputs, odds=odds) * inputs["share"][:, None]
    merged = weighted.new_zeros(texts, outputs.shape[-1]).index_add(0, inputs["owner"], weighted)
    return merged.log().float() if odds else merged


def predicted_outputs(
    runtimes: Runtimes,
    texts: Sequence[EncodedText],
    *,
    width: int,
    config: AlbertConfig,
    batch_tokens: int | None = None,
    odds: bool = False,
) -> Tensor:
    """Return the merged outputs of any number of texts, without gradients.

    Memory depends on ``batch_tokens``, not on the longest text.

    Args:
        runtimes: Run the network; see ``merged_outputs``.
        texts: Of any length each.
        width: Numbers in an output.
        config: The encoder's.
        batch_tokens: Padded tokens of one forward pass; None: what is fastest.
        odds: See ``merged_outputs``.

    Returns:
        In the order of the texts, on the CPU. Shape: (texts, width).
    """
    merged = torch.zeros(len(texts), width, dtype=torch.float64 if odds else torch.float32)
    totals = [text.tokens for text in texts]
    for places, rows in window_outputs(texts, runtimes, config, batch_tokens=batch_tokens):
        share = [len(texts[t].windows[w]) / totals[t] for t, w in places]
        weighted = _counted(torch.from_numpy(rows), odds=odds) * torch.tensor(share)[:, None]
        merged.index_add_(0, torch.tensor([text for text, _ in places]), weighted)
    return merged.log().float() if odds else merged


def _counted(outputs: Tensor, *, odds: bool) -> Tensor:
    """Return what is averaged; odds in a precision that holds those of any logit there is."""
    return outputs.double().exp() if odds else outputs.float()

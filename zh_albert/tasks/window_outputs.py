"""What a network says of whole texts: the average over their windows, by the tokens of each.

Classification, multiple choice and sentence vectors read long texts this way, in training as in
prediction; of a text that fits one window it is that window's output.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn

from zh_albert.tasks.windows import INPUT_NAMES, EncodedText, pad_windows, window_batches


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


def merged_outputs(module: nn.Module, inputs: Mapping[str, Tensor], texts: int) -> Tensor:
    """Run the network and merge the windows of each text.

    Args:
        module: Takes ``INPUT_NAMES`` and returns a row for each window: logits, or a vector.
        inputs: What ``collate_windows`` made.
        texts: Texts in the batch.

    Returns:
        Shape: (texts, width).
    """
    outputs: Tensor = module(*(inputs[name] for name in INPUT_NAMES))
    weighted = outputs.float() * inputs["share"][:, None]
    return weighted.new_zeros(texts, outputs.shape[-1]).index_add(0, inputs["owner"], weighted)


def predicted_outputs(
    module: nn.Module, texts: Sequence[EncodedText], *, width: int, batch_tokens: int, pad_id: int
) -> Tensor:
    """Return the merged outputs of any number of texts, without gradients.

    Memory depends on ``batch_tokens``, not on the longest text.

    Args:
        module: See ``merged_outputs``.
        texts: Of any length each.
        width: Numbers in an output.
        batch_tokens: Tokens of one forward pass; about 2,048 is fastest on a CPU.
        pad_id: The id of ``[PAD]``.

    Returns:
        In the order of the texts, on the CPU. Shape: (texts, width).
    """
    merged = torch.zeros(len(texts), width)
    device = next(module.parameters()).device
    totals = [text.tokens for text in texts]
    with torch.inference_mode():
        for places, inputs in window_batches(texts, batch_tokens, pad_id):
            found = module(*(inputs[name].to(device) for name in INPUT_NAMES))
            share = [len(texts[t].windows[w]) / totals[t] for t, w in places]
            weighted = found.float().cpu() * torch.tensor(share)[:, None]
            merged.index_add_(0, torch.tensor([text for text, _ in places]), weighted)
    return merged

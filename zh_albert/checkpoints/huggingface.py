"""Export of model folders for ``transformers``. Reading them is part of ``store``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import nn

from zh_albert.checkpoints.files import NGRAMS
from zh_albert.checkpoints.store import write_model_folder
from zh_albert.checkpoints.stored_model import architecture_of, named_tensors
from zh_albert.checkpoints.untied import untied_tensors
from zh_albert.errors import CheckpointError
from zh_albert.model.config import AlbertConfig, is_pruned


def write_huggingface(
    folder: Path,
    *,
    model: nn.Module,
    config: AlbertConfig,
    files: Mapping[str, bytes | str],
    task: Mapping[str, Any],
    dtype: torch.dtype = torch.float32,
) -> None:
    """Write a folder that opens in ``transformers`` with equal outputs.

    For a plain model this is ``save_model``. If layers share only their attention or only their
    feed-forward blocks, which ``transformers`` cannot express, every layer gets a copy of its own.

    Args:
        folder: See ``save_model``, as for all arguments.
        model: An ``AlbertEncoder``, ``AlbertForPretraining`` or ``SequenceClassifier``.
        config: The encoder's.
        files: Further files of the folder.
        task: Task of the model.
        dtype: Of the stored weights.

    Raises:
        CheckpointError: If ``transformers`` cannot compute the model; see also ``save_model``.
    """
    reasons = {
        "embedding_layout 'brightmart'": config.embedding_layout == "brightmart",
        "norm_position 'pre'": config.norm_position == "pre",
        "LSTM layers": config.layer == "lstm",
        "heads or neurons by block": is_pruned(config),
        "head or pooling of this kind": architecture_of(model) is None,
        "int8 weights": dtype == torch.int8,
        "n-grams": NGRAMS in files,
    }
    if any(reasons.values()):
        found = ", ".join(reason for reason, applies in reasons.items() if applies)
        raise CheckpointError(
            f"{folder}: not written: ALBERT in transformers has no {found}; keep the model in this "
            "project's own format (save_model, or zh-albert convert --to zh_albert)"
        )
    tensors, config = untied_tensors(named_tensors(model), config)
    write_model_folder(
        folder,
        tensors,
        config,
        architecture=architecture_of(model),
        files=files,
        task=task,
        dtype=dtype,
    )

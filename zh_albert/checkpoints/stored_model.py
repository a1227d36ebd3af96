"""A model as it was read, from whatever layout: tensors under our names, not yet in a module."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor, nn

from zh_albert.errors import CheckpointError
from zh_albert.files.plain_files import how_to_raise, unpacked_limit
from zh_albert.model.baking import baked_state
from zh_albert.model.config import AlbertConfig
from zh_albert.model.encoder import AlbertEncoder
from zh_albert.model.lstm_encoder import build_encoder
from zh_albert.model.pretraining_heads import AlbertForPretraining
from zh_albert.model.sharing import head_size_of, heads_of, neurons_of

BESIDE_MASKED_LM = ("encoder.pooler.", "sentence_order.")
"""Prefixes of the pretraining model's tensors that a masked LM of ``transformers`` lacks."""
_NAMED = 8  # names in a note; the others are counted
_WITHOUT_POOLER = ("AlbertForTokenClassification", "AlbertForQuestionAnswering")
TIED_COPY = ".tied"  # ending of a copy of the tensor that has the name without it


@dataclass(frozen=True, kw_only=True)
class StoredModel:
    """A checkpoint as read: configuration, task settings and tensors, under our names."""

    source: Path
    """The folder or file, named in errors."""
    config: AlbertConfig
    task: dict[str, Any] = field(default_factory=dict)
    """Empty for an encoder; see ``save_model``."""
    tensors: dict[str, Tensor]
    """By our names, as if in a model with an ``encoder`` inside; one without keeps its own."""
    name_there: Callable[[str], str]
    """Our name of a tensor → its name in the file, also of one that the file lacks."""
    transposed_there: Callable[[str], bool] = lambda _: False
    """Our name of a tensor → whether its matrix is stored transposed, which errors then show."""
    files: dict[str, bytes] = field(default_factory=dict)
    """Vocabulary, tokenizer settings and model card, by the names they have in a model folder."""
    notes: list[str] = field(default_factory=list)
    """What the reader left out or chose, a line each, for whoever asked for the conversion."""


NetworkOf = Callable[[StoredModel], nn.Module]
"""Makes the untrained network that stored tensors belong in."""


def build_model(stored: StoredModel, network_of: NetworkOf | None = None) -> nn.Module:
    """Return the model whose tensors these are; it holds them as they are, not copies.

    What ``transformers`` does not save (a masked LM's pooler and sentence order, the pooler of a
    tagger or a reader) is new, always the same.

    Args:
        stored: What was read.
        network_of: See ``NetworkOf``; None: ``encoder_network``.

    Raises:
        CheckpointError: If tensors are missing, left over or wrongly shaped; all are listed.
    """
    stored_bytes = sum(tensor.nbytes for tensor in stored.tensors.values())
    refuse_unpaid(stored.config, stored_bytes, stored.source)
    with same_random_numbers():
        model = (network_of or encoder_network)(stored)
    own = named_tensors(model)
    optional = (*unused_tensors(model, stored), *untrained_beside(model, stored))
    tensors = fitting_tensors(stored, own, optional=optional)
    tensors = {**own, **tensors}
    prefix = "encoder." if isinstance(model, AlbertEncoder) else ""
    state = {name.removeprefix(prefix): tensor for name, tensor in tensors.items()}
    model.load_state_dict(state, assign=True)
    return model


def untrained_beside(model: nn.Module, stored: StoredModel) -> tuple[str, ...]:
    """Return the beginnings of a pretraining model's names that a stored masked LM lacks.

    A pooler without a sentence-order head is read; such a head without a pooler is not complete.
    """
    if not isinstance(model, AlbertForPretraining):
        return ()
    pooler, order = BESIDE_MASKED_LM
    if any(name.startswith(order) for name in stored.tensors):
        return ()
    return (order,) if any(name.startswith(pooler) for name in stored.tensors) else BESIDE_MASKED_LM


def refuse_unpaid(
    config: AlbertConfig, stored_bytes: int, source: Path, *, outputs: int = 0
) -> None:
    """Check, before a network takes memory, that the weights can be those of these sizes.

    Args:
        config: The sizes.
        stored_bytes: Size of the stored weights, of whatever precision.
        source: The file with the sizes, named in errors.
        outputs: Number of labels.

    Raises:
        CheckpointError: If the weights are far too few.
    """
    width, table = config.hidden_size, config.embedding_size
    rows = config.max_position_embeddings + config.type_vocab_size
    numbers = config.vocab_size * table + rows * min(width, table) + outputs * width
    numbers += 4 * width * head_size_of(config) * sum(heads_of(config))
    numbers += 2 * width * sum(neurons_of(config))
    if config.layer == "lstm":
        numbers += 6 * width * width * config.num_hidden_layers
    if 4 * numbers > unpacked_limit(stored_bytes):
        remedy = how_to_raise() if stored_bytes else "get the folder again, with model.safetensors"
        raise CheckpointError(
            f"{source}: expected sizes that fit the weights beside it, found sizes of "
            f"{numbers:,} numbers for {stored_bytes:,} bytes of weights; {remedy}"
        )


def fitting_tensors(
    stored: StoredModel,
    targets: Mapping[str, Tensor],
    *,
    new: tuple[str, ...] = (),
    optional: tuple[str, ...] = (),
    left_over: Literal["refuse", "heads"] = "refuse",
) -> dict[str, Tensor]:
    """Return the stored tensors for ``targets``, if they are all there and nothing else is.

    Args:
        stored: Copies with the ending ``TIED_COPY`` must equal what they copy, or stand in for it.
        targets: The tensors to be filled, by name; only their shapes count.
        new: Beginnings of names that are not filled, whatever is stored.
        optional: Beginnings of names that are not filled if nothing is stored.
        left_over: What to do with tensors that have no target: ``refuse``, or pass over those of
            ``heads`` (whatever is not the encoder's).

    Raises:
        CheckpointError: If tensors are missing, left over or wrongly shaped; all are listed.
    """
    found = dict(stored.tensors)
    problems = _take_tied(found)
    targets = {name: target for name, target in targets.items() if not name.startswith(new)}
    _refuse_other_labels(stored, targets)
    for name in sorted(targets.keys() | found.keys()):
        label, turned = stored.name_there(name), stored.transposed_there(name)
        if name not in found and name.startswith(optional):
            continue
        if name not in found:
            problems.append(f"missing {label} {_shape(targets[name], turned)}")
        elif name not in targets:
            is_head = not name.startswith("encoder.")
            if not (left_over == "heads" and is_head) and not name.startswith(new):
                problems.append(f"left over {label} {_shape(found[name], turned)}")
        elif found[name].shape != targets[name].shape:
            expected, shape = (_shape(one[name], turned) for one in (targets, found))
            problems.append(f"{label}: expected shape {expected}, found {shape}")
        elif not found[name].is_floating_point():
            problems.append(f"{label}: expected floating point, found {found[name].dtype}")
    if problems:
        raise CheckpointError(
            f"{stored.source}: the weights do not fit the model ({len(problems)}): "
            f"{'; '.join(problems)}"
        )
    return {name: found[name] for name in targets if name in found}


def named_tensors(model: nn.Module) -> dict[str, Tensor]:
    """Return a model's tensors, the encoder's under ``encoder.`` also where it stands alone.

    Weights that are computed from others (``torch.nn.utils.parametrize``) have their values.
    """
    prefix = "encoder." if isinstance(model, AlbertEncoder) else ""
    return {prefix + name: tensor for name, tensor in baked_state(model).items()}


@contextmanager
def same_random_numbers() -> Iterator[None]:
    """Draw the same random numbers each time, so that what is not stored does not differ."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        yield


def unused_tensors(model: nn.Module, stored: StoredModel) -> tuple[str, ...]:
    """Return the beginnings of names of tensors that are not stored and need not be.

    The outputs do not depend on them: an encoder has them for its next task. ``transformers`` does
    not save them.
    """
    pooler = "encoder.pooler."
    if architecture_of(model) not in _WITHOUT_POOLER:
        return ()
    return () if any(name.startswith(pooler) for name in stored.tensors) else (pooler,)


def architecture_of(model: nn.Module) -> str | None:
    """Return the class of ``transformers`` that computes what ``model`` does; None if none."""
    return getattr(model, "architecture", None)


def pretraining_names(config: AlbertConfig) -> list[str]:
    """Return the names of all tensors that a model with both pretraining heads has.

    Sizes have no part in them, so the smallest such model is asked.
    """
    smallest = replace(
        config,
        vocab_size=1,
        embedding_size=1,
        hidden_size=config.num_attention_heads,
        intermediate_size=1,
        head_size=None,
        block_heads=(),
        block_neurons=(),
        max_position_embeddings=1,
        type_vocab_size=1,
        pad_token_id=0,
    )
    return [*AlbertForPretraining(smallest).state_dict()]


def listed(names: Iterable[str]) -> str:
    """Return names for a note: the first few, and the number of the others."""
    names = [*names]
    more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
    return ", ".join(f"{name:.80}" for name in names[:_NAMED]) + more


def encoder_network(stored: StoredModel) -> nn.Module:
    """Return a new encoder, with its pretraining heads if they are stored."""
    if any(name.startswith(("masked_lm.", "sentence_order.")) for name in stored.tensors):
        return AlbertForPretraining(stored.config)
    return build_encoder(stored.config)


def _take_tied(found: dict[str, Tensor]) -> list[str]:
    """Remove copies of other tensors, and name those that are not what they should copy."""
    problems = []
    for name in [name for name in found if name.endswith(TIED_COPY)]:
        original = name.removesuffix(TIED_COPY)
        copy = found.pop(name)
        if not torch.equal(found.setdefault(original, copy), copy):
            problems.append(
                f"the output matrix or bias beside {original} differs from it; only tied "
                "embeddings can be opened"
            )
    return problems


def _refuse_other_labels(stored: StoredModel, targets: Mapping[str, Tensor]) -> None:
    """Refuse a classifier's rows if there is not a label for each."""
    rows, labels = (tensors.get("classifier.weight") for tensors in (stored.tensors, targets))
    if rows is not None and labels is not None and len(rows) != len(labels):
        raise CheckpointError(
            f"{stored.source}: expected a label for each of the {len(rows)} rows of "
            f"{stored.name_there('classifier.weight')}, found {len(labels)} in config.json; give "
            "id2label there a name for each, or get the folder again"
        )


def _shape(tensor: Tensor, transposed: bool) -> tuple[int, ...]:
    return tuple(tensor.t().shape if transposed and tensor.ndim == 2 else tensor.shape)

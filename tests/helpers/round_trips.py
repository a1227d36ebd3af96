"""Models of every head that go to ``transformers``, are trained there, and come back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import transformers
from torch import Tensor, nn

from tests.helpers.spread_models import CONFIG, FILES, IDS, MASK, TYPES, spread
from zh_albert import load
from zh_albert.checkpoints.store import load_config, load_weights, save_model
from zh_albert.model.pretraining_heads import AlbertForPretraining
from zh_albert.tasks.catalog import TASKS
from zh_albert.tasks.choice.chooser import TextChooser
from zh_albert.tasks.classification.classifier import TextClassifier
from zh_albert.tasks.classification.heads import LabelSet, OneClass, Value
from zh_albert.tasks.embedding.embedder import TextEmbedder
from zh_albert.tasks.model import TaskModel
from zh_albert.tasks.ner.tagger import TextTagger
from zh_albert.tasks.ner.tags import TagSet
from zh_albert.tasks.reading.reader import TextReader
from zh_albert.tasks.segmentation.segmenter import TextSegmenter
from zh_albert.tasks.windows import WindowConfig
from zh_albert.tokenization.tokenizer import load_tokenizer

KINDS = ["地名", "人名"]
_WINDOW = WindowConfig(max_length=16, stride=4)
_MASKED = torch.nonzero(MASK)


@dataclass(frozen=True)
class Head:
    """A kind of model here and there.

    Attributes:
        kind: The class of ``transformers``.
        model: Makes our model from a tokenizer; None: an encoder with its pretraining heads.
        read: Their output → the numbers that our network returns.
    """

    kind: str
    model: Callable[[Any], TaskModel[Any, Any]] | None
    read: Callable[[Any], Tensor]


def _classifier(head: Any, **how: Any) -> Callable[[Any], TaskModel[Any, Any]]:
    return lambda tokenizer: TextClassifier(CONFIG, tokenizer, head, window=_WINDOW, **how)


def _tagger(tags: TagSet) -> Callable[[Any], TaskModel[Any, Any]]:
    return lambda tokenizer: TextTagger(
        CONFIG, tokenizer, KINDS, window=_WINDOW, head="softmax", tags=tags.names
    )


def _mean(output: Any) -> Tensor:
    mask = MASK[..., None].float()
    mean: Tensor = (output.last_hidden_state * mask).sum(1) / mask.sum(1)
    return mean


def _borders(output: Any) -> Tensor:
    return torch.stack([output.start_logits, output.end_logits], dim=-1)[MASK]


_SEQUENCE, _TOKENS = "AlbertForSequenceClassification", "AlbertForTokenClassification"
HEADS = {
    "classes": Head(_SEQUENCE, _classifier(OneClass(["负", "中", "正"])), lambda o: o.logits),
    "several labels": Head(
        _SEQUENCE, _classifier(LabelSet(["房间", "服务", "味道"], 0.4)), lambda o: o.logits
    ),
    "value": Head(
        _SEQUENCE, _classifier(Value(0.0, 1.0, ["value"], -1.0, 1.0)), lambda o: o.logits
    ),
    "pairs": Head(_SEQUENCE, _classifier(OneClass(["同", "异"]), pairs=True), lambda o: o.logits),
    "tags, BIOES": Head(_TOKENS, _tagger(TagSet.of(KINDS)), lambda o: o.logits[MASK]),
    "tags, BIO": Head(_TOKENS, _tagger(TagSet.of(KINDS, "bio")), lambda o: o.logits[MASK]),
    "words": Head(
        _TOKENS,
        lambda t: TextSegmenter(CONFIG, t, window=_WINDOW, head="softmax"),
        lambda o: o.logits[MASK],
    ),
    "reading": Head(
        "AlbertForQuestionAnswering",
        lambda t: TextReader(CONFIG, t, window=_WINDOW, threshold=1.5),
        _borders,
    ),
    "choice": Head(
        "AlbertForMultipleChoice",
        lambda t: TextChooser(CONFIG, t, window=_WINDOW),
        lambda o: o.logits.T,
    ),
    "sentence vectors": Head(
        "AlbertModel", lambda t: TextEmbedder(CONFIG, t, window=_WINDOW), _mean
    ),
    "masked words": Head("AlbertForMaskedLM", None, lambda o: o.logits[MASK]),
    "masked words and order": Head(
        "AlbertForPreTraining", None, lambda o: o.prediction_logits[MASK]
    ),
}


def save_ours(head: Head, folder: Path) -> nn.Module:
    """Write a model of ours with random weights; return its network."""
    folder.mkdir()
    for name, content in FILES.items():
        (folder / name).write_text(content, encoding="utf-8")
    if head.model is None:
        network = spread(AlbertForPretraining(CONFIG))
        task = {"name": "encoder", "max_length": 16}
        files = dict(FILES)
        how: Any = {"config": CONFIG, "files": files, "task": task, "dtype": torch.float32}
        save_model(folder, model=network, **how)
        return network
    model = head.model(load_tokenizer(folder))
    spread(model.module)
    model.save(folder, card="# card\n", dtype=torch.float32)
    return model.module


def opened_there(head: Head, folder: Path, **changes: Any) -> Any:
    """Open a folder in ``transformers``; only what its class has no place for may be left over."""
    kind = getattr(transformers, head.kind)
    model, report = kind.from_pretrained(folder, output_loading_info=True, **changes)
    assert changes or not report["missing_keys"], report
    allowed = ("albert.pooler.", "pooler.", "predictions.", "sop_classifier.")
    assert all(name.startswith(allowed) for name in report["unexpected_keys"]), report
    return model.eval()


def numbers_there(head: Head, model: Any) -> Tensor:
    """Return what a model of ``transformers`` computes for the inputs."""
    inputs = {"input_ids": IDS, "attention_mask": MASK.long(), "token_type_ids": TYPES}
    if head.kind == "AlbertForMultipleChoice":
        inputs = {name: ids[None] for name, ids in inputs.items()}
    return head.read(model(**inputs))


def numbers_here(network: Any) -> Tensor:
    """Return what a network of ours computes for the same inputs."""
    with torch.inference_mode():
        if isinstance(network, AlbertForPretraining):
            masked: Tensor = network(IDS, TYPES, MASK, _MASKED).masked
            return masked
        outputs: Tensor = network(IDS, TYPES, MASK)
        return outputs[MASK] if outputs.ndim == 3 else outputs


def trained_there(head: Head, model: Any, folder: Path, tokenizer: Path) -> Tensor:
    """Train a model of ``transformers`` for a few updates and save it as it is done there.

    Args:
        head: Its kind.
        model: It.
        folder: The folder to write.
        tokenizer: A folder whose tokenizer is saved beside it.

    Returns:
        What it computes afterwards.
    """
    before = numbers_there(head, model).detach()
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    for _ in range(3):
        optimizer.zero_grad()
        (numbers_there(head, model) - before - 1).square().mean().backward()
        optimizer.step()
    model.save_pretrained(folder)
    transformers.AutoTokenizer.from_pretrained(tokenizer).save_pretrained(folder)
    with torch.inference_mode():
        after = numbers_there(head, model)
    assert (after - before).abs().max() > 0.1
    return after


def network_here(folder: Path) -> Any:
    """Open a folder by ``load``; return the network of its model."""
    task = load(folder).task
    if task != "encoder":
        return TASKS[task].model.load(folder).module
    network = AlbertForPretraining(load_config(folder)[0]).eval()
    load_weights(network, folder, optional=("encoder.pooler.", "sentence_order."))
    return network


def difference(actual: Tensor, expected: Tensor) -> float:
    """Return the largest difference between the numbers of two models."""
    assert actual.shape == expected.shape
    return float((actual - expected).abs().max())

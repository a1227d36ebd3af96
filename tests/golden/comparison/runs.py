"""Which trainings are compared, and with which settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

UPDATES = 20

# Nothing is left to what the clock says is fastest here.
COMMON = {
    "train.max_updates": UPDATES,
    "train.epochs": 20,
    "train.evaluate_every": 10,
    "train.batch_tokens": 256,
    "train.peak_lr": 1e-3,
    "train.precision": "fp32",
    "window.max_length": 48,
    "window.stride": 12,
}
SMALL = {
    "embedding_size": 32,
    "hidden_size": 96,
    "intermediate_size": 192,
    "num_attention_heads": 12,  # as its teacher
    "num_hidden_layers": 2,
}
# torch.linalg.lstsq, which a narrower student begins with, reads memory that nobody has written, so
# its last bits are other ones each time. glibc can hand out memory that is all zero, if it keeps no
# small pieces at hand.
ZEROED = {"GLIBC_TUNABLES": "glibc.malloc.perturb=255:glibc.malloc.tcache_count=0"}
PRETRAINED, ENCODER = "pretrained", "encoder"


@dataclass(frozen=True)
class EncoderRun:
    """A pretraining or a distillation on a few made-up documents.

    Attributes:
        out: The folder's name.
        command: Of ``zh-albert``.
        precision: What is trained in.
        sizes: Of the encoder, where they are not those of ``SMALL``.
        killed: Whether it is killed on the way, and goes on.
        environment: Of its process, beside what all have.
        quick: Whether it belongs to the quick comparison.
    """

    out: str
    command: str
    precision: str
    sizes: Mapping[str, int] = field(default_factory=dict)
    killed: bool = False
    environment: Mapping[str, str] = field(default_factory=dict)
    quick: bool = False

    def write_settings(self, folder: Path) -> Path:
        """Write the file that the command takes."""
        top = f'out = "{self.out}"\n' + 'teacher = "teacher"\n' * (self.command == "distil")
        train = {
            "precision": f'"{self.precision}"',
            "epochs": UPDATES,
            "max_updates": UPDATES,
            "batch_tokens": 512,
            "peak_lr": 1e-3,
            "evaluate_every": 5,
            "save_every_s": 0 if self.killed else 60,
        }
        tables: dict[str, Mapping[str, object]] = {
            "data": {"train": '"shards"', "heldout": '"shards"'},
            "encoder": {**SMALL, **self.sizes},
            "instances": {"length": 48},
            "train": train,
        }
        for table, values in tables.items():
            top += f"[{table}]\n" + "".join(f"{n} = {value}\n" for n, value in values.items())
        path = folder / f"{self.out}.toml"
        path.write_text(top, encoding="utf-8")
        return path


@dataclass(frozen=True)
class Run:
    """A fine-tuning.

    Attributes:
        name: Also of the model's folder.
        task: See ``zh-albert finetune --task``.
        data: The name of its files.
        init: What it starts from.
        settings: Beside ``COMMON``, by the names of the older checkout.
        unlabelled: Whether texts without labels are given, too.
        killed: Whether it is killed on the way, and goes on.
        quick: Whether it belongs to the quick comparison.
    """

    name: str
    task: str
    data: str
    init: str = PRETRAINED
    settings: Mapping[str, object] = field(default_factory=dict)
    unlabelled: bool = False
    killed: bool = False
    quick: bool = False


def _taught(model: str, **further: object) -> dict[str, object]:
    settings = {"teacher.model": model, "train.peak_lr": 2e-4, "model.layers": 3}
    return {**settings, **{name.replace("_", ".", 1): value for name, value in further.items()}}


ENCODER_RUNS = (
    EncoderRun(PRETRAINED, "pretrain", "bf16", quick=True),
    EncoderRun("pretrained-killed", "pretrain", "bf16", killed=True),
    EncoderRun("distilled", "distil", "fp32", {"hidden_size": 384}),
    EncoderRun("distilled-narrow", "distil", "fp32", environment=ZEROED),
)
RUNS = (
    Run("classes", "classification", "reviews"),
    Run("classes-killed", "classification", "reviews", killed=True, quick=True),
    Run(
        "classes-taught",
        "classification",
        "reviews",
        ENCODER,
        _taught("sentiment", teacher_states=1),
        unlabelled=True,
        quick=True,
    ),
    Run("labels", "classification", "labels", settings={"model.pooling": "first"}),
    Run(
        "values",
        "classification",
        "values",
        settings={"model.head": "regression", "train.optimizer": "lamb", "train.accumulation": 2},
    ),
    Run("pairs", "pair", "pairs"),
    Run("pairs-taught", "pair", "pairs", ENCODER, _taught("nli", teacher_weight=0.5), True),
    Run(
        "pairs-symmetric",
        "pair",
        "alike",
        settings={"model.head": "regression", "model.symmetric": "true"},
    ),
    Run("choice", "choice", "choices", settings={"train.batch_tokens": 512}, quick=True),
    Run(
        "choice-taught",
        "choice",
        "choices",
        settings={"teacher.model": "choice-exported", "teacher.states": 0.5},
    ),
    Run("vectors", "embedding", "alike", settings={"train.batch_tokens": 1024}, quick=True),
    Run("tags", "ner", "entities", quick=True),
    Run(
        "tags-taught", "ner", "entities", ENCODER, _taught("ner", teacher_states=1), unlabelled=True
    ),
    Run("tags-softmax", "ner", "entities", settings={"model.head": "softmax"}),
    Run("tags-span", "ner", "entities", settings={"model.head": "span"}),
    Run("tags-global", "ner", "entities", settings={"model.head": "global_pointer"}),
    Run("reading", "reading", "questions"),
    Run("reading-taught", "reading", "questions", ENCODER, _taught("reader", teacher_states=1)),
)
ASKED = {
    "labels": "texts",
    "values": "texts",
    "pairs-symmetric": "pairs",
    "choice": "choices",
    "vectors": "texts",
    "tags": "texts",
    "tags-softmax": "texts",
    "tags-span": "texts",
    "tags-global": "texts",
    "reading": "questions",
}
"""Which of the models are asked afterwards, and what: heads that no bundled model has."""

"""Match terms as data: what of a teacher a student is compared with, in which layers, and how.

Distillation methods differ in these alone: FitNets, Patient KD, DistilBERT, TinyBERT and MiniLM are
lists of terms (docs/compression/distillation.en.md). A teacher's answers to the task's examples are
no term: they are asked once and kept (``soft_targets.TeacherConfig``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from zh_albert.configio import check_above_0, check_at_least
from zh_albert.errors import ConfigError
from zh_albert.model.layer_map import layer_map

What = Literal[
    "embeddings",
    "states",
    "first",
    "pooled",
    "attention_scores",
    "attention",
    "relations",
    "masked_lm",
    "weights",
]
Loss = Literal["unexplained", "mse", "cosine", "normalized", "kl"]
LayerMap = Literal["even", "skip", "last", "first", "top"]
Direction = Literal["up", "down"]

_VECTOR_LOSSES: tuple[Loss, ...] = ("unexplained", "mse", "cosine", "normalized")
LOSSES: dict[What, tuple[Loss, ...]] = {
    "embeddings": _VECTOR_LOSSES,
    "states": _VECTOR_LOSSES,
    "first": ("normalized", "mse", "cosine"),
    "pooled": ("normalized", "mse", "cosine"),
    "attention_scores": ("mse",),
    "attention": ("kl", "mse"),
    "relations": ("kl",),
    "masked_lm": ("kl",),
    "weights": ("unexplained",),
}
"""Losses possible for each thing that can be matched; the first is the default."""
VECTORS: tuple[What, ...] = ("embeddings", "states", "first", "pooled")
"""What is compared vector by vector."""
_AS_A_WHOLE = ("embeddings", "masked_lm", "weights")
_OF_ONE: dict[str, What] = {
    "temperature": "masked_lm",
    "heads": "relations",
    "direction": "weights",
}


@dataclass(frozen=True, kw_only=True)
class MatchTerm:
    """One thing that is compared with the teacher's, layer by layer.

    Attributes:
        what: ``embeddings``: the encoder's input; ``states``: a layer's output at every token;
            ``first`` and ``pooled``: at the first token, and the mean over tokens;
            ``attention_scores``: before the softmax; ``attention``: after it; ``relations``:
            softmax of the products of queries with queries, keys with keys, values with values;
            ``masked_lm``: logits at masked tokens, of encoders only; ``weights``: the parameters of
            the embeddings and of all matched layers, see ``shared_projections``.
        loss: See ``LOSSES`` and ``comparison``; None: the first there.
        layers: The layers that are compared, see ``layer_pairs``.
        weight: Of the term in the loss, where an example of the task weighs 1.
        end_weight: The weight at the end of the run, reached linearly; None: it stays.
        temperature: Of ``masked_lm``.
        heads: Of ``relations``; None: as many as the student's attention has.
        direction: Of ``weights``: the student's are carried ``up`` into the teacher's space, or the
            teacher's ``down`` into the student's.
        projection: Learn a matrix from the student's vectors to the teacher's even if both have
            the same width, which FitNets calls a regressor. With different widths there always is.
    """

    what: What
    loss: Loss | None = None
    layers: LayerMap | tuple[tuple[int, int], ...] = "even"
    weight: float = 1.0
    end_weight: float | None = None
    temperature: float = 1.0
    heads: int | None = None
    direction: Direction = "up"
    projection: bool = False

    def __post_init__(self) -> None:
        if self.loss is None:
            object.__setattr__(self, "loss", LOSSES[self.what][0])
        if self.loss not in LOSSES[self.what]:
            raise ConfigError(
                f"match.loss: {self.what} can be compared by {', '.join(LOSSES[self.what])}, found "
                f"{self.loss!r}"
            )
        for name in ("weight", "end_weight"):
            check_at_least(0, f"match.{name}", getattr(self, name))
        check_above_0("match.temperature", self.temperature)
        check_at_least(1, "match.heads", self.heads)
        if self.projection and self.what not in VECTORS:
            raise ConfigError(f"match.projection is for vectors, not for {self.what}; leave it out")
        for name, what in _OF_ONE.items():
            if self.what != what and getattr(self, name) != getattr(type(self), name):
                raise ConfigError(f"match.{name} is for {what}, not for {self.what}; leave it out")

    def weight_at(self, progress: float) -> float:
        """Return the weight when a fraction of the run is done."""
        end = self.weight if self.end_weight is None else self.end_weight
        return self.weight + (end - self.weight) * progress

    def pairs(self, student_layers: int, teacher_layers: int) -> tuple[tuple[int, int], ...]:
        """Return the matched layers; for a term that is compared as a whole one pair of zeros."""
        if self.what in _AS_A_WHOLE:
            return ((0, 0),)
        return layer_pairs(self.layers, student_layers, teacher_layers)


def layer_pairs(
    layers: LayerMap | Sequence[tuple[int, int]], student_layers: int, teacher_layers: int
) -> tuple[tuple[int, int], ...]:
    """Return pairs of a student's and a teacher's layers, counted from 1.

    ``even`` spaces the teacher's evenly and ends at the top (Jiao et al. 2020, TinyBERT). ``skip``
    takes every n-th and ``last`` the last ones, both without the top layer, which the answers teach
    (Sun et al. 2019, Patient KD). ``first`` takes equal numbers, ``top`` the two last layers.

    Raises:
        ConfigError: If there is no such layer, or no layer is left to match.

    >>> layer_pairs("skip", 6, 12)
    ((1, 2), (2, 4), (3, 6), (4, 8), (5, 10))
    >>> layer_pairs("last", 3, 12)
    ((1, 10), (2, 11))
    """
    if student_layers > teacher_layers:
        raise ConfigError(
            "layers are matched with those of a teacher with at least as many layers; it has "
            f"{teacher_layers}, the student {student_layers}"
        )
    below = range(1, student_layers)
    match layers:
        case "even":
            return layer_map(student_layers, teacher_layers)
        case "skip":
            pairs = [(layer, layer * (teacher_layers // student_layers)) for layer in below]
        case "last":
            pairs = [(layer, teacher_layers - student_layers + layer) for layer in below]
        case "first":
            pairs = [(layer, layer) for layer in range(1, student_layers + 1)]
        case "top":
            pairs = [(student_layers, teacher_layers)]
        case _:
            pairs = [(int(own), int(other)) for own, other in layers]
    for own, other in pairs:
        if not (1 <= own <= student_layers and 1 <= other <= teacher_layers):
            raise ConfigError(
                f"match.layers: expected layers from 1 to {student_layers} of the student and from "
                f"1 to {teacher_layers} of the teacher, found {[own, other]}"
            )
    if not pairs and layers not in ("skip", "last"):
        raise ConfigError("match.layers: expected at least one pair of layers, found none")
    if not pairs:
        raise ConfigError(
            f"match.layers: {layers!r} leaves out the top layer, and a student of "
            f"{student_layers} layer has no other; take 'even' or 'top'"
        )
    return tuple(pairs)

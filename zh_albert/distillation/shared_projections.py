"""Shared projections: the distance of a student's weights from those of a wider teacher."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor, nn

from zh_albert.distillation.match_terms import Direction
from zh_albert.errors import ConfigError
from zh_albert.model.encoder import AlbertEncoder
from zh_albert.model.lstm_encoder import refuse_lstm

_SWEEPS = 2  # of the first fit, V for the present U and U for the present V
_RIDGE = 1e-3  # of the mean square; with much less, U and V become too large to be trained


class SharedProjections(nn.Module):
    """Matrices U and V, trained along, that carry weights from one encoder's space to the other's.

    The distance is ``‖U · θ_T · V − θ_S‖²`` (``down``) or ``‖θ_T − U · θ_S · V‖²`` (``up``), summed
    over the weights θ of the embeddings and of all blocks that matched layers run, and divided by
    ``‖θ_T‖²``. One U and one V serve all weights of the same shapes. A side of equal length in both
    encoders needs no matrix, so tables have V alone; biases and norms are columns and have U alone.
    Heads do not count, as U mixes the rows of all. The pooler and heads of tasks are not compared.

    A block that several layers run is compared once with each block of the other encoder that it
    meets, however many layers say so. Of tables the rows that both have are compared.

    U and V begin as a least-squares fit of the first weights: random ones would draw a student away
    from weights that were made from the teacher's.

    Source: Zhao, Gupta, Song, Zhou 2019 (arXiv:1909.11687), where the sum is not divided.

    Args:
        student: Its weights get gradients.
        teacher: Copied; never changed or stored.
        layers: Matched layers of student and teacher, counted from 1.
        direction: See above.

    Raises:
        ConfigError: If one of both has LSTMs, or they are of different layouts.
    """

    def __init__(
        self,
        student: AlbertEncoder,
        teacher: AlbertEncoder,
        layers: Sequence[tuple[int, int]],
        direction: Direction,
    ) -> None:
        super().__init__()
        kinds = []
        for encoder, name in ((student, "match.what = 'weights'"), (teacher, "its teacher")):
            refuse_lstm(encoder.config, name)
            kinds.append(f"{encoder.config.embedding_layout}, {encoder.config.norm_position}-norm")
        if kinds[0] != kinds[1]:
            raise ConfigError(
                "match.what = 'weights' needs a teacher of the student's layout and norm position: "
                f"expected {kinds[0]}, found {kinds[1]}; match 'states' instead"
            )
        self._up = direction == "up"
        self._ours: dict[str, list[tuple[nn.Module, str, int | None]]] = {}
        self.left, self.right = nn.ParameterDict(), nn.ParameterDict()
        wanted: dict[str, list[Tensor]] = {}
        for ours, theirs, kind in _paired(student, teacher, layers):
            own, other = (getattr(part, kind).detach() for part in (ours, theirs))
            rows = min(len(own), len(other)) if isinstance(ours, nn.Embedding) else None
            own, other = _matrix(own[:rows]), _matrix(other[:rows])
            key = "_".join("x".join(map(str, one.shape)) for one in (own, other))
            self._ours.setdefault(key, []).append((ours, kind, rows))
            wanted.setdefault(key, []).append(other.float())
            source, target = (own.shape, other.shape) if self._up else (other.shape, own.shape)
            if source[0] != target[0] and key not in self.left:
                self.left[key] = torch.randn(target[0], source[0]) * source[0] ** -0.5
            if source[1] != target[1] and key not in self.right:
                self.right[key] = torch.zeros(source[1], target[1])  # the fit begins with it
        for key, some in wanted.items():
            self.register_buffer(f"theirs_{key}", torch.stack(some), persistent=False)
        self._whole = sum(one.square().sum().item() for some in wanted.values() for one in some)
        self._fit()

    def forward(self) -> Tensor:
        """Return the distance. Shape: ()."""
        found = []
        for key in self._ours:
            source, target = self._sides(key)
            with torch.autocast(source.device.type, enabled=False):
                carried = self._from_left(key, self._from_right(key, source))
                found.append((carried - target).square().sum())
        return torch.stack(found).sum() / self._whole

    def _sides(self, key: str) -> tuple[Tensor, Tensor]:
        """Return what is carried, and what it is compared with. Shape: (weights, rows, columns)."""
        own = [_matrix(getattr(part, kind)[:rows]) for part, kind, rows in self._ours[key]]
        ours, theirs = torch.stack(own).float(), getattr(self, f"theirs_{key}")
        return (ours, theirs) if self._up else (theirs, ours)

    def _from_left(self, key: str, source: Tensor) -> Tensor:
        return self.left[key] @ source if key in self.left else source

    def _from_right(self, key: str, source: Tensor) -> Tensor:
        return source @ self.right[key] if key in self.right else source

    @torch.no_grad()
    def _fit(self) -> None:
        for key in self._ours:
            source, target = self._sides(key)
            for _ in range(_SWEEPS if key in self.left and key in self.right else 1):
                if key in self.right:
                    carried = self._from_left(key, source)
                    self.right[key].copy_(_fitted(carried, target))
                if key in self.left:
                    carried = self._from_right(key, source)
                    self.left[key].copy_(_fitted(carried.mT, target.mT).T)


def _paired(
    student: AlbertEncoder, teacher: AlbertEncoder, layers: Sequence[tuple[int, int]]
) -> Iterator[tuple[nn.Module, nn.Module, str]]:
    """Yield modules of both that have weights, and the names of these: ``weight`` or ``bias``."""
    blocks: list[tuple[nn.Module, nn.Module]] = [(student.embeddings, teacher.embeddings)]
    for name in ("attention", "ffn"):
        met = [
            (getattr(student.plan[own - 1], name), getattr(teacher.plan[other - 1], name))
            for own, other in layers
        ]
        own_blocks, other_blocks = getattr(student, name), getattr(teacher, name)
        blocks += [(own_blocks[own], other_blocks[other]) for own, other in dict.fromkeys(met)]
    for ours, theirs in blocks:
        for path, part in ours.named_modules():
            if isinstance(part, nn.Linear | nn.Embedding | nn.LayerNorm):
                for kind in ("weight", "bias"):
                    if getattr(part, kind, None) is not None:
                        yield part, theirs.get_submodule(path), kind


def _matrix(weight: Tensor) -> Tensor:
    """Return a matrix as it is, a vector as a column."""
    return weight[:, None] if weight.dim() == 1 else weight


def _fitted(sources: Tensor, targets: Tensor) -> Tensor:
    """Return the matrix M with about the least ``‖source · M − target‖²``. Shape: (in, out).

    Args:
        sources: Shape: (weights, rows, in).
        targets: Shape: (weights, rows, out).
    """
    inputs, outputs = sources.double().flatten(0, 1), targets.double().flatten(0, 1)
    gram = inputs.T @ inputs
    ridge = (_RIDGE * gram.diagonal().mean()).clamp(min=1e-12)
    solved: Tensor = torch.linalg.solve(
        gram + ridge * torch.eye(len(gram)).to(gram), inputs.T @ outputs
    )
    return solved

"""Recipes as data: the stages of a method, read from TOML; those of the package by their names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

from zh_albert.configio import (
    build,
    check_at_least,
    check_named_once,
    merged,
    parse_overrides,
    read_toml,
)
from zh_albert.errors import ConfigError, nearest

Criterion = Literal["gradient", "random", "closed"]


OF_STAGE, ROUTE = "stage:", "/route"
"""Before the name of a stage that teaches, and after it: all models that it kept on its way."""


@dataclass(frozen=True, kw_only=True)
class CutConfig:
    """A smaller network from a trained one, without training."""

    # Which layers stay: a number of them evenly spaced up to the top, or the first or last ones, or
    # those that the score on dev misses most, or those that drop.learned left out least; or their
    # numbers, from 1.
    layers: int | tuple[int, ...] | None = None
    choice: Literal["even", "first", "last", "searched", "learned"] = "even"
    # Blocks that stay: layers whose weights are most alike run the mean of them.
    groups: int | None = None
    embedding_size: int | None = None  # width of the word table, by principal directions
    head_size: int | None = None  # rank of each attention head, by singular values
    # Tokens that it reads at a time; a window that is no longer never sees the other positions.
    positions: int | None = None
    # Bidirectional LSTMs in the place of all layers: how many, one over the other; new, as is the
    # head, which is fitted to them. ``hidden_size`` is of both directions together; None: the
    # model's.
    lstm: int | None = None
    hidden_size: int | None = None
    seed: int = 1  # of the new weights

    def __post_init__(self) -> None:
        of_layers = {self.layers, self.groups, self.head_size}
        if {*of_layers, self.embedding_size, self.positions, self.lstm} == {None}:
            raise ConfigError(
                "cut: expected layers, groups, embedding_size, head_size, positions or lstm, found "
                "none of them"
            )
        if self.lstm is not None and of_layers != {None}:
            raise ConfigError("cut.lstm replaces all layers: leave out layers, groups, head_size")
        if self.hidden_size is not None and self.lstm is None:
            raise ConfigError("cut.hidden_size is the width of new layers: set cut.lstm, too")
        if self.choice != "even" and not isinstance(self.layers, int):
            raise ConfigError(
                f"cut.choice = {self.choice!r} says which layers of a number stay: expected it as "
                f"cut.layers, found {'none' if self.layers is None else list(self.layers)}"
            )
        if self.layers == ():
            raise ConfigError("cut.layers: expected at least one layer to keep, found none")
        for name in ("groups", "embedding_size", "head_size", "positions", "lstm", "hidden_size"):
            check_at_least(1, f"cut.{name}", getattr(self, name))


@dataclass(frozen=True, kw_only=True)
class PruneConfig:
    """Removal of heads, feed-forward neurons, dimensions of the word vectors, and words."""

    # What goes: by the loss's gradient at gates, at random, or what is closed already (0).
    criterion: Criterion = "gradient"
    heads: float = 1.0  # share that stays
    neurons: float = 1.0
    embeddings: float = 1.0
    # Of the vocabulary, the words most frequent in training texts; the others' vectors become 0,
    # which a deflated file hardly stores. Ids stay, so teachers and n-grams still fit.
    words: float = 1.0
    texts: int = 512  # of the training texts, for gradients
    seed: int = 1

    def __post_init__(self) -> None:
        for name in ("heads", "neurons", "embeddings", "words"):
            if not 0 < getattr(self, name) <= 1:
                raise ConfigError(
                    f"prune.{name} is the share that stays: expected a number above 0 and at most "
                    f"1, found {getattr(self, name)}"
                )
        parts = {self.heads, self.neurons, self.embeddings}
        if self.criterion == "closed" and parts != {1}:
            raise ConfigError(
                "prune.criterion = 'closed' removes what is 0 already, however much that is: leave "
                "out heads, neurons, embeddings"
            )
        if self.criterion != "closed" and {*parts, self.words} == {1}:
            raise ConfigError(
                "prune: expected a share below 1 of heads, neurons, embeddings or words, found none"
            )
        check_at_least(1, "prune.texts", self.texts)


@dataclass(frozen=True, kw_only=True)
class StoreConfig:
    """Rounding of the weights in the file."""

    bits: int = 8
    group: int | None = None  # weights of a row that share a scale; None: the whole row

    def __post_init__(self) -> None:
        if not 2 <= self.bits <= 8:
            raise ConfigError(f"store.bits: expected 2 to 8 for a weight, found {self.bits}")
        check_at_least(2, "store.group", self.group)


@dataclass(frozen=True, kw_only=True)
class Stage:
    """One step of a recipe: exactly one of the actions.

    Attributes:
        name: Of the stage's folder, and of its settings in ``--set``.
        cut: A smaller network, without training.
        prune: Removal of what matters least.
        augment: Further texts without labels, for the stages after it.
        tune: Fine-tuning; the settings are those of ``zh-albert finetune``.
        distil: Training of an encoder on a corpus; the settings of ``zh-albert distil``.
        pretrain: The same without a teacher; the settings of ``zh-albert pretrain``.
        store: Rounding in the file.
        from_: The stage whose model it begins with; None: the one before it.
    """

    name: str
    from_: str | None = None
    cut: CutConfig | None = None
    prune: PruneConfig | None = None
    augment: dict[str, Any] | None = None
    tune: dict[str, Any] | None = None
    distil: dict[str, Any] | None = None
    pretrain: dict[str, Any] | None = None
    store: StoreConfig | None = None

    def __post_init__(self) -> None:
        given = [action for action in ACTIONS if getattr(self, action) is not None]
        if len(given) != 1:
            raise ConfigError(
                f"stage {self.name!r}: expected exactly one of {', '.join(ACTIONS)}, found "
                f"{' and '.join(given) or 'none'}"
            )
        if self.name in ACTIONS:
            raise ConfigError(
                f"stage {self.name!r}: a stage is not called as an action, for --set {self.name}.… "
                "means all stages with that action; give it another name"
            )
        if not self.name or not self.name.replace("-", "").isalnum():
            raise ConfigError(
                f"stage {self.name!r}: its name is a folder's: expected letters, digits and hyphens"
            )

        if self.tune and not isinstance(self.tune.get("teacher", {}), Mapping):
            raise ConfigError(
                f"stage {self.name!r}: tune.teacher: expected a table, as {{ model = 'news' }}, "
                f"found {self.tune['teacher']!r}"
            )

    @property
    def teachers(self) -> tuple[str, ...]:
        """Names of the stages whose models, or the models on whose routes, teach it."""
        return tuple(one.removesuffix(ROUTE) for one in self._taught_by)

    @property
    def routes(self) -> tuple[str, ...]:
        """Names of the stages that teach it by all models on their routes."""
        return tuple(one.removesuffix(ROUTE) for one in self._taught_by if one.endswith(ROUTE))

    @property
    def _taught_by(self) -> list[str]:
        model = (self.tune or {}).get("teacher", {}).get("model")
        models = map(str, model if isinstance(model, list | tuple) else [model])
        return [one.removeprefix(OF_STAGE) for one in models if one.startswith(OF_STAGE)]

    @property
    def action(self) -> str:
        """The stage's action."""
        return next(action for action in ACTIONS if getattr(self, action) is not None)


ACTIONS = tuple(field.name for field in fields(Stage) if field.name not in ("name", "from_"))
_OF_ENCODERS = ("distil", "pretrain")
_FOLDER = Path(str(files("zh_albert.compression") / "recipes"))


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """A method of compression.

    Attributes:
        title: What it is called in the literature.
        family: distillation, replacement, pruning, quantization, sharing or pipeline.
        source: The paper.
        cost: Time, against plain fine-tuning of the same student.
        shared: What it means where layers share parameters.
        published: What the source found.
        stages: In their order.
        name: Of the file.
    """

    title: str
    family: str
    source: str
    stages: tuple[Stage, ...]
    cost: str = ""
    shared: str = ""
    published: str = ""
    name: str = field(default="", metadata={"given": False})

    def __post_init__(self) -> None:
        if not self.stages:
            raise ConfigError("expected at least one stage, found none")
        check_named_once("stage", [stage.name for stage in self.stages])
        makers: list[str] = []
        keepers = {stage.name for stage in self.stages if (stage.tune or {}).get("keep_route")}
        for stage in self.stages:
            begins = [("begins from", stage.from_)] if stage.from_ is not None else []
            for does, other in [*begins, *(("learns from", one) for one in stage.teachers)]:
                if other not in makers:
                    raise ConfigError(
                        f"stage {stage.name!r} {does} {other!r}, which is no stage before it that "
                        f"makes a model; there are: {', '.join(makers) or 'none'}"
                    )
            if missing := sorted({*stage.routes} - keepers):
                raise ConfigError(
                    f"stage {stage.name!r} learns from the route of {missing[0]!r}, which keeps "
                    "none; set tune.keep_route = true there"
                )
            makers += [stage.name] if stage.augment is None else []
        kinds = {stage.action in _OF_ENCODERS for stage in self.stages if stage.action != "cut"}
        if len(kinds) > 1:
            raise ConfigError(
                "distil and pretrain train encoders, the other stages models of a task: make two "
                "recipes, and fine-tune between them"
            )

    @property
    def of_encoders(self) -> bool:
        """Whether it compresses an encoder with a corpus, not a model of a task."""
        return any(stage.action in _OF_ENCODERS for stage in self.stages)

    @property
    def needs(self) -> str:
        """What it is given."""
        return "an encoder and shards" if self.of_encoders else "a model and labelled files"


@cache
def recipes() -> Mapping[str, Recipe]:
    """Return the recipes of the package by name."""
    return {path.stem: _read(path) for path in sorted(_FOLDER.glob("*.toml"))}


def find_recipe(name: str, settings: Sequence[str] = ()) -> Recipe:
    """Return a recipe by its name, or read one from a TOML file.

    Args:
        name: Of the package's, or a path that ends in ``.toml``.
        settings: ``STAGE.ACTION.KEY=value``, or ``ACTION.KEY=value`` for all its stages.

    Raises:
        ConfigError: If there is no such recipe or stage, or a value is wrong.
    """
    if name.endswith(".toml"):
        return _read(Path(name), settings)
    path = _FOLDER / f"{name}.toml"
    if "/" in name or not path.is_file():
        raise ConfigError(
            f"unknown recipe {name!r}; {nearest(name, recipes())}; a recipe of your own is a path "
            "that ends in .toml"
        )
    return _read(path, settings)


def _read(path: Path, settings: Sequence[str] = ()) -> Recipe:
    values, name = read_toml(path), path.stem
    stages = values.get("stages")
    if isinstance(stages, list) and all(isinstance(stage, dict) for stage in stages):
        values["stages"] = _with_settings(stages, parse_overrides(settings), name)
    return build(Recipe, {**values, "name": name}, source=f"recipe {name}")


def _with_settings(
    stages: list[dict[str, Any]], given: Mapping[str, Any], name: str
) -> list[dict[str, Any]]:
    """Return a recipe's stages with overrides, by the stage's name or by the action's."""
    names = [str(stage.get("name")) for stage in stages]
    actions = {action for stage in stages for action in ACTIONS if action in stage}
    for key, value in given.items():
        if (key not in names and key not in actions) or not isinstance(value, Mapping):
            raise ConfigError(
                f"--set {key}: recipe {name} has the stages {', '.join(names)}; expected "
                "STAGE.ACTION.KEY=value, or ACTION.KEY=value for all its "
                f"{' and '.join(sorted(actions))} stages"
            )
        stages = [
            merged(stage, value)
            if stage.get("name") == key
            else merged(stage, {key: value})
            if key in stage and key not in names
            else stage
            for stage in stages
        ]
    return stages

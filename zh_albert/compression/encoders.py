"""Compression of encoders on a corpus: the stages ``cut``, ``distil`` and ``pretrain``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch

from zh_albert.checkpoints.files import WEIGHTS, weights_fingerprint
from zh_albert.checkpoints.store import load_config, load_weights, save_model
from zh_albert.checkpoints.stored_model import BESIDE_MASKED_LM, same_random_numbers
from zh_albert.checkpoints.tokenizers import matching_tokenizer
from zh_albert.compression.recipe import CutConfig, Recipe
from zh_albert.compression.record import LENGTH, Figures, card_section, read_record, write_record
from zh_albert.compression.surgery import kept_layers, with_cut_layers
from zh_albert.compression.work import is_made
from zh_albert.configio import build, merged, write_toml
from zh_albert.errors import ConfigError
from zh_albert.files.textio import atomic_write
from zh_albert.model.pretraining_heads import AlbertForPretraining
from zh_albert.model.size import macs_per_token, parameter_counts
from zh_albert.pretraining.distil import DistilConfig, distil
from zh_albert.pretraining.run import PretrainConfig, pretrain
from zh_albert.pretraining.shards import open_shards
from zh_albert.training.events import Observer
from zh_albert.training.loop import is_first_process
from zh_albert.training.resume import refuse_changed
from zh_albert.training.run_folder import refuse_taken, release
from zh_albert.transforms.learned_drop import DROP_RATES


def compress_encoder(
    recipe: Recipe,
    source: Path,
    shards: Any,
    heldout: Any,
    out: Path,
    *,
    resume: bool,
    observers: Sequence[Observer],
) -> tuple[Figures, Figures]:
    """Run an encoder's recipe; return the figures before and after.

    The last stage is written to ``out``, those before it to ``out/stages``.

    Args:
        recipe: The recipe.
        source: Folder of the encoder, with its masked-LM head.
        shards: Folder that ``zh-corpora build`` wrote.
        heldout: The same of held-out text.
        out: Folder to write.
        resume: Go on with an interrupted run.
        observers: Called while training.

    Raises:
        ConfigError: If shards are not given as folders, settings do not fit or are others than
            those the work was begun with, or ``out`` holds something else.
    """
    for name, given in (("--train", shards), ("--dev", heldout)):
        if not isinstance(given, str | Path) or not Path(given).is_dir():
            raise ConfigError(
                f"recipe {recipe.name} trains an encoder: expected a folder of shards for {name} "
                f"(zh-corpora build), found {given!r:.60}"
            )
    data = {"train": str(shards), "heldout": str(heldout)}
    refuse_taken(out, resume=resume)
    described = f"{write_toml(recipe)}\n# model {weights_fingerprint(source)}\n"
    for name, given in data.items():
        described += f"# {name} {open_shards(Path(given)).digest}\n"
    steps = list(_steps(recipe, source, out, data))  # all, before the first one begins
    if (kept := _begun(out, described)) is not None:
        return kept
    for begins, folder, settings in steps:
        going_on = resume and folder.exists()
        match settings:
            case CutConfig():
                if not is_made(folder / "config.json"):
                    _write_cut(settings, begins, folder)
            case DistilConfig():
                distil(settings, resume=going_on, observers=observers)
            case PretrainConfig():
                pretrain(settings, resume=going_on, observers=observers)
        release(folder)
    before, after = _figures(source), _figures(out)
    if is_first_process():
        section = card_section(recipe, source, before, after)
        card = (out / "README.md").read_text("utf-8").removesuffix(section)  # of a killed run
        with atomic_write(out / "README.md") as file:
            file.write((card + section).encode())
        write_record(out, recipe, source, before, after)
    return before, after


class _Step(NamedTuple):
    """A stage: the folder it begins with, the folder it writes, and its settings."""

    begins: Path
    folder: Path
    settings: CutConfig | DistilConfig | PretrainConfig


def _steps(recipe: Recipe, source: Path, out: Path, data: Mapping[str, str]) -> Iterator[_Step]:
    """Yield the stages of a recipe.

    Raises:
        ConfigError: If a setting is unknown or wrong.
    """
    current = source
    for stage in recipe.stages:
        folder = out if stage is recipe.stages[-1] else out / "stages" / stage.name
        begins = out / "stages" / stage.from_ if stage.from_ else current
        base: dict[str, Any] = {"out": str(folder), "data": data}
        settings: CutConfig | DistilConfig | PretrainConfig
        if stage.cut is not None:
            _refuse_cut(stage.cut)
            settings = stage.cut
        elif stage.distil is not None:
            base["teacher"] = str(source)
            if begins != source:
                base["go_on_from"] = str(begins)
            settings = build(DistilConfig, merged(base, stage.distil), source="recipe")
        else:
            assert stage.pretrain is not None
            base["start"] = {"from": str(begins)}
            settings = build(PretrainConfig, merged(base, stage.pretrain), source="recipe")
        yield _Step(begins, folder, settings)
        current = folder


def _refuse_cut(config: CutConfig) -> None:
    if config.embedding_size or config.lstm or config.positions or config.choice == "searched":
        raise ConfigError(
            "cut: of an encoder, layers (even, first, last, learned), groups and head_size can be "
            "cut"
        )


def _begun(out: Path, described: str) -> tuple[Figures, Figures] | None:
    """Check or write what a run must not change; return its figures if it is finished."""
    if (begun := out / "stages" / "recipe.toml").is_file():  # stages that cut keep no settings
        refuse_changed(begun.read_text("utf-8"), described)
        return read_record(out)
    if is_first_process():
        with atomic_write(begun) as file:
            file.write(described.encode())
    return None


def _write_cut(config: CutConfig, source: Path, out: Path) -> None:
    sizes, metadata = load_config(source)
    with same_random_numbers():  # of a sentence-order head, if the source has none
        network: Any = AlbertForPretraining(sizes)
    load_weights(network, source, optional=BESIDE_MASKED_LM)
    layers = None
    if config.layers is not None:
        total, rates = sizes.num_hidden_layers, metadata.get(DROP_RATES)
        layers = kept_layers(config.layers, config.choice, total, rates)
    network = with_cut_layers(network, config, layers)
    files = matching_tokenizer(source, sizes).save_files()
    kept: dict[str, Any] = {
        key: metadata[key] for key in ("name", "max_length", "trained_on") if key in metadata
    }
    save_model(
        out,
        model=network,
        config=network.encoder.config,
        files={**files, "README.md": f"# {source.name}, cut\n"},
        task=kept,
        dtype=torch.float32,
    )


def _figures(folder: Path) -> dict[str, float]:
    """Return the size of an encoder and its scores on held-out text."""
    sizes, metadata = load_config(folder)
    return {
        "parameters": parameter_counts(sizes)["parameters"],
        "bytes": (folder / WEIGHTS).stat().st_size,
        "macs": macs_per_token(sizes, LENGTH),
        **metadata.get("dev", {}),
    }

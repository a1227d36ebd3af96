"""Folders of the package ``sentence-transformers``: a model, and how its outputs become vectors.

The model is an ``AlbertModel`` of ``transformers``; ``modules.json`` lists what follows it. Our
vectors are the mean over the tokens, so only that is written and read.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from zh_albert.checkpoints.files import read_text
from zh_albert.errors import CheckpointError
from zh_albert.files.plain_files import parse_json
from zh_albert.model.config import AlbertConfig

MODULES = "modules.json"
_POOLING = "1_Pooling"
_WINDOW = "sentence_bert_config.json"
_PROMPTS = "config_sentence_transformers.json"
_MEAN = "pooling_mode_mean_tokens"
_AGAIN = "save another model there, or use it in sentence-transformers"


def sentence_files(config: AlbertConfig, task: Mapping[str, Any], source: Path) -> dict[str, bytes]:
    """Return the files that make a folder of ``transformers`` one of ``sentence-transformers``.

    Its vectors are equal to ours for texts that fit in one window: a longer one is cut off there,
    and read in several windows here.

    Args:
        config: The encoder's.
        task: Settings of the model.
        source: The model, named in errors.

    Raises:
        CheckpointError: If it is not a model of sentence vectors.
    """
    if task.get("name") != "embedding":
        raise CheckpointError(
            f"{source}: expected a model of sentence vectors, found one for "
            f"{task.get('name') or 'no task (an encoder)'}; make one with zh-albert finetune "
            "--task embedding --init …"
        )
    package = "sentence_transformers.models"
    longest = task.get("max_length", config.max_position_embeddings)
    contents: dict[str, Any] = {
        MODULES: [
            {"idx": 0, "name": "0", "path": "", "type": f"{package}.Transformer"},
            {"idx": 1, "name": "1", "path": _POOLING, "type": f"{package}.Pooling"},
        ],
        _WINDOW: {"max_seq_length": longest, "do_lower_case": False},
        f"{_POOLING}/config.json": {"word_embedding_dimension": config.hidden_size, _MEAN: True},
    }
    return {name: f"{json.dumps(value, indent=2)}\n".encode() for name, value in contents.items()}


def sentence_settings(folder: Path, task: Mapping[str, Any], longest: int) -> dict[str, Any]:
    """Return the task settings of a folder, if ``modules.json`` says that it gives vectors.

    Args:
        folder: A model folder; without the file, or of another task, its settings are returned.
        task: What its ``config.json`` says.
        longest: The tokens that the encoder has positions for.

    Raises:
        CheckpointError: If its vectors are not means over the tokens.
    """
    if not (folder / MODULES).is_file() or task.get("name", "embedding") != "embedding":
        return dict(task)
    modules = _read(folder, MODULES, list)
    try:
        paths = {str(one["type"]).rpartition(".")[2]: str(one["path"]) for one in modules}
    except (KeyError, TypeError):
        raise _unlike(folder / MODULES, "a list of modules with type and path", modules) from None
    kinds = [*paths]
    if kinds[:2] != ["Transformer", "Pooling"] or kinds[2:] not in ([], ["Normalize"]):
        raise _unlike(folder / MODULES, "the modules Transformer and Pooling", ", ".join(kinds))
    if paths["Transformer"] or Path(paths["Pooling"]).name != paths["Pooling"]:
        raise _unlike(folder / MODULES, "the Transformer in the folder itself", paths)
    pooling = _read(folder, f"{paths['Pooling']}/config.json")
    modes = [name for name, value in pooling.items() if name.startswith("pooling_mode_") and value]
    if (pooling.get("pooling_mode") or modes) not in ("mean", [_MEAN]):
        found = pooling.get("pooling_mode") or ", ".join(modes) or "none"
        raise _unlike(folder / paths["Pooling"] / "config.json", "the mean over the tokens", found)
    prompt = _read(folder, _PROMPTS).get("default_prompt_name")
    if prompt is not None:
        raise _unlike(folder / _PROMPTS, "no default_prompt_name", prompt)
    if kinds[2:]:
        warnings.warn(
            f"{folder / MODULES}: there, vectors have length 1; here if normalize=True is given",
            stacklevel=2,
        )
    length = _read(folder, _WINDOW).get("max_seq_length")
    length = length or _read(folder, "tokenizer_config.json").get("model_max_length")
    window = min(length, longest) if isinstance(length, int) and length > 5 else longest
    return {"name": "embedding", "max_length": window, "stride": window // 4, **task}


def _read(folder: Path, name: str, form: type = dict) -> Any:
    """Read a JSON file; one that is missing is empty."""
    if not (folder / name).is_file():
        return form()
    try:
        content = parse_json(read_text(folder, name))
    except ValueError as error:
        raise CheckpointError(f"{folder / name}: not JSON: {error}; get it again") from None
    if not isinstance(content, form):
        expected = "a list of modules" if form is list else "a JSON object"
        raise _unlike(folder / name, expected, content)
    return content


def _unlike(path: Path, expected: str, found: object) -> CheckpointError:
    return CheckpointError(f"{path}: expected {expected}, found {found!s:.200}; {_AGAIN}")

"""Table of the tasks of CLUE and FewCLUE: files, labels, submission names, metric, recipe.

All other modules of this package read it. ``docs/clue.md`` gives the sources.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from zh_albert.clue import labels
from zh_albert.clue.labels import Labels
from zh_albert.clue.task import ClueTask, Download, Form, OfficialTest
from zh_albert.errors import ConfigError, nearest


def task_named(name: str) -> ClueTask:
    """Return the task of this name.

    Raises:
        ConfigError: If there is none; the nearest name is suggested.
    """
    if name not in CLUE_TASKS:
        raise ConfigError(f"no CLUE task {name!r}; {nearest(name, CLUE_TASKS)}")
    return CLUE_TASKS[name]


def _recipe(
    *,
    length: int = 128,
    stride: int = 32,
    epochs: int,
    batch_tokens: int = 1024,
    peak_lr: float = 3e-4,
    **more: Mapping[str, Any] | float,
) -> Mapping[str, Any]:
    """Return settings of the fine-tuning job, with defaults as for the bundled models."""
    return {
        "window": {"max_length": length, "stride": stride},
        "train": {"epochs": epochs, "peak_lr": peak_lr, "batch_tokens": batch_tokens},
        **more,
    }


def _two_tests(submission: str, newer: str) -> Mapping[str, OfficialTest]:
    return {
        "1.1": OfficialTest(newer, f"{submission}11_predict.json"),
        "1.0": OfficialTest("test1.0.json", f"{submission}10_predict.json"),
    }


_FIELDS: Mapping[Form, tuple[str, ...]] = {
    "text": ("sentence",),
    "pair": ("sentence1", "sentence2"),
    "keywords": ("keyword", "abst"),
    "coreference": ("text",),
    "entities": ("text",),
}
_SHA256 = {  # of the archives for which it is known
    "afqmc": "5a4cb1556b833010c329fa2ad2207d9e98fc94071b7e474015e9dd7c385db4dc",
    "tnews": "77c476e70cfe0b014a81b84c6e1db2142a8a2f52f4ae0a8216aa75e673933462",
    "iflytek": "c59b961b29f1d0bad0c5e01aa62e4a61a80e9cfb980ce89b06c000851fbb3b06",
    "cmnli": "3a3f3b1d3d27134cf11e585156f07fa050bd0a0836821c02696af0dbaa14513b",
    "csl": "795d1a2e475d59acad8236f6c5baba7a0b43d3e0508cb60f15ffbc76d5f437c4",
    "cmrc2018": "6c63dc27e728ec5231aeb7d2861b4c90b6c116390582e0c44416cf3edf030b16",
    "drcd": "f03a38bded37572e224b69b822794eca6218f9584afc0918bf8aa2bc77cf968d",
}


def _clue_task(
    name: str, form: Form, about: str, recipe: Mapping[str, Any], **more: Any
) -> ClueTask:
    """Return a task of CLUE, with a single test set unless ``tests`` are given."""
    archive = f"https://storage.googleapis.com/cluebenchmark/tasks/{name}_public.zip"
    downloads = (Download(archive, _SHA256.get(name, "")),)
    more.setdefault("tests", {"": OfficialTest("test.json", f"{name}_predict.json")})
    return ClueTask(
        name=name,
        about=about,
        form=form,
        fields=_FIELDS.get(form, ()),
        downloads=downloads,
        recipe=recipe,
        **more,
    )


_CLUE = (
    _clue_task(
        "afqmc",
        "pair",
        "do two questions to a bank ask the same",
        # At higher rates the loss returns to chance level.
        _recipe(epochs=5, batch_tokens=2048, peak_lr=6e-5, model={"symmetric": True}),
        labels=labels.SIMILARITY,
    ),
    _clue_task(
        "tnews",
        "text",
        "section of a headline",
        _recipe(length=64, stride=16, epochs=3),
        labels=labels.NEWS,
        described=True,
        tests=_two_tests("tnews", "test.json"),
    ),
    _clue_task(
        "iflytek",
        "text",
        "category of an app, by its description",
        _recipe(length=256, epochs=2, batch_tokens=4096, peak_lr=2e-4),
        labels=labels.APPLICATIONS,
    ),
    _clue_task(
        "cmnli",
        "pair",
        "does a sentence follow from another (translated)",
        _recipe(epochs=2),
        labels=labels.INFERENCE,
    ),
    _clue_task(
        "ocnli",
        "pair",
        "does a sentence follow from another (written in Chinese)",
        _recipe(epochs=3),
        labels=labels.INFERENCE,
        train=("train.50k.json",),
        tests={n: OfficialTest("test.json", f"ocnli_{n}_predict.json") for n in ("50k", "30k")},
    ),
    _clue_task(
        "cluewsc2020",
        "coreference",
        "does a pronoun refer to a thing",
        _recipe(epochs=10),
        labels=labels.COREFERENCE,
        tests=_two_tests("cluewsc", "test.json"),
    ),
    _clue_task(
        "csl",
        "keywords",
        "are all keywords those of an abstract",
        _recipe(epochs=3),
        labels=labels.KEYWORDS,
    ),
    _clue_task(
        "cmrc2018",
        "reading",
        "answer to a question, a part of an article",
        _recipe(length=256, stride=96, epochs=3, empty_share=0.15),
        metric="exact_match",
    ),
    _clue_task(
        "drcd",
        "reading",
        "answer to a question, a part of an article in traditional characters",
        _recipe(length=256, stride=96, epochs=3, empty_share=0.15, model={"simplify": True}),
        metric="exact_match",
    ),
    _clue_task(
        "chid",
        "idioms",
        "idioms for the blanks of several texts",
        _recipe(epochs=3),
        tests=_two_tests("chid", "test1.1.json"),
    ),
    _clue_task(
        "c3",
        "choices",
        "answer to a question, one of up to four",
        # Higher rates and smaller batches undo the linear-probe initialization: a batch then has
        # few questions, with similar choices.
        _recipe(length=256, stride=64, epochs=3, batch_tokens=4096, peak_lr=1e-4),
        train=("d-train.json", "m-train.json"),
        dev=("d-dev.json", "m-dev.json"),
        scored=("d-dev.json", "m-dev.json"),
        tests=_two_tests("c3", "test1.1.json"),
    ),
    _clue_task(
        "cluener",
        "entities",
        "names of ten types",
        _recipe(epochs=5),
        labels=labels.ENTITY_TYPES,
        metric="f1",
    ),
)

_FEW_FILES = (
    *(f"{split}_{number}.json" for split in ("train", "dev") for number in range(5)),
    *("train_few_all.json", "dev_few_all.json", "test_public.json", "test.json"),
)
_FEW_TESTS = ("", "_0", "_1", "_2", "_3", "_4", "_all")  # of one model, or of one per split


def _few_task(
    name: str,
    folder: str,
    form: Form,
    known: Labels,
    about: str,
    *,
    fields: tuple[str, ...] = (),
    **more: Any,
) -> ClueTask:
    """Return a task of FewCLUE, trained on its first split and scored on the public test."""
    base = f"https://raw.githubusercontent.com/CLUEbenchmark/FewCLUE/main/datasets/{folder}/"
    return ClueTask(
        name=name,
        about=about,
        form=form,
        fields=fields or _FIELDS[form],
        labels=known,
        train=("train_0.json",),
        dev=("dev_0.json",),
        scored=("test_public.json",),
        tests={
            which.removeprefix("_"): OfficialTest("test.json", f"{name}_predict{which}.json")
            for which in _FEW_TESTS
        },
        downloads=tuple(Download(base + file) for file in _FEW_FILES),
        recipe=_recipe(epochs=10, batch_tokens=512, **more),
    )


_FEW_CLUE = (
    _few_task("eprstmt", "eprstmt", "text", labels.SENTIMENT, "is a review positive"),
    _few_task(
        "csldcp", "csldcp", "text", labels.SCIENCES, "science of an abstract", fields=("content",)
    ),
    _few_task("tnewsf", "tnews", "text", labels.NEWS, "as tnews, with few examples"),
    _few_task("iflytekf", "iflytek", "text", labels.APPLICATIONS, "as iflytek, few examples"),
    _few_task("ocnlif", "ocnli", "pair", labels.INFERENCE, "as ocnli, few examples"),
    _few_task(
        *("bustm", "bustm", "pair", labels.SIMILARITY, "do two orders mean the same"),
        model={"symmetric": True},
    ),
    _few_task("chidf", "chid", "idiom", {}, "idiom for the blank of a text", fields=("content",)),
    _few_task("cslf", "csl", "keywords", labels.KEYWORDS, "as csl, few"),
    _few_task("cluewscf", "cluewsc", "coreference", labels.COREFERENCE, "as cluewsc"),
)

CLUE_TASKS: Mapping[str, ClueTask] = MappingProxyType(
    {task.name: task for task in (*_CLUE, *_FEW_CLUE)}
)

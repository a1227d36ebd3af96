"""What each task of CLUE and FewCLUE is: files, labels, submission names, metric, recipe.

Facts, not code: everything else in this package reads them. ``docs/clue.md`` says what each one
rests on.
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
    """Return a task.

    Raises:
        ConfigError: If there is none of that name; the nearest is named.
    """
    if name not in CLUE_TASKS:
        raise ConfigError(f"no CLUE task {name!r}; {nearest(name, CLUE_TASKS)}")
    return CLUE_TASKS[name]


def _archive(name: str, sha256: str = "") -> tuple[Download]:
    return (Download(f"https://storage.googleapis.com/cluebenchmark/tasks/{name}.zip", sha256),)


def _recipe(
    *,
    length: int = 128,
    stride: int = 32,
    epochs: int,
    batch_tokens: int = 1024,
    peak_lr: float = 3e-4,
    **more: Mapping[str, Any] | float,
) -> Mapping[str, Any]:
    """Return windows, rates and batches as of the bundled models."""
    return {
        "window": {"max_length": length, "stride": stride},
        "train": {"epochs": epochs, "peak_lr": peak_lr, "batch_tokens": batch_tokens},
        **more,
    }


def _one_test(submission: str) -> Mapping[str, OfficialTest]:
    return {"": OfficialTest("test.json", f"{submission}_predict.json")}


def _two_tests(submission: str, newer: str, older: str) -> Mapping[str, OfficialTest]:
    return {
        "1.1": OfficialTest(newer, f"{submission}11_predict.json"),
        "1.0": OfficialTest(older, f"{submission}10_predict.json"),
    }


_PAIR = ("sentence1", "sentence2")

_CLUE = (
    ClueTask(
        name="afqmc",
        about="do two questions to a bank ask the same",
        form="pair",
        fields=_PAIR,
        labels=labels.SIMILARITY,
        tests=_one_test("afqmc"),
        downloads=_archive(
            "afqmc_public", "5a4cb1556b833010c329fa2ad2207d9e98fc94071b7e474015e9dd7c385db4dc"
        ),
        # At higher rates the loss goes back to chance.
        recipe=_recipe(epochs=5, batch_tokens=2048, peak_lr=6e-5, model={"symmetric": True}),
    ),
    ClueTask(
        name="tnews",
        about="section of a headline",
        form="text",
        fields=("sentence",),
        labels=labels.NEWS,
        described=True,
        tests=_two_tests("tnews", "test.json", "test1.0.json"),
        downloads=_archive(
            "tnews_public", "77c476e70cfe0b014a81b84c6e1db2142a8a2f52f4ae0a8216aa75e673933462"
        ),
        recipe=_recipe(length=64, stride=16, epochs=3),
    ),
    ClueTask(
        name="iflytek",
        about="kind of a described program",
        form="text",
        fields=("sentence",),
        labels=labels.APPLICATIONS,
        tests=_one_test("iflytek"),
        downloads=_archive(
            "iflytek_public", "c59b961b29f1d0bad0c5e01aa62e4a61a80e9cfb980ce89b06c000851fbb3b06"
        ),
        recipe=_recipe(length=256, epochs=2, batch_tokens=4096, peak_lr=2e-4),
    ),
    ClueTask(
        name="cmnli",
        about="does a sentence follow from another (translated)",
        form="pair",
        fields=_PAIR,
        labels=labels.INFERENCE,
        tests=_one_test("cmnli"),
        downloads=_archive(
            "cmnli_public", "3a3f3b1d3d27134cf11e585156f07fa050bd0a0836821c02696af0dbaa14513b"
        ),
        recipe=_recipe(epochs=2),
    ),
    ClueTask(
        name="ocnli",
        about="does a sentence follow from another (written in Chinese)",
        form="pair",
        fields=_PAIR,
        labels=labels.INFERENCE,
        train=("train.50k.json",),
        tests={
            "50k": OfficialTest("test.json", "ocnli_50k_predict.json"),
            "30k": OfficialTest("test.json", "ocnli_30k_predict.json"),
        },
        downloads=_archive("ocnli_public"),
        recipe=_recipe(epochs=3),
    ),
    ClueTask(
        name="cluewsc2020",
        about="does a pronoun mean a thing",
        form="coreference",
        fields=("text",),
        labels=labels.COREFERENCE,
        tests=_two_tests("cluewsc", "test.json", "test1.0.json"),
        downloads=_archive("cluewsc2020_public"),
        recipe=_recipe(epochs=10),
    ),
    ClueTask(
        name="csl",
        about="are all keywords those of an abstract",
        form="keywords",
        fields=("keyword", "abst"),
        labels=labels.KEYWORDS,
        tests=_one_test("csl"),
        downloads=_archive(
            "csl_public", "795d1a2e475d59acad8236f6c5baba7a0b43d3e0508cb60f15ffbc76d5f437c4"
        ),
        recipe=_recipe(epochs=3),
    ),
    ClueTask(
        name="cmrc2018",
        about="answer to a question, a part of an article",
        form="reading",
        tests=_one_test("cmrc2018"),
        metric="exact_match",
        downloads=_archive(
            "cmrc2018_public", "6c63dc27e728ec5231aeb7d2861b4c90b6c116390582e0c44416cf3edf030b16"
        ),
        recipe=_recipe(length=256, stride=96, epochs=3, empty_share=0.15),
    ),
    ClueTask(
        name="drcd",
        about="answer to a question, a part of an article in traditional characters",
        form="reading",
        tests=_one_test("drcd"),
        metric="exact_match",
        downloads=_archive(
            "drcd_public", "f03a38bded37572e224b69b822794eca6218f9584afc0918bf8aa2bc77cf968d"
        ),
        recipe=_recipe(length=256, stride=96, epochs=3, empty_share=0.15, model={"simplify": True}),
    ),
    ClueTask(
        name="chid",
        about="idioms for the blanks of several texts",
        form="idioms",
        tests=_two_tests("chid", "test1.1.json", "test1.0.json"),
        downloads=_archive("chid_public"),
        recipe=_recipe(epochs=3),
    ),
    ClueTask(
        name="c3",
        about="answer to a question, one of up to four",
        form="choices",
        train=("d-train.json", "m-train.json"),
        dev=("d-dev.json", "m-dev.json"),
        scored=("d-dev.json", "m-dev.json"),
        tests=_two_tests("c3", "test1.1.json", "test1.0.json"),
        downloads=_archive("c3_public"),
        # Higher rates, smaller batches and longer contexts forget the fitted head: few questions in
        # a batch, whose choices are much alike.
        recipe=_recipe(
            length=256, stride=64, epochs=3, batch_tokens=4096, peak_lr=1e-4, longest_context=200
        ),
    ),
    ClueTask(
        name="cluener",
        about="names of ten types",
        form="entities",
        fields=("text",),
        labels=labels.ENTITY_TYPES,
        tests=_one_test("cluener"),
        metric="f1",
        downloads=_archive("cluener_public"),
        recipe=_recipe(epochs=5),
    ),
)

_FEW_FILES = (
    *(f"{split}_{number}.json" for split in ("train", "dev") for number in range(5)),
    *("train_few_all.json", "dev_few_all.json", "test_public.json", "test.json"),
)
_FEW_TESTS = ("", "_0", "_1", "_2", "_3", "_4", "_all")  # of one model; of one for each split


def _few_task(
    name: str,
    folder: str,
    form: Form,
    fields: tuple[str, ...],
    known: Labels,
    about: str,
    **more: Any,
) -> ClueTask:
    """Describe a task of FewCLUE: learned from its first split, scored on the public test."""
    base = f"https://raw.githubusercontent.com/CLUEbenchmark/FewCLUE/main/datasets/{folder}/"
    return ClueTask(
        name=name,
        about=about,
        form=form,
        fields=fields,
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


_ONE = ("sentence",)
_FEW_CLUE = (
    _few_task("eprstmt", "eprstmt", "text", _ONE, labels.SENTIMENT, "is a review positive"),
    _few_task("csldcp", "csldcp", "text", ("content",), labels.SCIENCES, "science of an abstract"),
    _few_task("tnewsf", "tnews", "text", _ONE, labels.NEWS, "as tnews, with few examples"),
    _few_task("iflytekf", "iflytek", "text", _ONE, labels.APPLICATIONS, "as iflytek, few examples"),
    _few_task("ocnlif", "ocnli", "pair", _PAIR, labels.INFERENCE, "as ocnli, few examples"),
    _few_task(
        "bustm",
        "bustm",
        "pair",
        _PAIR,
        labels.SIMILARITY,
        "do two orders mean the same",
        model={"symmetric": True},
    ),
    _few_task("chidf", "chid", "idiom", ("content",), {}, "idiom for the blank of a text"),
    _few_task("cslf", "csl", "keywords", ("keyword", "abst"), labels.KEYWORDS, "as csl, few"),
    _few_task("cluewscf", "cluewsc", "coreference", ("text",), labels.COREFERENCE, "as cluewsc"),
)

CLUE_TASKS: Mapping[str, ClueTask] = MappingProxyType(
    {task.name: task for task in (*_CLUE, *_FEW_CLUE)}
)

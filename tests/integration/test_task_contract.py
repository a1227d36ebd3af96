"""The contract of a task: one small job of each, from its file to the server's answer."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import torch
from fastapi.testclient import TestClient
from safetensors.torch import load_file

from tests.helpers.same_answers import same
from tests.helpers.served import JSON, SCORES, expected_row
from zh_albert import load
from zh_albert.cli.predict import predict
from zh_albert.configio import build, parse_overrides
from zh_albert.errors import DataError
from zh_albert.files.textio import encode_json
from zh_albert.inference.export import export
from zh_albert.runtimes.exported import Format
from zh_albert.runtimes.selection import RuntimeName
from zh_albert.serving.app import create_app
from zh_albert.serving.limits import Limits
from zh_albert.tasks.catalog import TASKS
from zh_albert.tasks.run import finetune
from zh_albert.training.events import Evaluation, Event

ROOT = Path(__file__).parents[2]
PLACES, WORDS = ("房间", "早餐", "西湖", "北京"), ("很好", "太差", "干净", "吵闹")
COMBINATIONS = [(place, word) for place in PLACES for word in WORDS]

# Lines of each task's files.
ROWS: Mapping[str, list[dict[str, Any]]] = {
    "classification": [{"text": p + w, "label": w} for p, w in COMBINATIONS],
    "pair": [
        {"text_a": p + w, "text_b": p + other, "label": str(int(w == other))}
        for p, w in COMBINATIONS
        for other in WORDS[:2]
    ],
    "choice": [
        {"context": f"{p}{w}。", "question": "怎么样？", "choices": list(WORDS), "label": n}
        for p in PLACES
        for n, w in enumerate(WORDS)
    ],
    "embedding": [
        {"text_a": p + w, "text_b": p + other, "label": 5 * (w == other)}
        for p, w in COMBINATIONS
        for other in WORDS[:2]
    ],
    "ner": [
        {
            "text": f"我说{p}{w}",
            "entities": [{"start": 2, "end": 4, "type": "place"}],
        }
        for p, w in COMBINATIONS
    ],
    "reading": [
        {
            "context": f"我说{p}{w}。",
            "question": "说哪里？",
            "answers": [{"text": p, "start": 2}],
        }
        for p, w in COMBINATIONS
    ],
    "segmentation": [{"text": f"我说{p}{w}", "words": ["我", "说", p, w]} for p, w in COMBINATIONS],
}
SETTINGS = (
    "train.epochs=3",
    "train.peak_lr=5e-3",
    "train.batch_tokens=256",
    "train.save_every_s=0",
    "window.max_length=32",
    "window.stride=8",
)


class Run:
    """Jobs of one task on its rows, into folders of one directory."""

    def __init__(self, name: str, init: Path, folder: Path) -> None:
        self.task, self.init, self.folder = TASKS[name], init, folder
        file = folder / f"{name}.jsonl"
        file.write_text(
            "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in ROWS[name]), "utf-8"
        )
        self.examples = self.task.read(file)

    def train(self, name: str, *, resume: bool = False, stop_at: int = 0) -> Path:
        """Train into a folder; an interrupt comes at the dev evaluation ``stop_at``, if any."""
        seen = 0

        def interrupt(event: Event) -> None:
            nonlocal seen
            seen += isinstance(event, Evaluation)
            if stop_at and seen == stop_at:
                raise KeyboardInterrupt

        job = self.task.job
        config = build(job.config_type, parse_overrides(SETTINGS))
        finetune(
            job,
            self.examples,
            self.examples,
            config,
            init=self.init,
            out=self.folder / name,
            resume=resume,
            observers=[interrupt],
        )
        return self.folder / name


@pytest.fixture(scope="module", params=TASKS)
def run(
    request: pytest.FixtureRequest, micro: Path, tmp_path_factory: pytest.TempPathFactory
) -> Run:
    """A trained model of each task in the folder "model"."""
    made = Run(request.param, micro, tmp_path_factory.mktemp(request.param))
    made.train("model")
    return made


def test_its_model_is_scored_loaded_and_described(run: Run) -> None:
    model = run.task.model.load(run.folder / "model")
    run.task.check(model, run.examples, "the file")
    scores = run.task.evaluate(model, run.examples)
    assert 0 <= scores[run.task.metric] <= run.task.best_score
    assert scores["examples"] == len(run.examples)
    predictor = load(str(run.folder / "model"))
    assert predictor.task == model.name
    assert predictor.metadata["dev"][run.task.metric] == pytest.approx(
        scores[run.task.metric],
        abs=0.1,  # an answer may turn on the rounding of the stored weights
    )


def test_its_card_shows_a_use_that_answers(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    card = (run.folder / "model" / "README.md").read_text("utf-8")
    assert card.startswith("---\nlanguage: zh\n")
    assert re.search(r"^pipeline_tag: \S+$", card, re.MULTILINE)
    (code,) = re.findall(r"^## Use\n\n```python\n(.*?)^```$", card, re.DOTALL | re.MULTILINE)
    assert code.count("PATH_OF_THIS_FOLDER") == 1
    exec(code.replace("PATH_OF_THIS_FOLDER", str(run.folder / "model")), {})
    assert capsys.readouterr().out.strip()


def test_its_baseline_is_scored(run: Run) -> None:
    scores = run.task.score_baseline(run.examples, run.examples)
    assert scores["examples"] == len(run.examples)
    assert 0 <= scores[run.task.metric] <= run.task.best_score


def test_a_list_a_stream_and_a_text_alone_have_one_answer(run: Run) -> None:
    predictor = load(str(run.folder / "model"))
    rows = [] if predictor.task == "embedding" else ROWS[predictor.task][:3]  # pairs, for training
    contents = [
        predictor.form.example_content(),
        *(predictor.content_of(row, "rows", n) for n, row in enumerate(rows)),
    ]
    together = [predictor.row(answer) for answer in predictor.stream(contents)]
    alone = [predictor.row(*predictor.stream([content])) for content in contents]
    assert all(map(same, together, alone))
    called: Any = predictor
    # A reader is called with questions and contexts, all others with contents.
    arguments = zip(*contents, strict=True) if predictor.task == "reading" else [contents]
    assert all(map(same, map(predictor.row, called(*map(list, arguments))), together))
    first, empty, last = predictor.stream([contents[0], predictor.form.blank, contents[0]])
    assert same(predictor.row(first), predictor.row(last), SCORES)
    assert predictor.unanswered.keys() == predictor.row(first).keys()
    if not isinstance(empty, DataError):
        assert predictor.row(empty) == predictor.unanswered
    with pytest.raises(DataError, match=r"\[3000\]: expected"):  # after the first chunk
        list(predictor.stream([*[contents[0]] * 3000, 3]))


def test_a_server_answers_as_the_library_does(run: Run) -> None:
    predictor = load(str(run.folder / "model"))
    body = {"texts": [predictor.form.example] * 2}
    with TestClient(create_app({"m": predictor}, Limits())) as client:
        answered = client.post("/v1/models/m/predict", content=encode_json(body), headers=JSON)
        refused = client.post("/v1/models/m/predict", content=b'{"texts": [3]}', headers=JSON)
    assert answered.status_code == 200, answered.text
    expected = expected_row(predictor, predictor.form.example)
    assert all(
        same(json.loads(json.dumps(expected)), row, SCORES) for row in answered.json()["answers"]
    )
    assert refused.status_code == 422


def test_a_server_sends_the_bytes_that_predict_prints(
    run: Run, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    predictor = load(str(run.folder / "model"))
    item, file = predictor.form.example, run.folder / "asked.jsonl"
    file.write_bytes(2 * (encode_json(item if isinstance(item, dict) else {"text": item}) + b"\n"))
    predict(str(run.folder / "model"), file)
    printed = capsysbinary.readouterr().out.splitlines()
    with TestClient(create_app({"m": predictor}, Limits())) as client:
        body = encode_json({"texts": [item] * 2})
        answered = client.post("/v1/models/m/predict", content=body, headers=JSON)
    assert answered.content == b'{"answers": [' + b", ".join(printed) + b"]}"


@pytest.mark.parametrize(("form", "runtime"), [("onnx", "onnxruntime"), ("openvino", "openvino")])
def test_an_export_answers_as_the_network_does(
    run: Run, form: Format, runtime: RuntimeName
) -> None:
    out = run.folder / form
    export(run.folder / "model", out, form=form)
    predictors = (
        load(str(run.folder / "model"), runtime="torch", precision="fp32"),
        load(str(out), runtime=runtime, precision="fp32"),
    )
    example = predictors[0].form.example_content()
    first, second = (one.row(*one.stream([example])) for one in predictors)
    assert same(first, second, SCORES)


def test_a_resumed_run_ends_with_the_weights_of_one_never_stopped(run: Run) -> None:
    with pytest.raises(KeyboardInterrupt):
        run.train("stopped", stop_at=2)
    run.train("stopped", resume=True)
    straight, resumed = (
        load_file(run.folder / name / "model.safetensors") for name in ("model", "stopped")
    )
    assert straight.keys() == resumed.keys()
    assert all(torch.equal(straight[name], resumed[name]) for name in straight)


def test_every_task_has_its_rows_here() -> None:
    assert list(ROWS) == list(TASKS)


def test_a_task_is_its_folder_and_a_line_of_the_catalog() -> None:
    listed = subprocess.run(
        ["git", "grep", "-liw", "segmentation", "--", "zh_albert", "apps", "corpora_tools"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    outside = [
        name
        for name in listed.stdout.split()
        if not name.startswith("zh_albert/tasks/segmentation/")
    ]
    assert outside == ["zh_albert/tasks/catalog.py"]
    catalog = (ROOT / outside[0]).read_text("utf-8")
    assert len(re.findall("segmentation", catalog)) == catalog.count('"segmentation": (') * 2 == 2


def test_only_the_catalog_has_the_name_of_the_task() -> None:
    about_it = (
        "zh_albert/tasks/segmentation",
        "docs/tasks/segmentation.*.md",
        "docs/api",  # names classes
        "docs/architecture.md",
        "docs/numbers.md",
        "docs/worklog.md",
        "CHANGELOG.md",
        "mkdocs.yml",
        "pyproject.toml",  # that tasks are independent of each other
        "tests",
    )
    names = (r"tasks\.segmentation", "[\"']segmentation[\"']", r"--task[ =]segmentation")
    patterns = [part for name in names for part in ("-e", name)]
    outside = [f":(exclude){path}" for path in about_it]
    found = subprocess.run(
        ["git", "grep", "-nE", *patterns, "--", ".", *outside],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    [line] = found.stdout.splitlines()
    assert line.startswith("zh_albert/tasks/catalog.py:")

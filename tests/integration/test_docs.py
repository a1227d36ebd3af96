"""What the READMEs and the site show works as it stands there.

Run, in order, in one folder a page: all Python; on the pages of ``WALKED`` also the commands, but
those that wait or download (``serve``, ``demo``, ``clue fetch``). A page's examples of data are
what its commands learn from; on the site the encoder they start from is a very small one. What is
shown as a request is sent to a real server. Other commands (they take hours, or files of other
projects) are given to the real parser. TOML is read into the settings of the command that names
it. No block is left out: an unknown language or command fails.
"""

from __future__ import annotations

import ast
import importlib.metadata
import importlib.util
import json
import re
from pathlib import Path
from typing import Any

import openpyxl
import pytest
import typer

from corpora_tools.cli.app import app as corpora_app
from tests.helpers.commands import Cli
from tests.helpers.docs_blocks import DOCS, PAGES, READMES, ROOT, blocks, toml_files
from tests.helpers.micro import save_micro_pretrained
from tests.helpers.served import serving
from tests.helpers.task_files import reviews
from zh_albert import configio
from zh_albert.checkpoints import resolve
from zh_albert.cli.app import app
from zh_albert.compression.recipe import Recipe, find_recipe
from zh_albert.compression.report_arms import ReportConfig
from zh_albert.compression.stages import refuse_unknown_settings
from zh_albert.compression.work import Work
from zh_albert.pretraining.distil import DistilConfig
from zh_albert.pretraining.run import PretrainConfig
from zh_albert.tasks.catalog import TASKS

WALKED = ["docs/tutorials/code.zh.md", "docs/tutorials/research.zh.md", "docs/inference.md"]
WALKED += [page for page in PAGES if re.fullmatch(r"docs/tasks/\w+\.zh\.md", page)]
WALKED.remove("docs/tasks/teacher.zh.md")  # its teacher has twelve layers
IN_READMES = {"models", "predict", "evaluate", "inspect"}
NOT_RUN = {"serve", "demo", "fetch"}  # they wait for others, or download
TRANSLATED = [page for page in PAGES if page.endswith(".zh.md")]


def english(page: str) -> str:
    return page.replace(".zh.md", ".en.md")


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder with the files that pages take for granted."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "reviews.txt").write_text("房间很干净\n等了两个小时\n", encoding="utf-8")
    book = openpyxl.Workbook()
    for row in (["text"], ["房间很干净"], ["等了两个小时"]):
        book.active.append(row)
    book.save(tmp_path / "reviews.xlsx")
    (tmp_path / "pairs.tsv").write_text("怎么退货\t如何办理退货\n", encoding="utf-8")
    reviews(tmp_path / "train.jsonl", count=16)
    reviews(tmp_path / "dev.jsonl", count=16)
    return tmp_path


@pytest.fixture(scope="module")
def small_encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bundled models, but "encoder" is one that is trained in a second."""
    folder = tmp_path_factory.mktemp("bundled")
    for name in set(resolve.bundled_models()) - {"encoder"}:
        (folder / name).symlink_to(resolve.BUNDLED / name)
    save_micro_pretrained(folder / "encoder", max_length=128)
    return folder


def lay_out(page: str, desk: Path) -> None:
    """Write the files that a page shows: settings, and its own examples as data to learn from."""
    for name, text in toml_files(page).items():
        (desk / name).write_text(text, encoding="utf-8")
    for block in blocks(page, "jsonl"):
        for name in ("train.jsonl", "dev.jsonl", "questions.jsonl"):
            (desk / name).write_text(block.text * 4, encoding="utf-8")
    if "research" in page:
        official_tnews(desk / "clue-data" / "tnews")
    if page.startswith("README"):
        line = {"text": "股市大涨", "label": "news_stock"}
        (desk / "dev.jsonl").write_text(json.dumps(line), encoding="utf-8")


def official_tnews(folder: Path) -> None:
    """Write a few lines in the form of the official release, other ones in each file."""
    folder.mkdir(parents=True)
    for start, name in ((0, "train.json"), (16, "dev.json"), (24, "test.json")):
        rows = [
            {"id": n, "label": ("104", "103")[n % 2], "sentence": f"{'股球'[n % 2]}市第{n}场"}
            for n in range(start, start + 12)
        ]
        lines = [json.dumps({**row, "label_desc": "", "keywords": ""}) for row in rows]
        (folder / name).write_text("\n".join(lines), encoding="utf-8")


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    "shown", [*READMES, *(p for p in PAGES if p not in map(english, TRANSLATED))]
)
def test_the_examples_run(
    shown: str,
    cli: Cli,
    desk: Path,
    small_encoder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    lay_out(shown, desk)
    if shown not in READMES:  # which are run as they are
        monkeypatch.setattr(resolve, "BUNDLED", small_encoder)
    shared: dict[str, Any] = {}
    for block in blocks(shown):
        match block.language:
            case "python":
                names = shared if "tutorials" in shown else {}  # elsewhere each stands for itself
                exec(compile(block.text, shown, "exec"), names)
                if "print(load(" in block.text:
                    assert re.search(
                        r"(Classification|Estimate|Entity|Choice|Answer)\(", capsys.readouterr().out
                    )
            case "sh":
                for command in block.commands:
                    follow(command, shown, cli)
            case "jsonl":
                assert all(json.loads(line) for line in block.text.splitlines())
            case "json":
                json.loads(block.text)
            case "text":
                check_diagram(block.text)
            case "toml":  # laid out already; here: that a command names it
                pass
            case unknown:
                pytest.fail(f"{shown}: no way to check a block of {unknown or 'no language'}")
    named = {word for block in blocks(shown, "sh") for words in block.commands for word in words}
    assert set(toml_files(shown)) <= named


def follow(words: list[str], page: str, cli: Cli) -> None:
    """Run or check one command."""
    program = words[0].rpartition("/")[2]
    match program:
        case "zh-albert" | "zh-corpora":
            verb = words[2] if words[1] == "clue" else words[1]
            ours = program == "zh-albert"
            walked = ours and page in WALKED and verb not in NOT_RUN
            if walked or (ours and page in READMES and verb in IN_READMES):
                ran = cli(*words[1:])
                assert ran.code == 0, f"{' '.join(words)}\n{ran.err}"
                assert ran.out or ran.err
            else:
                parse(app if program == "zh-albert" else corpora_app, words)
        case "pip":
            extras = re.findall(r"\[([\w,]+)\]", " ".join(words))
            known = importlib.metadata.metadata("zh-albert").get_all("Provides-Extra") or []
            assert {e for listed in extras for e in listed.split(",")} <= {*known, *new_extras()}
        case "make":
            makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
            assert re.search(rf"^{words[1]}:", makefile, flags=re.MULTILINE)
            assert all(re.match(r"[A-Z]+=", word) for word in words[2:])
        case "python" | "python3" if words[1] == "-c":
            ast.parse(words[2])
        case "python" | "python3" if words[1] == "-m":
            assert importlib.util.find_spec(words[2])
        case "python" | "python3":
            assert (ROOT / words[1]).is_file()
        case "curl":  # sent by the test below
            pass
        case _:
            pytest.fail(f"{page}: no way to check {' '.join(words)}")


def new_extras() -> set[str]:
    """Return the extras of the file: what is installed may be older."""
    values = configio.read_toml(ROOT / "pyproject.toml")
    return set(values["project"]["optional-dependencies"])


def parse(tree: typer.Typer, words: list[str]) -> None:
    """Give a command's words to the parser that would run it, and its settings to theirs."""
    command: Any = typer.main.get_command(tree)
    name, rest = words[0], [w for w in words[1:] if w not in ("|", ">")]
    while hasattr(command, "commands") and rest:  # "compress" stands alone, too
        name, command, rest = command.resolve_command(typer.Context(command), rest)
    given = command.make_context(name, rest).params
    if name == "recipe":
        check_recipe(find_recipe(given["name"], given["set_"] or ()))
    if (config := given.get("config")) and config.is_file():
        encoders = {"pretrain": PretrainConfig, "distil": DistilConfig}
        kind = encoders[name] if name in encoders else TASKS[given["task"]].job.config_type
        configio.build(kind, configio.read_toml(config), source=config.name)


def check_recipe(recipe: Recipe) -> None:
    """Check that a recipe, with the settings it is shown with, has settings that exist."""
    if recipe.of_encoders:
        for stage in recipe.stages:
            kind = DistilConfig if stage.distil is not None else PretrainConfig
            given = {"out": "out", "data": {"train": "train", "heldout": "heldout"}}
            teacher = {"teacher": "encoder"} if stage.distil is not None else {}
            settings = stage.distil or stage.pretrain or {}
            configio.build(kind, {**given, **teacher, **settings}, source=stage.name)
        return
    work = Work(
        task=TASKS["classification"],
        source=resolve.resolve_model("news"),
        train=(),
        dev=(),
        unlabelled=[],
        folder=Path("out"),
        observers=(),
    )
    refuse_unknown_settings(recipe, work)


def check_diagram(text: str) -> None:
    """Check that the folders and modules of a diagram exist."""
    folders = re.findall(r"zh_albert/(\w+)", text)
    modules = re.findall(r"^[\w/]+\.py", text, re.M)
    assert folders or modules
    for name in (*folders, *modules):
        path = ROOT / "zh_albert" / name
        assert path.exists() or path.with_suffix(".py").is_file(), name


@pytest.mark.slow
def test_the_requests_are_answered() -> None:
    shown = {
        tuple(words)
        for page in [*READMES, *PAGES]
        for block in blocks(page, "sh")
        for words in block.commands
        if words[0] == "curl"
    }
    assert shown
    with serving("sentiment") as server:
        for words in shown:
            address = next(word for word in words if word.startswith("http"))
            model = re.fullmatch(r"http://127\.0\.0\.1:8000/v1/models/(\w+)/predict", address)
            assert model, address
            answer = server.post(model[1], json.loads(words[words.index("-d") + 1]))
            assert answer.status_code == 200, answer.text


@pytest.mark.parametrize("recipe", sorted((DOCS / "recipes").glob("*.toml")), ids=lambda p: p.stem)
def test_the_recipes_are_settings(recipe: Path) -> None:
    values = configio.read_toml(recipe)
    if "arms" in values:
        kind: Any = ReportConfig
    elif "data" in values:
        kind = DistilConfig if "teacher" in values else PretrainConfig
    else:
        named = {"ner": "ner", "reader": "reading", "embedder": "embedding"}  # the others classify
        model = recipe.stem.partition("-")[0]
        kind = TASKS[named.get(model, "classification")].job.config_type
    configio.build(kind, values, source=recipe.name)


@pytest.mark.parametrize(
    ("one", "other"), [tuple(READMES), *((page, english(page)) for page in TRANSLATED)]
)
def test_both_languages_show_the_same_code(one: str, other: str) -> None:
    for language in ("python", "toml", "jsonl"):
        assert [b.text for b in blocks(one, language)] == [b.text for b in blocks(other, language)]
    assert [b.commands for b in blocks(one, "sh")] == [b.commands for b in blocks(other, "sh")]


def test_every_page_has_its_other_language_or_is_for_both() -> None:
    assert [page for page in map(english, TRANSLATED) if page not in PAGES] == []
    assert len(TRANSLATED) == len([page for page in PAGES if page.endswith(".en.md")])


@pytest.mark.parametrize("page", [*READMES, *PAGES])
def test_links_between_files_lead_somewhere(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    linked = re.findall(r"\]\((?!https?:|mailto:|#)([^)#\s]+)", text)
    assert [one for one in linked if not (ROOT / page).parent.joinpath(one).exists()] == []

"""``zh-corpora build`` and ``audit`` as a user runs them: same bytes, kills, full disks."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import lzma
import os
import random
import re
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from corpora_tools import audit, build, build_parts
from corpora_tools.audit import audit_shards
from corpora_tools.build import build_shards, find_files
from corpora_tools.build_parts import BuildConfig
from zh_albert.errors import ConfigError, DataError
from zh_albert.pretraining import masking
from zh_albert.pretraining.instances import InstanceConfig
from zh_albert.pretraining.shards import open_shards

ROOT = Path(__file__).parents[2]
PROGRAM = "from corpora_tools.cli.app import main; main()"


def text_of(rng: random.Random, sentences: int) -> str:
    pool = "今天天气很好我们去公园散步他说这本书值得一读经济发展科学技术北京上海自然语言处理"
    return "".join(
        "".join(rng.choices(pool, k=rng.randint(5, 30))) + "。" for _ in range(sentences)
    )


def write_corpus(folder: Path, *, files: int = 3, documents: int = 40) -> list[Path]:
    folder.mkdir(exist_ok=True)
    rng = random.Random(7)
    paths = []
    for number in range(files):
        rows = [
            json.dumps({"text": text_of(rng, rng.randint(1, 30)), "source": f"s{i % 3}"})
            for i in range(documents)
        ]
        path = folder / f"c{number}.jsonl.xz"
        path.write_bytes(lzma.compress("\n".join(rows).encode()))
        paths.append(path)
    return paths


@pytest.fixture(autouse=True)
def a_part_for_each_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "_PART_BYTES", 1)


@pytest.fixture
def corpus(tmp_path: Path) -> list[Path]:
    return write_corpus(tmp_path / "corpus")


def run(*arguments: object, limit: int | None = None) -> subprocess.CompletedProcess[str]:
    def shorten() -> None:
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    return subprocess.run(
        [sys.executable, "-c", PROGRAM, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=shorten,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )


def content(folder: Path) -> dict[str, str]:
    return {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in folder.iterdir()}


def test_workers_do_not_change_a_byte(corpus: list[Path], tmp_path: Path) -> None:
    build_shards(corpus, tmp_path / "one", BuildConfig(), workers=1)
    build_shards(corpus, tmp_path / "two", BuildConfig(), workers=2)

    assert content(tmp_path / "one") == content(tmp_path / "two")
    assert len(open_shards(tmp_path / "one").parts) == 3
    assert {p.name for p in tmp_path.iterdir()} == {"corpus", "one", "two"}


def test_a_link_to_a_folder_stays_one(corpus: list[Path], tmp_path: Path) -> None:
    disk, link = tmp_path / "disk" / "shards", tmp_path / "shards"
    disk.mkdir(parents=True)
    link.symlink_to(disk)
    build_shards(corpus[:2], link, BuildConfig())
    manifest = build_shards(corpus, link, BuildConfig())

    assert link.is_symlink()
    assert len(open_shards(disk).parts) == len(manifest["parts"]) == 3
    assert {p.name for p in tmp_path.iterdir()} == {"corpus", "disk", "shards"}
    assert [p.name for p in disk.parent.iterdir()] == ["shards"]


def test_the_working_directory_can_be_the_folder(
    corpus: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    build_shards(corpus, Path(), BuildConfig())

    assert len(open_shards(tmp_path / "here").parts) == 3


def test_small_files_share_a_part(
    corpus: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, "_PART_BYTES", 1 << 20)
    manifest = build_shards(corpus, tmp_path / "out", BuildConfig())

    assert [len(part["inputs"]) for part in manifest["parts"]] == [3]


def test_sources_can_be_left_out(corpus: list[Path], tmp_path: Path) -> None:
    config = BuildConfig(without_sources=("s0", "s2"))
    manifest = build_shards(corpus, tmp_path / "out", config)

    assert manifest["counts"]["documents"] == 3 * 13


def test_sources_may_be_numbers_and_those_that_no_document_has_are_told(tmp_path: Path) -> None:
    rows = [{"text": "今天天气很好。", "source": source} for source in (1, 1, "web", None)]
    path = tmp_path / "c.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    options = ("--without-source", "1", "--without-source", "wob", "--without-source", "None")

    done = run("build", "--corpus", path, "--out", tmp_path / "out", *options, "--json")

    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["documents"] == 2
    assert "no document has the source 'wob' (--without-source)" in done.stderr
    assert "'1'" not in done.stderr
    again = run("build", "--corpus", path, "--out", tmp_path / "out", *options)
    assert "'wob'" in again.stderr


def test_a_second_run_goes_on_after_a_stop(
    corpus: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    build_shards(corpus, tmp_path / "whole", BuildConfig())
    made: list[str] = []
    make = build_parts.build_part

    def stop_at_third(task: build_parts.PartTask) -> dict[str, object]:
        if len(made) == 2:
            raise KeyboardInterrupt
        made.append(task.name)
        return make(task)

    monkeypatch.setattr(build_parts, "build_part", stop_at_third)
    with pytest.raises(KeyboardInterrupt):
        build_shards(corpus, out, BuildConfig())
    assert not out.exists()
    # One of the two finished parts is damaged meanwhile: it is made anew.
    damaged = tmp_path / ".out.building" / "part-00000.words"
    damaged.write_bytes(b"\0" * damaged.stat().st_size)
    made.clear()
    monkeypatch.setattr(
        build_parts, "build_part", lambda task: made.append(task.name) or make(task)
    )
    build_shards(corpus, out, BuildConfig())

    assert made == ["part-00000", "part-00002"]
    assert content(out) == content(tmp_path / "whole")


def test_a_killed_job_is_not_taken_for_whole_and_goes_on(tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path / "corpus")
    out = tmp_path / "out"
    arguments = ["build", "--corpus", tmp_path / "corpus", "--out", out, "--workers", 1]
    slowly = """
import time
from corpora_tools import build, build_parts
from corpora_tools.cli.app import main
make, build._PART_BYTES = build_parts.build_part, 1
build_parts.build_part = lambda task: (make(task), time.sleep(5))[0]
main()
"""
    job = subprocess.Popen(
        [sys.executable, "-c", slowly, *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    staging = tmp_path / ".out.building"
    deadline = time.monotonic() + 60
    while not list(staging.glob("part-*.json")) and time.monotonic() < deadline:
        time.sleep(0.01)
    job.send_signal(signal.SIGKILL)
    job.wait()
    assert list(staging.glob("part-*.json"))
    assert not out.exists()
    with pytest.raises(DataError, match="found none"):
        open_shards(staging)

    build_shards(corpus, out, BuildConfig())
    build_shards(corpus, tmp_path / "whole", BuildConfig())
    assert content(out) == content(tmp_path / "whole")


def test_what_is_there_is_kept_or_refused(corpus: list[Path], tmp_path: Path) -> None:
    out = tmp_path / "out"
    first = build_shards(corpus, out, BuildConfig())
    before = (out / "manifest.json").stat().st_mtime_ns

    assert build_shards(corpus, out, BuildConfig()) == first
    assert (out / "manifest.json").stat().st_mtime_ns == before
    with pytest.raises(ConfigError, match=r"shards of other inputs \(c2.jsonl.xz is not"):
        build_shards(corpus[:2], out, BuildConfig())
    with pytest.raises(ConfigError, match="already holds shards of other settings"):
        build_shards(corpus, out, BuildConfig(without_sources=("s0",)))
    with pytest.raises(ConfigError, match="expected a new or empty folder"):
        build_shards(corpus, corpus[0].parent, BuildConfig())
    with pytest.raises(ConfigError, match="expected a folder to write, found a file"):
        build_shards(corpus, corpus[0], BuildConfig())


@pytest.mark.parametrize("finished", [True, False])
def test_only_parts_of_changed_files_are_built_again(
    corpus: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, finished: bool
) -> None:
    out, lines = tmp_path / "out", lzma.decompress(corpus[1].read_bytes())
    if not finished:
        corpus[1].write_bytes(lzma.compress(lines + b"\ndamaged"))
    with (
        contextlib.nullcontext()
        if finished
        else pytest.raises(DataError, match="line 41: not JSON")
    ):
        build_shards(corpus, out, BuildConfig())
    corpus[1].write_bytes(lzma.compress(lines.rpartition(b"\n")[0]))
    make, made = build_parts.build_part, []
    monkeypatch.setattr(
        build_parts, "build_part", lambda task: made.append(task.name) or make(task)
    )
    build_shards(corpus, out, BuildConfig())
    assert made == ["part-00001"] if finished else ["part-00001", "part-00002"]
    build_shards(corpus, tmp_path / "whole", BuildConfig())
    assert content(out) == content(tmp_path / "whole")
    assert not list(tmp_path.glob(".out.*ed"))


def test_two_jobs_on_one_folder(corpus: list[Path], tmp_path: Path) -> None:
    with (tmp_path / ".out.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(ConfigError, match="another job is writing there"):
            build_shards(corpus, tmp_path / "out", BuildConfig())
    # The lock of a killed job is gone with it.
    build_shards(corpus, tmp_path / "out", BuildConfig())


def test_a_full_disk_is_one_line_and_leaves_no_shards(tmp_path: Path) -> None:
    write_corpus(tmp_path / "corpus", files=1, documents=400)
    out = tmp_path / "out"
    arguments = ("build", "--corpus", tmp_path / "corpus", "--out", out)
    ran = run(*arguments, limit=50_000)

    assert ran.returncode == 2
    assert re.fullmatch(
        r"error: .*part-00000: could not be written \(File too large\); free some space .*\n",
        ran.stderr,
    )
    assert not out.exists()
    assert run(*arguments).returncode == 0


BAD: dict[str, tuple[bytes, str]] = {
    "mixed.jsonl": (b'{"text": "\xd6\xff"}', "line 1: byte 11 is not UTF-8"),
    "cut.jsonl.xz": (lzma.compress(b'{"text": "a"}\n' * 50)[:-20], "compressed file is damaged"),
    "empty.jsonl": (b"", "empty.jsonl"),
    "number.jsonl": (b'{"text": 3}', "line 1: expected a string 'text', found 3"),
    "blank.jsonl": (b'{"text": " "}', "expected text, found none"),
}


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("workers", [1, 2])
def test_a_bad_corpus_is_one_line(tmp_path: Path, name: str, workers: int) -> None:
    bytes_, problem = BAD[name]
    (tmp_path / name).write_bytes(bytes_)
    inputs = [tmp_path / name]
    if workers == 2:
        if name == "blank.jsonl":
            pytest.skip("other files hold text")
        inputs += write_corpus(tmp_path / "good", files=2, documents=2)
    with pytest.raises(DataError, match=re.escape(problem)) as caught:
        build_shards(inputs, tmp_path / "out", BuildConfig(), workers=workers)

    assert "\n" not in str(caught.value)
    assert not (tmp_path / "out").exists()


def test_a_killed_worker_is_one_line(
    corpus: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build_parts, "_start_worker", _die)

    with pytest.raises(DataError, match="a worker process was killed"):
        build_shards(corpus, tmp_path / "out", BuildConfig(), workers=2)


def _die(parent: int) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def test_inputs_are_found_sorted_and_once(corpus: list[Path]) -> None:
    folder = corpus[0].parent

    assert find_files([str(folder), str(corpus[1]), f"{folder}/c*.xz"]) == corpus
    with pytest.raises(DataError, match="expected a file, folder or pattern; found nothing"):
        find_files([str(folder / "nothing*")])


@pytest.fixture(scope="module")
def shards(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("audit")
    paths = write_corpus(folder / "corpus", documents=120)
    build_shards(paths, folder / "shards", BuildConfig())
    return folder / "shards"


def test_the_audit_proves_the_figures(shards: Path) -> None:
    result = audit_shards(shards, InstanceConfig(length=64))

    assert result["passed"], [check for check in result["checks"] if not check["ok"]]
    assert result["mask"]["rate"] == pytest.approx(0.15, abs=0.005)
    assert result["whole_word_rate"] == 1
    assert result["faults"] == {
        "special_tokens_masked": 0,
        "labels_not_plain": 0,
        "replacements_not_plain": 0,
        "leaked_neighbours": 0,
        "identical_texts_with_an_order": 0,
    }
    assert sum(result["lengths"]["counts"]) == result["instances"] == result["epoch"]["instances"]
    assert result["epoch"]["tokens_used"] > 0.98
    assert len({one["instance"] for one in result["examples"]}) == 5


def test_a_folder_without_shards_is_named_as_such(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="build them with zh-corpora build"):
        audit_shards(tmp_path, InstanceConfig())


def test_the_audit_finds_masks_that_split_words(
    shards: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw = audit.draw_batch

    def spoilt(*arguments: object, **named: object) -> object:
        drawn = draw(*arguments, **named)  # type: ignore[arg-type]
        batch = drawn.batch
        keep = [i for i in range(len(batch.labels)) if i % 7]
        return drawn._replace(
            batch=batch._replace(positions=batch.positions[keep], labels=batch.labels[keep])
        )

    monkeypatch.setattr(audit, "draw_batch", spoilt)
    result = audit_shards(shards, InstanceConfig(length=64))
    failed = {check["name"] for check in result["checks"] if not check["ok"]}

    assert {"whole words", "leaked neighbours", "mask rate"} <= failed
    assert not result["passed"]


def test_the_audit_finds_other_shares(shards: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    choose = masking._actions

    def all_masked(*arguments: object) -> object:
        return choose(*arguments).clip(max=masking.AS_MASK)  # type: ignore[arg-type]

    monkeypatch.setattr(masking, "_actions", all_masked)
    result = audit_shards(shards, InstanceConfig(length=64))
    failed = {check["name"] for check in result["checks"] if not check["ok"]}

    assert failed == {"words as [MASK]", "words as random tokens"}


def test_the_commands(corpus: list[Path], tmp_path: Path) -> None:
    out, page = tmp_path / "shards", tmp_path / "audit.html"
    built = run("build", "--corpus", corpus[0].parent, "--out", out, "--workers", 1, "--json")
    text = run("audit", out, "--length", 64, "--html", page)
    as_json = run("audit", out, "--length", 64, "--json")

    assert built.returncode == 0, built.stderr
    metadata = json.loads(built.stdout)
    assert metadata["documents"] == 120
    assert metadata["bytes_per_character"] < 2.5
    assert text.returncode == 0, text.stdout
    assert "every check holds" in text.stdout
    assert json.loads(as_json.stdout)["passed"]
    html = page.read_text(encoding="utf-8")
    assert html.count("<svg") == 5
    assert "Every check holds" in html
    assert not re.search(r"https?://|<script|<link|@import|url\(", html)


def test_the_audit_of_nothing_is_one_line(tmp_path: Path) -> None:
    ran = run("audit", tmp_path)

    assert ran.returncode == 2
    assert re.fullmatch(r"error: .*\n", ran.stderr)
    assert ran.stdout == ""


Spoil = Callable[[Path], object]
SPOILT: dict[str, tuple[Spoil, str]] = {
    "checksum": (lambda f: (f / "part-00000.words").write_bytes(
        bytes(len((f / "part-00000.words").read_bytes()))), "its checksum differs from"),
    "vocabulary": (lambda f: (f / "vocab.txt").write_text(
        (f / "vocab.txt").read_text("utf-8") + "新行\n", "utf-8"), "made with another vocabulary"),
    "half": (lambda f: (f / "manifest.json").unlink(), "expected shards with manifest.json"),
}  # fmt: skip


@pytest.mark.parametrize("name", SPOILT)
def test_the_audit_refuses_spoilt_shards(corpus: list[Path], tmp_path: Path, name: str) -> None:
    out = tmp_path / "shards"
    build_shards(corpus, out, BuildConfig())
    spoil, problem = SPOILT[name]
    spoil(out)

    with pytest.raises(DataError, match=problem):
        audit_shards(out, InstanceConfig())


def test_a_build_with_new_files_goes_on_after_a_stop(
    corpus: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    build_shards(corpus[:2], out, BuildConfig())

    def stopped(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(build, "build_parts", stopped)
        with pytest.raises(KeyboardInterrupt):
            build_shards(corpus, out, BuildConfig())
    build_shards(corpus, out, BuildConfig())
    build_shards(corpus, tmp_path / "whole", BuildConfig())
    assert content(out) == content(tmp_path / "whole")


def test_what_a_build_killed_at_its_end_left_is_removed(
    corpus: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    build_shards(corpus[:2], out, BuildConfig())
    rename = Path.rename

    def renamed(path: Path, target: Path) -> Path:
        moved = rename(path, target)
        if target == out:
            raise KeyboardInterrupt
        return moved

    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", renamed)
        with pytest.raises(KeyboardInterrupt):
            build_shards(corpus, out, BuildConfig())
    build_shards(corpus, out, BuildConfig())
    build_shards(corpus, tmp_path / "whole", BuildConfig())
    assert content(out) == content(tmp_path / "whole")
    assert {path.name for path in tmp_path.iterdir()} == {"corpus", "out", "whole"}


def test_short_documents_may_have_the_padding_of_rounded_lengths(tmp_path: Path) -> None:
    rng = random.Random(3)
    rows = [json.dumps({"text": text_of(rng, 1)}) for _ in range(400)]
    (tmp_path / "posts.jsonl").write_text("\n".join(rows))
    build_shards([tmp_path / "posts.jsonl"], tmp_path / "out", BuildConfig())
    checks = audit_shards(tmp_path / "out", InstanceConfig(), instances=400)["checks"]
    [padding] = [check for check in checks if check["name"] == "padding"]
    assert padding["ok"]
    assert 0.05 < padding["found"] < padding["expected"] < 0.3


def test_text_that_was_not_built_and_short_instances(corpus: list[Path], tmp_path: Path) -> None:
    settings = tmp_path / "p.toml"
    settings.write_text(
        '\ufeffout = "out"\n[data]\ntrain = "corpus"\nheldout = "corpus"\n', encoding="utf-8"
    )
    program = "from zh_albert.cli.app import main; main()"
    command = [sys.executable, "-c", program, "pretrain", str(settings)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 2
    assert "zh-corpora build" in done.stderr

    build_shards(corpus, tmp_path / "shards", BuildConfig())
    done = run("audit", tmp_path / "shards", "--length", 16, "--instances", 200)
    assert done.returncode in (0, 1), done.stderr
    assert "instances" in done.stdout

"""``zh-corpora clean`` and ``dedup`` as a user runs them: output, restarts, bad input."""

from __future__ import annotations

import json
import lzma
import os
import random
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from corpora_tools import folders, jobs
from corpora_tools.cli import app as cli
from corpora_tools.counting import read_rows

# Small files share a task; here each gets its own, so that there is something to share out.
PROGRAM = (
    "from corpora_tools import folders; from corpora_tools.cli import app as cli; "
    "folders._TASK_BYTES = 1; "
    "__name__ == '__main__' and cli.main()"
)
SIGNS = [chr(code) for code in range(0x4E00, 0x9F00)]
PARTS = [
    "清晨的湖面上有一层薄雾",
    "老船夫慢慢地划着桨",
    "岸边的柳树刚刚发芽",
    "孩子们在石桥上放风筝",
]


def sentence(number: int) -> str:
    """A Chinese sentence unlike the others."""
    signs = random.Random(number).choices(SIGNS, k=40)
    return f"{PARTS[number % 4]}，{''.join(signs)}。"


@pytest.fixture(autouse=True)
def one_task_a_file(monkeypatch):
    monkeypatch.setattr(folders, "_TASK_BYTES", 1)


@pytest.fixture
def corpus(tmp_path):
    """Five files of twenty documents: plain ones, ones to clean, equal and nearly equal ones."""
    folder = tmp_path / "corpus"
    folder.mkdir()
    for file in range(5):
        rows = []
        for row in range(20):
            number = file * 20 + row
            text = "\n".join(sentence(number * 5 + i) for i in range(5))
            if row == 1:
                text += f"\n{PARTS[0]}，有事请发邮件到someone@example.com联系。\n太短了。"
            if row == 2:
                text = "\n".join(sentence(i) for i in range(800, 805))  # equal in all files
            if row == 3:
                text = "".join(sentence(i) for i in range(900, 920)) + sentence(number)  # nearly
            rows.append({"text": text, "source": f"s{row % 2}", "domain": "d"})
        rows.append({"text": "just English"})
        content = "\n".join(json.dumps(row, ensure_ascii=False) for row in rows).encode()
        (folder / f"{file}.jsonl.xz").write_bytes(lzma.compress(content))
    return folder


@pytest.fixture
def run(monkeypatch, capfd):
    """Run a command in this process; return its exit code, output and errors."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["zh-corpora", *map(str, arguments)])
        with pytest.raises(SystemExit) as stop:
            cli.main()
        captured = capfd.readouterr()
        return stop.value.code or 0, captured.out, captured.err

    return run


def start(*arguments, **options):
    command = [sys.executable, "-c", PROGRAM, *map(str, arguments)]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options
    )


def has_ended(group: int) -> bool:
    """Say whether a group of processes is gone, now or within ten seconds."""
    for _ in range(1_000):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.01)
    return False


def files_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()}


def texts_of(folder: Path) -> list[str]:
    return [row["text"] for path in sorted(folder.glob("*.zst")) for row in read_rows(path)]


@pytest.mark.parametrize("command", ["clean", "dedup"])
def test_the_output_is_the_same_for_any_number_of_workers(corpus, tmp_path, run, command):
    outputs = []
    for workers in (1, 2, 3):
        out = tmp_path / f"{command}-{workers}"
        code, printed, errors = run(command, corpus, out, "--workers", workers, "--json")
        assert code == 0, errors
        counts = json.loads(printed)
        assert counts.pop("out") == str(out)
        assert counts.pop("seconds") > 0
        outputs.append((files_of(out), counts))

    assert outputs[0] == outputs[1] == outputs[2]
    assert len(outputs[0][0]) == 6  # five shards and the statistics


def test_clean_counts_what_it_read_dropped_and_wrote(corpus, tmp_path, run):
    code, printed, errors = run("clean", corpus, tmp_path / "out", "--workers", 1, "--json")

    assert code == 0, errors
    counts = json.loads(printed)
    rows = [row for path in sorted((tmp_path / "out").glob("*.zst")) for row in read_rows(path)]
    assert counts["read"]["documents"] == 105
    assert counts["written"]["documents"] == len(rows) == 100
    assert counts["written"]["characters"] == sum(len(row["text"]) for row in rows)
    assert counts["dropped_documents"] == {"empty": 5}
    assert counts["dropped_paragraphs"] == {"short": 10, "email": 5}
    assert counts["sources"]["s0"]["documents"] == counts["sources"]["s1"]["documents"] == 50
    assert list(rows[0]) == ["id", "source", "domain", "text"]
    assert rows[0]["id"] == "0.jsonl.xz:1"
    assert not any("@" in row["text"] for row in rows)
    assert json.loads((tmp_path / "out" / "statistics.json").read_text())["read"] == counts["read"]


def test_dedup_keeps_the_first_of_equal_and_one_of_nearly_equal_documents(corpus, tmp_path, run):
    code, printed, errors = run("dedup", corpus, tmp_path / "out", "--workers", 1, "--json")

    assert code == 0, errors
    # Of five equal ones four go; "just English" is there five times; of five nearly equal four.
    assert json.loads(printed)["dropped_documents"] == {"equal": 8, "near_duplicate": 4}
    kept = texts_of(tmp_path / "out")
    assert len(kept) == len(set(kept)) == 105 - 12
    assert sum(sentence(900) in text for text in kept) == 1
    first = next(read_rows(tmp_path / "out" / "corpus-00000.jsonl.zst"))
    assert first["id"] == "0.jsonl.xz:1"
    assert not (tmp_path / "out" / ".job" / "data").exists()  # nothing large is left


def test_evaluation_texts_stay_out(corpus, tmp_path, run):
    evaluation = tmp_path / "dev.jsonl"
    row = {
        "id": "太长的编号" * 9,
        "context": sentence(5 * 7 + 1),
        "question": "谁？",
        "answers": [],
    }
    evaluation.write_text(json.dumps(row, ensure_ascii=False), "utf-8")

    arguments = ("clean", corpus, tmp_path / "out", "--exclude", evaluation, "--json")
    code, printed, errors = run(*arguments, "--workers", 2)

    assert code == 0, errors
    assert json.loads(printed)["dropped_paragraphs"]["evaluation"] == 1
    assert not any(sentence(5 * 7 + 1)[:30] in text for text in texts_of(tmp_path / "out"))
    assert any(sentence(5 * 7 + 2) in text for text in texts_of(tmp_path / "out"))


@pytest.mark.parametrize("when", ["never", "auto", "always"])
def test_traditional_evaluation_texts_stay_out_of_simplified_documents(tmp_path, run, when):
    text = "這個問題在學術界引起了廣泛的討論，許多專家認為應該從歷史與經濟兩個方面來說明。" * 2
    lines = json.dumps({"text": text}, ensure_ascii=False)
    for name in ("corpus.jsonl", "dev.jsonl"):
        (tmp_path / name).write_text(lines + "\n", "utf-8")

    files = ("clean", tmp_path / "corpus.jsonl", tmp_path / "out")
    code, printed, errors = run(
        *files, "--exclude", tmp_path / "dev.jsonl", "--simplify", when, "--json"
    )

    assert code == 0, errors
    assert json.loads(printed)["dropped_paragraphs"]["evaluation"] == 1


def test_a_killed_job_goes_on_and_ends_as_if_never_stopped(corpus, tmp_path, run):
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    assert run("clean", corpus, whole, "--workers", 2)[0] == 0
    job = start("clean", corpus, killed, "--workers", 2, start_new_session=True)
    first = killed / ".job" / "clean" / "completions" / "00000"
    while not first.exists():
        assert job.poll() is None, job.communicate()
        time.sleep(0.002)
    job.kill()
    job.communicate()
    assert has_ended(job.pid)  # with all its workers
    (killed / ".job" / "clean" / "completions" / "00004").unlink(missing_ok=True)
    (killed / ".corpus-00004.jsonl.zst.half").write_bytes(b"half written")
    written = (killed / "corpus-00000.jsonl.zst").stat().st_mtime_ns

    code, _, errors = run("clean", corpus, killed, "--workers", 2)

    assert code == 0, errors
    assert files_of(killed) == files_of(whole)
    assert (killed / "corpus-00000.jsonl.zst").stat().st_mtime_ns == written  # not done again


def test_ctrl_c_ends_a_job_cleanly(tmp_path, run):
    text = json.dumps({"text": "\n".join(sentence(i) for i in range(9_000))}, ensure_ascii=False)
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    for file in range(20):
        (corpus / f"{file}.jsonl").write_text(text, "utf-8")
    job = start("clean", corpus, tmp_path / "out", "--workers", 2, start_new_session=True)
    while not list((tmp_path / "out").glob(".job/clean/completions/*")):
        assert job.poll() is None, job.communicate()
        time.sleep(0.01)
    os.killpg(job.pid, signal.SIGINT)  # the terminal sends it to the workers as well

    said = "interrupted; run the same command to continue\n"
    assert (*job.communicate(), job.returncode) == ("", said, 130)
    code, _, errors = run("dedup", tmp_path / "out", tmp_path / "dedup")
    assert (code, "has not finished; run it again" in errors) == (2, True)
    code, printed, _ = run("clean", corpus, tmp_path / "out", "--json", "--workers", 2)
    assert (code, json.loads(printed)["written"]["documents"]) == (0, 20)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc").is_dir(), reason="the job's children are listed there")
def test_ctrl_c_while_workers_start_is_one_line(corpus, tmp_path):
    job = start("clean", corpus, tmp_path / "out", "--workers", 2, start_new_session=True)
    children = Path(f"/proc/{job.pid}/task/{job.pid}/children")
    while len(children.read_text().split()) < 2:  # a tracker, and the server that forks workers
        assert job.poll() is None, job.communicate()
        time.sleep(0.01)
    time.sleep(0.3)  # while the server imports, the job waits for its first worker
    os.killpg(job.pid, signal.SIGINT)

    said = "interrupted; run the same command to continue\n"
    assert (*job.communicate(), job.returncode) == ("", said, 130)


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        (
            "a.jsonl",
            '{"text": "好"}\n'.encode() + "很".encode("gb18030"),
            "line 2: byte 1 is not UTF",
        ),
        ("a.jsonl", b"", "expected at least one document, found an empty file"),
        ("a.txt", b"\n\n", "expected at least one document, found an empty file"),
        ("a.jsonl.xz", lzma.compress(b'{"text": "a"}\n' * 9)[:-20], "compressed file is damaged"),
        ("a.jsonl", b'{"text": 1}', "line 1: expected a string 'text', found 1"),
        ("a.jsonl", b"{", "line 1: not JSON"),
        ("a.parquet", b"PAR1", "not a whole Parquet file"),
        ("a.xml", b"<mediawiki><page>", "not a whole XML dump"),
        ("a.doc", b"x", "expected a file named"),
    ],
)
def test_a_bad_file_ends_in_one_line_that_names_it(tmp_path, run, name, content, problem):
    workers = 2 if name == "a.jsonl.xz" else 1  # the error has to come through a process
    bad = tmp_path / name
    bad.write_bytes(content)
    good = tmp_path / "b.jsonl"
    good.write_text('{"text": "好"}')

    code, printed, errors = run("clean", bad, good, tmp_path / "out", "--workers", workers)

    assert (code, printed) == (2, "")
    assert errors.startswith("error: ")
    assert errors.count("\n") == 1
    assert str(bad) in errors
    assert problem in errors
    assert not (tmp_path / "out" / "corpus-00000.jsonl.zst").exists()


def test_nothing_to_read_and_mixed_folders_are_said(corpus, tmp_path, run):
    (corpus / "README.md").write_text("# 说明")

    assert "found nothing" in run("clean", tmp_path / "none", tmp_path / "out")[2]
    assert "expected files of one kind, found jsonl, markdown" in run("clean", corpus, "out")[2]


def test_a_folder_is_for_one_job_with_one_set_of_settings(corpus, tmp_path, run):
    out = tmp_path / "out"
    assert run("clean", corpus, out, "--workers", 1)[0] == 0
    taken = tmp_path / "taken"
    taken.mkdir()
    (taken / "thesis.txt").touch()

    again = run("clean", corpus, out, "--workers", 1, "--json")
    other = run("clean", corpus, out, "--workers", 1, "--min-document", 50)
    foreign = run("clean", corpus, taken)
    inside = run("dedup", out, out)

    assert again[0] == 0
    assert json.loads(again[1])["written"]["documents"] == 100
    assert other[0] == foreign[0] == inside[0] == 2
    assert "holds the output of another job (config differ)" in other[2]
    assert "expected a new or empty folder" in foreign[2]
    assert "does not hold the input" in inside[2]


def times_of(folder: Path) -> dict[str, int]:
    return {path.name: path.stat().st_mtime_ns for path in folder.glob("corpus-*")}


@pytest.mark.parametrize("command", ["clean", "dedup"])
def test_a_repaired_file_and_a_new_one_are_done_and_no_other(corpus, tmp_path, run, command):
    out, damaged = tmp_path / "out", corpus / "3.jsonl.xz"
    whole = damaged.read_bytes()
    damaged.write_bytes(whole[:-40])
    code, _, errors = run(command, corpus, out, "--workers", 1)
    assert code == 2
    assert "3.jsonl.xz" in errors
    first = {"clean": "clean", "dedup": "digests"}[command]
    done = out / ".job" / first / "completions"
    before = {path.name: path.stat().st_mtime_ns for path in done.iterdir()}
    assert before

    damaged.write_bytes(whole)
    (corpus / "5.jsonl.xz").write_bytes((corpus / "0.jsonl.xz").read_bytes())
    code, _, errors = run(command, corpus, out, "--workers", 1)
    assert code == 0, errors
    assert {name: (done / name).stat().st_mtime_ns for name in before} == before
    assert run(command, corpus, tmp_path / "anew", "--workers", 1)[0] == 0
    assert files_of(out) == files_of(tmp_path / "anew")


@pytest.mark.parametrize("command", ["clean", "dedup"])
def test_a_finished_job_does_changed_files_again(corpus, tmp_path, run, command):
    out = tmp_path / "out"
    assert run(command, corpus, out, "--workers", 1)[0] == 0
    before = times_of(out)
    rows = lzma.decompress((corpus / "2.jsonl.xz").read_bytes()).splitlines(keepends=True)
    (corpus / "2.jsonl.xz").write_bytes(lzma.compress(b"".join(rows[:9])))

    assert run(command, corpus, out, "--workers", 1)[0] == 0
    changed = [name for name, time in times_of(out).items() if time != before[name]]
    assert changed == ["corpus-00002.jsonl.zst"] or command == "dedup"
    assert run(command, corpus, tmp_path / "anew", "--workers", 1)[0] == 0
    assert files_of(out) == files_of(tmp_path / "anew")

    (corpus / "4.jsonl.xz").unlink()
    code, _, errors = run(command, corpus, out, "--workers", 1)
    assert code == 2
    assert "4.jsonl.xz, which is not among the inputs now" in errors


def test_a_job_killed_while_it_tidied_up_takes_a_new_file(corpus, tmp_path, run, monkeypatch):
    out, late = tmp_path / "out", tmp_path / "late.jsonl.xz"
    (corpus / "4.jsonl.xz").rename(late)

    def half_deleted(folder, **_):
        if Path(folder).is_dir():
            for path in Path(folder).glob("digests/*"):
                path.unlink()
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(jobs, "shutil", SimpleNamespace(rmtree=half_deleted))
        assert run("dedup", corpus, out, "--workers", 1)[0] == 130
    late.rename(corpus / "4.jsonl.xz")
    assert run("dedup", corpus, out, "--workers", 1)[0] == 0
    assert run("dedup", corpus, tmp_path / "anew", "--workers", 1)[0] == 0
    assert files_of(out) == files_of(tmp_path / "anew")


@pytest.mark.parametrize("name", ["job.json", "clean/stats/00000.json"])
@pytest.mark.parametrize("content", [b"", bytes(9)])
def test_a_damaged_state_is_named(corpus, tmp_path, run, name, content):
    assert run("clean", corpus, tmp_path / "out", "--workers", 1)[0] == 0
    (tmp_path / "out" / ".job" / name).write_bytes(content)
    code, _, errors = run("clean", corpus, tmp_path / "out", "--workers", 1)
    assert (code, errors.count("\n")) == (2, 1)
    assert f"{name}: damaged; delete " in errors


def test_settings_of_a_job_that_has_done_nothing_can_be_changed(corpus, tmp_path, run):
    damaged = corpus / "0.jsonl.xz"
    whole = damaged.read_bytes()
    damaged.write_bytes(b"nothing")
    assert run("clean", corpus, tmp_path / "out", "--workers", 1)[0] == 2
    damaged.write_bytes(whole)
    assert run("clean", corpus, tmp_path / "out", "--min-document", 50)[0] == 0


def test_two_jobs_do_not_share_a_folder(corpus, tmp_path, run):
    state = tmp_path / "out" / ".job"
    state.mkdir(parents=True)
    hold = "import sys, filelock; lock = filelock.FileLock(sys.argv[1]); "
    hold += "lock.acquire(); print(flush=True); input()"
    other = subprocess.Popen(
        [sys.executable, "-c", hold, state / "running"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    other.stdout.readline()

    code, _, errors = run("clean", corpus, tmp_path / "out")
    other.communicate(b"\n")

    assert code == 2
    assert "another job is writing there" in errors


def test_a_full_disk_leaves_no_short_shard(tmp_path):
    text = "\n".join(sentence(i) for i in range(30_000))
    source = tmp_path / "a.jsonl"
    source.write_text(json.dumps({"text": text}, ensure_ascii=False), "utf-8")
    limit = 300_000  # bytes a file, as a disk with no more room

    job = start(
        "clean",
        source,
        tmp_path / "out",
        "--workers",
        "1",
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
    )
    printed, errors = job.communicate()

    assert (job.returncode, printed) == (2, "")
    assert errors.startswith(f"error: {tmp_path / 'out/corpus-00000.jsonl.zst'}: File too large")
    assert [path.name for path in (tmp_path / "out").iterdir()] == [".job"]


def test_a_line_of_five_million_characters_is_one_document(tmp_path, run):
    text = "".join(random.Random(0).choices(SIGNS, k=5_000_000))
    source = tmp_path / "a.jsonl"
    source.write_text(json.dumps({"text": text}, ensure_ascii=False), "utf-8")

    assert run("clean", source, tmp_path / "clean", "--workers", 1)[0] == 0
    arguments = ("dedup", tmp_path / "clean", tmp_path / "out", "--workers", 1, "--json")
    code, printed, errors = run(*arguments)

    assert code == 0, errors
    assert json.loads(printed)["written"]["documents"] == 1
    assert len(texts_of(tmp_path / "out")[0]) == len(text)


@pytest.mark.parametrize("command", ["clean", "dedup"])
def test_a_missing_library_is_named_with_its_extra(command: str, tmp_path: Path) -> None:
    code = (
        "import sys; sys.modules['datatrove'] = None; "
        f"sys.argv = ['zh-corpora', {command!r}, 'in.jsonl', {str(tmp_path / 'out')!r}]; "
        "from corpora_tools.cli.app import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    expected = "error: datatrove is not installed; run: pip install 'zh-albert[corpora]'"
    assert done.stderr.splitlines() == [expected]

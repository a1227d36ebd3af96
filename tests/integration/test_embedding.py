"""Sentence vectors: taught by texts and by pairs, asked from Python and the shell."""

from __future__ import annotations

import json
import pickle
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from tests.helpers.commands import QUICK, Cli, refused
from tests.helpers.jobs import batches, encoded
from tests.helpers.task_files import BAD, GOOD, THINGS, write
from zh_albert import AlbertEmbedder, load
from zh_albert.errors import ConfigError, DataError
from zh_albert.tasks.embedding.contrast import contrastive_loss
from zh_albert.tasks.embedding.examples import EmbeddingExample
from zh_albert.tasks.embedding.finetune import EmbeddingJob, FinetuneConfig, finetune
from zh_albert.tasks.windows import WindowConfig
from zh_albert.training.config import TrainConfig

LEARN = (*QUICK, "--set=train.epochs=20", "--set=train.batch_tokens=1024")
TEXTS = ["房间很好", "服务太差，失望", "早餐", "“味道”——不错" * 3]


def alike(path: Path) -> Path:
    """Things in other words: pairs of the same thing mean the same, whatever is said of it."""
    rows = []
    for number in range(64):
        things = [THINGS[number % 8], THINGS[(number + number // 8 % 2) % 8]]
        words = [GOOD[number // 8], BAD[(number * 3 + 1) % 8]]
        first, second = (thing + word for thing, word in zip(things, words, strict=True))
        label = 5 if things[0] == things[1] else 1
        rows.append({"text_a": first, "text_b": second, "label": label})
    return write(path, rows)


@pytest.fixture(scope="session")
def vectors(micro: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model folder, trained by the job."""
    from zh_albert.configio import build, parse_overrides
    from zh_albert.tasks.embedding.examples import read_embedding_examples
    from zh_albert.tasks.embedding.finetune import FinetuneConfig, finetune

    folder = tmp_path_factory.mktemp("vectors")
    examples = read_embedding_examples(alike(folder / "train.jsonl"))
    config = build(FinetuneConfig, parse_overrides([item.removeprefix("--set=") for item in LEARN]))
    finetune(examples, examples, config, init=micro, out=folder / "model")
    return folder / "model"


def test_pairs_teach_what_is_alike(vectors: Path, micro: Path, cli: Cli, tmp_path: Path) -> None:
    path = alike(tmp_path / "dev.jsonl")
    scores = json.loads(cli("evaluate", vectors, path, "--json").out)
    assert scores["spearman"] > 0.8
    assert scores["examples"] == 64
    untaught = AlbertEmbedder(str(micro))
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    sides = [
        untaught.encode([row[name] for row in rows], normalize=True)
        for name in ("text_a", "text_b")
    ]
    before = np.corrcoef((sides[0] * sides[1]).sum(-1), [row["label"] for row in rows])[0, 1]
    assert scores["pearson"] > before
    assert "| spearman |" in (vectors / "README.md").read_text()


def test_vectors_are_the_mean_of_the_tokens(vectors: Path) -> None:
    theirs = transformers.AutoModel.from_pretrained(vectors).eval()
    tokenizer = transformers.BertTokenizer.from_pretrained(vectors)
    found = load(str(vectors)).encode(TEXTS[:3])
    assert found.shape == (3, theirs.config.hidden_size)
    assert found.dtype == np.float32
    for text, vector in zip(TEXTS, found, strict=False):
        with torch.inference_mode():
            expected = theirs(**tokenizer(text, return_tensors="pt")).last_hidden_state.mean(1)[0]
        np.testing.assert_allclose(vector, expected, atol=1e-5)


def test_alone_and_among_others_and_normalized(vectors: Path) -> None:
    embedder, texts = load(str(vectors)), [*TEXTS, "味道不错，" * 90]
    together = embedder.encode(texts)
    np.testing.assert_allclose(
        together, np.concatenate([embedder(text) for text in texts]), atol=2e-5
    )
    unit = embedder.encode(texts, normalize=True)
    np.testing.assert_allclose(np.linalg.norm(unit, axis=-1), 1, atol=1e-5)
    lengths = np.linalg.norm(together, axis=-1, keepdims=True)
    np.testing.assert_allclose(unit * lengths, together, atol=1e-4)
    assert embedder.encode([]).shape == (0, together.shape[1])
    streamed = list(embedder.stream(iter([texts[0], " ", texts[1]])))
    np.testing.assert_allclose(streamed[0], together[0], atol=2e-5)
    assert isinstance(streamed[1], DataError)
    np.testing.assert_allclose(streamed[2], together[1], atol=2e-5)


def test_an_empty_text_is_named(vectors: Path) -> None:
    with pytest.raises(DataError, match=r"texts\[3\] is empty"):
        load(str(vectors)).encode(["好", "好", "好", " "])
    assert len(load(str(vectors)).encode(["好", "好", "好", "很"])) == 4


def test_long_texts_share_a_batch_with_others(micro: Path) -> None:
    window = WindowConfig(max_length=32, stride=8)
    texts = [EmbeddingExample(f"第{n}天的房间很好。" * 200) for n in range(8)]
    config = FinetuneConfig(window=window, train=TrainConfig(max_updates=1, batch_tokens=256))
    job = encoded(EmbeddingJob(texts, [], config, init=micro))
    assert [len(item.texts) for item in job.plan(0)] == [4, 4]
    assert batches(job)[0].inputs["token_ids"].numel() <= 256
    small = replace(config, train=TrainConfig(max_updates=1, batch_tokens=64))
    with pytest.raises(ConfigError, match="batch_tokens=64: most pairs would be alone"):
        finetune(texts, [], small, init=micro)


def test_predict_writes_a_vector_a_line(vectors: Path, cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "texts.txt"
    path.write_text("房间很好\n\n早餐\n", encoding="utf-8")
    rows = [json.loads(line) for line in cli("predict", vectors, path).out.splitlines()]
    assert [len(row["vector"]) for row in rows] == [32, 0, 32]
    assert "texts.txt, line 2: the text is empty" in rows[1]["error"]


def test_single_texts_are_told_apart_by_dropout(micro: Path, cli: Cli, tmp_path: Path) -> None:
    texts = write(tmp_path / "t.jsonl", [{"text": t + w} for t in THINGS for w in GOOD[:4]])
    files = ("--train", texts, "--dev", alike(tmp_path / "d.jsonl"), "--init", micro)
    ran = cli("finetune", "--task", "embedding", *files, "--out", tmp_path / "a", *QUICK, "--json")
    assert ran.code == 0
    assert json.loads(ran.out)["train_examples"] == 32
    again = (*files, "--out", tmp_path / "a", *QUICK, "--resume", "--json")
    assert json.loads(cli("finetune", "--task", "embedding", *again).out)["updates"] > 0
    ran = cli(
        "finetune", "--task", "embedding", *files, "--out", tmp_path / "b", "--set=model.dropout=0"
    )
    refused(ran, "single texts need dropout", "set model.dropout=0.1")


@pytest.fixture(scope="session")
def taught(micro: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that learned vectors whose directions say which thing a text is of, in 8 numbers."""
    folder = tmp_path_factory.mktemp("taught")
    texts = [(n, thing + word) for n, thing in enumerate(THINGS) for word in (*GOOD, *BAD)]
    rows = [{"text": text, "vector": row} for row, (_, text) in enumerate(texts)]
    rows += [
        {"text_a": thing + GOOD[0], "text_b": thing + BAD[0], "negative": THINGS[n - 1] + GOOD[0]}
        for n, thing in enumerate(THINGS)
    ]
    np.save(folder / "teacher.npy", np.eye(8, dtype=np.float16)[[number for number, _ in texts]])
    write(folder / "train.jsonl", rows)
    from zh_albert.configio import build, parse_overrides
    from zh_albert.tasks.embedding.examples import read_embedding_examples

    given = [item.removeprefix("--set=") for item in LEARN]
    given += [f"vectors.file={folder / 'teacher.npy'}", "contrast.widths=[4, 8]"]
    config = build(FinetuneConfig, parse_overrides(given))
    examples = read_embedding_examples(folder / "train.jsonl")
    dev = read_embedding_examples(alike(folder / "dev.jsonl"))
    finetune(examples, dev, config, init=micro, out=folder / "model")
    return folder / "model"


def test_a_teachers_vectors_teach_and_may_be_cut(taught: Path, cli: Cli) -> None:
    dev = taught.parent / "dev.jsonl"
    scores = json.loads(cli("evaluate", taught, dev, "--json").out)
    assert scores["spearman"] > 0.8
    assert scores["spearman_8"] > 0.7
    assert scores["spearman_4"] > 0.5
    embedder = load(str(taught))
    assert embedder.widths == (4, 8)
    whole, cut = embedder.encode(TEXTS), embedder.encode(TEXTS, width=8)
    np.testing.assert_array_equal(cut, whole[:, :8])
    unit = embedder.encode(TEXTS, width=8, normalize=True)
    np.testing.assert_allclose(np.linalg.norm(unit, axis=-1), 1, atol=1e-5)
    with pytest.raises(ConfigError, match="width must be from 1 to 32"):
        embedder.encode(TEXTS, width=33)
    assert "4 or 8" in (taught / "README.md").read_text("utf-8")


@pytest.mark.parametrize(
    ("rows", "given", "problem"),
    [
        ([{"text": "好", "vector": -1}], ["vectors.file=V"], 'line 1: "vector" must be'),
        ([{"text": "好", "vector": "1"}], ["vectors.file=V"], 'line 1: "vector" must be'),
        ([{"text": "好", "vector": 0}], [], "8 training texts name a row of a teacher's vectors"),
        ([{"text": "好", "vector": 5}], ["vectors.file=V"], "names row 5, found 2"),
        ([{"text": "好"}], ["vectors.file=V"], "no training text names a row of it"),
        ([{"text": "好", "vector": 0}], ["vectors.file=W"], "vectors of the shape (texts, width)"),
        ([{"text": "好", "vector": 1}], ["vectors.file=N"], "row 1 is not all finite numbers"),
        ([{"text": "好", "vector": 0}], ["vectors.file=none"], "expected vectors saved by numpy"),
        ([{"text": "好"}], ["contrast.widths=[32]"], "widths below the model's 32, got 32"),
        ([{"text": "好"}], ["contrast.widths=[0]"], "must be at least 1 each, got 0"),
        ([{"text": "好", "vector": 0}], ["vectors.file=V", "vectors.weight=0"], "above 0, got 0"),
    ],
)
def test_vectors_that_do_not_fit_are_refused(
    rows: list[dict[str, Any]],
    given: list[str],
    problem: str,
    micro: Path,
    cli: Cli,
    tmp_path: Path,
) -> None:
    np.save(tmp_path / "V.npy", np.ones((2, 4), np.float32))
    np.save(tmp_path / "W.npy", np.ones(4, int))
    np.save(tmp_path / "N.npy", np.array([[1, 2], [3, np.nan]], np.float16))
    train, dev = write(tmp_path / "t.jsonl", rows * 8), alike(tmp_path / "d.jsonl")
    files_named = [re.sub("=([VWN])$", lambda name: f"={tmp_path}/{name[1]}.npy", g) for g in given]
    chosen = [f"--set={one}" for one in files_named]
    files = ("--train", train, "--dev", dev, "--init", micro, "--out", tmp_path / "out")
    refused(cli("finetune", "--task", "embedding", *files, *QUICK, *chosen), problem)


def test_a_run_is_not_resumed_with_other_vectors(micro: Path, cli: Cli, tmp_path: Path) -> None:
    train = write(tmp_path / "t.jsonl", [{"text": t, "vector": n} for n, t in enumerate(THINGS)])
    np.save(tmp_path / "v.npy", np.eye(8, dtype=np.float32))
    files = ("--train", train, "--dev", alike(tmp_path / "d.jsonl"), "--init", micro)
    how = (*files, "--out", tmp_path / "out", *QUICK, f"--set=vectors.file={tmp_path / 'v.npy'}")
    assert cli("finetune", "--task", "embedding", *how).code == 0
    assert cli("finetune", "--task", "embedding", *how, "--resume").code == 0
    np.save(tmp_path / "v.npy", np.eye(8, dtype=np.float32)[::-1])
    refused(
        cli("finetune", "--task", "embedding", *how, "--resume"),
        "only with the settings it was started with",
    )


def test_baseline_is_the_cosine_of_n_grams(cli: Cli, tmp_path: Path) -> None:
    path = alike(tmp_path / "a.jsonl")
    ran = cli("baseline", "--task", "embedding", "--train", path, "--dev", path, "--json")
    assert json.loads(ran.out)["spearman"] > 0.5


def test_pairs_of_equal_texts_are_equally_alike(vectors: Path, cli: Cli, tmp_path: Path) -> None:
    texts = [thing + word * 3 for thing in THINGS for word in GOOD + BAD]
    rows = [{"text_a": t, "text_b": t, "label": n % 5} for n, t in enumerate(texts)]
    path = write(tmp_path / "dev.jsonl", rows)
    files = ("--task", "embedding", "--train", path, "--dev", path)
    for asked in (("evaluate", vectors, path), ("baseline", *files)):
        scores = json.loads(cli(*asked, "--json").out)
        assert scores["spearman"] == scores["pearson"] == 0


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ({"text": "好"}, "expected pairs"),
        ({"text_a": "好", "text_b": "很"}, "expected pairs"),
        ({"text_a": "好", "label": 1}, 'line 1: field "text_b" is missing'),
        ({"text_a": "好", "text_b": "", "label": 1}, 'line 1: "text_b" is empty'),
        ({"text_a": "好", "text_b": "很", "label": [1]}, '"label" must be a number or a string'),
    ],
)
def test_a_dev_file_needs_pairs_with_labels(
    vectors: Path, cli: Cli, tmp_path: Path, row: dict[str, Any], problem: str
) -> None:
    refused(cli("evaluate", vectors, write(tmp_path / "dev.jsonl", [row])), problem)


def test_numbers_and_names_are_not_scored_together(vectors: Path, cli: Cli, tmp_path: Path) -> None:
    rows = [{"text_a": "好", "text_b": "很好", "label": label} for label in (5, 2, "similar")]
    path = write(tmp_path / "dev.jsonl", rows)
    refused(cli("evaluate", vectors, path), "expected numbers or names as labels")


def test_pairs_that_are_not_alike_teach_nothing(cli: Cli, micro: Path, tmp_path: Path) -> None:
    row = {"text_a": "好", "text_b": "坏", "label": "different"}
    path = write(tmp_path / "t.jsonl", [row])
    files = ("--train", path, "--dev", path, "--out", tmp_path / "out", "--init", micro)
    refused(cli("finetune", "--task", "embedding", *files), "found only pairs that do not")


def test_labels_that_do_not_differ_cannot_be_scored_on(
    cli: Cli, micro: Path, tmp_path: Path
) -> None:
    """Names that are not known as "the same" would all count as 0, and so would the score."""
    train = alike(tmp_path / "t.jsonl")
    names = [
        {"text_a": "好", "text_b": word, "label": n} for word, n in (("棒", "yes"), ("坏", "no"))
    ]
    dev = write(tmp_path / "d.jsonl", names)
    files = ("--train", train, "--dev", dev, "--out", tmp_path / "out", "--init", micro)
    refused(
        cli("finetune", "--task", "embedding", *files), "expected labels that differ", "no, yes"
    )


def test_pairs_that_teach_nothing_are_counted(cli: Cli, micro: Path, tmp_path: Path) -> None:
    rows = [{"text_a": t, "text_b": t + "啊", "label": "similar"} for t in THINGS]
    rows += [{"text_a": t, "text_b": "好", "label": "different"} for t in THINGS[:3]]
    train, dev = write(tmp_path / "t.jsonl", rows), alike(tmp_path / "d.jsonl")
    files = ("--train", train, "--dev", dev, "--init", micro, "--out", tmp_path / "o")
    ran = cli("finetune", "--task", "embedding", *files, *QUICK)
    assert ran.code == 0
    assert "3 of 11 training pairs do not mean the same by their labels" in ran.err


def test_the_estimator_reads_labels_of_pairs(micro: Path) -> None:
    quick: dict[str, Any] = {"init": str(micro), "max_length": 16, "stride": 4, "peak_lr": 5e-3}
    same = [(thing + GOOD[0], thing + BAD[1]) for thing in THINGS]
    other = [(thing + GOOD[0], THINGS[n - 1] + GOOD[0]) for n, thing in enumerate(THINGS)]
    names = ["similar"] * 8 + ["different"] * 8
    alone = AlbertEmbedder(**quick).fit(same).encode(TEXTS)
    for labels in (names, np.array([5] * 8 + [1] * 8), [4.5] * 8 + [0] * 8):
        with pytest.warns(ConvergenceWarning, match="8 of 16 training pairs"):
            fitted = AlbertEmbedder(**quick).fit([*same, *other], labels)
        assert np.array_equal(fitted.encode(TEXTS), alone)
    with pytest.warns(ConvergenceWarning):
        halves = AlbertEmbedder(**quick, positive_threshold=0.5).fit(
            [*same, *other], [1] * 8 + [0] * 8
        )
    assert np.array_equal(halves.encode(TEXTS), alone)
    assert -1 <= fitted.score([*same, *other], names) <= 1
    cosines = (fitted.encode([a for a, _ in same], normalize=True)) @ fitted.encode(
        [b for _, b in same], normalize=True
    ).T
    order = cosines.diagonal().argsort().argsort()
    assert fitted.score(same, order) == pytest.approx(1)
    with pytest.raises(DataError, match="positive_threshold: expected a number, found '4'"):
        AlbertEmbedder(**quick, positive_threshold="4").fit(same)
    with pytest.raises(DataError, match="a label for each pair: 8, found 3"):
        fitted.score(same, [1, 2, 3])
    with pytest.raises(DataError, match=r"labels\[1\]: expected a number or a name"):
        fitted.score(same[:2], [1, (2,)])


def test_the_estimator_encodes_fits_clones_and_pickles(micro: Path, tmp_path: Path) -> None:
    quick: dict[str, Any] = {"init": str(micro), "max_length": 16, "stride": 4}
    embedder = AlbertEmbedder(**quick, peak_lr=5e-3, batch_tokens=256)
    before = embedder.encode(TEXTS)
    pairs = [(thing + GOOD[0], thing + BAD[1]) for thing in THINGS]
    fitted = clone(embedder).set_params(epochs=5).fit(pairs)
    after = fitted.transform(np.array(TEXTS, dtype=object)[:, None])
    assert not np.allclose(before, after)
    assert (pickle.loads(pickle.dumps(fitted)).encode(TEXTS) == after).all()
    fitted.save(tmp_path / "model")
    np.testing.assert_allclose(load(str(tmp_path / "model"))(TEXTS), after, atol=0.02, rtol=0.01)
    texts, labels = [t + w for t in THINGS for w in (GOOD[0], BAD[0])], ["good", "bad"] * 8
    pipeline = make_pipeline(clone(embedder), LogisticRegression(C=100, max_iter=1000))
    assert pipeline.fit(texts, labels).score(texts, labels) > 0.9
    with pytest.raises(NotFittedError, match="fit it, or name init"):
        AlbertEmbedder(init=None).encode(TEXTS)


def test_vectors_become_columns_of_a_table(micro: Path) -> None:
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"text": ["好", "坏了"], "stars": [5, 1]})
    vectors = ColumnTransformer(
        [("v", AlbertEmbedder(str(micro)), "text")], remainder="passthrough"
    )
    found = vectors.set_output(transform="pandas").fit_transform(table)
    assert list(found.columns[[0, -1]]) == ["v__albertembedder0", "remainder__stars"]
    fitted = vectors.named_transformers_["v"]
    np.testing.assert_allclose(found.iloc[1, :-1], fitted.encode(["坏了"])[0], atol=1e-5)


def test_the_loss_is_that_of_the_papers_and_knows_its_own_texts() -> None:
    torch.manual_seed(0)
    first, second = torch.randn(2, 4, 6)
    ids = torch.arange(8).view(4, 2)
    cosines = torch.nn.functional.cosine_similarity(first[:, None], second[None], dim=-1) / 0.1
    rows, columns = (-torch.log_softmax(cosines, dim).diagonal().sum() for dim in (1, 0))
    found = contrastive_loss(first, second, ids, temperature=0.1)
    torch.testing.assert_close(found, (rows + columns) / 2)

    twice = torch.tensor([[0, 1], [0, 2], [3, 4], [5, 6]])  # the first two share a text
    masked = cosines.clone()
    masked[0, 1] = masked[1, 0] = -torch.inf
    rows, columns = (-torch.log_softmax(masked, dim).diagonal().sum() for dim in (1, 0))
    found = contrastive_loss(first, second, twice, temperature=0.1)
    torch.testing.assert_close(found, (rows + columns) / 2)
    assert contrastive_loss(first[:1], second[:1], ids[:1]) == 0


def test_a_temperature_of_zero_is_refused() -> None:
    from zh_albert.tasks.embedding.finetune import ContrastConfig

    with pytest.raises(ConfigError, match="temperature must be > 0"):
        ContrastConfig(temperature=0.0)


def test_numbers_in_a_csv_file_are_numbers(vectors: Path, cli: Cli, tmp_path: Path) -> None:
    rows = [
        ("房间很好", "房间不错", 4.5),
        ("房间很好", "服务太差", 0.2),
        ("早餐好", "早餐很好", 4.0),
    ]
    lines = [{"text_a": one, "text_b": other, "label": label} for one, other, label in rows]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    cells = "".join(f"{one},{other},{label}\n" for one, other, label in rows)
    (tmp_path / "a.csv").write_text(f"text_a,text_b,label\n{cells}", encoding="utf-8")
    found = [
        json.loads(cli("evaluate", vectors, tmp_path / name, "--json").out)
        for name in ("a.jsonl", "a.csv")
    ]
    assert found[0]["spearman"] == found[1]["spearman"] != 0


def test_settings_changed_before_a_fit_count(micro: Path) -> None:
    text = ["房间很好，服务周到，早餐丰富" * 6]
    embedder = AlbertEmbedder(init=str(micro), max_length=32, stride=8)
    long = embedder.encode(text)
    short = embedder.set_params(max_length=12, stride=2).encode(text)
    fresh = AlbertEmbedder(init=str(micro), max_length=12, stride=2)
    np.testing.assert_array_equal(short, fresh.encode(text))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(embedder)).encode(text), short)
    assert abs(long - short).max() > 1e-4


def test_vectors_are_refused_as_a_table_and_answers_as_an_array(cli: Cli, tmp_path: Path) -> None:
    texts, table, array = (tmp_path / name for name in ("a.txt", "a.csv", "a.npy"))
    texts.write_text("怎么退货\n\n几点开门\n", encoding="utf-8")
    ran = cli("predict", "embedder", texts, "--out", table)
    assert (ran.code, table.exists()) == (2, False)
    assert f"--out {table}: expected a file that ends in .npy, .jsonl" in ran.err
    assert cli("predict", "sentiment", texts, "--out", array).code == 2
    assert cli("predict", "embedder", texts, "--out", array).code == 0
    assert np.isnan(np.load(array)).any(1).tolist() == [False, True, False]

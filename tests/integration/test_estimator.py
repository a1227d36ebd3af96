"""``AlbertClassifier`` among scikit-learn's own tools."""

from __future__ import annotations

import atexit
import pickle
import shutil
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import average_precision_score, get_scorer, roc_auc_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.validation import check_is_fitted, validate_data

from tests.helpers.micro import save_micro_encoder
from tests.helpers.task_files import BAD, GOOD, THINGS
from zh_albert import AlbertClassifier, AlbertEmbedder, AlbertReader, AlbertTagger, load
from zh_albert.errors import ConfigError, DataError
from zh_albert.training.events import Progress

TEXTS = [thing + word for word in GOOD[:2] + BAD[:2] for thing in THINGS]
LABELS = ["good"] * 16 + ["bad"] * 16
# At import time, for scikit-learn's checks take their estimator when tests are collected.
HOME = Path(tempfile.mkdtemp(prefix="micro-encoder-"))
atexit.register(shutil.rmtree, HOME, ignore_errors=True)
MICRO = str(save_micro_encoder(HOME / "micro"))
QUICK: dict[str, Any] = {
    "init": MICRO,
    "epochs": 8,
    "peak_lr": 5e-3,
    "max_length": 16,
    "batch_tokens": 64,
}


@pytest.fixture(scope="module")
def fitted() -> AlbertClassifier:
    return AlbertClassifier(**QUICK, stride=4).fit(TEXTS, LABELS)


def small(**changes: Any) -> AlbertClassifier:
    return AlbertClassifier(**{**QUICK, "stride": 4, "epochs": 1, **changes})


def test_it_fits_predicts_and_scores(fitted: AlbertClassifier) -> None:
    assert list(fitted.classes_) == ["bad", "good"]
    probabilities = fitted.predict_proba(TEXTS)
    assert probabilities.shape == (32, 2)
    np.testing.assert_allclose(probabilities.sum(1), 1, atol=1e-5)
    assert (fitted.predict(TEXTS) == fitted.classes_[probabilities.argmax(1)]).all()
    assert fitted.score(TEXTS, LABELS) > 0.9
    blanks = (" ", "\u3000", "\xa0", "")
    stray = [f"{label}{blanks[n % 4]}" for n, label in enumerate(LABELS)]
    assert fitted.score(TEXTS, stray) == fitted.score(TEXTS, LABELS)


def test_the_same_seed_gives_the_same_model_another_seed_another() -> None:
    one, two, other = (small(random_state=seed).fit(TEXTS, LABELS) for seed in (1, 1, 2))
    assert (one.predict_proba(TEXTS) == two.predict_proba(TEXTS)).all()
    assert (one.predict_proba(TEXTS) != other.predict_proba(TEXTS)).any()


def test_classes_are_drawn_together_before_a_head_is_fitted() -> None:
    plain, drawn, again = (
        small(epochs=0, contrast=contrast).fit(TEXTS, LABELS) for contrast in (False, True, True)
    )
    sure, before = (one.predict_proba(TEXTS).max(1).mean() for one in (drawn, plain))
    assert sure > before
    assert drawn.score(TEXTS, LABELS) == 1
    assert (drawn.predict_proba(TEXTS) == again.predict_proba(TEXTS)).all()
    with pytest.raises(ConfigError, match="needs one class for each text"):
        small(contrast=True).fit(TEXTS, [[1, 0]] * 16 + [[1, 1]] * 16)
    with pytest.raises(ConfigError, match="an encoder to start from"):
        AlbertClassifier(init=None, contrast=True).fit(TEXTS, LABELS)


def test_pickling_keeps_every_probability(fitted: AlbertClassifier) -> None:
    copy = pickle.loads(pickle.dumps(fitted))
    assert (copy.predict_proba(TEXTS) == fitted.predict_proba(TEXTS)).all()
    assert copy.get_params() == fitted.get_params()
    assert b"torch" not in pickle.dumps(fitted), "weights travel as safetensors, not as pickle"


def test_a_saved_folder_opens_with_load(fitted: AlbertClassifier, tmp_path: Path) -> None:
    fitted.save(tmp_path / "model")
    answers = load(str(tmp_path / "model"))(TEXTS)
    assert [answer.label for answer in answers] == list(fitted.predict(TEXTS))
    assert "batch_tokens = 64" in (tmp_path / "model" / "README.md").read_text()


def test_the_home_folder_is_where_it_is(
    fitted: AlbertClassifier, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    fitted.save("~/model")
    assert (tmp_path / "model" / "config.json").is_file()


def test_clone_search_cross_validation_and_pipeline() -> None:
    copy = clone(small(peak_lr=2e-3))
    assert copy.get_params() == small(peak_lr=2e-3).get_params()
    assert cross_val_score(small(), TEXTS, LABELS, cv=2).shape == (2,)
    search = GridSearchCV(small(epochs=8), {"peak_lr": [0.5, 5e-3]}, cv=2)
    with pytest.warns(ConvergenceWarning, match=r"not learning\. .* lower rate \(peak_lr=1\.7e-01"):
        search.fit(TEXTS, LABELS)
    assert search.best_params_["peak_lr"] == 5e-3
    strip = FunctionTransformer(lambda texts: [text.strip() for text in texts])
    pipeline = Pipeline([("strip", strip), ("albert", small())]).fit(TEXTS, LABELS)
    assert set(pipeline.predict(TEXTS)) <= {"good", "bad"}


def test_integer_labels_come_back_as_integers_in_their_order() -> None:
    labels = [10] * 16 + [9] * 16
    model = small(epochs=8).fit(np.array(TEXTS), np.array(labels))
    assert list(model.classes_) == [9, 10]
    assert model.predict(TEXTS).dtype == np.array(labels).dtype
    assert model.score(TEXTS, labels) > 0.9


def test_weights_decide_between_contradicting_labels() -> None:
    texts, labels = TEXTS + TEXTS, LABELS + LABELS[::-1]
    weights = [1.0] * 32 + [0.0] * 32
    model = small(epochs=8).fit(texts, labels, sample_weight=weights)
    assert model.score(TEXTS, LABELS) > 0.9
    model = small(epochs=8).fit(texts, labels, sample_weight=weights[::-1])
    assert model.score(TEXTS, LABELS) < 0.1


def test_a_class_of_weight_zero_keeps_its_column() -> None:
    labels = ["good"] * 15 + ["rare"] + ["bad"] * 16
    weights = [float(label != "rare") for label in labels]
    model = small().fit(TEXTS, labels, sample_weight=weights)
    assert list(model.classes_) == ["bad", "good", "rare"]
    assert (model.predict_proba(TEXTS)[:, 2] == 0).all()


def test_a_column_of_texts_is_taken() -> None:
    column = np.array(TEXTS, dtype=object)[:, None]
    assert len(small().fit(column, LABELS).predict(column)) == 32


def test_pairs_are_two_columns(tmp_path: Path) -> None:
    pairs = [(text, TEXTS[(place + 8 * (place % 2)) % 32]) for place, text in enumerate(TEXTS)]
    labels = ["same" if first == second else "other" for first, second in pairs]
    model = small(epochs=30, pooling="mean").fit(pairs, labels)
    assert model.score(pairs, labels) > 0.9
    array = np.array(pairs, dtype=object)
    assert model.predict(array).tolist() == model.predict(pairs).tolist()
    model.save(tmp_path / "model")
    saved = load(str(tmp_path / "model"))
    assert saved(array) == saved(pairs) == list(saved.stream(array))
    with pytest.raises(DataError, match="expected a pair of strings"):
        model.predict(TEXTS)


def test_several_labels_are_columns_of_ones_and_zeros() -> None:
    words = GOOD[:2] + BAD[:2]
    columns = np.array([[word in text for word in words] for text in TEXTS]).astype(int)
    columns = np.column_stack([columns, np.zeros(len(TEXTS), int)])  # nobody has the last one
    model = small(epochs=20).fit(TEXTS, columns)
    assert model.predict_proba(TEXTS).shape == columns.shape
    assert (model.predict(TEXTS) == columns).mean() > 0.95
    assert list(model.classes_) == [0, 1, 2, 3, 4]


def test_progress_is_told() -> None:
    events = []
    small(on_event=events.append).fit(TEXTS, LABELS)
    assert isinstance(events[-1], Progress)
    assert events[-1].update == events[-1].total


@pytest.mark.parametrize(
    ("X", "y", "problem"),
    [
        ("一个字符串", ["a"], "a list of texts, found one string"),
        ([], [], "expected texts to learn from, found none"),
        (["好", "坏"], ["a"], "2 texts, but 1 labels"),
        (["好", " "], ["a", "b"], r"texts\[1\] is empty"),
        (["好", None], ["a", "b"], r"texts\[1\]: expected a string, found NoneType"),
        ([["好", "很", "真"], ["坏", "太", "真"]], ["a", "b"], r"found shape \(2, 3\)"),
        (["好", "坏"], ["a", "a"], "at least two different labels"),
        (["好", "坏"], ["a", float("nan")], r"labels\[1\]: expected a label, found nan"),
        (["好", "坏"], [None, "a"], r"labels\[0\]: expected a label, found None"),
        (["好", "坏"], ["a", ""], r"labels\[1\]: expected a label, found ''"),
    ],
)
def test_bad_arguments_are_refused(
    X: Any,  # noqa: N803
    y: Any,
    problem: str,
) -> None:
    with pytest.raises(DataError, match=problem):
        small().fit(X, y)


@pytest.mark.parametrize("epochs", ["many", -1, False, None, 2.5])
def test_epochs_that_are_no_number_are_refused(epochs: Any) -> None:
    with pytest.raises(DataError, match=f"epochs: expected a whole number .*found {epochs!r}"):
        small(epochs=epochs).fit(TEXTS, LABELS)


@pytest.mark.parametrize(
    ("estimator", "texts"),
    [
        (AlbertClassifier(), ["好", "坏"]),
        (AlbertTagger(), ["好", "坏"]),
        (AlbertReader(), [("谁", "好")]),
    ],
)
def test_what_is_to_be_learned_must_be_given(estimator: Any, texts: list[Any]) -> None:
    with pytest.raises(DataError, match="requires y to be passed, but the target y is None"):
        estimator.fit(texts, None)


def test_wrong_weights_are_refused() -> None:
    with pytest.raises(DataError, match="expected 32 numbers >= 0"):
        small().fit(TEXTS, LABELS, sample_weight=[1.0])
    with pytest.raises(DataError, match="all weights are zero"):
        small().fit(TEXTS, LABELS, sample_weight=[1e-60] * len(TEXTS))


def test_a_fit_that_learns_nothing_warns_as_scikit_learn_does() -> None:
    with pytest.warns(ConvergenceWarning, match="guessing gives 0.693"):
        small(epochs=30, peak_lr=1e-12).fit(TEXTS + TEXTS, LABELS + LABELS[::-1])


def test_predicting_before_fitting_is_said() -> None:
    with pytest.raises(NotFittedError, match="call fit first"):
        small().predict(TEXTS)


class OnNumbers(AlbertClassifier):
    """Reads a row of numbers as a text, one character a number, so scikit-learn's checks apply.

    For an estimator that takes strings scikit-learn itself yields almost none. Parameters and
    everything but the reading of ``X`` are ``AlbertClassifier``'s own.
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> OnNumbers:  # noqa: N803
        X, y = validate_data(self, X, y, multi_output=True)
        return super().fit(as_texts(X), y, sample_weight)

    def predict_proba(self, X: Any) -> Any:  # noqa: N803
        check_is_fitted(self)
        return super().predict_proba(as_texts(validate_data(self, X, reset=False)))

    def __repr__(self, N_CHAR_MAX: int = 0) -> str:  # noqa: N803
        return "OnNumbers()"  # names the tests; its parameters hold a temporary folder

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string, tags.input_tags.two_d_array = False, True
        return tags


def as_texts(numbers: Any) -> list[str]:
    rows = (np.clip(np.asarray(numbers, dtype=float), -20, 20) * 4 + 100).astype(int)
    return ["".join(chr(0x4E00 + value) for value in row) for row in rows.tolist()]


REFUSED = {
    "check_sample_weight_equivalence_on_dense_data": "a text of weight 2 counts like two, but "
    "batches are cut otherwise, so the result of stochastic training differs",
}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # random labels
@parametrize_with_checks(
    [OnNumbers(MICRO, epochs=40, peak_lr=5e-3, max_length=16, stride=4, batch_tokens=256)],
    expected_failed_checks=lambda _: REFUSED,
)
def test_scikit_learn_checks(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize(
    "y",
    [
        [["1", "0"], ["0", "1"]],  # a table read as text
        [[1, -1], [-1, 1]],
        [["a", "b"], ["b", "c"]],
        [["a"], ["a", "b"]],
        [[2, 0], [0, 1]],
    ],
)
def test_columns_hold_0_and_1_alone(y: Any) -> None:
    with pytest.raises(DataError, match=r"y: expected .*MultiLabelBinarizer"):
        small().fit(["好", "坏"], y)


@pytest.mark.parametrize("odd", [b"x", np.int64(3), None])
def test_a_text_that_is_no_string_is_named_before_training(odd: object) -> None:
    for estimator in (small(), AlbertEmbedder(init=None)):
        with pytest.raises(DataError, match=r"texts\[1\]: expected a string, found"):
            estimator.fit(["好", odd], [1, 0])
        with pytest.raises(DataError, match=r"texts\[0\]: expected a pair of strings, found"):
            estimator.fit([("好", odd), ("a", "b")], [1, 0])


@pytest.mark.parametrize("texts", [None, (text for text in TEXTS)])
def test_what_is_no_list_is_said(texts: object) -> None:
    with pytest.raises(DataError, match=r"expected a list of texts, found (NoneType|generator)"):
        small().fit(texts, LABELS)


def test_a_folder_with_files_of_another_origin_is_left_alone(
    fitted: AlbertClassifier, tmp_path: Path
) -> None:
    (tmp_path / "README.md").write_text("my project")
    with pytest.raises(ConfigError, match=r"would be replaced \(README\.md\): choose another"):
        fitted.save(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["README.md"]
    fitted.save(tmp_path / "model")
    fitted.save(tmp_path / "model")  # its own may be


def test_a_label_that_no_file_can_hold_is_named() -> None:
    with pytest.raises(DataError, match=r"labels\[1\]: expected a label that UTF-8 can hold"):
        small().fit(["好", "坏"], ["a", "\ud800"])


def test_numbers_of_numpy_are_taken_as_settings(tmp_path: Path) -> None:
    numbers = {"epochs": np.int64(1), "peak_lr": np.float64(1e-3), "random_state": np.int64(3)}
    numbers |= {"max_length": np.int64(16), "stride": np.int64(4)}
    small(**numbers).fit(["好", "坏"], ["a", "b"]).save(tmp_path / "model")
    assert "peak_lr = 0.001" in (tmp_path / "model" / "README.md").read_text()


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"peak_lr": "fast"}, "peak_lr: expected a number, found 'fast'"),
        ({"peak_lr": np.array([1e-3, 1e-4])}, "peak_lr: expected a number, found array"),
        ({"random_state": "x"}, "random_state: expected a whole number.*found 'x'"),
        ({"random_state": 1.5}, "random_state: expected a whole number.*found 1.5"),
    ],
)
def test_settings_of_another_kind_are_named(given: dict[str, Any], problem: str) -> None:
    with pytest.raises(DataError, match=problem):
        small(**given).fit(["好", "坏"], ["a", "b"])


@pytest.mark.parametrize("weight", [float("nan"), float("inf"), -1.0, "much", [1.0, 2.0]])
def test_weights_that_are_no_shares_are_refused(weight: Any) -> None:
    with pytest.raises(DataError, match="sample_weight: expected 2 numbers >= 0"):
        small().fit(["好", "坏"], ["a", "b"], sample_weight=[1.0, weight])


def test_a_fit_that_fails_leaves_the_fitted_estimator_usable() -> None:
    model = small().fit(["好", "坏"], ["a", "b"])
    with pytest.raises(DataError):
        model.fit(["好", " "], ["x", "y"])
    assert set(model.predict(["好", "坏"])) <= {"a", "b"}


@pytest.mark.parametrize("labels", [(0.0, 1.0), ("1.0", "2.0"), ("好评 ", "差评 "), (True, False)])
def test_labels_come_back_as_they_were_given(labels: tuple[Any, Any]) -> None:
    given = [labels[label == "bad"] for label in LABELS]
    model = small(class_weight={labels[0]: 2.0}).fit(TEXTS, given)
    assert sorted(model.classes_.tolist()) == sorted(labels)
    assert set(model.predict(TEXTS).tolist()) <= set(labels)
    scores = [
        cross_val_score(small(random_state=1), TEXTS, given, cv=2, scoring=scoring)
        for scoring in (None, "accuracy")
    ]
    np.testing.assert_array_equal(*scores)
    assert np.isfinite(scores).all()


@pytest.mark.parametrize("weights", [{0: 1.0, 1: 50.0}, {0.0: 1.0, 1.0: 50.0}])
def test_a_weight_is_of_the_label_that_equals_its_own(weights: dict[Any, float]) -> None:
    labels = [label == "bad" for label in LABELS]
    ours = small(class_weight=weights).fit(TEXTS, labels).predict_proba(TEXTS)
    named = small(class_weight={False: 1.0, True: 50.0}).fit(TEXTS, labels).predict_proba(TEXTS)
    np.testing.assert_array_equal(ours, named)


def test_spellings_of_a_label_are_one_class() -> None:
    labels = [f"{1 + (label == 'bad')}" + ".0" * (n % 2) for n, label in enumerate(LABELS)]
    model = small().fit(TEXTS, labels)
    assert model.classes_.tolist() == ["1", "2"]
    assert model.score(TEXTS, labels) == model.score(TEXTS, [label[0] for label in labels])


def test_scores_do_not_depend_on_the_kind_of_labels(fitted: AlbertClassifier) -> None:
    numbers = [int(label == "bad") for label in LABELS]
    words = [*map(str, numbers)]
    of_numbers, of_words = small().fit(TEXTS, numbers), small().fit(TEXTS, words)
    expected = of_numbers.score(TEXTS, numbers)
    assert of_words.score(TEXTS, numbers) == of_numbers.score(TEXTS, words) == expected
    assert of_words.score(TEXTS, pd.Series(numbers, dtype=float)) == expected
    assert of_words.score(TEXTS, [1.5] * len(TEXTS)) == 0  # a class that it has never seen
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        of_words.score(TEXTS, numbers[1:])
    assert not hasattr(fitted, "decision_function")


def test_truths_are_scored_as_0_and_1() -> None:
    numbers = np.array([int(label == "bad") for label in LABELS])
    truths = numbers.astype(bool)
    of_numbers, of_truths = small().fit(TEXTS, numbers), small().fit(TEXTS, truths)
    expected = of_numbers.score(TEXTS, numbers)
    assert of_truths.score(TEXTS, truths) == of_numbers.score(TEXTS, truths) == expected > 0.5
    for given in (numbers, numbers.astype(float), pd.Series(numbers, dtype="Int64")):
        assert of_truths.score(TEXTS, given) == expected


@pytest.mark.parametrize("scoring", ["roc_auc", "average_precision", "accuracy"])
def test_scorers_take_models_of_two_labels(scoring: str) -> None:
    columns = np.array([[label == "good", label == "bad"] for label in LABELS], int)
    model = small().fit(TEXTS, columns)
    found = get_scorer(scoring)(model, TEXTS, columns)
    score = {"roc_auc": roc_auc_score, "average_precision": average_precision_score}.get(scoring)
    assert found == (
        score(columns, model.predict_proba(TEXTS)) if score else model.score(TEXTS, columns)
    )


def test_sparse_columns_are_taken() -> None:
    columns = np.array([[label == "good", label == "bad"] for label in LABELS], int)
    dense, sparse = (small().fit(TEXTS, y) for y in (columns, csr_matrix(columns)))
    np.testing.assert_array_equal(dense.predict_proba(TEXTS), sparse.predict_proba(TEXTS))
    assert sparse.score(TEXTS, csr_matrix(columns)) == dense.score(TEXTS, columns)


@pytest.mark.parametrize(
    ("labels", "problem"),
    [
        ([["good"], ["bad"], ["good"], [None]], r"labels\[3\]: expected a label, found None"),
        ([["good"], ["bad"], ["good"], [""]], r"labels\[3\]: expected a label, found ''"),
        (["good", "bad", "good", "\u3000 "], r"labels\[3\]: expected a label"),
        ([[1, 0], [0, 1], [1, pd.NA], [0, 1]], r"labels\[2\]: expected a label, found <NA>"),
        ((label for label in ["good", "bad"]), "y: expected a list of labels, found generator"),
        ({"good", "bad"}, "y: expected a list of labels, found set"),
    ],
)
def test_labels_that_are_missing_are_named(labels: Any, problem: str) -> None:
    with pytest.raises(DataError, match=problem):
        small().fit(TEXTS[14:18], labels)


def test_labels_of_pandas_that_are_whole_numbers_are_classes() -> None:
    numbers = [int(label == "bad") for label in LABELS]
    expected = small().fit(TEXTS, numbers).predict_proba(TEXTS)
    for labels in (pd.Series(numbers, dtype=object), pd.Series(numbers, dtype="Int64")):
        model = small().fit(TEXTS, labels)
        assert model.classes_.tolist() == [0, 1]
        np.testing.assert_array_equal(model.predict_proba(TEXTS), expected)
    columns = pd.DataFrame({"a": numbers, "b": [1 - n for n in numbers]}, dtype="Int64")
    assert small().fit(TEXTS, columns).predict(TEXTS).shape == (len(TEXTS), 2)


def test_no_labels_and_odd_weights_are_refused_in_a_line() -> None:
    with pytest.raises(DataError, match=f"{len(TEXTS)} texts, but 0 labels"):
        small().fit(TEXTS, [])
    with pytest.raises(DataError, match="class_weight"):
        small(class_weight=np.array([1, 2])).fit(TEXTS, LABELS)


def test_texts_without_a_label_are_not_scored_as_wrong(fitted: AlbertClassifier) -> None:
    with pytest.raises(DataError, match=r"labels\[1\]: expected a label, found nan"):
        fitted.score(TEXTS[:2], ["good", float("nan")])
    with pytest.raises(DataError, match="requires y to be passed"):
        fitted.score(TEXTS[:2], None)


def test_random_numbers_of_the_caller_stay_as_they_are() -> None:
    drawn = []
    for use in (
        lambda: None,
        lambda: small().fit(TEXTS, LABELS),
        lambda: AlbertEmbedder(init=MICRO, max_length=16, stride=4).encode(["好"]),
    ):
        torch.manual_seed(3)
        use()
        drawn.append(torch.rand(1).item())
    assert len(set(drawn)) == 1


def test_fits_in_threads_are_those_of_one_thread() -> None:
    def probabilities(_: int) -> Any:
        return small(random_state=1).fit(TEXTS, LABELS).predict_proba(TEXTS)

    with ThreadPoolExecutor(3) as pool:
        for found in pool.map(probabilities, range(3)):
            np.testing.assert_array_equal(found, probabilities(0))


def test_targets_of_taggers_and_readers_may_be_any_iterable() -> None:
    texts, entities = ["李华去了", "王芳来了"], [[(0, 2, "PER")], np.array([["0", "2", "PER"]])]
    settings: Any = {k: v for k, v in QUICK.items() if k != "epochs"} | {"stride": 4, "epochs": 1}
    assert AlbertTagger(**settings).fit(texts, iter(entities)).types_ == ["PER"]
    with pytest.raises(DataError, match=r"texts\[1\]: expected a list of entities, found nan"):
        AlbertTagger(**settings).fit(texts, [[(0, 2, "PER")], float("nan")])
    reader = AlbertReader(**{**settings, "max_length": 32})
    reader.fit([("谁去了", texts[0]), ("谁来了", texts[1])], iter(["李华", "王芳"]))


def test_labels_of_pairs_are_read_as_those_of_files() -> None:
    pairs = [("怎么退货", "如何办理退货"), ("怎么退货", "什么时候发货"), ("几点开门", "营业时间")]
    model = AlbertEmbedder(init=MICRO, max_length=16, stride=4)
    assert model.score(pairs, ["5", "1", " 4"]) == model.score(pairs, [5, 1, 4])
    names = ["similar", "different", "similar"]
    assert model.score(pairs, ["similar ", *names[1:]]) == model.score(pairs, names)


def test_a_table_may_leave_the_cell_of_no_answer_empty() -> None:
    pairs = [("谁去了杭州?", "李华昨天去了杭州。"), ("谁在北京?", "今天下雨。")] * 4
    quick = {**QUICK, "epochs": 1, "max_length": 32, "stride": 8}
    for empty in (None, float("nan"), pd.NA):
        reader = AlbertReader(**quick, random_state=1).fit(pairs, ["李华", empty] * 4)
        assert 0 <= reader.score(pairs, pd.Series(["李华", empty] * 4, dtype=object)) <= 1

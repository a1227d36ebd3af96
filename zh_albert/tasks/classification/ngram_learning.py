"""Training of n-gram models, with a recipe chosen by cross-validation.

Short texts of many classes are mostly classified better with longer and rarer n-grams, and with
features scaled by their log-ratio between a class and the others (NB-SVM); few texts of two classes
are not (docs/experiments/ngrams.md).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, diags
from sklearn.linear_model import Ridge
from sklearn.svm import LinearSVC

from zh_albert.tasks.classification.ngrams import Counts, NgramClassifier, counted, weighed
from zh_albert.tasks.windows import EncodedText
from zh_albert.training.events import Observer
from zh_albert.training.stages import StageMeter, silent

_ALPHA = 1.0  # L2 penalty of the ridge regression
_MOST = 1 << 17  # n-grams kept if rare ones are used too: 1.5 MB for 15 classes
_FOLDS = 3  # of the cross-validation of recipes
_TRIED_ON = 50_000  # texts at most in cross-validation: bounds the time
_FEW = 32  # texts of a class (docs/experiments/few-texts.md)

_Targets = NDArray[np.int64] | NDArray[np.float32]
_Weighed = tuple[NDArray[np.float32], NDArray[np.float32]]
"""Weights of n-grams for each class, and the offsets of the scores."""
_Fit = Callable[[csr_matrix, _Targets, NDArray[np.float32]], _Weighed]


class Recipe(NamedTuple):
    """Hyperparameters of an n-gram model of classes."""

    orders: int
    """Largest number of tokens in an n-gram."""
    seen_in: int
    """Minimum number of texts with an n-gram; rarer ones are left out, unless all are rarer."""
    c: float
    """C of the SVM; small, because n-grams are many and single ones weak."""
    contrasted: bool
    """Whether each class scales features by their log-ratio (Wang and Manning 2012, NB-SVM)."""


PLAIN = Recipe(orders=3, seen_in=3, c=0.2, contrasted=False)
OF_FEW = PLAIN._replace(seen_in=1)  # most n-grams of few texts occur in one of them
RECIPES = (
    PLAIN,
    Recipe(orders=3, seen_in=3, c=0.2, contrasted=True),
    Recipe(orders=4, seen_in=2, c=0.1, contrasted=True),
    Recipe(orders=4, seen_in=2, c=0.3, contrasted=True),  # for repetitive texts
)


class Learned(NamedTuple):
    """A trained n-gram model; see ``NgramClassifier``."""

    names: NDArray[np.uint32]
    rarity: NDArray[np.float32]
    weights: NDArray[np.float32]
    offsets: NDArray[np.float32]


def are_few(texts: int, classes: int) -> bool:
    """Return whether there are few texts: at most 32 of a class on average."""
    return texts <= _FEW * classes


def fit_ngram_classifier(
    texts: Sequence[EncodedText],
    targets: _Targets,
    weights: NDArray[np.float32],
    *,
    progress: Observer = silent,
) -> NgramClassifier:
    """Train an n-gram model on labelled texts: an SVM for classes, ridge regression for values.

    For classes of single texts the recipe is chosen by cross-validation, unless there are few
    texts, of which the better of several would be chance.

    Args:
        texts: Training texts.
        targets: The number of each text's class, from 0, where every class occurs; or values,
            as floating-point numbers. Shape: (texts,).
        weights: Relative weight of each text. Shape: (texts,).
        progress: Observer of the cross-validation.
    """
    counting = weights > 0
    texts = [text for text, counts in zip(texts, counting, strict=True) if counts]
    highest = targets.max()
    targets, weights = targets[counting], weights[counting] / weights[counting].mean()
    if np.issubdtype(targets.dtype, np.floating):
        counts = counted(texts, PLAIN.orders)
        learned = _learn(counts, targets, weights, PLAIN.seen_in, _values)
        return NgramClassifier(*learned, orders=PLAIN.orders)
    pairs = bool(texts[0].windows[0].second)
    known, targets = np.unique(targets, return_inverse=True)
    if pairs:
        recipe = PLAIN
    elif are_few(len(texts), len(known)):
        recipe = OF_FEW
    else:
        recipe = best_recipe(texts, targets, weights, progress=progress)
    learned = _learn_classes(recipe, counted(texts, recipe.orders), targets, weights)
    classes = int(highest) + 1
    if len(known) < classes:  # the other classes have only texts of weight 0
        shape = (len(learned.names), classes)
        columns, offsets = np.zeros(shape, np.float32), np.full(classes, -1, np.float32)
        columns[:, known], offsets[known] = learned.weights, learned.offsets
        learned = learned._replace(weights=columns, offsets=offsets)
    return NgramClassifier(*learned, orders=recipe.orders)


def best_recipe(
    texts: Sequence[EncodedText],
    targets: _Targets,
    weights: NDArray[np.float32],
    *,
    progress: Observer = silent,
) -> Recipe:
    """Return the recipe with the most right answers in cross-validation.

    It is the plain one, unless another is better by more than a standard error of their difference.
    """
    drawn = np.random.default_rng(0).permutation(len(texts))[:_TRIED_ON]
    chosen, wanted, weight = [texts[i] for i in drawn], targets[drawn], weights[drawn]
    folds = np.arange(len(drawn)) % _FOLDS
    counts = {orders: counted(chosen, orders) for orders in {r.orders for r in RECIPES}}

    def right(recipe: Recipe) -> NDArray[np.bool_]:
        found = np.zeros(len(drawn), bool)
        for fold in range(_FOLDS):
            held = folds == fold
            classes, known = np.unique(wanted[~held], return_inverse=True)
            if len(classes) > 1:
                own = counts[recipe.orders]
                learned = _learn_classes(recipe, _those(own, ~held), known, weight[~held])
                answers = classes[_margins(learned, _those(own, held)).argmax(1)]
                found[held] = answers == wanted[held]
            stage.advance()
        return found

    stage = StageMeter("n-grams are tried", len(RECIPES) * _FOLDS, progress)
    of_plain, best, furthest = right(RECIPES[0]), RECIPES[0], 0.0
    for recipe in RECIPES[1:]:
        ahead = weight * (right(recipe).astype(np.float32) - of_plain)
        if ahead.sum() > max(furthest, float(np.sqrt((ahead**2).sum()))):
            best, furthest = recipe, float(ahead.sum())
    return best


def _those(counts: Sequence[Counts], chosen: NDArray[np.bool_]) -> list[Counts]:
    return [own for own, wanted in zip(counts, chosen, strict=True) if wanted]


def _rows(
    counts: Sequence[Counts], names: NDArray[np.uint32], rarity: NDArray[np.float32]
) -> csr_matrix:
    bags = weighed(counts, names, rarity)
    return csr_matrix((bags.values, bags.columns, bags.ends), shape=(len(counts), len(names)))


def _margins(learned: Learned, counts: Sequence[Counts]) -> NDArray[np.float32]:
    rows = _rows(counts, learned.names, learned.rarity)
    return np.asarray(rows @ learned.weights + learned.offsets, np.float32)


def _learn(
    counts: Sequence[Counts],
    targets: _Targets,
    weights: NDArray[np.float32],
    seen_in: int,
    fit: _Fit,
    most: int | None = None,
) -> Learned:
    """Train the weights of n-grams; if there are more than ``most``, select n-grams first."""
    names, seen = np.unique(np.concatenate([own.hashes for own in counts]), return_counts=True)
    kept = seen >= min(seen_in, seen.max())
    while True:
        names, seen = names[kept], seen[kept]
        rarity = (np.log((1 + len(counts)) / (1 + seen)) + 1).astype(np.float32)
        learned, offsets = fit(_rows(counts, names, rarity), targets, weights)
        if most is None or len(names) <= most:
            return Learned(names, rarity, learned, offsets)
        # Total change that each n-gram causes in the margins of all texts.
        moved = np.einsum("gc,gc->g", learned, learned) * seen
        kept = np.sort(np.argsort(-moved, kind="stable")[:most])


def _learn_classes(
    recipe: Recipe,
    counts: Sequence[Counts],
    targets: _Targets,
    weights: NDArray[np.float32],
) -> Learned:
    def fit(rows: csr_matrix, targets: _Targets, weights: NDArray[np.float32]) -> _Weighed:
        svm = LinearSVC(C=recipe.c, random_state=0)
        return (_contrasted if recipe.contrasted else _plain)(svm, rows, targets, weights)

    most = _MOST if recipe.seen_in < PLAIN.seen_in else None
    return _learn(counts, targets, weights, recipe.seen_in, fit, most)


def _values(rows: csr_matrix, targets: _Targets, weights: NDArray[np.float32]) -> _Weighed:
    ridge = Ridge(alpha=_ALPHA).fit(rows, targets, sample_weight=weights)
    return ridge.coef_[:, None].astype(np.float32), np.array([ridge.intercept_], np.float32)


def _plain(
    svm: LinearSVC, rows: csr_matrix, targets: _Targets, weights: NDArray[np.float32]
) -> _Weighed:
    svm.fit(rows, targets, sample_weight=weights)
    return _of_each_class(svm.coef_.T.astype(np.float32), svm.intercept_.astype(np.float32))


def _contrasted(
    svm: LinearSVC, rows: csr_matrix, targets: _Targets, weights: NDArray[np.float32]
) -> _Weighed:
    """Train one-vs-rest classifiers, each with features scaled for its class."""
    there = rows.copy()
    there.data = np.ones_like(there.data)
    total = there.T @ weights
    classes = int(targets.max()) + 1
    several = [1] if classes == 2 else range(classes)  # two classes have one margin
    learned = np.zeros((rows.shape[1], len(several)), np.float32)
    offsets = np.zeros(len(several), np.float32)
    for column, number in enumerate(several):
        own = targets == number
        has = there.T @ (weights * own)
        inside, outside = 1 + has, 1 + total - has  # add-one smoothing
        ratio = np.log(inside / inside.sum()) - np.log(outside / outside.sum())
        svm.fit(rows @ diags(ratio), own, sample_weight=weights)
        learned[:, column], offsets[column] = ratio * svm.coef_[0], svm.intercept_[0]
    return _of_each_class(learned, offsets)


def _of_each_class(learned: NDArray[np.float32], offsets: NDArray[np.float32]) -> _Weighed:
    """Return a column for each class, also for two classes with one margin."""
    if learned.shape[1] > 1:
        return learned, offsets
    half, offset = learned / np.float32(2), offsets / np.float32(2)
    return np.hstack([-half, half]), np.hstack([-offset, offset])

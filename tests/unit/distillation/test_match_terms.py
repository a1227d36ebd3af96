"""Match terms: which layers are compared, and what is refused."""

from __future__ import annotations

from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zh_albert.configio import build
from zh_albert.distillation.match_terms import LOSSES, LayerMap, MatchTerm, What, layer_pairs
from zh_albert.errors import ConfigError
from zh_albert.tasks.classification.finetune import FinetuneConfig


@pytest.mark.parametrize(
    ("layers", "student", "teacher", "matched"),
    [
        # Sun et al. 2019, section 3.1: without the top layer.
        ("skip", 6, 12, [2, 4, 6, 8, 10]),
        ("last", 6, 12, [7, 8, 9, 10, 11]),
        ("skip", 3, 12, [4, 8]),
        ("last", 3, 12, [10, 11]),
        ("skip", 6, 24, [4, 8, 12, 16, 20]),
        ("last", 6, 24, [19, 20, 21, 22, 23]),
        # Jiao et al. 2020, section 4.1: g(m) = 3m, up to the top.
        ("even", 4, 12, [3, 6, 9, 12]),
        ("first", 3, 12, [1, 2, 3]),
    ],
)
def test_layers_are_those_of_the_papers(
    layers: LayerMap, student: int, teacher: int, matched: list[int]
) -> None:
    assert layer_pairs(layers, student, teacher) == tuple(enumerate(matched, start=1))


def test_the_top_layers_and_pairs_of_ones_own() -> None:
    assert layer_pairs("top", 3, 12) == ((3, 12),)
    assert layer_pairs([(2, 4), (3, 12)], 3, 12) == ((2, 4), (3, 12))


@given(st.sampled_from(get_args(LayerMap)), st.integers(2, 24), st.integers(0, 24), st.booleans())
def test_pairs_are_layers_of_both_in_their_order(
    layers: LayerMap, student: int, more: int, last: bool
) -> None:
    teacher = student + more
    pairs = layer_pairs("last" if last else layers, student, teacher)
    assert all(1 <= own <= student and 1 <= other <= teacher for own, other in pairs)
    for one in zip(*pairs, strict=True):
        assert list(one) == sorted(set(one))


@pytest.mark.parametrize("what", ["embeddings", "masked_lm", "weights"])
def test_what_has_no_layers_is_compared_once(what: What) -> None:
    assert MatchTerm(what=what, layers="skip").pairs(1, 12) == ((0, 0),)


@pytest.mark.parametrize(
    ("layers", "student", "teacher", "problem"),
    [
        ("even", 4, 3, "at least as many layers; it has 3, the student 4"),
        ("skip", 1, 12, "leaves out the top layer"),
        ("last", 1, 12, "take 'even' or 'top'"),
        ([(0, 1)], 3, 12, r"from 1 to 3 of the student .* found \[0, 1\]"),
        ([(1, 13)], 3, 12, r"from 1 to 12 of the teacher, found \[1, 13\]"),
        ([], 3, 12, "at least one pair of layers, found none"),
    ],
)
def test_bad_maps_are_refused_in_a_line(
    layers: Any, student: int, teacher: int, problem: str
) -> None:
    with pytest.raises(ConfigError, match=problem) as refused:
        layer_pairs(layers, student, teacher)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("term", "problem"),
    [
        ({"what": "state"}, "'state'.*"),
        ({"what": "states", "loss": "kl"}, "states can be compared by unexplained, mse, cosine"),
        ({"what": "states", "layers": "every"}, "match.*layers"),
        ({"what": "states", "weight": -1}, "match.weight must be at least 0, got -1"),
        ({"what": "states", "end_weight": float("nan")}, "match.end_weight"),
        ({"what": "masked_lm", "temperature": 0}, "match.temperature must be above 0"),
        ({"what": "attention", "projection": True}, "match.projection is for vectors"),
        ({"what": "states", "heads": 2}, "match.heads is for relations, not for states; leave it"),
        (
            {"what": "first", "temperature": 2.0},
            "match.temperature is for masked_lm, not for first",
        ),
        ({"what": "states", "direction": "down"}, "match.direction is for weights, not for states"),
        ({"what": "weights", "projection": True}, "match.projection is for vectors, not for weigh"),
        ({"what": "weights", "direction": "sideways"}, "expected 'up' or 'down', found 'sideways'"),
        ({"what": "weights", "loss": "mse"}, "weights can be compared by unexplained, found 'mse'"),
        ({"what": "relations", "heads": 0}, "match.heads must be at least 1, got 0"),
        ({"what": "states", "layer": "even"}, r"'match\[0\]\.layer'; did you mean"),
    ],
)
def test_bad_terms_are_refused_in_a_line(term: dict[str, Any], problem: str) -> None:
    with pytest.raises(ConfigError, match=problem) as refused:
        build(FinetuneConfig, {"teacher": {"model": "t"}, "match": [term]})
    assert "\n" not in str(refused.value)


def test_a_term_without_a_loss_has_the_first_possible() -> None:
    assert {what: MatchTerm(what=what).loss for what in LOSSES} == {
        what: losses[0] for what, losses in LOSSES.items()
    }


def test_a_weight_stays_or_changes_linearly() -> None:
    assert MatchTerm(what="states", weight=3.0).weight_at(0.7) == 3
    annealed = MatchTerm(what="states", weight=4.0, end_weight=0.0)
    assert [annealed.weight_at(share) for share in (0, 0.25, 1)] == [4, 3, 0]

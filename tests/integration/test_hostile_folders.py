"""Model folders made to hang, to fill the memory or to answer NaN: each ends in one line."""

from __future__ import annotations

import pytest

from tests.helpers.ended_commands import HONEST, End, ends, problem
from tests.helpers.hostile_folders import CASES


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> dict[str, End]:
    return ends(tmp_path_factory.mktemp("hostile"), CASES)


def test_the_folder_they_were_made_from_answers(ended: dict[str, End]) -> None:
    assert ended[HONEST].code == 0, ended[HONEST]


@pytest.mark.parametrize("name", CASES)
def test_a_hostile_folder_ends_in_one_line(name: str, ended: dict[str, End]) -> None:
    assert problem(CASES[name], ended[name], ended[HONEST]) is None

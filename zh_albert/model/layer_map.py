"""Layer maps: correspondence between the layers of a student and those of its teacher."""

from __future__ import annotations


def layer_map(student_layers: int, teacher_top: int) -> tuple[tuple[int, int], ...]:
    """Map each layer of a student to one of its teacher, evenly; counted from 1.

    >>> layer_map(4, 12)
    ((1, 3), (2, 6), (3, 9), (4, 12))
    """
    return tuple(
        (layer, max(1, round(layer * teacher_top / student_layers)))
        for layer in range(1, student_layers + 1)
    )

"""The encoders of the page's models, each opened when it is first needed."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from pathlib import Path

from zh_albert.inference.introspection import EncoderView


class EncoderCache:
    """Open encoders, by the names of their models.

    Attributes:
        names: The models' names, in the page's order.

    Args:
        folders: The models' folders, by name.
    """

    def __init__(self, folders: Mapping[str, Path]) -> None:
        self.names = list(folders)
        self._folders = folders
        self._open: dict[str, EncoderView] = {}
        self._untrained: EncoderView | None = None
        self._opening = threading.RLock()  # several threads ask

    def __getitem__(self, name: str) -> EncoderView:
        """Return a model's encoder.

        Raises:
            CheckpointError: If its folder is damaged.
        """
        with self._opening:
            if name not in self._open:
                self._open[name] = EncoderView.load(self._folders[name])
            return self._open[name]

    def untrained(self) -> EncoderView:
        """Return an encoder of the first model's size with random weights, and no shared ones."""
        with self._opening:
            if self._untrained is None:
                self._untrained = EncoderView.untrained(self[self.names[0]])
            return self._untrained

"""Shares as a PNG picture in a ``data:`` address: no file, no request."""

from __future__ import annotations

import base64
import io

import numpy as np
from numpy.typing import NDArray
from PIL import Image

_LEVELS = 16
_COLOUR = (38, 152, 138)  # visible on light paper and on dark
_OPACITIES = bytes(round(255 * level / (_LEVELS - 1)) for level in range(_LEVELS))


def shares_png(shares: NDArray[np.float32]) -> str:
    """Return the address of a picture with a pixel for each share, clear at 0 and full at 1.

    Small shares are made visible: the colour grows with the square root.

    Args:
        shares: From 0 to 1. Shape: (height, width).
    """
    levels = np.rint(np.sqrt(shares.clip(0, 1)) * (_LEVELS - 1)).astype(np.uint8)
    image = Image.fromarray(levels).convert("P")
    image.putpalette(_COLOUR * _LEVELS)
    file = io.BytesIO()
    image.save(file, "PNG", transparency=_OPACITIES)
    return "data:image/png;base64," + base64.b64encode(file.getvalue()).decode()

"""The table of the rows that ``tests.interop.rows`` measured in several environments.

Run: python -m tests.interop.table FILE …

It ends with 1 if a difference is larger than allowed.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

_ALLOWED = 1e-5


def main() -> None:
    """Print one table of all files."""
    texts = [Path(name).read_text(encoding="utf-8") for name in sys.argv[1:]]
    rows = [json.loads(line) for text in texts for line in text.splitlines()]
    directions = list(dict.fromkeys(row["direction"] for row in rows))
    table: dict[tuple[str, str], dict[str, float]] = {}
    for row in rows:
        table.setdefault((row["system"], row["head"]), {})[row["direction"]] = row["largest"]
    print(f"| system | head | {' | '.join(directions)} |")
    print(f"| --- | --- |{' ---: |' * len(directions)}")
    for (system, head), found in table.items():
        cells = [f"{found[name]:.1e}" if name in found else "–" for name in directions]
        print(f"| {system} | {head} | {' | '.join(cells)} |")
    worst = max(row["largest"] for row in rows)
    print(f"\nlargest difference: {worst:.1e}, allowed: {_ALLOWED:g}")
    sys.exit(not worst <= _ALLOWED)  # so that nan fails, too


if __name__ == "__main__":
    main()

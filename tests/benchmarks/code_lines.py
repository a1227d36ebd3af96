"""How much code there is: lines of each package, without comments, docstrings and blank lines.

Run: python tests/benchmarks/code_lines.py CHECKOUT … --json
A line counts if a part of a statement stands on it. Strings that are statements of their own are
documentation: docstrings, and what stands below a field or a constant. A row is a package of
``zh_albert`` with all below it, the modules beside its packages, or the demo page (``apps``); the
corpus tools have a total of their own. Of several checkouts each has a column, and the last column
says what the last one has more than the first.
"""

from __future__ import annotations

import argparse
import ast
import io
import json
import tokenize
from collections import Counter
from pathlib import Path

LIBRARY = ("zh_albert", "apps")
TOOLS = ("corpora_tools",)
LAYOUT = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}


def code_lines(source: str) -> int:
    """Return how many lines of a module hold code.

    >>> code_lines('def double(x):\\n    "Twice."\\n\\n    # so it is\\n    return (x\\n + x)')
    3
    """
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in LAYOUT:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Expr(value=ast.Constant(value=str()), lineno=first, end_lineno=int(last)):
                lines.difference_update(range(first, last + 1))
    return len(lines)


def package_lines(checkout: Path, folders: tuple[str, ...]) -> Counter[str]:
    """Return code lines by package; modules beside packages count for the folder they stand in."""
    counts: Counter[str] = Counter()
    for folder in folders:
        for path in sorted((checkout / folder).rglob("*.py")):
            parts = path.relative_to(checkout).parts
            package = ".".join(parts[:2]) if folder == "zh_albert" and len(parts) > 2 else folder
            counts[package] += code_lines(path.read_text(encoding="utf-8"))
    return counts


def table(checkouts: list[Path]) -> dict[str, list[int]]:
    """Return rows of a number for each checkout: packages, then totals."""
    library = [package_lines(checkout, LIBRARY) for checkout in checkouts]
    tools = [package_lines(checkout, TOOLS) for checkout in checkouts]
    rows = {name: [counts[name] for counts in library] for name in sorted(set().union(*library))}
    rows["zh_albert and apps"] = [counts.total() for counts in library]
    rows["corpora_tools"] = [counts.total() for counts in tools]
    rows["all"] = [a.total() + b.total() for a, b in zip(library, tools, strict=True)]
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkouts", nargs="+", type=Path, metavar="CHECKOUT")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    for checkout in options.checkouts:
        if not (checkout / "zh_albert").is_dir():
            raise SystemExit(f"error: {checkout}: expected a checkout with a folder zh_albert")
    rows = table(options.checkouts)
    if options.json:
        print(json.dumps(rows))
        return
    for name, lines in rows.items():
        more = f"{lines[-1] - lines[0]:>+9,}" if len(lines) > 1 else ""
        print(f"{name:<28}" + "".join(f"{count:>9,}" for count in lines) + more)


if __name__ == "__main__":
    main()

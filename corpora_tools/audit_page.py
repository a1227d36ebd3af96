"""The audit as text, and as a self-contained HTML page."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any

_STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: .25rem .75rem .25rem 0; border-bottom: 1px solid #8884; }
td.number { text-align: right; font-variant-numeric: tabular-nums; }
.ok { color: #1a7f37; } .bad { color: #cf222e; font-weight: bold; }
figure { margin: 1.5rem 0; } figcaption { font-weight: 600; }
svg { width: 100%; height: auto; max-width: 40rem; }
svg text { font-size: 11px; fill: currentColor; }
p.example { line-height: 2.1; overflow-wrap: anywhere; }
mark { background: #ffd33d66; color: inherit; padding: 0 .15rem; border-radius: .2rem; }
mark small { opacity: .75; } b.special { opacity: .55; font-weight: 400; font-size: .8em; }
"""


def audit_text(result: dict[str, Any]) -> str:
    """Return the audit for a terminal."""
    lines = [f"{result['shards']}: {_corpus(result)}", f"{_drawn(result)}", ""]
    for check in result["checks"]:
        mark = "ok  " if check["ok"] else "BAD "
        found = f"{_number(check['found'])}, expected {_number(check['expected'])}"
        lines.append(f"{mark} {check['name']}: {found}")
    ngrams = result["ngrams"]
    lines += [
        "",
        "n-grams of words, n = 1, 2, …: share of those masked "
        f"{_list(ngrams['masked'])}, of all cut {_list(ngrams['cut'])}, "
        f"1/n would be {_list(ngrams['proportional_to_1_n'])}",
        "masked words that were chosen one by one to fill the budget: "
        f"{ngrams['single_words_to_fill_the_budget']:.2%}",
        f"tokens in a masked word, 1, 2, …: {_list(result['masked_word_lengths'][:6])}",
        f"pairs {result['order']['pairs']:.2%} of instances; the others train masked words only",
        f"instances of {result['lengths']['mean']:.1f} tokens on average, padding "
        f"{result['epoch']['padding']:.2%}",
        "",
    ]
    for example in result["examples"]:
        lines.append(f"[{example['order']}] {''.join(map(_token_text, example['tokens']))}")
    lines += ["", "every check holds" if result["passed"] else "SOME CHECKS FAIL"]
    return "\n".join(lines)


def audit_page(result: dict[str, Any]) -> str:
    """Return the audit as an HTML page with plots."""
    ngrams, lengths = result["ngrams"], result["lengths"]
    steps = [str(index * lengths["step"]) for index in range(len(lengths["counts"]))]
    verdict = "Every check holds" if result["passed"] else "Some checks fail"
    replacement = result["replacement"]
    plots = [
        _bars("Tokens in an instance", steps, {"instances": lengths["counts"]}),
        _bars(
            "Words masked together (n-grams), share",
            [str(n + 1) for n in range(len(ngrams["proportional_to_1_n"]))],
            {
                "masked": ngrams["masked"],
                "cut": ngrams["cut"],
                "1/n": ngrams["proportional_to_1_n"],
            },
        ),
        _bars(
            "Tokens in a word, share",
            [str(n + 1) for n in range(8)],
            {"masked": result["masked_word_lengths"][:8], "all": result["word_lengths"][:8]},
        ),
        _bars(
            "In place of a chosen word, share",
            ["[MASK]", "random", "itself"],
            {"words": [replacement[name] for name in ("mask", "random", "same")]},
        ),
        _bars(
            "Sentence order, share of pairs",
            ["in order", "swapped"],
            {"pairs": [1 - result["order"]["swapped"], result["order"]["swapped"]]},
        ),
    ]
    rows = "\n".join(
        f"<tr><td class={'ok' if check['ok'] else 'bad'}>{'✓' if check['ok'] else '✗'}</td>"
        f"<td>{html.escape(check['name'])}</td><td class=number>{_number(check['found'])}</td>"
        f"<td class=number>{_number(check['expected'])}</td></tr>"
        for check in result["checks"]
    )
    examples = "\n".join(
        f"<h3>{example['order']}{', aimed short' if example['aimed_short'] else ''}</h3>\n"
        f"<p class=example lang=zh>{' '.join(map(_token_html, example['tokens']))}</p>"
        for example in result["examples"]
    )
    return f"""<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Audit of {html.escape(result["shards"])}</title><style>{_STYLE}</style></head>
<body>
<h1>Pretraining instances: audit</h1>
<p>{html.escape(_corpus(result))}<br>{html.escape(_drawn(result))}</p>
<h2 class={"ok" if result["passed"] else "bad"}>{verdict}</h2>
<table><tr><th></th><th>check</th><th>found</th><th>expected</th></tr>
{rows}
</table>
<h2>Distributions</h2>
{"".join(plots)}
<h2>Examples to read</h2>
<p>Marked: what the model reads, and <small>(small)</small> what it has to say.</p>
{examples}
</body>
</html>
"""


def _bars(title: str, names: Sequence[str], series: dict[str, Sequence[float]]) -> str:
    """Draw bars as an SVG figure; one colour for each series, values above the bars."""
    width, height, left, bottom, top = 640, 220, 8, 40, 24
    peak = max([value for values in series.values() for value in values] or [1]) or 1
    slot = (width - left) / max(len(names), 1)
    bar = min(slot * 0.8 / len(series), 48)
    colours = ["#4c78a8", "#f58518", "#54a24b"]
    shapes: list[str] = []
    for index, (name, values) in enumerate(series.items()):
        colour = colours[index % len(colours)]
        for place, value in enumerate(values[: len(names)]):
            x = left + slot * (place + 0.5) + bar * (index - len(series) / 2)
            tall = (height - bottom - top) * value / peak
            y = height - bottom - tall
            shapes.append(
                f'<rect x="{x:.1f}" y="{y:.1f}" width="{bar:.1f}" height="{tall:.1f}" '
                f'fill="{colour}"><title>{name}: {_number(value)}</title></rect>'
            )
            if len(names) * len(series) <= 24:
                shapes.append(
                    f'<text x="{x + bar / 2:.1f}" y="{y - 4:.1f}" text-anchor="middle">'
                    f"{_short(value)}</text>"
                )
        shapes.append(
            f'<rect x="{left + 110 * index}" y="{height - 14}" width="10" height="10" '
            f'fill="{colour}"/><text x="{left + 14 + 110 * index}" y="{height - 5}">'
            f"{html.escape(name)}</text>"
        )
    shapes += [
        f'<text x="{left + slot * (place + 0.5):.1f}" y="{height - bottom + 14}" '
        f'text-anchor="middle">{html.escape(name)}</text>'
        for place, name in enumerate(names)
    ]
    return (
        f"<figure><figcaption>{html.escape(title)}</figcaption>"
        f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="{html.escape(title)}">'
        f"{''.join(shapes)}</svg></figure>"
    )


def _corpus(result: dict[str, Any]) -> str:
    corpus = result["corpus"]
    return (
        f"{corpus['documents']:,} documents, {corpus['sentences']:,} sentences, "
        f"{corpus['words']:,} words, {corpus['tokens']:,} tokens of {corpus['characters']:,} "
        f"characters; unknown {corpus['unknown_rate']:.4%}; checksums hold"
    )


def _drawn(result: dict[str, Any]) -> str:
    settings = result["settings"]
    return (
        f"{result['instances']:,} of {result['epoch']['instances']:,} instances of epoch "
        f"{settings['epoch']}, seed {settings['seed']}, length {settings['length']}, rate "
        f"{settings['rate']}"
    )


def _token_text(token: dict[str, str]) -> str:
    if "label" in token:
        return f"⟨{token['read']}→{token['label']}⟩"
    return token["read"] if len(token["read"]) == 1 else f" {token['read']} "


def _token_html(token: dict[str, str]) -> str:
    read = html.escape(token["read"])
    if "label" in token:
        return f"<mark>{read} <small>({html.escape(token['label'])})</small></mark>"
    return f"<b class=special>{read}</b>" if read in ("[CLS]", "[SEP]") else read


def _number(value: float) -> str:
    if isinstance(value, int) or float(value).is_integer():
        return f"{int(value):,}"
    return f"{value:.4f}"


def _short(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:.3f}"


def _list(values: Sequence[float]) -> str:
    return "/".join(f"{value:.3f}" for value in values)

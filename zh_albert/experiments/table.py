"""Markdown table of a comparison, with what its numbers mean below it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from zh_albert.experiments.comparison import Comparison, Judgement
from zh_albert.experiments.statistics import Summary, Test, Verdict


@dataclass(frozen=True, kw_only=True)
class Words:
    """Texts of a table in one language."""

    arm: str
    difference: str  # of the score to {arms}
    other: str  # where arms are compared with several
    against: str  # {arm}
    smallest_visible: str
    published: str
    verdict: str
    verdicts: Mapping[Verdict, str]
    directions: Mapping[str, str]  # what a source has found
    runs: str  # {done} of {planned} of {arm}
    failed: str
    mean: str  # note, with {seeds}
    tests: Mapping[Test, str]  # note
    judged: str  # note, with {number} of differences
    space: str  # between two sentences


ENGLISH = Words(
    arm="arm",
    difference="difference to {arms} [95 %]",
    other="another arm",
    against="to {arm}",
    smallest_visible="smallest visible",
    published="published",
    verdict="verdict",
    verdicts={
        "shown": "shown",
        "contradicted": "contradicted",
        "higher": "higher",
        "lower": "lower",
        "not resolved": "not resolved",
    },
    directions={"higher": "higher", "lower": "lower"},
    runs="{arm} ({done} of {planned} runs)",
    failed="{arm}, seed {seed} failed: {error}",
    mean="Mean ± standard deviation over the seeds {seeds}.",
    tests={
        "seeds": "Differences are paired by seed; their 95 % intervals, by Student's t, are for "
        "other seeds on the same dev set.",
        "seeds and examples": "Differences are paired by seed and example; their 95 % intervals, "
        "by Student's t with a quantile each for the parts of seeds and examples, are for other "
        "seeds and other examples.",
    },
    judged="Smallest visible: half of that interval, the smallest effect that could have been "
    "seen. Of several differences, each one's spread over the seeds is drawn towards what is usual "
    "among them (Smyth 2004). Verdicts: at 5 %, two-sided, corrected by Benjamini and Hochberg's "
    "method for {number} differences; the intervals are not corrected.",
    space=" ",
)
CHINESE = Words(
    arm="方法",
    difference="与 {arms} 的差值 [95%]",
    other="其他方法",
    against="（与 {arm} 相比）",
    smallest_visible="最小可辨差值",
    published="文献结果",
    verdict="结论",
    verdicts={
        "shown": "得到证实",
        "contradicted": "结果相反",
        "higher": "更高",
        "lower": "更低",
        "not resolved": "无法分辨",
    },
    directions={"higher": "更高", "lower": "更低"},
    runs="{arm}（完成 {done}/{planned} 次）",
    failed="{arm}，种子 {seed} 失败：{error}",
    mean="均值 ± 标准差，随机种子为 {seeds}。",
    tests={
        "seeds": "差值按种子配对；95% 置信区间用 t 分布计算，针对同一开发集上的其他种子。",
        "seeds and examples": "差值按种子和样本配对；95% 置信区间用 t 分布计算"
        "（种子与样本两部分各用其分位数），针对其他种子和其他样本。",
    },
    judged="最小可辨差值是该区间宽度的一半，即可能被发现的最小效应。有多个差值时，种子间的方差会向"
    "全表的常见水平收缩（Smyth 2004）。结论采用 5% 双侧检验，并用 Benjamini–Hochberg 方法对 "
    "{number} 个差值作多重比较校正；区间未作校正。",
    space="",
)


def markdown_table(
    comparison: Comparison, *, headings: Mapping[str, str] | None = None, words: Words = ENGLISH
) -> str:
    """Write a row for each arm, the failed runs, and what the numbers mean.

    Args:
        comparison: The results.
        headings: Metrics to show and their headings, in this order; by default all metrics by
            their names. The difference and its verdict are of the score in any case.
        words: Language.

    Returns:
        Lines of Markdown, with a line break at the end.
    """
    headings = headings or {metric: metric for metric in comparison.metrics}
    judged = comparison.judgements()
    published = any(arm.published or arm.expected for arm in comparison.arms)
    references = {one.against for one in judged.values()}
    several = len(references) > 1
    compared = words.other if several else "".join(references)
    head = [words.arm, *headings.values()]
    head += [words.difference.format(arms=compared), words.smallest_visible] if judged else []
    head += [words.published] if published else []
    head += [words.verdict] if judged else []
    rows = []
    for arm in comparison.arms:
        done, planned = len(comparison.outcomes[arm.name]), len(comparison.seeds)
        runs = words.runs.format(arm=arm.name, done=done, planned=planned)
        row = [arm.name if done == planned else runs]
        row += [_with_spread(comparison.summary(arm.name, metric)) for metric in headings]
        judgement = judged.get(arm.name)
        row += _difference(judgement, words if several else None) if judged else []
        said = [words.directions.get(arm.expected or ""), arm.published]
        row += [", ".join(text for text in said if text)] if published else []
        if judged:
            row.append(words.verdicts[judgement.verdict] if judgement else "")
        rows.append(row)
    align = [":--", *("--:" for _ in headings)]
    align += ["--:"] * 2 * bool(judged) + [":--"] * (published + bool(judged))
    lines = [_line(head), _line(align), *map(_line, rows)]
    lines += [""] + [
        "- " + _cell(words.failed.format(arm=name, seed=seed, error=error))
        for name, failed in comparison.failures.items()
        for seed, error in failed.items()
    ]
    if lines[-1]:
        lines.append("")
    notes = [words.mean.format(seeds=", ".join(map(str, comparison.seeds)))]
    tests = dict.fromkeys(one.difference.test for one in judged.values())
    notes += [words.tests[test] for test in tests]
    notes += [words.judged.format(number=len(judged))] if judged else []
    return "\n".join([*lines, words.space.join(notes)]) + "\n"


def _difference(judgement: Judgement | None, naming: Words | None) -> list[str]:
    """Return the cells of the difference, perhaps naming the other arm, and of the smallest one."""
    if judgement is None:
        return ["", ""]
    found = judgement.difference
    if math.isnan(found.mean):
        return ["–", "–"]
    to = f" {naming.against.format(arm=judgement.against)}" if naming else ""
    if math.isnan(found.smallest_visible):
        return [_number(found.mean, math.nan, sign="+") + to, "–"]
    shown = [_number(x, found.smallest_visible, sign="+") for x in (found.mean, *found.interval)]
    smallest = _number(found.smallest_visible, found.smallest_visible)
    return [f"{shown[0]} [{shown[1]}, {shown[2]}]{to}", smallest]


def _with_spread(found: Summary) -> str:
    if not found.runs:
        return "–"
    if not found.sd > 1e-6 * abs(found.mean):  # one run, or the same number in all
        return _number(found.mean, math.nan)
    return f"{_number(found.mean, found.sd)} ± {_number(found.sd, found.sd)}"


def _number(value: float, spread: float, *, sign: str = "") -> str:
    """Write a number to two digits of its spread, or to four of its own if that is NaN."""
    if spread > 0:
        decimals = 1 - math.floor(math.log10(spread))
    else:
        decimals = 3 - math.floor(math.log10(abs(value))) if value else 0
        decimals = 0 if value == round(value) else decimals
    return f"{value:{sign},.{min(max(decimals, 0), 9)}f}".replace("-", "−")


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(map(_cell, cells))} |"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")

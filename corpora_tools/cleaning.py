"""Rules for paragraphs and documents: each keeps them, or drops them with a named reason.

A paragraph is a line. The rules are tried in the order of ``RULES``; the first that drops the
paragraph gives the reason, and reasons are counted.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from datatrove.data import Document
from datatrove.pipeline.filters.base_filter import BaseFilter

from corpora_tools.normalization import Simplify, normalize, simplify
from zh_albert.errors import ConfigError
from zh_albert.tokenization.characters import CHINESE

_CHINESE_RUN = re.compile(f"[{CHINESE}]+")
_UNCOUNTED = re.compile(r"[\s，。！？；：、“”‘’「」『』（）《》〈〉【】…—·～]+")
_KANA_OR_HANGUL = re.compile("[\u3041-\u3096\u30a1-\u30fa\uac00-\ud7a3\u1100-\u11ff]")
_OTHER_LANGUAGE = 0.1  # fraction of kana and Hangul above which a text is not Chinese

_EMAIL = re.compile(r"[A-Za-z0-9._%+-]{1,64}(?:@|\(at\)|\[at\])[A-Za-z0-9-]{1,63}\.[A-Za-z]{2,}")
_DIGITS = re.compile("[0-9]{4}")
_PHONE = re.compile(
    r"(?<!\d)(?:(?:\+?86[- ]?)?1[3-9]\d[- ]?\d{4}[- ]?\d{4}"  # mobile
    r"|0\d{2,3}[- ]\d{7,8}|\(0\d{2,3}\) ?\d{7,8}"  # landline, with area code
    r"|[48]00[- ]?\d{3}[- ]?\d{4})(?!\d)"  # service
)
_IDENTITY = re.compile(
    r"(?<!\d)[1-9]\d{5}(?:19|20)\d{2}[01]\d[0-3]\d{4}[\dXx](?![\dA-Za-z])", re.ASCII
)
_IDENTITY_WEIGHTS = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
_ACCOUNTS = ("微信", "QQ", "qq", "Qq", "扣扣", "企鹅", "薇信", "威信", "hat", "VX", "vx", "Vx")
_ACCOUNT = re.compile(
    r"(?:[Qq]{2}|扣扣|企鹅)(?:号码?|群号?|：|:|为|是|联系|\s){1,4}\d{5,12}(?!\d)"
    r"|(?:微信|薇信|威信|[Ww]e[Cc]hat|(?<![A-Za-z])[Vv][Xx])(?:号|公众号|：|:|为|是|\s){1,4}"
    r"[A-Za-z][A-Za-z0-9_-]{4,19}|(?:加|添加)(?:我)?(?:微信|薇信|[Vv][Xx]|[Qq]{2})"
)
_BOILERPLATE = (
    "版权所有", "版权声明", "著作权归", "未经授权", "未经许可", "转载请注明", "请注明出处",
    "禁止转载", "侵权必究", "侵删", "责任编辑", "责编：", "文章来源：", "图片来源", "原标题：",
    "点击查看", "点击阅读", "点击下载", "点击这里", "点击上方", "阅读原文", "阅读全文", "查看更多",
    "展开全文", "扫码", "扫描二维码", "长按识别", "长按二维码", "关注公众号", "关注我们",
    "微信公众号", "微信扫一扫", "分享到", "分享至", "一键三连", "点赞关注", "上一篇：", "下一篇：",
    "返回首页", "返回顶部", "返回列表", "网站地图", "友情链接", "联系我们", "关于我们", "免责声明",
    "用户协议", "隐私政策", "登录后", "请登录", "立即注册", "免费注册", "免费试听", "在线客服",
    "客服热线", "立即购买", "加入购物车", "优惠券", "包邮", "备案号", "ICP备", "ICP证", "公网安备",
    "Copyright ©", "All Rights Reserved", "Powered by", "您的浏览器", "启用JavaScript",
    "启用 JavaScript",
)  # fmt: skip
_REPEAT_STEP = 8  # characters of the pieces that are compared for repetition


@dataclass(frozen=True, kw_only=True)
class CleaningConfig:
    """Conditions for text to be kept."""

    min_paragraph: int = 10  # Chinese characters
    min_document: int = 40  # Chinese characters
    min_chinese: float = 0.6  # fraction of characters, spaces and Chinese punctuation excluded
    personal: bool = True  # drop paragraphs with personal data
    boilerplate: tuple[str, ...] = _BOILERPLATE  # phrases; empty: keep all
    simplify: Simplify = "never"

    def __post_init__(self) -> None:
        if not 0 <= self.min_chinese <= 1:
            raise ConfigError(f"min_chinese must be from 0 to 1, found {self.min_chinese}")
        for name in ("min_paragraph", "min_document"):
            if getattr(self, name) < 0:
                raise ConfigError(f"{name} must be at least 0, found {getattr(self, name)}")
        if not all(phrase.strip() for phrase in self.boilerplate):
            raise ConfigError("a boilerplate phrase must not be empty")


Rule = Callable[[str, int, CleaningConfig], bool]  # (paragraph, Chinese characters, …) → drop?


def count_chinese(text: str) -> int:
    """Return the number of Chinese characters, without punctuation."""
    return sum(map(len, _CHINESE_RUN.findall(text)))


def is_damaged(paragraph: str, _chinese: int, _config: CleaningConfig) -> bool:
    """Return whether characters were lost, or bytes decoded wrongly (锟斤拷)."""
    return "\ufffd" in paragraph or "锟斤拷" in paragraph or "烫烫烫" in paragraph


def is_short(_paragraph: str, chinese: int, config: CleaningConfig) -> bool:
    """Return whether there are too few Chinese characters."""
    return chinese < config.min_paragraph


def is_other_language(paragraph: str, chinese: int, _config: CleaningConfig) -> bool:
    """Return whether the text is Japanese or Korean rather than Chinese with a few such words."""
    others = len(_KANA_OR_HANGUL.findall(paragraph))
    return others > _OTHER_LANGUAGE * (chinese + others)


def is_other_script(paragraph: str, chinese: int, config: CleaningConfig) -> bool:
    """Return whether the fraction of Chinese characters is too small (code, tables, other
    scripts).
    """
    if chinese >= config.min_chinese * len(paragraph):
        return False  # the usual case, decided without counting
    counted = len(paragraph) - sum(map(len, _UNCOUNTED.findall(paragraph)))
    return chinese < config.min_chinese * counted


def has_email(paragraph: str, _chinese: int, config: CleaningConfig) -> bool:
    """Return whether there is an e-mail address."""
    there = "@" in paragraph or "at)" in paragraph or "at]" in paragraph
    return config.personal and there and bool(_EMAIL.search(paragraph))


def has_phone(paragraph: str, _chinese: int, config: CleaningConfig) -> bool:
    """Return whether there is a mobile, landline or service number."""
    return config.personal and bool(_DIGITS.search(paragraph) and _PHONE.search(paragraph))


def has_identity_number(paragraph: str, _chinese: int, config: CleaningConfig) -> bool:
    """Return whether there is a resident identity-card number with a correct check digit.

    Source: GB 11643-1999 (ISO 7064, MOD 11-2).
    """
    if not (config.personal and _DIGITS.search(paragraph)):
        return False
    return any(
        sum(w * int(d) for w, d in zip(_IDENTITY_WEIGHTS, number, strict=False)) % 11
        == "10X98765432".index(number[-1].upper())
        for number in _IDENTITY.findall(paragraph)
    )


def has_account(paragraph: str, _chinese: int, config: CleaningConfig) -> bool:
    """Return whether there is a QQ or WeChat account."""
    there = any(name in paragraph for name in _ACCOUNTS)
    return config.personal and there and bool(_ACCOUNT.search(paragraph))


def is_boilerplate(paragraph: str, _chinese: int, config: CleaningConfig) -> bool:
    """Return whether a phrase of advertising, reposting notices or site navigation occurs."""
    return any(phrase in paragraph for phrase in config.boilerplate)


def is_repetitive(paragraph: str, _chinese: int, _config: CleaningConfig) -> bool:
    """Return whether the paragraph repeats itself (哈哈哈哈…, an advertisement several times)."""
    stretches = [paragraph[i : i + _REPEAT_STEP] for i in range(0, len(paragraph), _REPEAT_STEP)]
    return len(stretches) >= 6 and len(set(stretches)) < 0.5 * len(stretches)


RULES: dict[str, Rule] = {
    "damaged": is_damaged,
    "email": has_email,
    "identity_number": has_identity_number,
    "phone": has_phone,
    "account": has_account,
    "other_language": is_other_language,
    "short": is_short,
    "other_script": is_other_script,
    "boilerplate": is_boilerplate,
    "repetitive": is_repetitive,
}


def drop_reason(paragraph: str, config: CleaningConfig) -> str | None:
    """Return the first rule that drops a paragraph, or None if it is kept.

    >>> drop_reason("有事请写信到 a@b.cn，我们会尽快回复您。", CleaningConfig())
    'email'
    """
    chinese = count_chinese(paragraph)
    return next((name for name, drops in RULES.items() if drops(paragraph, chinese, config)), None)


def clean_text(text: str, config: CleaningConfig) -> tuple[str, Counter[str]]:
    """Normalize a text and keep the paragraphs that no rule drops.

    Returns:
        The kept text; the number of paragraphs dropped for each reason (``repeated``: seen before).
    """
    reasons: Counter[str] = Counter()
    kept: dict[str, None] = {}
    text = simplify(normalize(text), config.simplify)
    present = tuple(phrase for phrase in config.boilerplate if phrase in text)
    config = replace(config, boilerplate=present)  # few, if any: faster for each paragraph
    for paragraph in text.split("\n"):
        if not paragraph:
            continue
        reason = "repeated" if paragraph in kept else drop_reason(paragraph, config)
        if reason:
            reasons[reason] += 1
        else:
            kept[paragraph] = None
    return "\n".join(kept), reasons


class CleanDocuments(BaseFilter):
    """Clean the documents' text; drop documents of which too little is left."""

    name = "clean"

    def __init__(self, config: CleaningConfig) -> None:
        super().__init__()
        self.config = config

    def filter(self, doc: Document) -> bool | tuple[bool, str]:
        """Replace the text by its kept paragraphs; return whether they are enough."""
        doc.text, reasons = clean_text(doc.text, self.config)
        for reason, times in reasons.items():
            self.stat_update(f"paragraph_{reason}", value=times)
        return _enough(doc.text, self.config.min_document)


class KeepLongEnough(BaseFilter):
    """Drop documents that became too short in a later step."""

    name = "long enough"

    def __init__(self, min_document: int) -> None:
        super().__init__()
        self.min_document = min_document

    def filter(self, doc: Document) -> bool | tuple[bool, str]:
        """Return whether enough Chinese characters are left."""
        return _enough(doc.text, self.min_document)


def _enough(text: str, min_document: int) -> bool | tuple[bool, str]:
    if not text:
        return False, "empty"
    return (True, "") if count_chinese(text) >= min_document else (False, "short_document")


def read_phrases(lines: Iterable[str]) -> tuple[str, ...]:
    """Return our own boilerplate phrases and a user's, one per line."""
    own = (line.strip() for line in lines)
    return (*_BOILERPLATE, *(phrase for phrase in own if phrase))

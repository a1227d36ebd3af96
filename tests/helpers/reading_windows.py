"""A reader of small windows, and a question about a text of a few."""

from __future__ import annotations

from zh_albert.model.config import AlbertConfig
from zh_albert.tasks.reading.examples import ReadingExample, as_spans
from zh_albert.tasks.reading.reader import TextReader
from zh_albert.tasks.windows import WindowConfig
from zh_albert.tokenization.tokenizer import default_tokenizer

WINDOW = WindowConfig(max_length=16, stride=4)  # two tokens of question leave 11 for the text
CONTEXT = "零一二三四五六七八九甲乙丙丁戊己庚辛"


def reader() -> TextReader:
    tokenizer = default_tokenizer()
    config = AlbertConfig(
        vocab_size=tokenizer.vocab_size,
        embedding_size=4,
        hidden_size=4,
        num_hidden_layers=1,
        num_attention_heads=1,
        intermediate_size=4,
    )
    return TextReader(config, tokenizer, window=WINDOW)


def example(*answers: str, references: tuple[str, ...] | None = None) -> ReadingExample:
    spans = as_spans(list(answers), CONTEXT, "here")
    return ReadingExample(CONTEXT, "谁谁", spans, answers if references is None else references)

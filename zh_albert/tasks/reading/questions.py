"""Encoded questions: a question with the windows of its context, as model inputs."""

from __future__ import annotations

from dataclasses import dataclass

from zh_albert.errors import ConfigError
from zh_albert.tasks.window_ownership import decided_by
from zh_albert.tasks.windows import WindowConfig
from zh_albert.tokenization.encoding import (
    Encoding,
    ModelInput,
    SpecialIds,
    build_input,
    room_of_each,
    windows,
)

_SPECIAL = 3  # [CLS] question [SEP] context [SEP]


@dataclass(frozen=True, slots=True)
class EncodedQuestion:
    """A question and its text in tokens. Windows are built on demand.

    Attributes:
        question: Token ids, cut to the question's room in a window.
        context: The whole text.
        parts: The text's tokens in each window.
        decided: The answers that each window decides; see ``decided_by``.
        breaks: The text's tokens before which a line begins; no answer goes on behind them.
        between: Its punctuation between clauses; no answer begins or ends with it.
    """

    question: list[int]
    context: Encoding
    parts: list[range]
    decided: list[range]
    breaks: tuple[int, ...] = ()
    between: tuple[int, ...] = ()

    def window(self, number: int, special: SpecialIds) -> ModelInput:
        """Return one window as model input."""
        return build_input(special, self.question, self.context.part(self.parts[number]).ids)

    def length(self, number: int) -> int:
        """Return the number of tokens of a window."""
        return _SPECIAL + len(self.question) + len(self.parts[number])

    @property
    def text_starts_at(self) -> int:
        """The position in every window of the first token of the text."""
        return len(self.question) + 2


def refuse_narrow(window: WindowConfig) -> None:
    """Check that windows overlap and leave half of their room to the text.

    Raises:
        ConfigError: If ``stride`` is too small or too large.
    """
    widest = (window.max_length - _SPECIAL) // 2 - 1
    if not 1 <= window.stride <= widest:
        raise ConfigError(
            f"stride ({window.stride}) must be from 1 to {widest} for max_length "
            f"{window.max_length}: an answer has at most that many tokens, and half of a window "
            "may be the question"
        )


def encode_question(
    question: Encoding,
    context: Encoding,
    window: WindowConfig,
    breaks: tuple[int, ...] = (),
    between: tuple[int, ...] = (),
) -> EncodedQuestion:
    """Cut a text into windows that each have the question in front.

    If a question needs more than half of a window and the text needs the room, the end of the
    question is kept, because it usually contains what is asked. An answer has at most
    ``window.stride`` tokens. Neighbouring windows share this many tokens, so that every answer is
    complete in the window that decides it.
    """
    room = window.max_length - _SPECIAL
    kept, _ = room_of_each(len(question), len(context), room)
    if kept + len(context) <= room:
        parts = [range(len(context))]
    else:
        parts = windows(context, room - kept, window.stride)
    asked = question.ids[len(question) - kept :]
    return EncodedQuestion(asked, context, parts, decided_by(parts), breaks, between)

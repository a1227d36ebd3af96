"""Masked-token prediction with a pretrained encoder; adjacent masks are filled jointly."""

from __future__ import annotations

import dataclasses
import heapq
import itertools
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import torch
from pydantic import BaseModel
from torch import Tensor

from zh_albert.checkpoints.files import read_tensors
from zh_albert.checkpoints.key_maps import from_huggingface
from zh_albert.checkpoints.store import load_config, load_weights
from zh_albert.checkpoints.stored_model import BESIDE_MASKED_LM
from zh_albert.checkpoints.tokenizers import matching_tokenizer
from zh_albert.checkpoints.verified import verified
from zh_albert.errors import CheckpointError, DataError
from zh_albert.model.pretraining_heads import AlbertForPretraining, EncoderOutputs
from zh_albert.runtimes.exported import exported_runtime
from zh_albert.runtimes.onnx_network import encoder_outputs
from zh_albert.tasks.chunks import as_count, as_list
from zh_albert.tasks.predictor import Predictor, RequestForm
from zh_albert.tasks.texts import refuse_non_strings
from zh_albert.tokenization.encoding import ModelInput, build_input, pad
from zh_albert.tokenization.token_sets import TokenSets
from zh_albert.training.batching import Size, sorted_batches

MASK = "[MASK]"
RUN = re.compile(r"(?:\[MASK\])+")  # adjacent masks
_BATCH_TOKENS = 2048  # of one forward pass; close to the fastest on a CPU
BEAMS = 10  # width of the beam search over a run of masks


@dataclass(frozen=True, slots=True)
class Candidate:
    """One way to fill a spot.

    Attributes:
        text: The filled-in text, in the vocabulary's spelling (lower case).
        score: Its probability; see ``FillMask``.
    """

    text: str
    score: float


@dataclass(frozen=True, slots=True)
class Spot:
    """Adjacent masks: ``text[start:end]`` is ``[MASK]``, once or several times.

    Attributes:
        start: First character in the user's own string.
        end: The character after the last.
        candidates: Most probable first, with distinct texts.
    """

    start: int
    end: int
    candidates: list[Candidate]


@dataclass(frozen=True, slots=True)
class _Blank:
    """A spot as input of the model.

    Attributes:
        start: See ``Spot``.
        end: See ``Spot``.
        ids: The window around the spot, special tokens included.
        positions: The spot's masks in ``ids``.
    """

    start: int
    end: int
    ids: tuple[int, ...]
    positions: range


@dataclass(frozen=True, slots=True)
class _Guess:
    """A blank with some of its masks filled in.

    Attributes:
        ids: The next input of the model.
        left: Positions still masked.
        score: Log probability of the filled-in tokens.
    """

    ids: tuple[int, ...]
    left: tuple[int, ...]
    score: float


class Spots(BaseModel):
    """The masked spots of one text, each with its candidates."""

    spots: list[Spot]


class FillMask(Predictor[str, list[_Blank], list[Spot]]):
    """Predictor of masked tokens: texts with ``[MASK]`` → spots with candidates.

    ``zh_albert.load("encoder")`` returns one. A mask stands for one token: a Chinese character, or
    elsewhere a word or a piece of one. The scores of a single mask are the softmax over the whole
    vocabulary; special and unused rows are not offered. Adjacent masks are filled jointly by beam
    search, so that the characters fit each other: each step fills the mask with the most certain
    prediction and runs the model again. Because the tokens filled in so far determine which mask is
    next, there is exactly one path to every filling, and the product of its steps is a probability:
    over all fillings, special rows included, they sum to 1. Other spots of the text remain masked
    meanwhile.

    In a text longer than the model's window, each spot has a window of its own, with the spot in
    the middle unless it is near the start or the end of the text.

    Attributes:
        folder: Folder of the model.
        tokenizer: Text → token ids.
        max_length: Tokens of a window, special ones included.
        metadata: Contents of the model card: data, scores.

    Args:
        folder: Of a pretrained encoder, or of an ``AlbertForMaskedLM`` of ``transformers``.
        exported: Whether the folder's export runs the network, if there is one; otherwise PyTorch
            does, in fp32. An export computes the logits of every token, not of the masks alone.

    Raises:
        CheckpointError: If it is not a model folder, the model has no masked-LM head, or the export
            is damaged or of other weights.
    """

    kind = "fill-mask"
    unanswered: ClassVar[Mapping[str, Any]] = {"spots": []}
    chunk_size = 256
    row_type = Spots
    form = RequestForm(example=f"去{MASK}{MASK}散步")

    def __init__(self, folder: Path, *, exported: bool = True) -> None:
        with verified(folder):
            self._open(folder, exported)

    def _open(self, folder: Path, exported: bool) -> None:
        config, task = load_config(folder)
        names = from_huggingface(read_tensors(folder), config).values()
        if not any(name.startswith("masked_lm.") for name in names):
            raise CheckpointError(
                f"{folder}: expected an encoder with its masked-LM head, found a model without "
                f"one (task: {task.get('name', 'none')}); use a folder written by pretraining"
            )
        self.folder = folder
        self.tokenizer = matching_tokenizer(folder, config)
        super().__init__("encoder", {k: value for k, value in task.items() if k != "name"})
        self._longest = longest = config.max_position_embeddings
        self.max_length = task.get("max_length", longest)
        if not isinstance(self.max_length, int) or not 3 <= self.max_length <= longest:
            raise CheckpointError(
                f"{folder}: expected max_length from 3 to {longest} in config.json, found "
                f"{self.max_length!r}; download the folder again"
            )
        self._module = AlbertForPretraining(config).eval()
        # Not needed for masks, and a masked-LM folder of transformers has neither.
        load_weights(self._module, folder, new=BESIDE_MASKED_LM)
        network = EncoderOutputs(self._module)
        self._export = exported_runtime(folder, network, encoder_outputs) if exported else None
        self._batch_tokens = self._export.open().batch_tokens if self._export else _BATCH_TOKENS
        self._offered = torch.from_numpy(TokenSets.of(self.tokenizer).plain)

    def __call__(
        self, contents: str | Iterable[str], *, top_k: int = 5, beams: int | None = None
    ) -> list[list[Spot]]:
        """Fill the masks of each text; a single string is treated as a list of one.

        Args:
            contents: Each with at least one ``[MASK]``.
            top_k: Candidates of a spot; fewer only if ``beams`` leaves no more.
            beams: Width of the beam search over adjacent masks; 1 takes the most certain token of
                each step. Default: 10, or twice ``top_k``.

        Raises:
            DataError: If a text is not a string, has no mask, or more adjacent masks than fit into
                the window (its index is named), or ``top_k`` or ``beams`` is not a number of at
                least 1.
        """
        wanted = as_count(top_k, "top_k")
        width = max(BEAMS, 2 * wanted) if beams is None else as_count(beams, "beams")
        return self._all(as_list(contents), top_k=wanted, beams=width)

    @property
    def runs_in(self) -> str:
        """See ``Predictor``."""
        return self._export.open().name if self._export else "torch fp32"

    def row(self, answer: list[Spot]) -> dict[str, Any]:
        """See ``Predictor``."""
        return {"spots": [dataclasses.asdict(spot) for spot in answer]}

    def characters(self, content: str) -> int:
        """See ``Predictor``.

        Each spot needs one forward pass over its window, and for each further mask of the run one
        more pass for every filling in the beam.
        """
        masks = [len(run[0]) // len(MASK) for run in RUN.finditer(content)]
        readings = sum(1 + BEAMS * (count - 1) for count in masks)
        window: int = self.max_length
        return len(content) + readings * min(len(content), window)

    def answers(
        self,
        contents: Sequence[str],  # noqa: ARG002
        encoded: Sequence[list[_Blank]],
        *,
        top_k: int = 5,
        beams: int = BEAMS,
    ) -> list[list[Spot]]:
        """See ``Predictor``."""
        found = iter(self._search([blank for blanks in encoded for blank in blanks], beams))
        return [[self._spot(blank, next(found), top_k) for blank in blanks] for blanks in encoded]

    def _encoded(self, contents: list[str], counted_from: int) -> list[list[_Blank]]:
        blanks = []
        for index, one in enumerate(self._encoded_or_error(contents, counted_from), counted_from):
            if isinstance(one, DataError):
                raise DataError(f"texts[{index}]: {one}")
            blanks.append(one)
        return blanks

    def _encoded_or_error(
        self, contents: list[str], counted_from: int
    ) -> list[list[_Blank] | DataError]:
        refuse_non_strings(contents, counted_from=counted_from)
        read: list[list[_Blank] | DataError] = []
        for text in contents:
            try:
                read.append(self._blanks(text))
            except DataError as error:
                read.append(error)
        return read

    def hide(self, text: str, start: int, end: int) -> str:
        """Return the text with ``text[start:end]`` masked: a mask for each of its tokens.

        Raises:
            DataError: If it is not a span of the text, or has no tokens.
        """
        if not 0 <= start < end <= len(text):
            raise DataError(
                f"expected a span within the text's {len(text)} characters, found {start}:{end}"
            )
        count = len(self._read(text[start:end])[0])
        if not count:
            hidden = text[start:end]
            raise DataError(f"{hidden!r:.50} has no tokens; mask a word")
        return text[:start] + MASK * count + text[end:]

    def _read(self, text: str) -> tuple[list[int], list[tuple[int, int, range]]]:
        """Return ids, and of each run of masks the start, the end and its tokens.

        The tokenizer never produces special tokens from text, so the masks are inserted here.
        """
        ids: list[int] = []
        runs, position = [], 0
        for run in RUN.finditer(text):
            ids += self.tokenizer.encode(text[position : run.start()]).ids
            masks = range(len(ids), len(ids) + len(run[0]) // len(MASK))
            ids += [self.tokenizer.special.mask] * len(masks)
            runs.append((run.start(), run.end(), masks))
            position = run.end()
        ids += self.tokenizer.encode(text[position:]).ids
        return ids, runs

    def _blanks(self, text: str) -> list[_Blank]:
        ids, runs = self._read(text)
        if not runs:
            raise DataError(
                f"expected {MASK} in the text, found none: {text!r:.50}; write {MASK} for each "
                "character to guess"
            )
        room = self.max_length - 2
        blanks = []
        for start, end, masks in runs:
            if len(masks) > room:
                raise DataError(
                    f"{len(masks)} masks in a row from character {start}, but the model's window "
                    f"holds {room} tokens; mask fewer"
                )
            middle = (masks.start + masks.stop) // 2
            first = max(0, min(middle - room // 2, len(ids) - room))
            window = build_input(self.tokenizer.special, ids[first : first + room])
            shift = window.first.start - first
            positions = range(masks.start + shift, masks.stop + shift)
            blanks.append(_Blank(start, end, tuple(window.token_ids), positions))
        return blanks

    def _spot(self, blank: _Blank, beam: Sequence[_Guess], top_k: int) -> Spot:
        best: dict[str, float] = {}
        for guess in beam:
            text = self.tokenizer.text([guess.ids[position] for position in blank.positions])
            if text:
                best.setdefault(text, guess.score)  # other tokens of the same text score lower
        candidates = [
            Candidate(text, float(f"{math.exp(score):.6g}"))
            for text, score in itertools.islice(best.items(), top_k)
        ]
        return Spot(blank.start, blank.end, candidates)

    def _search(self, blanks: Sequence[_Blank], width: int) -> list[list[_Guess]]:
        """Return the best fillings of each blank, best first; all blanks advance together."""
        beams = [[_Guess(blank.ids, tuple(blank.positions), 0.0)] for blank in blanks]
        while unfinished := [beam for beam in beams if beam[0].left]:
            asked = [guess for beam in unfinished for guess in beam]
            answers = iter(self._one_more(asked, width))
            for beam in unfinished:
                longer = itertools.chain.from_iterable(itertools.islice(answers, len(beam)))
                beam[:] = heapq.nlargest(width, longer, key=lambda guess: guess.score)
        return beams

    def _one_more(self, guesses: Sequence[_Guess], width: int) -> list[list[_Guess]]:
        """Fill one more mask of each guess, in the ``width`` best ways."""
        same: dict[tuple[int, ...], list[int]] = {}  # spots of one text share a forward pass
        for index, guess in enumerate(guesses):
            same.setdefault(guess.ids, []).append(index)
        inputs = list(same)
        result: list[list[_Guess]] = [[] for _ in guesses]
        for chosen in sorted_batches([Size(1, len(ids)) for ids in inputs], self._batch_tokens):
            rows = [ModelInput([*inputs[i]], [0] * len(inputs[i]), range(0)) for i in chosen]
            asked = [(row, index) for row, i in enumerate(chosen) for index in same[inputs[i]]]
            wanted = [(row, place) for row, index in asked for place in guesses[index].left]
            scores, tokens = self._best_tokens(rows, torch.tensor(wanted), width)
            first = 0
            for _, index in asked:
                places = slice(first, first + len(guesses[index].left))
                first = places.stop
                result[index] = _extended(guesses[index], scores[places], tokens[places])
        return result

    def _best_tokens(
        self, rows: Sequence[ModelInput], positions: Tensor, width: int
    ) -> tuple[Tensor, Tensor]:
        """Return the best tokens' log probabilities and ids. Shape of each: (masked, width)."""
        with torch.inference_mode():
            scores = self._logits(rows, positions).log_softmax(-1)
            offered = scores[:, self._offered]
            best = offered.topk(min(width, offered.shape[-1]))
            return best.values, self._offered[best.indices]

    def _logits(self, rows: Sequence[ModelInput], positions: Tensor) -> Tensor:
        """Return the logits of tokens. Shape of positions: (masked, 2); of the result: (masked,
        vocab).
        """
        pad_id, longest = self.tokenizer.special.pad, self._longest
        if self._export is not None:
            runtime = self._export.open()
            batch = pad(rows, pad_id, multiple_of=runtime.multiple_of, at_most=longest)
            every = torch.from_numpy(runtime(batch))
            return every[positions[:, 0], positions[:, 1]]
        token_ids, type_ids, mask = (torch.from_numpy(values) for values in pad(rows, pad_id))
        hidden = self._module.encoder(token_ids, type_ids, mask).hidden
        return self._module.masked_logits(hidden, positions).float()


def _extended(guess: _Guess, scores: Tensor, tokens: Tensor) -> list[_Guess]:
    """Fill the mask with the most certain prediction. Shape of scores and tokens: (left, width)."""
    surest = int(scores[:, 0].argmax())
    place = guess.left[surest]
    left = guess.left[:surest] + guess.left[surest + 1 :]
    return [
        _Guess((*guess.ids[:place], token, *guess.ids[place + 1 :]), left, guess.score + score)
        for score, token in zip(scores[surest].tolist(), tokens[surest].tolist(), strict=True)
    ]

"""Sizes and variants of an ALBERT encoder, and the published sizes."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal, get_args

from zh_albert.errors import ConfigError, nearest

Sharing = Literal["all", "attention", "ffn", "none"]
EmbeddingLayout = Literal["google", "brightmart"]
NormPosition = Literal["post", "pre"]
Activation = Literal["gelu_new", "gelu", "relu"]
LayerKind = Literal["transformer", "lstm"]

SAME_ACTIVATIONS: dict[str, Activation] = {
    **dict.fromkeys(("gelu_pytorch_tanh", "gelu_python_tanh"), "gelu_new"),
    **dict.fromkeys(("gelu_fast", "gelu_accurate"), "gelu_new"),
    "gelu_python": "gelu",
}
"""Further names of the same functions in ``transformers`` (activations.py)."""


@dataclass(frozen=True, kw_only=True)
class AlbertConfig:
    """Sizes and variants of an ALBERT encoder; fields named as in the published config.json.

    ``hidden_act`` is named as in ``transformers``: ``gelu_new`` is the tanh form, ``gelu`` the erf
    form. TensorFlow configs call the tanh form ``gelu``; their importer translates.

    Four of the last fields describe pruned encoders, whose blocks differ in size, and plans that no
    ``sharing`` expresses. They are read through ``sharing.plan_of``, ``heads_of``, ``neurons_of``
    and ``head_size_of``. With ``layer`` "lstm" the encoder is no ALBERT above its embeddings, see
    ``lstm_encoder``; what describes heads, neurons and sharing is then without meaning.

    Source: brightmart/albert_zh, albert_config/ and modeling_preln.py (sharing, norm position).
    """

    vocab_size: int = 21_128  # the Chinese BERT vocabulary
    embedding_size: int = 128
    hidden_size: int
    num_hidden_layers: int
    num_hidden_groups: int = 1  # of layers that share parameters; may outnumber the layers
    num_attention_heads: int
    intermediate_size: int
    hidden_act: Activation = "gelu_new"
    hidden_dropout_prob: float = 0.0
    attention_probs_dropout_prob: float = 0.0
    classifier_dropout_prob: float = 0.1
    max_position_embeddings: int = 512
    type_vocab_size: int = 2
    layer_norm_eps: float = 1e-12
    initializer_range: float = 0.02  # standard deviation
    pad_token_id: int = 0
    sharing: Sharing = "all"
    embedding_layout: EmbeddingLayout = "google"
    norm_position: NormPosition = "post"
    head_size: int | None = None  # None: hidden_size / num_attention_heads
    block_heads: tuple[int, ...] = ()  # of each attention block; (): num_attention_heads everywhere
    block_neurons: tuple[int, ...] = ()  # of each feed-forward block; (): intermediate_size
    plan: tuple[tuple[int, int], ...] = ()  # attention and ffn block of each layer; (): by sharing
    layer: LayerKind = "transformer"  # "lstm": bidirectional, hidden_size / 2 units a direction

    def __post_init__(self) -> None:
        self._refuse_sizes()
        for name in ("layer_norm_eps", "initializer_range"):
            if not math.isfinite(getattr(self, name)):
                raise ConfigError(f"{name} must be a finite number, got {getattr(self, name)}")
        for name in _DROPOUTS:
            if not 0 <= getattr(self, name) < 1:
                raise ConfigError(f"{name} must be in [0, 1), got {getattr(self, name)}")
        for name, choices in _CHOICES.items():
            value = getattr(self, name)
            if value not in choices:
                raise ConfigError(f"unknown {name} {value!r}; {nearest(str(value), choices)}")
        if self.head_size is None and self.hidden_size % self.num_attention_heads:
            raise ConfigError(
                f"hidden_size ({self.hidden_size}) must be a multiple of num_attention_heads "
                f"({self.num_attention_heads})"
            )
        if not 0 <= self.pad_token_id < self.vocab_size:
            raise ConfigError(
                f"pad_token_id ({self.pad_token_id}) must be a row of the vocabulary "
                f"(vocab_size {self.vocab_size})"
            )
        if self.layer_norm_eps <= 0 or self.initializer_range < 0:
            raise ConfigError(
                f"layer_norm_eps ({self.layer_norm_eps}) must be > 0 and initializer_range "
                f"({self.initializer_range}) >= 0"
            )

        self._refuse_blocks()

    def _refuse_blocks(self) -> None:
        """Check the plan, and that each block has a size if any has."""
        if self.layer == "lstm":
            self._refuse_for_lstm()
        if self.head_size is not None and self.head_size < 1:
            raise ConfigError(f"head_size must be at least 1, got {self.head_size}")
        layers = self.num_hidden_layers
        if self.plan and len(self.plan) != layers:
            raise ConfigError(
                f"plan must have an entry for each of the {layers} layers (num_hidden_layers), got "
                f"{len(self.plan)}"
            )
        shared = min(self.num_hidden_groups, layers)
        for number, (kind, name) in enumerate(_BLOCKS.items()):
            count = shared if self.sharing in ("all", kind) else layers
            if self.plan:
                used = sorted({blocks[number] for blocks in self.plan})
                count = len(used)
                if used != [*range(count)]:
                    raise ConfigError(
                        f"plan must number the {kind} blocks from 0 without gaps, got "
                        f"{', '.join(map(str, used))}"
                    )
            sizes: tuple[int, ...] = getattr(self, name)
            if sizes and len(sizes) != count:
                raise ConfigError(
                    f"{name} must have a number for each of the {count} {kind} blocks, got "
                    f"{len(sizes)}"
                )
            if sizes and min(sizes) < 1:
                raise ConfigError(f"{name} must be at least 1 each, got {min(sizes)}")
        if self.block_heads and max(self.block_heads) > _MOST["num_attention_heads"]:
            raise ConfigError(
                f"block_heads must be at most {_MOST['num_attention_heads']:,} each, got "
                f"{max(self.block_heads):,}; no ALBERT has nearly as many"
            )

    def _refuse_for_lstm(self) -> None:
        if self.hidden_size % 2:
            raise ConfigError(
                f"hidden_size ({self.hidden_size}) must be even with layer 'lstm': each direction "
                "has half of it"
            )
        if given := [name for name in _OF_TRANSFORMERS if getattr(self, name) not in ((), None)]:
            raise ConfigError(
                f"{' and '.join(given)} are of transformer layers, found layer 'lstm'; leave them "
                "out"
            )

    def _refuse_sizes(self) -> None:
        for name in _SIZES:
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} must be at least 1, got {getattr(self, name)}")
        for name, most in _MOST.items():
            if getattr(self, name) > most:
                raise ConfigError(
                    f"{name} must be at most {most:,}, got {getattr(self, name):,}; no ALBERT has "
                    "nearly as many"
                )


_SIZES = (
    "vocab_size",
    "embedding_size",
    "hidden_size",
    "num_hidden_layers",
    "num_hidden_groups",
    "num_attention_heads",
    "intermediate_size",
    "max_position_embeddings",
    "type_vocab_size",
)
# Of what costs time or memory without a number in the file. Other sizes are held against it.
_MOST = {"num_hidden_layers": 1000, "num_hidden_groups": 1000, "num_attention_heads": 1000}
_BLOCKS = {"attention": "block_heads", "ffn": "block_neurons"}
_DROPOUTS = ("hidden_dropout_prob", "attention_probs_dropout_prob", "classifier_dropout_prob")
_CHOICES: dict[str, tuple[str, ...]] = {
    "hidden_act": get_args(Activation),
    "sharing": get_args(Sharing),
    "embedding_layout": get_args(EmbeddingLayout),
    "norm_position": get_args(NormPosition),
    "layer": get_args(LayerKind),
}
_OF_TRANSFORMERS = ("head_size", *_BLOCKS.values(), "plan")

BLOCK_FIELDS = (*_OF_TRANSFORMERS, "layer")
"""Fields of pruned encoders, of plans of their own and of LSTMs; no other ALBERT has them."""


def is_pruned(config: AlbertConfig) -> bool:
    """Return whether blocks have sizes of their own, as after pruning."""
    return bool(config.head_size or config.block_heads or config.block_neurons)


def fields_of(config: AlbertConfig) -> dict[str, Any]:
    """Return a config's fields by name, those of ``BLOCK_FIELDS`` only where they are set."""
    defaults = {field.name: field.default for field in fields(AlbertConfig)}
    return {k: v for k, v in asdict(config).items() if k not in BLOCK_FIELDS or v != defaults[k]}


# The Chinese releases train every size without dropout: brightmart/albert_zh, albert_config/
# albert_config_{base,large,xlarge,xxlarge}.json (32 heads in xlarge); PaddlePaddle/PaddleNLP,
# transformers/albert/modeling.py, albert-chinese-{tiny,small,…}. So do google's v2 and xxlarge;
# only the English v1 release (base, large) has 0.1.
PRESETS: dict[str, AlbertConfig] = {
    "tiny": AlbertConfig(
        hidden_size=312, num_hidden_layers=4, num_attention_heads=12, intermediate_size=1248
    ),
    "small": AlbertConfig(
        hidden_size=384, num_hidden_layers=6, num_attention_heads=12, intermediate_size=1536
    ),
    "base": AlbertConfig(
        hidden_size=768, num_hidden_layers=12, num_attention_heads=12, intermediate_size=3072
    ),
    "large": AlbertConfig(
        hidden_size=1024, num_hidden_layers=24, num_attention_heads=16, intermediate_size=4096
    ),
    "xlarge": AlbertConfig(
        hidden_size=2048, num_hidden_layers=24, num_attention_heads=32, intermediate_size=8192
    ),
    "xxlarge": AlbertConfig(
        hidden_size=4096, num_hidden_layers=12, num_attention_heads=64, intermediate_size=16_384
    ),
}

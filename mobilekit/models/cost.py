"""What a model costs to run, counted from its configuration."""

from __future__ import annotations

from mobilekit.models.config import EncoderConfig

# At which reports count: a paragraph.
COST_LENGTH = 128


def multiply_adds(config: EncoderConfig, length: int) -> int:
    """Multiply-adds of the encoder for one input of `length` tokens: linear maps and attention; look-ups and norms not.

    Shared layers count each time that they are computed.
    """
    size, inner = config.hidden_size, config.intermediate_size
    layer = 4 * size * size + 2 * size * inner + 2 * length * size
    projection = config.embedding_size * size if config.projected else 0
    return length * (config.layers * layer + projection)

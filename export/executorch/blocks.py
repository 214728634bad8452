"""The traced graph in forms that XNNPACK takes, so that all of it but the table look-ups is one delegate.

What ExecuTorch leaves to its own kernels splits the graph: each split copies tensors and runs on one thread.
"""

from __future__ import annotations

import math

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from export.blocks import Blocks, Embedding, FeedForward, Linear, Norm, rounded
from export.graph import EncoderGraph
from export.tops import FillMask, MeanClassifier, SentenceEmbedding
from mobilekit.compression.activations import Static
from mobilekit.compression.nibbles import pack_nibbles
from mobilekit.compression.records import Clustered, Quantized, Record
from mobilekit.errors import EngineError

_OPERATORS = torch.ops.quantized_decomposed
# Groups of columns have to be a multiple of it.
_BLOCK = 32
_INT8 = (-128, 127, torch.int8)


class QuantizedLinear(nn.Module):
    """x [rows, in] -> [rows, out] with int8 or int4 codes, a scale a row or group; activations int8, a scale a token.

    The pattern of operators that the XNNPACK partitioner turns into one fully connected node of type qd8-qc8w, qc4w or
    qb4w (Zafrir et al. 2019, with activation ranges taken at run time). The codes go into the file as they are.
    """

    def __init__(self, weight: Quantized, bias: Record | None) -> None:
        super().__init__()
        if weight.bits not in (4, 8) or (weight.groups > 1 and (weight.bits, weight.block % _BLOCK) != (4, 0)):
            form = f"{weight.bits}-bit codes in blocks of {weight.block} columns"
            raise EngineError(f"executorch: XNNPACK has no {form}: 8 bits with a scale a row, or 4 bits.")
        scale = torch.from_numpy(weight.scale)
        self.block = weight.block if weight.groups > 1 else 0
        self.range = (-127, 127) if weight.bits == 8 else (-8, 7)
        self.codes = _constant(torch.from_numpy(weight.codes))
        self.scale = _constant(scale if self.block else scale.reshape(-1))
        self.zero = _constant(torch.zeros(self.scale.shape, dtype=torch.int64))
        self.bias = None if bias is None else _constant(torch.from_numpy(bias.decode()))

    def forward(self, x: Tensor) -> Tensor:
        """Quantize each row of x, multiply."""
        scale, zero = _OPERATORS.choose_qparams_per_token_asymmetric(x, torch.int8)
        codes = _OPERATORS.quantize_per_token(x, scale, zero, *_INT8)
        rounded = _OPERATORS.dequantize_per_token(codes, scale, zero, *_INT8, torch.float32)
        return functional.linear(rounded, self.weight(), self.bias)

    def weight(self) -> Tensor:
        """The decoded weight, as a pattern that no engine computes."""
        codes, scale, zero = self.codes, self.scale, self.zero
        if self.block:
            kinds = (torch.int8, self.block, torch.float32)
            return _OPERATORS.dequantize_per_channel_group(codes, scale, zero, *self.range, *kinds)
        return _OPERATORS.dequantize_per_channel(codes, scale, zero, 0, *self.range, torch.int8)


class StaticLinear(QuantizedLinear):
    """The same between activations with fixed scales: a node of type qs8-qc8w, which needs one for its output too."""

    def __init__(self, weight: Quantized, bias: Record | None, static: Static) -> None:
        super().__init__(weight, bias)
        self.static = static

    def forward(self, x: Tensor) -> Tensor:
        """Round, multiply, round."""
        product = functional.linear(rounded(x, self.static.input), self.weight(), self.bias)
        return rounded(product, self.static.output)


class QuantizedEmbedding(nn.Module):
    """ids int32 [length] -> float32 [length, E]: int8 rows, cast, times their scales. No kernel beyond the portable."""

    def __init__(self, table: Quantized) -> None:
        super().__init__()
        self.codes, self.scale = _constant(torch.from_numpy(table.codes)), _constant(torch.from_numpy(table.scale))

    def forward(self, ids: Tensor) -> Tensor:
        """Look rows up and decode them."""
        return functional.embedding(ids, self.codes).to(torch.float32) * functional.embedding(ids, self.scale)


class NibbleEmbedding(nn.Module):
    """ids int32 [length] -> float32 [length, E]: rows of two 4-bit codes a byte, taken apart by float arithmetic.

    XNNPACK has no shifts, and ExecuTorch's own kernels are slow. The bytes are those that XNNPACK keeps a matrix in, so
    that a decoder tied to the table can share them.
    """

    def __init__(self, table: Quantized) -> None:
        super().__init__()
        self.pairs, self.groups = _constant(torch.from_numpy(xnnpack_nibbles(table.codes))), table.groups
        scale = torch.from_numpy(table.scale)
        # Scales of groups are exact in bfloat16, and half as long.
        self.scale = _constant(scale if table.groups == 1 else scale.bfloat16())

    def forward(self, ids: Tensor) -> Tensor:
        """Look rows up and decode them."""
        pairs, length = functional.embedding(ids, self.pairs).to(torch.float32), ids.shape[0]
        high = torch.floor(pairs * (1 / 16))
        low = pairs - high * 16.0
        # Side by side first, then crosswise: low and high halves in turn.
        codes = torch.cat([low.view(1, -1), high.view(1, -1)]).transpose(0, 1).reshape(length, self.groups, -1) - 8.0
        scale = functional.embedding(ids, self.scale).to(torch.float32)
        return (codes * scale.view(length, self.groups, 1)).view(length, -1)


class MatrixNorm(Norm):
    """Layer normalisation whose means are products with a column of 1/H: XNNPACK has no norm and no mean of a row."""

    def __init__(self, weight: Record, bias: Record, eps: float) -> None:
        super().__init__(weight, bias, eps)
        size = weight.shape[0]
        self.share = _constant(torch.full((1, size), 1.0 / size))

    def forward(self, x: Tensor) -> Tensor:
        """Normalise, then scale and shift."""
        centred = x - functional.linear(x, self.share)
        variance = functional.linear(centred * centred, self.share)
        return centred * torch.rsqrt(variance + self.eps) * self.weight + self.bias


class MatrixSentenceEmbedding(SentenceEmbedding):
    """The same head with every sum as a product with a vector of ones, for the same reason."""

    def __init__(self, blocks: Blocks, length: int) -> None:
        super().__init__(blocks)
        head = blocks.model.head
        size = head.dense[-1].out_size if head.dense else blocks.model.encoder.hidden_size
        self.each_token, self.each_feature = _constant(torch.ones(1, length)), _constant(torch.ones(1, size))

    def forward(self, x: Tensor, keep: Tensor) -> Tensor:
        """keep: [1, T], 1 for tokens, 0 for padding."""
        if self.mean:
            x = matrix_mean(x, keep, self.each_token)
        for dense, activation in zip(self.dense, self.activations, strict=True):
            x = activation(dense(x))
        if self.normalize:
            x = x / torch.sqrt(functional.linear(x * x, self.each_feature)).clamp_min(1e-6)
        return x


class MatrixMeanClassifier(MeanClassifier):
    """The same head with its sum as a product."""

    def __init__(self, blocks: Blocks, length: int) -> None:
        super().__init__(blocks)
        self.each_token = _constant(torch.ones(1, length))

    def forward(self, x: Tensor, keep: Tensor) -> Tensor:
        """keep: [1, T], 1 for tokens, 0 for padding."""
        return self.classifier(matrix_mean(x, keep, self.each_token))


def matrix_mean(x: Tensor, keep: Tensor, ones: Tensor) -> Tensor:
    """The mean of kept rows of x [T, H] -> [1, H], with its sums as products."""
    share = keep / functional.linear(keep, ones)
    return torch.bmm(share.view(1, 1, -1), x.view(1, *x.shape)).view(1, -1)


class ExecutorchBlocks(Blocks):
    """Weights in the forms above, clustered ones as int8 matrices; what is not quantized stays float32."""

    def make_linear(self, weight: Record, bias: Record | None) -> nn.Module:
        """Codes as they are, or a float weight."""
        return QuantizedLinear(weight, bias) if isinstance(weight, Quantized) else Linear(weight, bias)

    def make_static(self, weight: Record, bias: Record | None, static: Static) -> nn.Module:
        """Codes as they are, between activations with fixed scales."""
        assert isinstance(weight, Quantized)
        return StaticLinear(weight, bias, static)

    def make_embedding(self, table: Record) -> nn.Module:
        """Rows of codes and their scales, or a float table."""
        if not isinstance(table, Quantized):
            return Embedding(table)
        return QuantizedEmbedding(table) if table.bits == 8 else NibbleEmbedding(table)

    def make_norm(self, weight: Record, bias: Record, eps: float) -> nn.Module:
        """A norm inside the delegate."""
        return MatrixNorm(weight, bias, eps)

    def _record(self, name: str, part: str) -> Record:
        record = super()._record(name, part)
        return record.as_quantized() if isinstance(record, Clustered) else record


class ExecutorchGraph(EncoderGraph):
    """The encoder for one length, with what XNNPACK lacks or gets wrong written in operators that it has."""

    def __init__(self, blocks: ExecutorchBlocks, length: int) -> None:
        super().__init__(blocks, length)
        if self.config.activation == "gelu_new":
            for layer in self.ffn:
                assert isinstance(layer, FeedForward)
                layer.activation = tanh_gelu
        if isinstance(self.top, FillMask) and self.head.activation == "gelu_new":
            self.top.activation = tanh_gelu
        if isinstance(self.top, SentenceEmbedding):
            self.top = MatrixSentenceEmbedding(blocks, length)
        if isinstance(self.top, MeanClassifier):
            self.top = MatrixMeanClassifier(blocks, length)


def xnnpack_nibbles(codes: NDArray[np.int8]) -> NDArray[np.uint8]:
    """4-bit codes as XNNPACK keeps them: two a byte, the first in the low half, each plus 8; [rows, columns / 2]."""
    return pack_nibbles(codes + np.int8(8)).reshape(len(codes), -1)


def tanh_gelu(x: Tensor) -> Tensor:
    """GELU by tanh (Hendrycks & Gimpel 2016): the delegate would silently compute the exact one instead."""
    return 0.5 * x * (1.0 + torch.tanh(math.sqrt(2.0 / math.pi) * (x + 0.044715 * x * x * x)))


def _constant(values: Tensor) -> nn.Parameter:
    # ExecuTorch drops unused parameters and keeps unused buffers: a shared layer's, under each of its other names.
    return nn.Parameter(values, requires_grad=False)

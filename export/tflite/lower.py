"""From the traced graph to LiteRT operators: each ATen operator in the form that runs fastest and stays exact.

Records are written where their parameter is used, so nothing can be folded into them or derived anew.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch
from ai_edge_litert import schema_py_generated as schema
from torch.fx import Node

from export.tflite.builder import GraphBuilder, Value
from mobilekit.compression.activations import Activation, bias_scale
from mobilekit.compression.records import Clustered, Dense, Quantized, Record
from mobilekit.errors import EngineError

aten = torch.ops.aten
fixed = torch.ops.quantized_decomposed
_FLOAT32 = schema.TensorType.FLOAT32
_TYPES = {torch.float32: _FLOAT32, torch.int32: schema.TensorType.INT32}
# Versions that say that scales are per row: engines that would read one scale only refuse the file.
_PER_CHANNEL_LINEAR, _PER_CHANNEL_LOOKUP = 12, 4
_HALF_DEQUANTIZE, _INT8_DEQUANTIZE, _GATHER_INT16 = 3, 2, 4

Named = tuple[str, Record]
# Called with the lowering, the node, and the node's own arguments.
Handler = Callable[..., Value]
_HANDLERS: dict[Any, Handler] = {}


def _lowers(*targets: Any) -> Callable[[Handler], Handler]:
    def add(handler: Handler) -> Handler:
        _HANDLERS.update(dict.fromkeys(targets, handler))
        return handler

    return add


class Lowering:
    """Lowers the nodes of one traced graph in order.

    records: by placeholder name, the tensor name and the record of each parameter. values: the other placeholders.
    """

    def __init__(self, graph: GraphBuilder, records: Mapping[str, Named], values: Mapping[str, Value]) -> None:
        self.graph, self._records = graph, records
        self._values: dict[str, Value] = dict(values)
        self.written: set[str] = set()
        # Tensors rounded with fixed scales, by the float tensor and the scales.
        self.rounded: dict[tuple[int, Activation], Value] = {}

    def run(self, nodes: list[Node]) -> None:
        """Lower all call nodes; raises EngineError on an operator that is not known here."""
        for node in nodes:
            if node.op != "call_function" or node.target is aten._assert_tensor_metadata.default:
                continue
            handler = _HANDLERS.get(node.target)
            if handler is None:
                raise EngineError(f"tflite: the graph has {node.target}, which export/tflite/lower.py cannot write.")
            self._values[node.name] = handler(self, node, *node.args, **node.kwargs)

    def result(self, name: str) -> Value:
        """What the node `name` became."""
        return self._values[name]

    def value(self, argument: Any) -> Value:
        """The tensor of a node, of a parameter, or of a number (float32, shape [])."""
        if not isinstance(argument, Node):
            return self.graph.constant(np.array(argument, np.float32))
        if argument.name not in self._values:
            self._values[argument.name] = self._decoded(*self.record(argument))
        return self._values[argument.name]

    def record(self, node: Node) -> tuple[str, Dense | Quantized]:
        """Tensor name and record of a parameter that this graph uses; a clustered one as the int8 matrix it is."""
        name, record = self._records[node.name]
        self.written.add(name)
        return name, record.as_quantized() if isinstance(record, Clustered) else record

    def constant(self, name: str, values: np.ndarray[Any, Any]) -> Value:
        """A float32 tensor whose values are stored as they are, float32 or float16."""
        value = self.graph.constant(values, name)
        return value if values.dtype == np.float32 else self._dequantize(value)

    def emit(self, name: str, node: Node, *inputs: Value | None, version: int = 1, **options: Any) -> Value:
        """An operator with the shape and the type of `node`."""
        shape = tuple(node.meta["val"].shape)
        kind = _TYPES[node.meta["val"].dtype]
        return self.graph.operator(name, inputs, shape, kind, version, **options)

    def indices(self, values: list[int]) -> Value:
        """An int32 constant: a shape, axes, a permutation."""
        return self.graph.constant(np.array(values, np.int32))

    def matrix(self, node: Node) -> Value:
        """The weight of a linear map: int8 or int4 with a scale a row, or float."""
        name, record = self.record(node)
        return self._quantized(name, record) if isinstance(record, Quantized) else self.value(node)

    def rows(self, table: Node, ids: Value, shape: tuple[int, ...]) -> Value:
        """Rows of a table, float32; the table itself is never decoded as a whole."""
        name, record = self.record(table)
        if isinstance(record, Quantized):
            stored = self._quantized(name, record)
            return self.graph.operator("EMBEDDING_LOOKUP", [ids, stored], shape, version=_PER_CHANNEL_LOOKUP)
        if record.values.dtype == np.float32:
            stored = self.graph.constant(record.values, name)
            return self.graph.operator("EMBEDDING_LOOKUP", [ids, stored], shape)
        # No engine before LiteRT 1.4 gathers float16, all gather int16.
        stored = self.graph.constant(record.values.view(np.int16), name)
        int16, float16 = schema.TensorType.INT16, schema.TensorType.FLOAT16
        bits = self.graph.operator("GATHER", [stored, ids], shape, int16, _GATHER_INT16, axis=0)
        return self._dequantize(self.graph.operator("BITCAST", [bits], shape, float16))

    def _quantized(self, name: str, record: Quantized) -> Value:
        if record.groups > 1 or record.bits not in (4, 8):
            form = f"{record.bits}-bit codes with {record.groups} scales a row"
            raise EngineError(f"tflite: {name} has {form}; this exporter writes 4 or 8 bits with one.")
        return self.graph.quantized(record, name)

    def _decoded(self, name: str, record: Record) -> Value:
        if isinstance(record, Dense):
            return self.constant(name, record.values)
        raise EngineError(f"tflite: {name} is quantized, but the graph uses it in a way that needs float values.")

    def _dequantize(self, value: Value) -> Value:
        return self.graph.operator("DEQUANTIZE", [value], value.shape, version=_HALF_DEQUANTIZE)


@_lowers(aten.add.Tensor, aten.sub.Tensor, aten.mul.Tensor, aten.div.Tensor)
def _binary(low: Lowering, node: Node, one: Any, other: Any) -> Value:
    return low.emit(_name(node), node, low.value(one), low.value(other))


@_lowers(aten.rsub.Scalar)
def _reversed_sub(low: Lowering, node: Node, taken: Node, whole: float) -> Value:
    return low.emit("SUB", node, low.value(whole), low.value(taken))


@_lowers(aten.clamp_min.default)
def _at_least(low: Lowering, node: Node, source: Node, least: float) -> Value:
    return low.emit("MAXIMUM", node, low.value(source), low.value(least))


@_lowers(aten.relu.default, aten.tanh.default, aten.sqrt.default)
def _unary(low: Lowering, node: Node, source: Node) -> Value:
    return low.emit(_name(node), node, low.value(source))


@_lowers(aten.gelu.default)
def _gelu(low: Lowering, node: Node, source: Node, approximate: str = "none") -> Value:
    return low.emit("GELU", node, low.value(source), approximate=approximate == "tanh")


@_lowers(aten.softmax.int)
def _softmax(low: Lowering, node: Node, source: Node, axis: int) -> Value:
    _require(axis in (-1, node.meta["val"].dim() - 1), node)
    return low.emit("SOFTMAX", node, low.value(source), beta=1.0)


@_lowers(aten.to.dtype)
def _cast(low: Lowering, node: Node, source: Node, dtype: torch.dtype) -> Value:
    value = low.value(source)
    return low.emit("CAST", node, value, inDataType=value.type, outDataType=_TYPES[dtype])


@_lowers(aten.view.default, aten.reshape.default, aten.unsqueeze.default)
def _reshape(low: Lowering, node: Node, source: Node, *_: Any) -> Value:
    shape = list(node.meta["val"].shape)
    return low.emit("RESHAPE", node, low.value(source), low.indices(shape), newShape=np.array(shape, np.int32))


@_lowers(aten.select.int)
def _select(low: Lowering, node: Node, source: Node, axis: int, index: int) -> Value:
    # The only axis that the graph takes an entry from is the batch of 1.
    _require(source.meta["val"].shape[axis] == 1, node)
    return _reshape(low, node, source)


@_lowers(aten.slice.Tensor)
def _slice(low: Lowering, node: Node, source: Node, axis: int, start: int, stop: int) -> Value:
    shape = list(node.meta["val"].shape)
    begin = [start if i == axis else 0 for i in range(len(shape))]
    return low.emit("SLICE", node, low.value(source), low.indices(begin), low.indices(shape))


@_lowers(aten.transpose.int)
def _transpose(low: Lowering, node: Node, source: Node, one: int, other: int) -> Value:
    # Measured: two swaps in a row are faster than one rotation of three axes, or than `adjY` of the product.
    order = list(range(node.meta["val"].dim()))
    order[one], order[other] = order[other], order[one]
    return low.emit("TRANSPOSE", node, low.value(source), low.indices(order))


@_lowers(aten.sum.dim_IntList)
def _sum(low: Lowering, node: Node, source: Node, axes: list[int], keepdim: bool = False) -> Value:
    return low.emit("SUM", node, low.value(source), low.indices(axes), keepDims=keepdim)


@_lowers(aten.bmm.default, aten.mm.default)
def _product(low: Lowering, node: Node, left: Node, right: Node) -> Value:
    return low.emit("BATCH_MATMUL", node, low.value(left), low.value(right))


@_lowers(aten.linear.default)
def _linear(low: Lowering, node: Node, source: Node, weight: Node, bias: Node | None = None) -> Value:
    matrix = low.matrix(weight)
    if source.target is fixed.dequantize_per_tensor.default:
        return _static_linear(low, node, source, weight, bias)
    operands = (low.value(source), matrix, None if bias is None else low.value(bias))
    if matrix.type == _FLOAT32:
        return low.emit("FULLY_CONNECTED", node, *operands)
    # The ranges of activations need not be symmetric: where they have to be, the built-in kernels for ARM leave the
    # rows' scales out (seen to LiteRT 2.2). They run where XNNPACK does not take these products: below LiteRT 2.0.
    return low.emit("FULLY_CONNECTED", node, *operands, version=_PER_CHANNEL_LINEAR, asymmetricQuantizeInputs=True)


def _static_linear(low: Lowering, node: Node, source: Node, weight: Node, bias: Node | None) -> Value:
    """Between int8 activations: the engine wants the output's scale too, and a bias in whole numbers."""
    (rounding,) = node.users
    _require(rounding.target is fixed.quantize_per_tensor.default, node)
    added = None
    if bias is not None:
        (name, values), (_, record) = low.record(bias), low.record(weight)
        _require(isinstance(record, Quantized), node)
        unit = bias_scale(record.scale, _activation(source.args))  # type: ignore[union-attr]
        added = low.graph.integers(np.rint(values.decode() / unit).astype(np.int32), unit, name)
    operands, shape = [low.value(source), low.matrix(weight), added], tuple(node.meta["val"].shape)
    made = low.graph.operator("FULLY_CONNECTED", operands, shape, schema.TensorType.INT8, _PER_CHANNEL_LINEAR)
    return low.graph.rounded(made, _activation(rounding.args))


@_lowers(fixed.quantize_per_tensor.default)
def _quantize(low: Lowering, node: Node, source: Node, *form: Any) -> Value:
    value, activation = low.value(source), _activation(node.args)
    if value.type == schema.TensorType.INT8:
        # The output of a linear map, which has been given this scale.
        return value
    # Query, key and value read the same.
    key = (value.index, activation)
    if key not in low.rounded:
        made = low.graph.operator("QUANTIZE", [value], value.shape, schema.TensorType.INT8)
        low.rounded[key] = low.graph.rounded(made, activation)
    return low.rounded[key]


@_lowers(fixed.dequantize_per_tensor.default)
def _dequantize(low: Lowering, node: Node, source: Node, *form: Any) -> Value:
    value = low.value(source)
    if all(user.target is aten.linear.default for user in node.users):
        # Linear maps take the codes.
        return value
    return low.emit("DEQUANTIZE", node, value, version=_INT8_DEQUANTIZE)


def _activation(args: tuple[Any, ...]) -> Activation:
    _, scale, zero_point, *_ = args
    return Activation(scale, zero_point)


@_lowers(aten.embedding.default)
def _embedding(low: Lowering, node: Node, table: Node, ids: Node) -> Value:
    return low.rows(table, low.value(ids), tuple(node.meta["val"].shape))


@_lowers(aten.layer_norm.default)
def _layer_norm(
    low: Lowering, node: Node, source: Node, widths: list[int], weight: Node, bias: Node, eps: float, *_: Any
) -> Value:
    value, emit, shape = low.value(source), low.graph.operator, tuple(node.meta["val"].shape)
    _require(widths == [shape[-1]], node)
    statistic, axes = (*shape[:-1], 1), low.indices([len(shape) - 1])
    centred = emit("SUB", [value, emit("MEAN", [value, axes], statistic, keepDims=True)], shape)
    variance = emit("MEAN", [emit("MUL", [centred, centred], shape), axes], statistic, keepDims=True)
    inverse = emit("RSQRT", [emit("ADD", [variance, low.value(eps)], statistic)], statistic)
    factor = emit("MUL", [inverse, low.value(weight)], shape)
    return emit("ADD", [emit("MUL", [centred, factor], shape), low.value(bias)], shape)


def _name(node: Node) -> str:
    """`aten.add.Tensor` -> `ADD`."""
    return str(node.target).split(".")[1].upper()


def _require(holds: bool, node: Node) -> None:
    if not holds:
        raise EngineError(f"tflite: {node.format_node()} has a form that export/tflite/lower.py cannot write.")

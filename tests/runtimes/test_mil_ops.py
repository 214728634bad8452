"""Each operation of the reference runtime against torch or plain numpy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from mobilekit.errors import ArtifactError, EngineError
from mobilekit.runtimes.mil.interpreter import Constants, Interpreter, widened
from mobilekit.runtimes.mil.ops.activation import erf
from mobilekit.runtimes.mil.ops.table import kernels
from mobilekit.runtimes.mil.program import Function, Literal, Name, Operation, Output, TensorType

Array = NDArray[Any]
RNG = np.random.default_rng(0)
X = RNG.normal(size=(5, 6)).astype(np.float32)
Y = RNG.normal(size=(5, 6)).astype(np.float32)
IDS = np.array([[3, 1, 4, 1]], np.int32)


def computed(kind: str, dtype: str = "float32", /, **operands: Any) -> Array:
    """Run one operation of a function; arrays that are given as a tuple go in as a list."""

    def literals(value: Any) -> tuple[Literal, ...]:
        return tuple(Literal(np.asarray(v)) for v in (value if isinstance(value, tuple) else (value,)))

    shape = _shape(kind, operands)
    output = Output("result", TensorType(dtype, shape))
    operation = Operation(kind, {name: literals(value) for name, value in operands.items()}, (output,))
    return Interpreter(Function((), (operation,), ("result",)), Constants()).run({})["result"]


def _shape(kind: str, operands: dict[str, Any]) -> tuple[None, ...]:
    given = {k: v if k == "values" else widened(np.asarray(v)) for k, v in operands.items()}
    result = kernels()[kind].compute(**given)
    return (None,) * result.ndim


def t(values: Array) -> torch.Tensor:
    return torch.from_numpy(np.ascontiguousarray(values))


CASES: dict[str, tuple[Array, torch.Tensor]] = {
    "add": (computed("add", x=X, y=Y[:1]), t(X) + t(Y[:1])),
    "sub": (computed("sub", x=np.float32(1), y=Y), 1 - t(Y)),
    "mul": (computed("mul", x=X, y=Y), t(X) * t(Y)),
    "real_div": (computed("real_div", x=X, y=Y), t(X) / t(Y)),
    "maximum": (computed("maximum", x=X, y=np.float32(0.1)), t(X).clamp_min(0.1)),
    "not_equal": (computed("not_equal", "bool", x=IDS, y=np.int32(1)), t(IDS) != 1),
    "greater_equal": (computed("greater_equal", "bool", x=IDS, y=np.int32(3)), t(IDS) >= 3),
    "logical_and": (computed("logical_and", "bool", x=IDS > 1, y=IDS < 4), (t(IDS) > 1) & (t(IDS) < 4)),
    "select": (computed("select", cond=X > 0, a=X, b=np.float32(-1)), torch.where(t(X) > 0, t(X), -1.0)),
    "cast": (computed("cast", "int32", x=X * 3, dtype="int32"), (t(X) * 3).to(torch.int32)),
    "sqrt": (computed("sqrt", x=X * X), t(X).abs()),
    "gelu": (computed("gelu", x=X, mode="EXACT"), torch.nn.functional.gelu(t(X))),
    "gelu-tanh": (
        computed("gelu", x=X, mode="TANH_APPROXIMATION"),
        torch.nn.functional.gelu(t(X), approximate="tanh"),
    ),
    "relu": (computed("relu", x=X), t(X).relu()),
    "tanh": (computed("tanh", x=X), t(X).tanh()),
    "linear": (
        computed("linear", x=X, weight=Y, bias=np.arange(5, dtype=np.float32)),
        torch.nn.functional.linear(t(X), t(Y), torch.arange(5.0)),
    ),
    "linear-plain": (computed("linear", x=X, weight=Y), t(X) @ t(Y).T),
    "matmul": (computed("matmul", x=X, y=Y.T), t(X) @ t(Y).T),
    "matmul-flags": (computed("matmul", x=X, y=Y.T, transpose_x=True, transpose_y=True), t(X).T @ t(Y)),
    "reduce_sum": (
        computed("reduce_sum", x=X, axes=np.array([-1], np.int32), keep_dims=True),
        t(X).sum(-1, keepdim=True),
    ),
    "reduce_l2_norm": (
        computed("reduce_l2_norm", x=X, axes=np.array([1], np.int32), keep_dims=True),
        t(X).norm(dim=1, keepdim=True),
    ),
    "softmax": (computed("softmax", x=X * 40, axis=np.int32(-1)), (t(X) * 40).softmax(-1)),
    "layer_norm": (
        computed("layer_norm", x=X, axes=np.array([-1], np.int32), gamma=Y[0], beta=Y[1], epsilon=np.float32(1e-3)),
        torch.nn.functional.layer_norm(t(X), (6,), t(Y[0]), t(Y[1]), 1e-3),
    ),
    "quantize": (
        computed("quantize", "int8", input=X * 9, scale=np.float32(0.125), zero_point=np.int8(-3), output_dtype="int8"),
        torch.quantize_per_tensor(t(X * 9), 0.125, -3, torch.qint8).int_repr(),
    ),
    "quantize-unsigned": (
        computed("quantize", "uint8", input=X, scale=np.float32(0.125), output_dtype="uint8"),
        torch.quantize_per_tensor(t(X), 0.125, 0, torch.quint8).int_repr(),
    ),
    "dequantize": (
        computed(
            "dequantize", input=np.arange(-128, 127, dtype=np.int8), scale=np.float32(0.25), zero_point=np.int8(9)
        ),
        (torch.arange(-128.0, 127.0) - 9) * 0.25,
    ),
    "dequantize-plain": (
        computed("dequantize", input=np.arange(3, dtype=np.uint8), scale=np.float32(0.25)),
        torch.arange(3.0) * 0.25,
    ),
    "shape": (computed("shape", "int32", x=X), torch.tensor([5, 6], dtype=torch.int32)),
    "reshape": (computed("reshape", x=X, shape=np.array([0, -1, 2], np.int32)), t(X).reshape(5, 3, 2)),
    "transpose": (computed("transpose", x=X, perm=np.array([1, 0], np.int32)), t(X).T),
    "expand_dims": (computed("expand_dims", x=X, axes=np.array([0], np.int32)), t(X)[None]),
    "concat": (
        computed("concat", "int32", values=(np.int32(7), np.array([2, 3], np.int32)), axis=np.int32(0)),
        torch.tensor([7, 2, 3], dtype=torch.int32),
    ),
    "gather": (computed("gather", x=X, indices=IDS, axis=np.int32(0)), t(X)[t(IDS).long()]),
    "gather-columns": (computed("gather", x=X, indices=IDS[0], axis=np.int32(1)), t(X)[:, t(IDS[0]).long()]),
    "gather_nd": (
        computed("gather_nd", x=X, indices=np.array([[[0, 5], [4, 1]]], np.int32)),
        t(X)[torch.tensor([[0, 4]]), torch.tensor([[5, 1]])],
    ),
    "gather_nd-rows": (computed("gather_nd", x=X, indices=np.array([[2], [0]], np.int32)), t(X)[[2, 0]]),
    "tile": (computed("tile", x=X, reps=np.array([2, 3], np.int32)), t(X).repeat(2, 3)),
    "slice_by_index": (
        computed(
            "slice_by_index",
            x=X,
            begin=np.array([1, 0], np.int32),
            end=np.array([4, 0], np.int32),
            stride=np.array([2, 1], np.int32),
            end_mask=np.array([False, True]),
        ),
        t(X)[1:4:2],
    ),
    "slice_by_index-squeeze": (
        computed(
            "slice_by_index",
            x=X,
            begin=np.array([2, 3], np.int32),
            end=np.array([3, 5], np.int32),
            begin_mask=np.array([False, True]),
            squeeze_mask=np.array([True, False]),
        ),
        t(X)[2, :5],
    ),
}


@pytest.mark.parametrize(("got", "expected"), CASES.values(), ids=CASES)
def test_operation_equals_torch(got: Array, expected: torch.Tensor) -> None:
    assert got.shape == tuple(expected.shape)
    assert str(got.dtype) == str(expected.dtype).removeprefix("torch.")
    np.testing.assert_allclose(got, expected.numpy(), rtol=2e-6, atol=5e-7)


def test_every_operation_is_tested() -> None:
    assert {name.partition("-")[0] for name in CASES} == set(kernels())


def test_erf_is_as_exact_as_float32() -> None:
    x = np.linspace(-6, 6, 20001, dtype=np.float32)
    assert np.abs(erf(x) - [math.erf(v) for v in x]).max() < 5e-7


def test_float16_results_are_rounded_once_after_a_sum_in_float32() -> None:
    x = np.full((1, 4096), 1.0, np.float16)
    y = np.concatenate([np.full(2048, 1.0), np.full(2048, 2.0**-11)]).astype(np.float16)
    # 2048 + 1 is not a float16 and would be lost in each of 2048 additions; float32 sums it and then rounds.
    (total,) = computed("linear", "float16", x=x, weight=y[None])[0]
    assert total == np.float16(2048 + 1)
    (third,) = computed("real_div", "float16", x=np.ones(1, np.float16), y=np.full(1, 3, np.float16))
    assert third == np.float16(1 / 3) != np.float32(1 / 3)


def test_float16_overflow_is_inf_and_its_consequences_are_seen() -> None:
    big = np.full((1, 4), 300.0, np.float16)
    product = Operation("mul", {"x": (Name("x"),), "y": (Name("x"),)}, (Output("squares", _half(1, 4)),))
    axes = {
        "x": (Name("squares"),),
        "axes": (Literal(np.array([-1], np.int32)),),
        "keep_dims": (Literal(np.array(True)),),
    }
    total = Operation("reduce_sum", axes, (Output("sum", _half(1, 1)),))
    share = Operation("real_div", {"x": (Name("sum"),), "y": (Name("sum"),)}, (Output("share", _half(1, 1)),))
    constant = Operation("const", {"val": (Literal(big),)}, (Output("x", _half(1, 4)),))
    made = Interpreter(Function((), (constant, product, total, share), ("sum", "share")), Constants()).run({})
    assert np.isinf(made["sum"]).all()
    assert np.isnan(made["share"]).all()


def test_the_same_sum_in_float32_is_finite() -> None:
    axes = np.array([-1], np.int32)
    assert computed("reduce_sum", x=np.full((1, 4), 9e4, np.float32), axes=axes) == 36e4
    assert np.isinf(computed("reduce_sum", "float16", x=np.full((1, 4), 6e4, np.float16), axes=axes))


def _half(*shape: int) -> TensorType:
    return TensorType("float16", shape)


def test_unknown_operation_is_an_error_that_names_it() -> None:
    operation = Operation("topk", {"x": (Literal(X),)}, (Output("best", TensorType("float32", (5, 6))),))
    with pytest.raises(EngineError, match="operation best: 'topk' is unknown"):
        Interpreter(Function((), (operation,), ("best",)), Constants())


def test_unknown_parameter_is_an_error_that_names_it() -> None:
    operands = {"x": (Literal(X),), "temperature": (Literal(np.array(2.0)),)}
    operation = Operation("softmax", operands, (Output("p", TensorType("float32", (5, 6))),))
    with pytest.raises(EngineError, match=r"operation p \(softmax\): parameter 'temperature'"):
        Interpreter(Function((), (operation,), ("p",)), Constants())


def test_a_result_of_another_shape_than_declared_is_an_error() -> None:
    operation = Operation("relu", {"x": (Literal(X),)}, (Output("r", TensorType("float32", (5, 7))),))
    with pytest.raises(EngineError, match=r"relu r: shape \[5, 6\], declared \[5, 7\]"):
        Interpreter(Function((), (operation,), ("r",)), Constants()).run({})


@pytest.mark.parametrize("bad", [-1, 5])
def test_an_id_outside_of_the_table_is_an_error(bad: int) -> None:
    with pytest.raises(EngineError, match=r"outside 0 \.\. 4"):
        computed("gather", x=X, indices=np.array([bad], np.int32), axis=np.int32(0))


def test_affine_constant_is_decoded_by_its_definition() -> None:
    codes = np.array([[-127, 3], [100, 4], [1, -5]], np.int8)
    scale = np.array([0.0031, 0.02, 1.5], np.float16)
    zero = np.array([0, 2, 1], np.int8)
    operands = {"quantized_data": codes, "scale": scale, "zero_point": zero, "axis": np.int32(0)}
    got = _constant("constexpr_affine_dequantize", operands)
    shifted = (codes.astype(np.int32) - zero[:, None]).astype(np.float16)
    np.testing.assert_array_equal(got, (shifted * scale[:, None]).astype(np.float32))


def test_blockwise_constant_is_decoded_by_its_definition() -> None:
    codes = RNG.integers(-127, 128, (4, 6)).astype(np.int8)
    scale = RNG.uniform(0.001, 0.1, (4, 3)).astype(np.float16)
    offset = RNG.integers(-3, 4, (4, 3)).astype(np.int8)
    wide = scale.repeat(2, 1)
    plain = _constant("constexpr_blockwise_shift_scale", {"data": codes, "scale": scale})
    np.testing.assert_array_equal(plain, (codes.astype(np.float16) * wide).astype(np.float32))
    shifted = _constant("constexpr_blockwise_shift_scale", {"data": codes, "scale": scale, "offset": offset})
    difference = (codes.astype(np.int32) - offset.repeat(2, 1)).astype(np.float16)
    np.testing.assert_array_equal(shifted, (difference * wide).astype(np.float32))


def test_unknown_constant_is_an_error_that_names_it() -> None:
    with pytest.raises(EngineError, match="constexpr_sparse_to_dense is unknown"):
        _constant("constexpr_sparse_to_dense", {"mask": X})


@pytest.mark.parametrize("bits", [1, 2, 4, 6, 8])
def test_look_up_table_of_one_tensor_is_decoded_by_its_definition(bits: int) -> None:
    codes = RNG.integers(0, 2**bits, (5, 7)).astype(np.uint8)
    table = RNG.normal(size=2**bits).astype(np.float16)
    packed = np.packbits(
        np.unpackbits(codes.reshape(-1, 1), axis=1, bitorder="little")[:, :bits].ravel(), bitorder="little"
    )
    got = _constant("constexpr_lut_to_dense", {"indices": packed, "lut": table, "shape": np.array([5, 7], np.uint32)})
    np.testing.assert_array_equal(got, table[codes].astype(np.float32))


@pytest.mark.parametrize("shape", [(6,), (5, 7), (1, 4, 6)])
def test_one_look_up_table_serves_a_tensor_of_any_rank(shape: tuple[int, ...]) -> None:
    codes = RNG.integers(0, 16, shape).astype(np.uint8)
    table = RNG.normal(size=16).astype(np.float16)
    operands = {"indices": Literal(codes, 64, 4), "lut": table.reshape(*(1 for _ in shape), 16, 1)}
    np.testing.assert_array_equal(_constant("constexpr_lut_to_dense", operands), table[codes].astype(np.float32))


@pytest.mark.parametrize("bits", [1, 2, 3, 4, 6, 8])
def test_look_up_tables_of_groups_of_rows_are_decoded_by_their_definition(bits: int) -> None:
    codes = Literal(RNG.integers(0, 2**bits, (6, 5)).astype(np.uint8), 64, bits)
    table = RNG.normal(size=(3, 1, 2**bits, 1)).astype(np.float16)
    got = _constant("constexpr_lut_to_dense", {"indices": codes, "lut": table})
    for row in range(6):
        np.testing.assert_array_equal(got[row], table[row // 2, 0, codes.value[row], 0].astype(np.float32))


@pytest.mark.parametrize(
    "operands",
    [
        {"indices": Literal(np.zeros((6, 5), np.uint8), 64, 2), "lut": np.zeros((1, 1, 8, 1), np.float16)},
        {"indices": Literal(np.zeros((6, 5), np.uint8), 64, 2), "lut": np.zeros((4, 1, 4, 1), np.float16)},
        {"indices": Literal(np.zeros((6, 5), np.uint8), 64, 2), "lut": np.zeros((1, 5, 4, 1), np.float16)},
        {"indices": Literal(np.zeros((6, 5), np.uint8), 64, 2), "lut": np.zeros((1, 1, 4, 2), np.float16)},
        {"indices": Literal(np.zeros((6, 5), np.uint8), 64, 2), "lut": np.zeros((0, 1, 4, 1), np.float16)},
        {"indices": Literal(np.zeros((4, 5), np.uint8), 64, 2), "lut": np.zeros((4, 1, 1, 1), np.float16)},
        {"indices": Literal(np.zeros((6, 5), np.int8), 64, 4), "lut": np.zeros((1, 1, 16, 1), np.float16)},
        {"indices": Literal(np.zeros(6, np.uint8), 64, 2), "lut": np.zeros((1, 1, 4, 1), np.float16)},
        {"indices": np.zeros(9, np.uint8), "lut": np.zeros(4, np.float16), "shape": np.array([6, 5], np.uint32)},
        {"indices": np.zeros(8, np.uint8), "lut": np.zeros(5, np.float16), "shape": np.array([8, 4], np.uint32)},
        {"indices": np.zeros(0, np.uint8), "lut": np.zeros(0, np.float16), "shape": np.array([0, 4], np.uint32)},
        {"indices": np.zeros(4, np.uint8), "lut": np.zeros(2, np.float16), "shape": np.array([2**31] * 2, np.uint32)},
    ],
)
def test_look_up_tables_that_do_not_fit_their_codes_are_refused(operands: dict[str, Any]) -> None:
    with pytest.raises(ArtifactError, match="w: not a matrix of codes"):
        _constant("constexpr_lut_to_dense", operands)


def _constant(kind: str, operands: dict[str, Any]) -> Array:
    given = {n: (v if isinstance(v, Literal) else Literal(np.asarray(v)),) for n, v in operands.items()}
    return Constants().of(Operation(kind, given, (Output("w", TensorType("float16", (None, None))),)))


def test_several_scales_and_other_types_are_errors() -> None:
    with pytest.raises(EngineError, match=r"several scales are unknown"):
        computed("dequantize", input=np.zeros((2, 2), np.int8), scale=np.ones(2, np.float32))
    with pytest.raises(EngineError, match=r"quantize: the type int4 is unknown"):
        computed("quantize", "int8", input=X, scale=np.float32(1), output_dtype="int4")

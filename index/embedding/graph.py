"""Builds the ONNX graph of the encoder: word vectors in, one unit vector out.

One text a run: no padding and no mask, and its vector does not depend on its neighbours, which
per-tensor activation scales would make it do. Measured, batching gained nothing: the matrix
products of a single passage already fill the core.

The word table stays outside (`weights.py` maps it): of its 250,000 rows a text touches a few.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from index.embedding.runtime import INPUT, OUTPUT
from index.embedding.weights import Weights

_MICROSOFT = "com.microsoft"
_OPSET, _IR_VERSION = 20, 10
_WEIGHT_LIMIT = 63
"""7 bits: on processors without VNNI the sum of two products saturates at 16 bits from 8 on."""
_MIGRATION = 0.7
_FLOOR = 1e-2

Peaks = Mapping[str, NDArray[np.float32]]
"""Largest magnitude of each channel of an activation, by the name of the activation."""


def build_reference(weights: Weights) -> bytes:
    """Return the float32 model; besides the vector it gives the peaks of each activation."""
    return _Encoder(weights, None).build()


def build_model(weights: Weights, peaks: Peaks) -> bytes:
    """Return the int8 model, (1, tokens, hidden) words to a (1, hidden) unit vector.

    `peaks` are those that the reference gave for some text.
    """
    return _Encoder(weights, peaks).build()


class _Graph:
    """Collects nodes and constants, naming each value."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.outputs = [OUTPUT]

    def constant(self, value: NDArray[Any]) -> str:
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def add(self, operator: str, *inputs: str, domain: str = "", out: str = "", **how: Any) -> str:
        name = out or f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, list(inputs), [name], domain=domain, **how))
        return name

    def serialise(self, hidden: int) -> bytes:
        real = TensorProto.FLOAT
        graph = helper.make_graph(
            self.nodes,
            "multilingual-e5-small",
            [helper.make_tensor_value_info(INPUT, real, [1, "tokens", hidden])],
            [helper.make_tensor_value_info(name, real, None) for name in self.outputs],
            self.constants,
        )
        opsets = [helper.make_opsetid("", _OPSET), helper.make_opsetid(_MICROSOFT, 1)]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=_IR_VERSION)
        return bytes(model.SerializeToString())


class _Encoder:
    """The layers, in float32 when there are no peaks to scale int8 by."""

    def __init__(self, weights: Weights, peaks: Peaks | None) -> None:
        self._weights = weights
        self._shape = weights.shape
        self._peaks = peaks
        self._graph = _Graph()

    def build(self) -> bytes:
        value = self._embeddings()
        for layer in range(self._shape.layers):
            value = self._feed_forward(f"l{layer}.", self._attention(f"l{layer}.", value))
        axis = self._graph.constant(np.array([1], np.int64))
        mean = self._graph.add("ReduceMean", value, axis, keepdims=0)
        self._graph.add("LpNormalization", mean, out=OUTPUT, axis=1, p=2)
        return self._graph.serialise(self._shape.hidden)

    def _embeddings(self) -> str:
        """Add position and type to the words, and normalise."""
        graph, hidden = self._graph, self._shape.hidden
        kind = self._weights.floats("emb.type")[:hidden]
        table = graph.constant(self._weights.floats("emb.pos").reshape(-1, hidden) + kind)
        zero = graph.constant(np.array([0], np.int64))
        length = graph.add("Shape", INPUT, start=1, end=2)
        positions = graph.add("Slice", table, zero, length, zero)
        return self._norm("emb.ln", graph.add("Add", INPUT, positions))

    def _attention(self, layer: str, value: str) -> str:
        projections = [self._matrix(layer + part, self._shape.hidden) for part in ("q", "k", "v")]
        even, factor = self._even(layer + "qkv", value, np.concatenate(projections))
        heads = self._graph.add(
            "MultiHeadAttention",
            *(
                self._product(layer + part, even, matrix * factor)
                for part, matrix in zip(("q", "k", "v"), projections, strict=True)
            ),
            domain=_MICROSOFT,
            num_heads=self._shape.heads,
        )
        mixed = self._product(layer + "ao", heads, self._matrix(layer + "ao", self._shape.hidden))
        return self._norm(layer + "aln", self._graph.add("Add", mixed, value))

    def _feed_forward(self, layer: str, value: str) -> str:
        widening = self._matrix(layer + "fi", self._shape.hidden)
        even, factor = self._even(layer + "fi", value, widening)
        wide = self._graph.add("Gelu", self._product(layer + "fi", even, widening * factor))
        narrowing = self._matrix(layer + "fo", self._shape.inner)
        even, factor = self._even(layer + "fo", wide, narrowing)
        narrow = self._product(layer + "fo", even, narrowing * factor)
        return self._norm(layer + "oln", self._graph.add("Add", narrow, value))

    def _matrix(self, name: str, columns: int) -> NDArray[np.float32]:
        return self._weights.matrix(name + ".w", columns)

    def _norm(self, name: str, value: str) -> str:
        scale = self._graph.constant(self._weights.floats(name + ".w"))
        shift = self._graph.constant(self._weights.floats(name + ".b"))
        return self._graph.add(
            "LayerNormalization", value, scale, shift, axis=-1, epsilon=self._shape.epsilon
        )

    def _even(
        self, name: str, value: str, matrix: NDArray[np.float32]
    ) -> tuple[str, NDArray[np.float32]]:
        """Return `value` divided by a factor for each channel, and that factor for the weights.

        A few channels are far louder than the rest and would take all of the 8 bits; moving
        part of their range into the weights brings the vectors from a cosine of .9967 to
        .999 with the float32 ones. Formula: Xiao et al., "SmoothQuant", 2022, equation 4.
        """
        if self._peaks is None:
            self._report(name, value)
            return value, np.ones(matrix.shape[1], np.float32)
        peaks = self._peaks[name]
        peaks = np.maximum(peaks, _FLOOR * peaks.max())
        factor = peaks**_MIGRATION / np.abs(matrix).max(axis=0) ** (1 - _MIGRATION)
        even = self._graph.add("Mul", value, self._graph.constant(1 / factor))
        return even, factor

    def _report(self, name: str, value: str) -> None:
        axes = self._graph.constant(np.array([0, 1], np.int64))
        size = self._graph.add("Abs", value)
        self._graph.outputs.append(self._graph.add("ReduceMax", size, axes, out=name, keepdims=0))

    def _product(self, name: str, value: str, matrix: NDArray[np.float32]) -> str:
        """Multiply by `matrix` transposed and add the bias."""
        bias = self._graph.constant(self._weights.floats(name + ".b"))
        if self._peaks is None:
            product = self._graph.add("MatMul", value, self._graph.constant(matrix.T))
            return self._graph.add("Add", product, bias)
        scale = np.abs(matrix).max(axis=1) / _WEIGHT_LIMIT
        whole = np.rint(matrix / scale[:, None]).astype(np.int8)
        zero = np.zeros(len(scale), np.int8)
        constants = [self._graph.constant(value) for value in (whole.T, scale, zero)]
        return self._graph.add("DynamicQuantizeMatMul", value, *constants, bias, domain=_MICROSOFT)

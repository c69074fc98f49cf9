"""Builds the ONNX graph of the encoder: word vectors in, one unit vector out.

One text a run: no padding and no mask, and its vector does not depend on its neighbours, which
per-tensor activation scales would make it do. Measured, batching gained nothing: the matrix
products of a single passage already fill the core.

The word table stays outside (`weights.py` maps it): of its 250,000 rows a text touches a few.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from index.embedding.weights import Weights

INPUT = "words"
OUTPUT = "vector"
_MICROSOFT = "com.microsoft"
_OPSET, _IR_VERSION = 20, 10
_WEIGHT_LIMIT = 127


class _Graph:
    """Collects nodes and constants, naming each value."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def constant(self, value: NDArray[Any]) -> str:
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def add(self, operator: str, *inputs: str, domain: str = "", out: str = "", **how: Any) -> str:
        name = out or f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, list(inputs), [name], domain=domain, **how))
        return name


def build_model(weights: Weights) -> bytes:
    """Return the serialised model, (1, tokens, hidden) to a (1, hidden) unit vector."""
    shape = weights.shape
    graph = _Graph()
    value = _embeddings(graph, weights)
    for layer in range(shape.layers):
        value = _layer(graph, weights, f"l{layer}.", value)
    axis = graph.constant(np.array([1], np.int64))
    mean = graph.add("ReduceMean", value, axis, keepdims=0)
    graph.add("LpNormalization", mean, out=OUTPUT, axis=1, p=2)
    return _serialise(graph, shape.hidden)


def _serialise(graph: _Graph, hidden: int) -> bytes:
    real = TensorProto.FLOAT
    model = helper.make_model(
        helper.make_graph(
            graph.nodes,
            "multilingual-e5-small",
            [helper.make_tensor_value_info(INPUT, real, [1, "tokens", hidden])],
            [helper.make_tensor_value_info(OUTPUT, real, [1, hidden])],
            graph.constants,
        ),
        opset_imports=[helper.make_opsetid("", _OPSET), helper.make_opsetid(_MICROSOFT, 1)],
        ir_version=_IR_VERSION,
    )
    return bytes(model.SerializeToString())


def _embeddings(graph: _Graph, weights: Weights) -> str:
    """Add position and type to the words, and normalise."""
    hidden = weights.shape.hidden
    kind = weights.floats("emb.type")[:hidden]
    table = graph.constant(weights.floats("emb.pos").reshape(-1, hidden) + kind)
    zero = graph.constant(np.array([0], np.int64))
    length = graph.add("Shape", INPUT, start=1, end=2)
    positions = graph.add("Slice", table, zero, length, zero)
    return _norm(graph, weights, "emb.ln", graph.add("Add", INPUT, positions))


def _layer(graph: _Graph, weights: Weights, name: str, value: str) -> str:
    hidden, inner = weights.shape.hidden, weights.shape.inner
    query, key, content = (
        _linear(graph, weights, name + part, value, hidden) for part in ("q", "k", "v")
    )
    attended = graph.add(
        "MultiHeadAttention", query, key, content, domain=_MICROSOFT, num_heads=weights.shape.heads
    )
    mixed = _linear(graph, weights, name + "ao", attended, hidden)
    value = _norm(graph, weights, name + "aln", graph.add("Add", mixed, value))
    wide = graph.add("Gelu", _linear(graph, weights, name + "fi", value, hidden))
    narrow = _linear(graph, weights, name + "fo", wide, inner)
    return _norm(graph, weights, name + "oln", graph.add("Add", narrow, value))


def _norm(graph: _Graph, weights: Weights, name: str, value: str) -> str:
    scale = graph.constant(weights.floats(name + ".w"))
    shift = graph.constant(weights.floats(name + ".b"))
    return graph.add(
        "LayerNormalization", value, scale, shift, axis=-1, epsilon=weights.shape.epsilon
    )


def _linear(graph: _Graph, weights: Weights, name: str, value: str, columns: int) -> str:
    """Add an int8 product: weights scaled by output row, activations by text."""
    matrix = weights.matrix(name + ".w", columns)
    scale = np.abs(matrix).max(axis=1) / _WEIGHT_LIMIT
    whole = np.rint(matrix / scale[:, None]).astype(np.int8)
    return graph.add(
        "DynamicQuantizeMatMul",
        value,
        graph.constant(whole.T),
        graph.constant(scale),
        graph.constant(np.zeros(len(scale), np.int8)),
        graph.constant(weights.floats(name + ".b")),
        domain=_MICROSOFT,
    )


def check_model(model: bytes) -> None:
    """Raise onnx.checker.ValidationError when `model` is malformed."""
    onnx.checker.check_model(model)

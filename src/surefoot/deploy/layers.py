"""The layers in a policy.onnx, read without any library: ONNX is protobuf, and protobuf is numbered fields."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from surefoot.deploy.policy import INPUT, OUTPUT
from surefoot.errors import SurefootError

Array = np.ndarray
VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5  # wire types of protobuf
GRAPH = 7  # fields of ModelProto, GraphProto, NodeProto, AttributeProto and TensorProto, as onnx.proto numbers them
NODE, INITIALIZER = 1, 5
NODE_INPUT, NODE_OUTPUT, NODE_TYPE, NODE_ATTRIBUTE = 1, 2, 4, 5
ATTRIBUTE_NAME, ATTRIBUTE_FLOAT, ATTRIBUTE_INT = 1, 2, 3
DIMS, DATA_TYPE, FLOAT_DATA, TENSOR_NAME, RAW_DATA = 1, 2, 4, 8, 9
FLOAT = 1


@dataclass(frozen=True, kw_only=True, eq=False)
class Layers:
    """a = W_k x + b_k of the last layer, with x = elu(W x + b) of each before, and x = (o − mean) / std of the first."""

    mean: Array  # of observations, float32, shape (inputs,)
    std: Array  # float32, shape (inputs,)
    weights: tuple[Array, ...]  # W, float32, shape (outputs, inputs) each
    biases: tuple[Array, ...]  # b, float32, shape (outputs,) each


@dataclass(frozen=True, kw_only=True)
class _Node:
    kind: str
    inputs: tuple[str, ...]
    output: str
    settings: dict[str, float]


def read_layers(path: Path) -> Layers:
    """The network that `surefoot train` wrote: centre, scale, then linear layers with ELU in between."""
    try:
        nodes, tensors = _graph(path.read_bytes())
    except (IndexError, ValueError, KeyError, StopIteration, AssertionError, struct.error):
        raise SurefootError(f"{path} is not an ONNX file, or a damaged one.") from None
    try:
        return _chain(nodes, tensors)
    except (KeyError, _Foreign) as error:
        raise SurefootError(
            f"the network in {path} is not one of surefoot train's ({error}); only a normaliser (Sub, Div) and linear layers "
            "(Gemm) with Elu in between can be written as C."
        ) from None


class _Foreign(Exception):
    """A network of another make."""


def _chain(nodes: list[_Node], tensors: dict[str, Array]) -> Layers:
    """Follow the one path from the observation to the action."""
    mean = std = None
    weights, biases = [], []
    at, straight = INPUT, True  # straight: nothing bends the signal between the last linear layer and here
    for node in nodes:
        if node.inputs[0] != at:
            raise _Foreign(f"{node.kind} does not follow {at}")
        if node.kind in ("Sub", "Div") and not weights:
            mean = tensors[node.inputs[1]] if node.kind == "Sub" else mean
            std = tensors[node.inputs[1]] if node.kind == "Div" else std
        elif node.kind == "Gemm" and (straight or not weights):
            if node.settings.get("alpha", 1.0) != 1 or node.settings.get("beta", 1.0) != 1 or node.settings.get("transA", 0):
                raise _Foreign("a Gemm with factors")
            matrix = tensors[node.inputs[1]]
            weights.append(matrix if node.settings.get("transB", 0) else matrix.T)
            biases.append(tensors[node.inputs[2]] if len(node.inputs) > 2 else np.zeros(len(weights[-1]), dtype=np.float32))
            straight = False
        elif node.kind == "Elu" and weights and not straight and node.settings.get("alpha", 1.0) == 1:
            straight = True
        else:
            raise _Foreign(node.kind)
        at = node.output
    if at != OUTPUT or straight:
        raise _Foreign(f"it ends in {at}")
    size = weights[0].shape[1]
    mean = np.zeros(size, dtype=np.float32) if mean is None else mean
    std = np.ones(size, dtype=np.float32) if std is None else std
    return Layers(mean=mean.reshape(-1), std=std.reshape(-1), weights=tuple(weights), biases=tuple(b.reshape(-1) for b in biases))


# --- protobuf -----------------------------------------------------------------------------------------------------------------
def _graph(data: bytes) -> tuple[list[_Node], dict[str, Array]]:
    """Nodes in their order, and constants by name."""
    nodes, tensors = [], {}
    for field, value in _fields(next(value for field, value in _fields(data) if field == GRAPH and isinstance(value, bytes))):
        if field == NODE and isinstance(value, bytes):
            nodes.append(_node(value))
        elif field == INITIALIZER and isinstance(value, bytes):
            name, tensor = _tensor(value)
            tensors[name] = tensor
    return nodes, tensors


def _node(data: bytes) -> _Node:
    inputs, output, kind, settings = [], "", "", {}
    for field, value in _fields(data):
        assert isinstance(value, bytes)
        if field == NODE_INPUT:
            inputs.append(value.decode())
        elif field == NODE_OUTPUT:
            output = value.decode()
        elif field == NODE_TYPE:
            kind = value.decode()
        elif field == NODE_ATTRIBUTE:
            parts = dict(_fields(value))
            name, number = parts[ATTRIBUTE_NAME], parts.get(ATTRIBUTE_FLOAT, parts.get(ATTRIBUTE_INT, 0))
            assert isinstance(name, bytes)
            settings[name.decode()] = struct.unpack("<f", number)[0] if isinstance(number, bytes) else float(number)
    return _Node(kind=kind, inputs=tuple(inputs), output=output, settings=settings)


def _tensor(data: bytes) -> tuple[str, Array]:
    name, shape, kind, values = "", [], 0, np.zeros(0, dtype="<f4")
    for field, value in _fields(data):
        if field == DIMS:
            shape += [value] if isinstance(value, int) else list(_varints(value))
        elif field == DATA_TYPE and isinstance(value, int):
            kind = value
        elif field == TENSOR_NAME and isinstance(value, bytes):
            name = value.decode()
        elif field in (RAW_DATA, FLOAT_DATA) and isinstance(value, bytes):
            values = np.append(values, np.frombuffer(value, dtype="<f4"))
    return name, values.reshape(shape) if kind == FLOAT else np.zeros(0, dtype="<f4")


def _fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Number and value of each field of a message: a whole number, or bytes."""
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        wire = key & 7
        if wire == VARINT:
            value, at = _varint(data, at)
        elif wire in (FIXED64, FIXED32):
            size = 8 if wire == FIXED64 else 4
            value, at = data[at : at + size], at + size
        elif wire == BYTES:
            size, at = _varint(data, at)
            if at + size > len(data):
                raise ValueError("a field is longer than the file")
            value, at = data[at : at + size], at + size
        else:
            raise ValueError(f"wire type {wire}")
        yield key >> 3, value


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        value, at, shift = value | (byte & 0x7F) << shift, at + 1, shift + 7
        if byte < 0x80:
            return value, at


def _varints(data: bytes) -> Iterator[int]:
    at = 0
    while at < len(data):
        value, at = _varint(data, at)
        yield value

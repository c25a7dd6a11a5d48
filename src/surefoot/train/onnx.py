"""A trained actor as policy.onnx: its normaliser and its layers, written node by node, with the specification in the metadata."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from surefoot.deploy.policy import INPUT, OUTPUT, Specification
from surefoot.errors import SurefootError

if TYPE_CHECKING:
    from rsl_rl.models import MLPModel

OPSET = 18
EPSILON = 1e-2  # added by rsl_rl's normaliser to the standard deviation


def write(actor: MLPModel, spec: Specification, path: Path) -> Path:
    """Write the actor's mean action, for any number of observations at a time."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    weights = {name: value.detach().cpu().numpy().astype(np.float32) for name, value in actor.state_dict().items()}
    layers = sorted({int(name.split(".")[1]) for name in weights if name.startswith("mlp.")})
    mean, std = weights["obs_normalizer._mean"][0], weights["obs_normalizer._std"][0] + np.float32(EPSILON)
    if len(mean) != len(spec.observation):
        raise SurefootError(f"the actor takes {len(mean)} numbers; the joints of its specification make {len(spec.observation)}.")
    constants: dict[str, Any] = {"mean": mean, "std": std}
    nodes = [helper.make_node("Sub", [INPUT, "mean"], ["centred"]), helper.make_node("Div", ["centred", "std"], ["x0"])]
    names = [f"x{i}" for i in range(len(layers))]
    for i, (layer, (before, after)) in enumerate(zip(layers, pairwise([*names, OUTPUT]), strict=True)):
        constants |= {f"w{i}": weights[f"mlp.{layer}.weight"], f"b{i}": weights[f"mlp.{layer}.bias"]}
        last = layer == layers[-1]
        nodes.append(helper.make_node("Gemm", [before, f"w{i}", f"b{i}"], [after if last else f"y{i}"], transB=1))
        if not last:
            nodes.append(helper.make_node("Elu", [f"y{i}"], [after], alpha=1.0))
    shape = lambda name, size: helper.make_tensor_value_info(name, TensorProto.FLOAT, ["robots", size])  # noqa: E731
    graph = helper.make_graph(
        nodes, "policy", [shape(INPUT, len(spec.observation))], [shape(OUTPUT, len(spec.joints))],
        [numpy_helper.from_array(np.ascontiguousarray(value), name) for name, value in constants.items()],
    )  # fmt: skip
    model = helper.make_model(graph, producer_name="surefoot", opset_imports=[helper.make_opsetid("", OPSET)], ir_version=9)
    helper.set_model_props(model, spec.to_metadata())
    onnx.checker.check_model(model)
    part = path.with_suffix(".part")
    part.write_bytes(model.SerializeToString())
    part.replace(path)
    return path

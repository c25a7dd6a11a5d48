"""Policies as small as they can be, for tests."""

from itertools import pairwise

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from surefoot.deploy import Specification
from surefoot.robot import Robot

ROBOT = Robot.load("anymal")


def specification(**changes):
    rows = {name: getattr(ROBOT, name) for name in ("stiffness", "damping", "posture", "lower", "upper", "soft_band")}
    given = {
        "robot": "anymal", "joints": ROBOT.joints, "action_scale": 0.5, "period": 0.02, "command_low": [-1, -1, -1],
        "command_high": [1, 1, 1], "dynamics": ROBOT.dynamics, "physics": {"timestep": 0.005, "delay_on": "command"},
        "training": {"seed": 3}, "evaluation": {"velocity_error": 0.05},
    }  # fmt: skip
    return Specification(**(rows | given | changes))


def linear(path, weights, metadata, bias=None):
    """A network a = W o + b, as small as one can be."""
    bias = np.zeros(len(weights)) if bias is None else np.asarray(bias)
    shape = lambda name, size: helper.make_tensor_value_info(name, TensorProto.FLOAT, ["robots", size])  # noqa: E731
    graph = helper.make_graph(
        [helper.make_node("Gemm", ["observation", "w", "b"], ["action"], transB=1)], "policy",
        [shape("observation", weights.shape[1])], [shape("action", weights.shape[0])],
        [numpy_helper.from_array(x.astype(np.float32), name) for name, x in (("w", weights), ("b", bias))],
    )  # fmt: skip
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    helper.set_model_props(model, metadata)
    onnx.save(model, path)
    return path


def deep(path, metadata, sizes=(48, 128, 128, 128, 12), seed=0):
    """A network as training writes it: centre, scale, linear layers with ELU in between; random weights."""
    rng = np.random.default_rng(seed)
    constants = {"mean": rng.normal(size=sizes[0]), "std": rng.uniform(0.2, 2.0, sizes[0])}
    nodes = [helper.make_node("Sub", ["observation", "mean"], ["c"]), helper.make_node("Div", ["c", "std"], ["x0"])]
    for k, (before, after) in enumerate(pairwise(sizes)):
        constants |= {f"w{k}": rng.normal(size=(after, before)) / np.sqrt(before), f"b{k}": 0.1 * rng.normal(size=after)}
        last = k == len(sizes) - 2
        nodes.append(helper.make_node("Gemm", [f"x{k}", f"w{k}", f"b{k}"], ["action" if last else f"y{k}"], transB=1))
        if not last:
            nodes.append(helper.make_node("Elu", [f"y{k}"], [f"x{k + 1}"], alpha=1.0))
    shape = lambda name, size: helper.make_tensor_value_info(name, TensorProto.FLOAT, ["robots", size])  # noqa: E731
    graph = helper.make_graph(
        nodes, "policy", [shape("observation", sizes[0])], [shape("action", sizes[-1])],
        [numpy_helper.from_array(value.astype(np.float32), name) for name, value in constants.items()],
    )  # fmt: skip
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    helper.set_model_props(model, metadata)
    onnx.save(model, path)
    return path


def standing(path, robot=ROBOT):
    """A policy that stands: its action is always zero."""
    rows = {name: getattr(robot, name) for name in ("stiffness", "damping", "posture", "lower", "upper", "soft_band")}
    spec = specification(robot=robot.name, joints=robot.joints, dynamics=robot.dynamics, **rows)
    return linear(path, np.zeros((robot.n, 12 + 3 * robot.n)), spec.to_metadata())

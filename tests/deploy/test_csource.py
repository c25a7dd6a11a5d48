"""The C file says what the ONNX file says, and what torch says, and what the controller makes of it."""

import ctypes
import shutil
import subprocess

import numpy as np
import onnx
import pytest
import torch
from onnx import helper, numpy_helper
from policies import ROBOT, deep, linear, specification

from surefoot.deploy import Policy, observe
from surefoot.deploy.csource import write
from surefoot.deploy.layers import read_layers
from surefoot.errors import SurefootError
from surefoot.robot import safe_target

COMPILER = shutil.which("cc") or shutil.which("gcc")
FLOATS = ctypes.POINTER(ctypes.c_float)
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="there is no C compiler here")


def floats(x):
    return np.ascontiguousarray(x, dtype=np.float32).ctypes.data_as(FLOATS)


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    upper = ROBOT.posture + 0.3
    return deep(tmp_path_factory.mktemp("net") / "policy.onnx", specification(upper=upper, action_scale=2.0).to_metadata())


@pytest.fixture(scope="module")
def library(file):
    """The C file, compiled with every warning an error."""
    source = write(file, file.with_suffix(".c"))
    out = file.with_suffix(".so")
    done = subprocess.run(
        [COMPILER, "-std=c99", "-O1", "-Wall", "-Wextra", "-pedantic", "-Werror", "-shared", "-fPIC", source, "-o", out, "-lm"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return ctypes.CDLL(str(out))


def observations(file, count=10_000):
    """As a robot makes them: spread around the training's mean."""
    layers = read_layers(file)
    rng = np.random.default_rng(1)
    return (layers.mean + layers.std * rng.standard_normal((count, 48))).astype(np.float32)


def exactly(file, seen):
    """What the layers of the file say, in double precision; the first division is the file's own, in single precision."""
    layers = read_layers(file)
    x = ((seen - layers.mean) / layers.std).astype(float)
    for k, (w, b) in enumerate(zip(layers.weights, layers.biases, strict=True)):
        x = x @ w.T.astype(float) + b
        x = np.where(x < 0, np.expm1(x), x) if k < len(layers.weights) - 1 else x
    return x


@needs_compiler
def test_c_says_what_the_file_says_to_a_millionth(file, library):
    """On 10,000 observations, at every joint, the largest difference."""
    seen = observations(file)
    mine = np.zeros((len(seen), 12), dtype=np.float32)
    for o, a in zip(seen, mine, strict=True):
        library.surefoot_network(floats(o), a.ctypes.data_as(FLOATS))
    assert np.abs(mine - exactly(file, seen)).max() < 1e-6


def test_the_runtime_and_torch_say_it_as_well_as_single_precision_can(file):
    """Root mean square 1e-6; their sums are rounded at every term, so that the worst of 120,000 numbers is a few times that."""
    seen, layers = observations(file), read_layers(file)
    exact, runtime = exactly(file, seen), Policy.load(file)(seen)
    layer = lambda x, k, kind: torch.nn.functional.linear(  # noqa: E731
        x, torch.tensor(layers.weights[k]).to(kind), torch.tensor(layers.biases[k]).to(kind)
    )
    for kind, most in ((torch.float32, 1e-5), (torch.float64, 1e-12)):
        with torch.no_grad():
            x = ((torch.tensor(seen) - torch.tensor(layers.mean)) / torch.tensor(layers.std)).to(kind)
            for k in range(4):
                x = layer(x, k, kind)
                x = torch.nn.functional.elu(x) if k < 3 else x
        assert np.abs(x.numpy() - exact).max() < most
    assert np.sqrt(((runtime - exact) ** 2).mean()) < 1e-6
    assert np.abs(runtime - exact).max() < 1e-5


@needs_compiler
def test_a_step_in_c_is_a_step_of_the_controller(file, library):
    """Observation, last action, cut command, targets and the saturation at the limits, ten steps in a row."""
    policy, rng = Policy.load(file), np.random.default_rng(2)
    spec = policy.spec
    robot = ROBOT.replace(upper=spec.upper)
    last, kept = np.zeros(12), np.zeros(12, dtype=np.float32)
    library.surefoot_reset(kept.ctypes.data_as(FLOATS))
    bent = 0
    for _ in range(10):
        v, w, g, command = rng.normal(size=(4, 3))
        q, qd = ROBOT.posture + rng.uniform(0.2, 0.3, 12), rng.normal(size=12)
        o = observe(linear_velocity=v, angular_velocity=w, gravity=g, command=np.clip(command, -1, 1), position=q, velocity=qd,
                    action=last, posture=ROBOT.posture)  # fmt: skip
        last = policy(o)
        wish = policy.target(last)
        expected = safe_target(robot, wish, q)
        bent += int((wish != expected).any())
        library.surefoot_act(kept.ctypes.data_as(FLOATS), *map(floats, (v, w, g, command, q, qd)))
        target = np.zeros(12, dtype=np.float32)
        library.surefoot_targets(kept.ctypes.data_as(FLOATS), floats(q), target.ctypes.data_as(FLOATS))
        assert target == pytest.approx(expected, abs=1e-5)
    assert bent > 3


@needs_compiler
def test_gains_can_be_read_by_the_firmware(library):
    gains = (ctypes.c_float * 12).in_dll(library, "surefoot_stiffness")
    assert list(gains) == pytest.approx(ROBOT.stiffness)


def test_the_layers_are_those_that_the_onnx_library_reads(file):
    theirs = {t.name: numpy_helper.to_array(t) for t in onnx.load(file).graph.initializer}
    layers = read_layers(file)
    np.testing.assert_array_equal(layers.mean, theirs["mean"])
    np.testing.assert_array_equal(layers.std, theirs["std"])
    for k in range(4):
        np.testing.assert_array_equal(layers.weights[k], theirs[f"w{k}"])
        np.testing.assert_array_equal(layers.biases[k], theirs[f"b{k}"])


def test_tensors_may_be_written_number_by_number(file, tmp_path):
    """ONNX allows raw bytes and lists of floats; both are read."""
    model = onnx.load(file)
    for tensor in model.graph.initializer:
        listed = helper.make_tensor(tensor.name, 1, tensor.dims, numpy_helper.to_array(tensor).ravel().tolist())
        tensor.CopyFrom(listed)
    onnx.save(model, tmp_path / "listed.onnx")
    for mine, theirs in zip(read_layers(tmp_path / "listed.onnx").weights, read_layers(file).weights, strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_other_networks_are_refused_by_what_they_hold(file, tmp_path):
    model = onnx.load(file)
    model.graph.node[3].op_type = "Relu"
    del model.graph.node[3].attribute[:]
    onnx.save(model, tmp_path / "relu.onnx")
    with pytest.raises(SurefootError, match=r"not one of surefoot train's \(Relu\)"):
        read_layers(tmp_path / "relu.onnx")
    path = linear(tmp_path / "scaled.onnx", np.eye(12, 48), {})
    model = onnx.load(path)
    model.graph.node[0].attribute.append(helper.make_attribute("alpha", 2.0))
    onnx.save(model, path)
    with pytest.raises(SurefootError, match="a Gemm with factors"):
        read_layers(path)


@pytest.mark.parametrize("size", [0, 1, 100, 5000])
def test_a_file_that_was_cut_short_is_refused(file, tmp_path, size):
    (tmp_path / "half.onnx").write_bytes(file.read_bytes()[:size])
    with pytest.raises(SurefootError, match="not an ONNX file, or a damaged one"):
        read_layers(tmp_path / "half.onnx")

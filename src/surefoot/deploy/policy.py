"""policy.onnx: a network together with everything that must be true where it runs, in the file's own metadata."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surefoot.deploy.observation import observation_names
from surefoot.errors import SurefootError
from surefoot.robot.dynamics import Array, JointDynamics
from surefoot.robot.spec import Robot

Single = NDArray[np.float32]
FORMAT = "surefoot-policy-1"
INPUT, OUTPUT = "observation", "action"
ROWS = ("stiffness", "damping", "posture", "lower", "upper", "soft_band")


@dataclass(frozen=True, kw_only=True, eq=False)
class Specification:
    """What a policy was trained with, and what must therefore be so where it runs. Rows are in the order of `joints`."""

    robot: str  # name
    joints: tuple[str, ...]
    stiffness: Array  # P as used in training [N·m/rad], shape (n,)
    damping: Array  # D as used in training [N·m·s/rad], shape (n,)
    posture: Array  # q_0 [rad], shape (n,)
    lower: Array  # hard joint limits of safe_target [rad], shape (n,)
    upper: Array
    soft_band: Array  # [rad], shape (n,)
    action_scale: float  # [rad] per unit of action: û = q_0 + action_scale · a
    period: float  # of the policy [s]
    command_low: Array  # smallest commands trained [m/s, m/s, rad/s], shape (3,)
    command_high: Array  # largest commands trained, shape (3,)
    dynamics: JointDynamics  # that it was trained with
    physics: Mapping[str, Any]  # timestep and conventions of the simulation
    training: Mapping[str, Any] = field(default_factory=dict)  # preset, seed, iterations, versions
    evaluation: Mapping[str, float | None] = field(default_factory=dict)  # of the mean policy

    def __post_init__(self) -> None:
        object.__setattr__(self, "joints", tuple(self.joints))
        n = len(self.joints)
        for name, size in (*((name, n) for name in ROWS), ("command_low", 3), ("command_high", 3)):
            row = np.array(getattr(self, name), dtype=float)
            if row.shape != (size,):
                raise SurefootError(f"a policy's {name} has shape {row.shape}; expected ({size},).")
            row.setflags(write=False)
            object.__setattr__(self, name, row)
        if self.dynamics.joints != self.joints:
            raise SurefootError(
                f"the policy's joints are {', '.join(self.joints)} and its dynamics have {', '.join(self.dynamics.joints)}; "
                "both must be in the same order."
            )

    @property
    def observation(self) -> tuple[str, ...]:
        """A name for each number that the network takes."""
        return observation_names(self.joints)

    def to_metadata(self) -> dict[str, str]:
        """Text by key, as ONNX metadata holds it; each value is JSON, infinity is Infinity."""
        out: dict[str, Any] = {"format": FORMAT, "observation": list(self.observation)}
        for f in fields(self):
            value = getattr(self, f.name)
            out[f.name] = value.to_dict() if isinstance(value, JointDynamics) else _plain(value)
        return {key: json.dumps(value) for key, value in out.items()}

    @classmethod
    def from_metadata(cls, data: Mapping[str, str], where: str) -> Self:
        """The inverse of `to_metadata`; a file of somebody else's is refused by name."""
        names = [f.name for f in fields(cls)]
        missing = [name for name in ("format", *names) if name not in data]
        if missing:
            raise SurefootError(
                f"{where} is not a policy written by surefoot: its metadata lack {', '.join(missing)}. Train one with "
                "surefoot train ROBOT FIT --out run/."
            )
        try:
            found: dict[str, Any] = {name: json.loads(data[name]) for name in ("format", *names)}
        except json.JSONDecodeError as error:
            raise SurefootError(
                f"the metadata of {where} are damaged: {error}. Train it again, or fetch the file again."
            ) from None
        if found.pop("format") != FORMAT:
            raise SurefootError(f"{where} has format {data['format']}; this version of surefoot reads {FORMAT}.")
        found["dynamics"] = JointDynamics.from_dict(found["dynamics"])
        return cls(**found)

    def check(self, robot: Robot) -> None:
        """Refuse a robot whose joints or gains are not those of the training."""
        if robot.joints != self.joints:
            raise SurefootError(
                f"the policy was trained for the joints {', '.join(self.joints)} and {robot.name} has {', '.join(robot.joints)}; "
                "order and names must agree."
            )
        for name in ("stiffness", "damping", "posture"):
            mine, theirs = getattr(self, name), getattr(robot, name)
            for j in np.flatnonzero(~np.isclose(mine, theirs)):
                raise SurefootError(
                    f"the policy was trained with {name} {mine[j]:g} of joint {self.joints[j]} and {robot.name} has "
                    f"{theirs[j]:g}; use the same robot.toml for training and deployment."
                )


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, tuple | list) else value


class Policy:
    """A trained network: observation in, joint targets out."""

    def __init__(self, spec: Specification, session: Any) -> None:
        self.spec, self._session = spec, session

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a policy.onnx."""
        try:
            import onnxruntime
        except ImportError:
            raise SurefootError('running a policy needs onnxruntime: pip install "surefoot[deploy]"') from None
        path = Path(path)
        path = path / "policy.onnx" if path.is_dir() else path
        if not path.is_file():
            raise SurefootError(f"there is no policy at {path}. Train one with surefoot train ROBOT FIT --out {path.parent}.")
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1  # the network is small; waking threads would take longer than the work
        options.log_severity_level = 3
        try:
            session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        except Exception as error:  # whatever the runtime raises for a file that is no network
            raise SurefootError(f"{path} is not an ONNX file: {' '.join(str(error).split())}") from None
        spec = Specification.from_metadata(session.get_modelmeta().custom_metadata_map, str(path))
        wanted, shape = len(spec.observation), session.get_inputs()[0].shape
        if shape[-1] != wanted:
            raise SurefootError(f"the network in {path} takes {shape[-1]} numbers and its joints make {wanted}: a damaged file.")
        return cls(spec, session)

    def __call__(self, observation: ArrayLike) -> Array:
        """The action a [-], shape (..., n), for an observation, shape (..., 12 + 3n): see surefoot.deploy.observe."""
        o = np.asarray(observation, dtype=np.float32)
        wanted = len(self.spec.observation)
        if o.shape[-1:] != (wanted,):
            raise SurefootError(
                f"the observation has shape {o.shape}; expected (..., {wanted}): {', '.join(self.spec.observation)}."
            )
        action = self._session.run([OUTPUT], {INPUT: o.reshape(-1, wanted)})[0]
        return action.reshape(*o.shape[:-1], -1).astype(float)

    def between(self, observation: Single, action: Single) -> Callable[[], None]:
        """The network between two buffers of float32, shapes (12 + 3n,) and (n,): each call reads the one and fills the other."""
        sizes = {INPUT: (observation, len(self.spec.observation)), OUTPUT: (action, len(self.spec.joints))}
        for name, (buffer, size) in sizes.items():
            if buffer.shape != (size,) or buffer.dtype != np.float32:
                raise SurefootError(
                    f"the buffer for the {name} is {buffer.dtype} of {buffer.shape}; expected float32 of ({size},)."
                )
        binding = self._session.io_binding()
        for bind, (name, (buffer, size)) in zip((binding.bind_input, binding.bind_output), sizes.items(), strict=True):
            bind(name, "cpu", 0, np.float32, (1, size), buffer.ctypes.data)

        def run(kept: object = (observation, action)) -> None:  # the runtime has only their addresses
            self._session.run_with_iobinding(binding)

        return run

    def target(self, action: ArrayLike) -> Array:
        """Joint targets û = q_0 + action_scale · a [rad], shape (..., n), before `safe_target` and the drives."""
        return self.spec.posture + self.spec.action_scale * np.asarray(action, dtype=float)

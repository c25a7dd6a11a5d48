"""Exported modules imported without their simulators: stand-ins that only keep what they are given."""

from __future__ import annotations

import contextlib
import importlib.util
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from surefoot.errors import SurefootError


class Kept:
    """A configuration that keeps its keywords as attributes."""

    def __init__(self, **options: Any) -> None:
        self.__dict__.update(options)


class Motor:
    """The part of Isaac Lab's DC motor that a drive of ours builds on, on NumPy arrays."""

    def __init__(self, cfg: Any, joint_names: list[str], envs: int = 1) -> None:
        self.cfg, self.joint_names, self._device, self._num_envs = cfg, joint_names, "cpu", envs
        self.stiffness = np.array([cfg.stiffness[name] for name in joint_names])
        self.damping = np.array([cfg.damping[name] for name in joint_names])
        self.effort_limit = np.array([cfg.effort_limit[name] for name in joint_names])
        self.velocity_limit = np.array([cfg.velocity_limit[name] for name in joint_names])

    def reset(self, env_ids: Any) -> None:
        """Nothing to forget."""

    def compute(self, action: Any, joint_pos: np.ndarray, joint_vel: np.ndarray) -> Any:
        """PD, feed-forward and the torque-speed envelope."""
        effort = self.stiffness * (action.joint_positions - joint_pos)
        effort = effort + self.damping * (action.joint_velocities - joint_vel) + action.joint_efforts
        share, stall = joint_vel / self.velocity_limit, self.cfg.saturation_effort
        top = np.minimum(stall * (1 - share), self.effort_limit)
        bottom = np.maximum(stall * (-1 - share), -self.effort_limit)
        action.joint_efforts = np.clip(effort, bottom, top)
        return action


class _Array(np.ndarray):
    """An array with a tensor's `clone`."""

    def clone(self) -> _Array:
        return self.copy()


def tensor(values: Any, device: str = "") -> Any:
    """A stand-in for torch.tensor."""
    return np.array(values, dtype=float).view(_Array)


def _modules() -> dict[str, ModuleType]:
    made = {
        name: ModuleType(name)
        for name in ("torch", "isaaclab", "isaaclab.actuators", "isaaclab.utils", "mjlab", "mjlab.actuator")
    }
    made["torch"].__dict__.update(tensor=tensor, stack=lambda rows, dim: np.stack(rows, dim))
    made["isaaclab.actuators"].__dict__.update(DCMotor=Motor, DCMotorCfg=Kept, ImplicitActuatorCfg=Kept)
    made["isaaclab.utils"].__dict__.update(configclass=lambda cls: cls)
    made["mjlab.actuator"].__dict__.update(BuiltinPositionActuatorCfg=Kept)
    return made


@contextlib.contextmanager
def imported(path: Path) -> Iterator[ModuleType]:
    """The module of a file, its simulator replaced by stand-ins while it is in use."""
    saved = {name: sys.modules.get(name) for name in _modules()}
    sys.modules.update(_modules())
    try:
        spec = importlib.util.spec_from_file_location(f"surefoot_export_{path.stem}", path)
        if spec is None or spec.loader is None:
            raise SurefootError(f"{path} is not a Python module.")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        yield module
    except (SyntaxError, NameError, ImportError, AttributeError, KeyError) as error:
        raise SurefootError(f"the exported module {path.name} does not import: {type(error).__name__} {error}.") from None
    finally:
        for name, module in saved.items():
            if module is None:
                sys.modules.pop(name, None)
            else:
                sys.modules[name] = module


# --- reading values back -------------------------------------------------------------------------------------------------------
def read(path: Path, target: str, joints: tuple[str, ...]) -> dict[str, np.ndarray]:
    """The values that reach the simulator's own objects, in the fit's terms."""
    with imported(path) as module:
        return {"isaaclab": _isaaclab, "mjlab": _mjlab, "legged_gym": _legged_gym, "genesis": _genesis}[target](module, joints)


def _isaaclab(module: Any, joints: tuple[str, ...]) -> dict[str, np.ndarray]:
    (implicit,) = module.implicit().values()
    groups = {name: cfg for cfg in module.delayed_dc_motor().values() for name in cfg.joint_names_expr}
    out: dict[str, np.ndarray] = {}
    fields = {"stiffness": "stiffness", "damping": "velocity_gain", "armature": "armature", "friction": "static_friction",
              "dynamic_friction": "friction", "viscous_friction": "damping"}  # fmt: skip
    for key, name in fields.items():
        out[f"implicit {name}"] = np.array([getattr(implicit, key, {}).get(joint, np.nan) for joint in joints])
        out[name] = np.array([getattr(groups[joint], key, {}).get(joint, np.nan) for joint in joints])
    out["implicit torque_limit"] = _limit([implicit.effort_limit_sim[joint] for joint in joints])
    out["torque_limit"] = _limit([groups[joint].effort_limit[joint] for joint in joints])
    out["stall_torque"] = _limit([groups[joint].saturation_effort for joint in joints])
    out["no_load_speed"] = _limit([groups[joint].velocity_limit[joint] for joint in joints])
    out["delay"] = np.array([groups[joint].delay[joint] for joint in joints])
    out["bias"] = np.array([groups[joint].encoder_bias[joint] for joint in joints])
    out["encoder_bias"] = -np.asarray(module.encoder(list(joints), tensor(np.zeros((1, len(joints))))))[0]
    return out | {f"drive {name}": value for name, value in _isaac_drive(module, joints).items()}


def _isaac_drive(module: Any, joints: tuple[str, ...]) -> dict[str, np.ndarray]:
    """Bias, gains and delay as the explicit drive acts on them: measured from its torque."""
    out = {name: np.full(len(joints), np.nan) for name in ("bias", "stiffness", "velocity_gain", "delay")}
    for cfg in module.delayed_dc_motor().values():
        names = list(cfg.joint_names_expr)
        cfg.effort_limit, cfg.velocity_limit, cfg.saturation_effort = dict.fromkeys(names, 1e9), dict.fromkeys(names, 1e9), 1e9
        at, zero = [joints.index(name) for name in names], np.zeros((1, len(names)))

        def torque(command: float, q: float, v: float, drive: Any, zero: np.ndarray = zero) -> np.ndarray:
            action = SimpleNamespace(
                joint_positions=tensor(zero + command), joint_velocities=tensor(zero), joint_efforts=tensor(zero)
            )
            return np.asarray(drive.compute(action, tensor(zero + q), tensor(zero + v)).joint_efforts)[0]

        new = lambda cfg=cfg, names=names: module.BiasedDelayedDCMotor(cfg, joint_names=names)  # noqa: E731
        rest, off, fast = torque(0, 0, 0, new()), torque(0, 1, 0, new()), torque(0, 0, 1, new())
        out["stiffness"][at], out["velocity_gain"][at] = rest - off, rest - fast
        out["bias"][at] = rest / np.where(rest == off, np.nan, rest - off)
        drive, steps = new(), 64
        ramp = np.array([torque(float(k), 0, 0, drive) for k in range(steps)])
        out["delay"][at] = (steps - 1 - (ramp[-1] - rest) / np.where(rest == off, np.nan, rest - off)) * module.TIMESTEP
    return out


def _limit(values: list[float]) -> np.ndarray:
    return np.where(np.array(values) >= 1e9, np.inf, np.array(values))


def _mjlab(module: Any, joints: tuple[str, ...]) -> dict[str, np.ndarray]:
    cfg = {joint: next(c for c in module.ACTUATORS if re.fullmatch(c.target_names_expr[0], joint)) for joint in joints}
    get = lambda key: np.array([np.nan if (v := getattr(cfg[joint], key, None)) is None else v for joint in joints])  # noqa: E731
    fields = {"stiffness": "stiffness", "damping": "velocity_gain", "armature": "armature", "frictionloss": "friction",
              "viscous_damping": "damping"}  # fmt: skip
    out = {name: get(key) for key, name in fields.items()}
    out["torque_limit"] = np.nan_to_num(get("effort_limit"), nan=np.inf)
    out["delay"] = get("delay_min_lag") * module.TIMESTEP
    out["largest delay"] = get("delay_max_lag") * module.TIMESTEP
    entity = SimpleNamespace(joint_names=joints, data=SimpleNamespace(encoder_bias=np.zeros((1, len(joints)))))
    module.apply_encoder_bias(entity)
    out["bias"] = -entity.data.encoder_bias[0]
    return out


def _genesis(module: Any, joints: tuple[str, ...]) -> dict[str, np.ndarray]:
    kept: dict[str, tuple[Any, ...]] = {}

    class Entity:
        def get_joint(self, name: str) -> Any:
            return SimpleNamespace(dofs_idx_local=[joints.index(name)])

        def __getattr__(self, name: str) -> Any:
            return lambda *values: kept.update({name: values})

    module.apply(Entity())
    names = {"set_dofs_kp": "stiffness", "set_dofs_kv": "velocity_gain", "set_dofs_armature": "armature",
             "set_dofs_damping": "damping", "set_dofs_frictionloss": "friction"}  # fmt: skip
    out = {name: np.array(kept[call][0])[np.argsort(kept[call][1])] for call, name in names.items()}
    low, high, where = kept["set_dofs_force_range"]
    out["torque_limit"] = np.minimum(-np.array(low), np.array(high))[np.argsort(where)]
    order = [module.JOINTS.index(joint) for joint in joints]
    out["bias"] = module.target(np.zeros((1, len(joints))))[0, order]
    out["encoder_bias"] = -module.encoder(np.zeros((1, len(joints))))[0, order]
    out["delay"] = np.array([module.DELAY[joint] for joint in joints])
    return out


def _legged_gym(module: Any, joints: tuple[str, ...]) -> dict[str, np.ndarray]:
    n = len(joints)
    props = {key: np.full(n, np.nan) for key in ("armature", "friction", "damping", "stiffness")}
    module.process_dof_props(props, joints)
    zero, one = np.zeros((1, n)), np.ones((1, n))
    free = dict.fromkeys(joints, float("inf"))
    limits, module.TORQUE_LIMIT, stall, module.STALL_TORQUE = module.TORQUE_LIMIT, free, module.STALL_TORQUE, {}
    torque = lambda u, q, v: np.asarray(module.joint_torques(joints, u, q, v))[0]  # noqa: E731
    rest, spin, faster = torque(zero, zero, zero), torque(zero, zero, one), torque(zero, zero, 2 * one)
    stiffness = rest - torque(zero, one, zero)
    delay, steps = module.Delay(module.TIMESTEP, joints), 64
    ramp = [delay(k * one) for k in range(steps)]
    module.TORQUE_LIMIT = limits
    pushed = torque(1e9 * one, zero, zero)
    module.STALL_TORQUE = stall
    gain = np.array([module.VELOCITY_GAIN[joint] for joint in joints])
    return {
        "armature": props["armature"],
        "Isaac Gym's own friction": props["friction"],
        "Isaac Gym's own damping": props["damping"],
        "stiffness": stiffness,
        "velocity_gain": gain,
        "damping": spin - faster - gain,
        "friction": rest - spin - (spin - faster),
        "bias": rest / np.where(stiffness == 0, np.nan, stiffness),
        "encoder_bias": -np.asarray(module.encoder(joints, zero))[0],
        "delay": (steps - 1 - np.asarray(ramp[-1])[0]) * module.TIMESTEP,
        "torque_limit": np.where(pushed > 1e8, np.inf, pushed),
    }

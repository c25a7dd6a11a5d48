"""Robot.load: a bundled name, a robot.toml, or any MJCF or URDF.

A robot.toml adds to a model what a model lacks:

    [robot]
    name = "anymal"
    model = "anymal.xml"             # beside the toml; MJCF or URDF
    joints = ["LF_HAA", ...]         # optional: the order; joints left out are held at the posture
    symmetry = ["left-right"]        # optional: mirror planes, of left-right and front-hind; [] for none; found if left out

    [[joint]]                        # any number of blocks; a later block overrides an earlier one
    match = "*_HAA"                  # joint-name pattern (fnmatch)
    stiffness = 85.0                 # and the other keys of KEYS
    motor.k_i = 0.59                 # and the other keys of MOTOR

    [dynamics]                       # optional: one value, a list in joint order, or a table by joint
    armature = [...]
    delay = 0.0075

    [rewards]
    velocity_tracking = 0.2

    [battery]                        # optional: what an account of energy needs
    capacity = 907.2                 # [Wh]; and off, rest [W]
"""

import tomllib
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from surefoot.errors import SurefootError, unknown
from surefoot.robot.canonical import set_range
from surefoot.robot.dynamics import PARAMETERS, Array, JointDynamics
from surefoot.robot.model import ModelText, read_model
from surefoot.robot.spec import BATTERY, MOTOR, REWARDS, Robot

SOFT_BAND = 0.05  # [rad], about 3 degrees

NUMBERS = (
    "stiffness",
    "damping",
    "torque_limit",
    "stall_torque",
    "no_load_speed",
    "lower",
    "upper",
    "soft_band",
    "posture",
)
TABLES = ("gear_position", "gear_ratio")
KEYS = ("match", *NUMBERS, *TABLES, "motor")
SECTIONS = ("robot", "joint", "dynamics", "rewards", "battery")


def bundled_names() -> tuple[str, ...]:
    """The names of the robots that come with the package."""
    return tuple(sorted(p.name[:-5] for p in _bundled().iterdir() if p.name.endswith(".toml")))


def _bundled() -> Any:
    return resources.files("surefoot").joinpath("robots")


def load_robot(source: str | Path) -> Robot:
    """A robot from a bundled name, a robot.toml, any MJCF or URDF file, or XML text."""
    return _inside_limits(_loaded(source))


def _loaded(source: str | Path) -> Robot:
    if isinstance(source, str) and source.lstrip().startswith("<"):
        return _from_model(read_model(source), "XML text")
    if isinstance(source, str) and source in bundled_names():
        with resources.as_file(_bundled()) as folder:
            return _from_toml(folder / f"{source}.toml", source)
    path = Path(source)
    if not path.is_file():
        raise SurefootError(
            f"no robot {str(source)!r}: neither a bundled robot ({', '.join(bundled_names())}) nor a file that exists. "
            "Give one of these names, or the path of a robot.toml, an MJCF or a URDF."
        )
    if path.suffix == ".toml":
        return _from_toml(path, str(source))
    return _from_model(read_model(path), str(source))


def _inside_limits(robot: Robot) -> Robot:
    """The default posture inside the joint limits: the soft band away from the nearest one, where the range has room for it."""
    band = np.where(robot.upper - robot.lower > 2 * robot.soft_band, robot.soft_band, 0.0)
    out = (robot.posture < robot.lower) | (robot.posture > robot.upper)
    if not out.any():
        return robot
    inside = np.where(out, np.clip(robot.posture, robot.lower + band, robot.upper - band), robot.posture)
    moved = ", ".join(f"{joint} ({q:g} to {new:.4g})" for joint, q, new in
                      zip(np.array(robot.joints)[out], robot.posture[out], inside[out], strict=True))  # fmt: skip
    return robot.replace(posture=inside, notes=(*robot.notes, f"The default posture is moved inside the joint limits: {moved}."))


def _from_model(model: ModelText, source: str) -> Robot:
    """A robot of which nothing but the model is known."""
    n = len(model.joints)
    return Robot(
        name=model.name, source=source, model=model.canonical, scene=model.scene, mass=model.mass,
        joints=model.joints, kinds=model.kinds,
        stiffness=model.stiffness, damping=model.damping, torque_limit=model.torque_limit,
        stall_torque=np.full(n, np.inf), no_load_speed=np.full(n, np.inf),
        gear_position=np.tile([0.0, 1.0], (n, 1)), gear_ratio=np.full((n, 2), np.nan), geared=np.zeros(n, dtype=bool),
        lower=model.lower, upper=model.upper, soft_band=np.full(n, SOFT_BAND), posture=model.posture,
        motor={k: np.full(n, np.nan) for k in MOTOR}, notes=model.notes,
    )  # fmt: skip


def _from_toml(path: Path, source: str) -> Robot:
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except UnicodeDecodeError as error:
        raise SurefootError(f"{path.name} is not text in UTF-8 (byte {error.start}); save it as UTF-8.") from None
    except tomllib.TOMLDecodeError as error:
        raise SurefootError(f"{path.name} is not TOML: {error}.") from None
    except OSError as error:
        raise SurefootError(f"cannot read {path}: {error.strerror or error}.") from None
    _known(f"section of {path.name}", data, SECTIONS)
    for section in ("robot", "dynamics", "rewards", "battery"):
        if not isinstance(data.get(section, {}), Mapping):
            raise SurefootError(f"{section} in {path.name} is {data[section]!r}; expected a [{section}] section.")
    head = data.get("robot", {})
    _known(f"key of [robot] in {path.name}", head, ("name", "model", "joints", "symmetry"))
    if not isinstance(head.get("model"), str):
        raise SurefootError(f'{path.name} names no model: add model = "file.xml" (MJCF) or "file.urdf" under [robot].')
    file = path.parent / head["model"]
    if not file.is_file():
        raise SurefootError(f"{path.name} names the model {head['model']}, which is not there (looked beside {path.name}).")
    order = head.get("joints")
    if order is not None and not (isinstance(order, list) and all(isinstance(j, str) for j in order)):
        raise SurefootError(f"joints in {path.name} is {order!r}; expected a list of joint names.")
    if not isinstance(data.get("joint", []), list):
        raise SurefootError(f"{path.name} has [joint]; write [[joint]], once per block.")
    robot = _from_model(read_model(file, order), source)
    if order is not None:
        robot = _reordered(robot, order)
    robot = _with_joint_blocks(robot, data.get("joint", []), path.name)
    rewards = data.get("rewards", {})
    _known(f"key of [rewards] in {path.name}", rewards, REWARDS)
    battery = data.get("battery", {})
    _known(f"key of [battery] in {path.name}", battery, BATTERY)
    dynamics = _dynamics(data["dynamics"], robot.joints, path.name) if "dynamics" in data else None
    return robot.replace(
        name=head.get("name", robot.name),
        rewards={k: _number(k, v, path.name) for k, v in rewards.items()},
        battery={k: _number(k, v, path.name) for k, v in battery.items()},
        dynamics=dynamics,
        symmetry=_planes(head.get("symmetry"), path.name),
    )


def _planes(value: Any, where: str) -> tuple[str, ...] | None:
    if value is not None and not (isinstance(value, list) and all(isinstance(x, str) for x in value)):
        raise SurefootError(f'symmetry in {where} is {value!r}; expected a list of planes, for example ["left-right"].')
    return None if value is None else tuple(value)


def _known(kind: str, given: Mapping[str, Any], valid: Sequence[str]) -> None:
    wrong = [k for k in given if k not in valid]
    if wrong:
        raise unknown(kind, wrong, tuple(valid))


def _reordered(robot: Robot, order: Sequence[str]) -> Robot:
    """The same robot with its joints in the order that the file lists (read_model has checked the names)."""
    if len(set(order)) != len(order):
        raise SurefootError(f"{robot.name}: a joint is listed twice in `joints`: {', '.join(order)}.")
    at = robot.select(order)
    rows = (*NUMBERS, "geared", *TABLES)
    return robot.replace(
        joints=tuple(order),
        kinds=tuple(robot.kinds[i] for i in at),
        motor={k: v[at] for k, v in robot.motor.items()},
        **{k: getattr(robot, k)[at] for k in rows},
    )


def _with_joint_blocks(robot: Robot, blocks: Sequence[Mapping[str, Any]], where: str) -> Robot:
    """Apply the [[joint]] blocks in their order."""
    rows = {k: getattr(robot, k).copy() for k in NUMBERS}
    motor = {k: v.copy() for k, v in robot.motor.items()}
    tables: dict[str, list[Any]] = {k: [None] * robot.n for k in TABLES}
    for block in blocks:
        _known(f"key of [[joint]] in {where}", block, KEYS)
        at = [i for i, j in enumerate(robot.joints) if fnmatchcase(j, str(block.get("match", "*")))]
        if not at:
            raise SurefootError(f"match = {block['match']!r} in {where} fits no joint; joints: {', '.join(robot.joints)}.")
        if not isinstance(block.get("motor", {}), Mapping):
            raise SurefootError(f"motor in {where} is {block['motor']!r}; write motor.k_i = ... (keys: {', '.join(MOTOR)}).")
        _known(f"motor key of [[joint]] in {where}", block.get("motor", {}), MOTOR)
        for key, value in block.items():
            if key in NUMBERS:
                rows[key][at] = _number(key, value, where)
            elif key in TABLES:
                for i in at:
                    tables[key][i] = _table(key, value, where)
        for key, value in block.get("motor", {}).items():
            motor[key][at] = _number(f"motor.{key}", value, where)
    model = robot.model
    for i, joint in enumerate(robot.joints):
        if (rows["lower"][i], rows["upper"][i]) != (robot.lower[i], robot.upper[i]):
            model = set_range(model, joint, rows["lower"][i], rows["upper"][i])
    return robot.replace(model=model, motor=motor, **rows, **_gear(robot.joints, tables, motor["gear_ratio"], where))


def _number(key: str, value: Any, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise SurefootError(
            f"{key} in {where} is {value!r}; expected one number (per-joint values need one [[joint]] block each)."
        )
    return float(value)


def _table(key: str, value: Any, where: str) -> list[float]:
    if not isinstance(value, list) or len(value) < 2:
        raise SurefootError(f"{key} in {where} is {value!r}; expected a list of 2 or more (a fixed ratio is motor.gear_ratio).")
    return [_number(key, x, where) for x in value]


def _gear(joints: Sequence[str], tables: Mapping[str, list[Any]], fixed: Array, where: str) -> dict[str, Array]:
    """Gear tables as rectangular arrays: short rows go on at their last ratio, joints without a table are constant."""
    n, k = len(joints), max([2, *(len(t) for t in tables["gear_ratio"] if t)])
    position, ratio = np.tile(np.arange(k, dtype=float), (n, 1)), np.repeat(fixed[:, None], k, axis=1)
    geared = np.zeros(n, dtype=bool)
    for i, (q, r) in enumerate(zip(tables["gear_position"], tables["gear_ratio"], strict=True)):
        if q is None and r is None:
            continue
        if q is None or r is None or len(q) != len(r):
            raise SurefootError(f"joint {joints[i]} in {where} needs gear_position and gear_ratio of the same length.")
        more = k - len(q)
        position[i] = q + [q[-1] + 1.0 + x for x in range(more)]
        ratio[i] = r + [r[-1]] * more
        geared[i] = True
    return {"gear_position": position, "gear_ratio": ratio, "geared": geared}


def _dynamics(table: Mapping[str, Any], joints: Sequence[str], where: str) -> JointDynamics:
    """The [dynamics] section: each parameter as one value, a list in joint order, or a table by joint."""
    _known(f"key of [dynamics] in {where}", table, tuple(PARAMETERS))
    missing = [p.name for p in PARAMETERS.values() if p.core and p.name not in table]
    if missing:
        raise SurefootError(f"[dynamics] in {where} lacks {', '.join(missing)}.")
    values: dict[str, Array] = {}
    for name, value in table.items():
        if isinstance(value, Mapping):
            _known(f"joint in [dynamics] {name} of {where}", value, tuple(joints))
            absent = [j for j in joints if j not in value]
            if absent:
                raise SurefootError(f"[dynamics] {name} in {where} lacks the joints {', '.join(absent)}.")
            values[name] = np.array([_number(name, value[j], where) for j in joints])
        elif isinstance(value, list):
            values[name] = np.array([_number(name, x, where) for x in value])
        else:
            size = {"joint": len(joints), "one": 1, "tilt": 2}[PARAMETERS[name].size]
            values[name] = np.full(size, _number(name, value, where))
    return JointDynamics(joints=tuple(joints), **values)

"""A robot on the ground as MuJoCo sees it: its own shapes, a free base, drives as actuators, and sensors for what a task asks.

What is a foot is read from the shapes: of every leg, the one that reaches lowest with the joints at the robot's posture. The
rest of the foot's link is the shank, the link above it the thigh, everything else the trunk. The robot touches the ground and
nothing else. Mesh shapes are replaced by the primitive that fits them best: sphere (foot), box (base) or capsule.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from surefoot.errors import SurefootError
from surefoot.robot.dynamics import JointDynamics
from surefoot.robot.spec import Robot
from surefoot.simulate.physics import Physics
from surefoot.simulate.terrain import Terrain

Array = np.ndarray

ITERATIONS, SEARCHES = 10, 50  # at most, of MuJoCo's Newton solver: it ends sooner; below 4 and 20 stiction is not exact
REACH = 0.1  # [-] of the standing height: a leg's end this near to the lowest one is a foot
SLIPPERY = 0.01  # friction of the floor itself: MuJoCo takes the larger of floor and foot, so the robot's counts
GROUND = "surefoot_ground"


@dataclass(frozen=True, kw_only=True, eq=False)
class Ground:
    """A compiled model of one robot on one ground, and where in it things are; joints in the order of the robot."""

    model: Any  # mujoco.MjModel
    joints: tuple[str, ...]
    positions: Array  # of the joints in qpos, shape (n,)
    dofs: Array  # of the joints in qvel, shape (n,)
    free: bool  # the base is free: qpos[:7] and qvel[:6] are its own
    base: int  # body
    feet: tuple[str, ...]
    shapes: Array  # geoms of the robot that touch the ground
    sensors: dict[str, Array]  # columns of sensordata by name: com, foot, foot_position, foot_velocity, foot_force, thigh0, ...
    mass: float  # [kg]
    stand_height: float  # of the base above flat ground at the posture [m]

    @classmethod
    def of(cls, robot: Robot, dynamics: JointDynamics, physics: Physics, terrain: Terrain, *, free: bool = True) -> Ground:
        """Build the model; with `free` False the base hangs in the air where the model has it and touches nothing."""
        spec = _scene(robot)
        base = _base(spec, robot)
        _strip(spec)
        root = _freed(spec, base, free)
        _write_joints(spec, robot, dynamics)
        _primitives(spec, base)
        legs = _legs(spec, robot)
        _sense(spec, base, legs)
        _floor(spec, terrain, touch=free)
        _settings(spec, physics)
        return _compiled(spec, robot, base, root, legs)


@dataclass(frozen=True, kw_only=True)
class _Leg:
    foot: str  # geom
    shank: tuple[str, ...]  # geoms
    thigh: tuple[str, ...]


def _scene(robot: Robot) -> Any:
    import mujoco

    if not robot.scene:
        raise SurefootError(f"{robot.name} ({robot.source}) has no shapes, so it cannot stand on the ground.")
    try:
        return mujoco.MjSpec.from_string(robot.scene)
    except ValueError as error:
        raise SurefootError(f"MuJoCo cannot read the shapes of {robot.name}: {' '.join(str(error).split())}") from None


def _base(spec: Any, robot: Robot) -> Any:
    """The one body that carries all joints."""
    carriers = [body for body in spec.worldbody.bodies if body.find_all("joint")]
    if len(carriers) != 1:
        raise SurefootError(
            f"{robot.name} has {len(carriers)} bodies with joints on the world; on the ground it needs one base that carries all."
        )
    return carriers[0]


def _strip(spec: Any) -> None:
    """Leave the robot alone in the world: other bodies, actuators, sensors and keyframes go."""
    import mujoco

    for element in [*spec.sensors, *spec.actuators, *spec.keys]:
        spec.delete(element)
    for geom in spec.worldbody.geoms:
        spec.delete(geom)
    for body in spec.worldbody.bodies:
        if not body.find_all("joint"):
            spec.delete(body)
    for geom in spec.geoms:
        if geom.type in (mujoco.mjtGeom.mjGEOM_PLANE, mujoco.mjtGeom.mjGEOM_HFIELD):
            spec.delete(geom)


def _freed(spec: Any, base: Any, free: bool) -> str:
    """Give the base its free joint, or take it away; the joint's name."""
    import mujoco

    own = [j for j in base.joints if j.type == mujoco.mjtJoint.mjJNT_FREE]
    if not free:
        for joint in own:
            spec.delete(joint)
        return ""
    if not own:
        own = [base.add_freejoint(name="surefoot_root")]
    root = own[0]
    root.name = root.name or "surefoot_root"
    root.armature, root.damping, root.frictionloss = (
        0.0,
        [0.0, 0.0, 0.0],
        0.0,
    )  # a <joint type="free"> takes the defaults of joints
    return root.name


def _write_joints(spec: Any, robot: Robot, dynamics: JointDynamics) -> None:
    """Dynamics, range and one actuator per joint, in the robot's order."""
    import mujoco

    named = {joint.name: joint for joint in spec.joints}
    extra = [n for n, j in named.items() if n not in robot.joints and j.type != mujoco.mjtJoint.mjJNT_FREE]
    missing = [n for n in robot.joints if n not in named]
    if extra or missing:
        raise SurefootError(
            f"on the ground every joint of the model must move: {robot.name} leaves out {', '.join(extra + missing)}. "
            "List them under joints in robot.toml, or make them fixed (and give each moving joint a name) in the model."
        )
    for i, name in enumerate(robot.joints):
        joint = named[name]
        joint.armature = dynamics.armature[i]
        joint.damping = [dynamics.damping[i], 0, 0]
        joint.frictionloss = dynamics.friction[i]
        ends = np.nan_to_num([robot.lower[i], robot.upper[i]], posinf=1e6, neginf=-1e6)
        joint.limited = bool(np.isfinite([robot.lower[i], robot.upper[i]]).any())
        joint.range = ends
        joint.actfrclimited = False
        motor = spec.add_actuator(
            name=f"surefoot_{name}", target=name, trntype=mujoco.mjtTrn.mjTRN_JOINT,
            gaintype=mujoco.mjtGain.mjGAIN_FIXED, biastype=mujoco.mjtBias.mjBIAS_AFFINE, dyntype=mujoco.mjtDyn.mjDYN_NONE,
            gear=[1, 0, 0, 0, 0, 0], ctrllimited=False, actlimited=False, forcelimited=True, forcerange=[-1e30, 1e30],
        )  # fmt: skip
        motor.gainprm[:], motor.biasprm[:] = 0.0, 0.0
        motor.gainprm[0] = 1.0
        motor.armature, motor.damping = 0.0, [0.0, 0.0, 0.0]


def _primitives(spec: Any, base: Any) -> None:
    """Name every shape, let those that collide meet the ground only, and replace meshes by what fits them."""
    import mujoco

    for i, geom in enumerate(spec.geoms):
        geom.name = f"surefoot_shape{i}"
        collides = bool(geom.contype or geom.conaffinity)
        geom.contype, geom.conaffinity, geom.condim, geom.priority = int(collides), 0, 3, 0
        if collides and geom.meshname:
            box = geom.parent.name == base.name
            geom.type = mujoco.mjtGeom.mjGEOM_BOX if box else mujoco.mjtGeom.mjGEOM_CAPSULE
    for pair in [*spec.pairs, *spec.excludes]:
        spec.delete(pair)


def _legs(spec: Any, robot: Robot) -> list[_Leg]:
    """The legs, in the order of their first joints."""
    import mujoco

    m = spec.compile()
    data = _posed(m, robot)
    touching = [g for g in range(m.ngeom) if m.geom_contype[g]]
    low = {g: _lowest(m, data, g) for g in touching}
    links = {int(m.body_weldid[m.geom_bodyid[g]]) for g in touching}
    parents = {int(m.body_weldid[m.body_parentid[link]]) for link in range(1, m.nbody) if m.body_weldid[link] == link}
    order = {int(m.jnt_bodyid[mujoco.mj_name2id(m, mujoco.mjtObj.mjOBJ_JOINT, j)]): k for k, j in enumerate(robot.joints)}
    shapes_of = lambda link: [g for g in touching if m.body_weldid[m.geom_bodyid[g]] == link]  # noqa: E731
    name = lambda g: m.geom(g).name  # noqa: E731
    ends = sorted((link for link in links - parents if link in order), key=lambda link: order[link])
    floor = min((min(low[g] for g in shapes_of(link)) for link in ends), default=np.nan)
    height = data.xpos[1][2] - floor
    legs = []
    for link in ends:
        shapes = sorted(shapes_of(link), key=low.__getitem__)
        if low[shapes[0]] > floor + REACH * height:
            continue
        above = int(m.body_weldid[m.body_parentid[link]])
        thigh = shapes_of(above) if above in order else []
        legs.append(_Leg(foot=name(shapes[0]), shank=tuple(map(name, shapes[1:])), thigh=tuple(map(name, thigh))))
    if not legs or not height > 0:
        raise SurefootError(
            f"no leg of {robot.name} has a shape that could be a foot; give the last link of each leg a collision shape."
        )
    for leg in legs:
        foot = spec.geom(leg.foot)
        if foot.meshname:
            foot.type = mujoco.mjtGeom.mjGEOM_SPHERE
    return legs


def _posed(m: Any, robot: Robot) -> Any:
    """Kinematics with the joints at the posture and the base level where the model has it."""
    import mujoco

    data = mujoco.MjData(m)
    for i, joint in enumerate(robot.joints):
        data.joint(joint).qpos[0] = robot.posture[i]
    mujoco.mj_kinematics(m, data)
    return data


def _lowest(m: Any, data: Any, g: int) -> float:
    """Height of a shape's lowest point [m]."""
    import mujoco

    kind, size, up = m.geom_type[g], m.geom_size[g], np.abs(data.geom_xmat[g].reshape(3, 3)[2])
    types = mujoco.mjtGeom
    reach = {
        types.mjGEOM_SPHERE: lambda: size[0],
        types.mjGEOM_CAPSULE: lambda: size[0] + up[2] * size[1],
        types.mjGEOM_CYLINDER: lambda: up[2] * size[1] + size[0] * np.sqrt(max(0.0, 1 - up[2] ** 2)),
        types.mjGEOM_BOX: lambda: up @ size,
        types.mjGEOM_ELLIPSOID: lambda: np.linalg.norm(up * size),
    }
    return float(data.geom_xpos[g][2] - reach.get(types(int(kind)), lambda: m.geom_rbound[g])())


def _sense(spec: Any, base: Any, legs: Sequence[_Leg]) -> None:
    """Sensors: the centre of mass's velocity, each foot's place, speed and load, and what else touches the ground."""
    import mujoco

    types, objects = mujoco.mjtSensor, mujoco.mjtObj
    bit = mujoco.mjtConDataField
    spec.add_sensor(name="com", type=types.mjSENS_SUBTREELINVEL, objtype=objects.mjOBJ_BODY, objname=base.name)
    for i, leg in enumerate(legs):
        foot = spec.geom(leg.foot)
        common = {"objtype": objects.mjOBJ_GEOM, "objname": foot.name}
        spec.add_sensor(name=f"foot_position{i}", type=types.mjSENS_FRAMEPOS, **common)
        spec.add_sensor(name=f"foot_velocity{i}", type=types.mjSENS_FRAMELINVEL, **common)
        touch, net_force = [1 << int(bit.mjCONDATA_FOUND), 0, 1], [1 << int(bit.mjCONDATA_FORCE), 3, 1]
        spec.add_sensor(name=f"foot{i}", type=types.mjSENS_CONTACT, intprm=touch, **common)
        spec.add_sensor(name=f"foot_force{i}", type=types.mjSENS_CONTACT, intprm=net_force, **common)
    feet = {leg.foot for leg in legs}
    part = {g: f"shank{i}" for i, leg in enumerate(legs) for g in leg.shank}
    part |= {g: f"thigh{i}" for i, leg in enumerate(legs) for g in leg.thigh}
    for geom in spec.geoms:
        if geom.contype and geom.name not in feet:
            spec.add_sensor(
                name=f"{part.get(geom.name, 'trunk')}_{geom.name}", type=types.mjSENS_CONTACT,
                objtype=objects.mjOBJ_GEOM, objname=geom.name, intprm=[1 << int(bit.mjCONDATA_FOUND), 0, 1],
            )  # fmt: skip


def _floor(spec: Any, terrain: Terrain, *, touch: bool) -> None:
    """A plane, or the terrain's height field."""
    import mujoco

    checks = {"rgb1": [0.55, 0.58, 0.6], "rgb2": [0.42, 0.45, 0.48], "width": 128, "height": 128}
    spec.add_texture(
        name=GROUND, type=mujoco.mjtTexture.mjTEXTURE_2D, builtin=mujoco.mjtBuiltin.mjBUILTIN_CHECKER, **checks
    )  # fmt: skip
    spec.add_texture(
        name="surefoot_sky", type=mujoco.mjtTexture.mjTEXTURE_SKYBOX, builtin=mujoco.mjtBuiltin.mjBUILTIN_GRADIENT,
        rgb1=[0.75, 0.85, 0.95], rgb2=[0.95, 0.97, 1.0], width=64, height=384,
    )  # fmt: skip
    paint = spec.add_material(name=GROUND, texrepeat=[1, 1], texuniform=True)
    paint.textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = GROUND
    spec.worldbody.add_light(type=mujoco.mjtLightType.mjLIGHT_DIRECTIONAL, dir=[-0.3, 0.4, -1.0], castshadow=True)
    look = {"material": GROUND, "rgba": [1.0, 1.0, 1.0, 1.0], "friction": [SLIPPERY, 0.005, 0.0001], "condim": 3}
    look |= {"solref": [0.02, 1], "solimp": [0.9, 0.95, 0.001, 0.5, 2], "margin": 0, "gap": 0, "priority": 0, "group": 0}
    meet = {"contype": 0, "conaffinity": int(touch), "name": GROUND}
    if terrain.flat:
        spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 1], **look, **meet)
        return
    rows = terrain.heights.T  # MuJoCo's rows run along y
    low, high = float(rows.min()), float(rows.max())
    extent = [(rows.shape[1] - 1) * terrain.cell / 2, (rows.shape[0] - 1) * terrain.cell / 2]
    spec.add_hfield(
        name=GROUND, nrow=rows.shape[0], ncol=rows.shape[1], size=[*extent, high - low, 0.5],
        userdata=((rows - low) / (high - low)).ravel(),
    )  # fmt: skip
    middle = [terrain.corner[0] + extent[0], terrain.corner[1] + extent[1], low]
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_HFIELD, hfieldname=GROUND, pos=middle, **look, **meet)


def _settings(spec: Any, physics: Physics) -> None:
    """The fit's step and integrator, and the solver's few iterations."""
    import mujoco

    off, flags = spec.option.disableflags, mujoco.mjtDisableBit
    spec.option.disableflags = off & (flags.mjDSBL_GRAVITY | flags.mjDSBL_SPRING | flags.mjDSBL_LIMIT)
    spec.option.enableflags = 0
    spec.option.density = spec.option.viscosity = 0.0  # as in the air
    spec.option.timestep = physics.timestep
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    spec.option.solver = mujoco.mjtSolver.mjSOL_NEWTON
    spec.option.cone = mujoco.mjtCone.mjCONE_PYRAMIDAL
    spec.option.iterations, spec.option.ls_iterations = ITERATIONS, SEARCHES
    spec.memory = 2**20  # bytes of working memory per thread


def _compiled(spec: Any, robot: Robot, base: Any, root: str, legs: Sequence[_Leg]) -> Ground:
    m = spec.compile()
    data = _posed(m, robot)
    body = m.body(base.name).id
    feet = [m.geom(leg.foot) for leg in legs]
    lowest = min(_lowest(m, data, foot.id) for foot in feet)
    touching = np.flatnonzero(m.geom_contype)
    return Ground(
        model=m,
        joints=robot.joints,
        positions=np.array([m.joint(j).qposadr[0] for j in robot.joints]),
        dofs=np.array([m.joint(j).dofadr[0] for j in robot.joints]),
        free=bool(root),
        base=body,
        feet=tuple(m.body(foot.bodyid[0]).name for foot in feet),
        shapes=touching,
        sensors=_columns(m, len(legs)),
        mass=float(m.body_mass.sum()),
        stand_height=float(data.xpos[body][2] - lowest),
    )


def _columns(m: Any, legs: int) -> dict[str, Array]:
    """Columns of sensordata: com (3,), foot (F,), foot_position, foot_velocity, foot_force (F, 3), lists for the other parts."""
    at = {m.sensor(s).name: np.arange(m.sensor_adr[s], m.sensor_adr[s] + m.sensor_dim[s]) for s in range(m.nsensor)}
    group = lambda part: np.array([c[0] for name, c in at.items() if name.startswith(part + "_")], dtype=int)  # noqa: E731
    each = lambda part: np.stack([at[f"{part}{i}"] for i in range(legs)])  # noqa: E731
    rows = {part: each(part) for part in ("foot_position", "foot_velocity", "foot_force")}
    sides = {f"{part}{i}": group(f"{part}{i}") for part in ("thigh", "shank") for i in range(legs)}
    return {"com": at["com"], "foot": each("foot")[:, 0], **rows, **sides, "trunk": group("trunk")}

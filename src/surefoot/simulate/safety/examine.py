"""May a robot be moved like this? Its commands are simulated with joints as they may turn out to be, before anything moves.

Position limit, torque limit, speed and torque-speed envelope of every joint, the distance between links, and the wrench on the
stand are looked at in all of these simulations; the first place where one of them is too much is named, with what to change.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from surefoot.errors import SurefootError
from surefoot.record.excitation.motion import Leaders
from surefoot.record.targets import Targets
from surefoot.robot.canonical import set_range
from surefoot.robot.drive import gear_ratio, torque_bounds
from surefoot.robot.dynamics import JointDynamics
from surefoot.robot.spec import Robot
from surefoot.simulate.inverse import link_inertia
from surefoot.simulate.physics import Physics
from surefoot.simulate.rehearsal import at_rest
from surefoot.simulate.replay import engine
from surefoot.simulate.safety.outlook import Outlook, outlook
from surefoot.simulate.safety.shapes import Shapes
from surefoot.simulate.safety.wrench import Stand, Wrench, base_wrench

Array = np.ndarray
MARGIN = 0.01  # [m] between links
LIMIT_SHARE = 0.2  # of the soft band that a joint stays away from its hard limit
SHAPE_PERIOD = 0.008  # [s] between the postures whose distances are looked at
COARSE_PERIOD = 0.04  # [s] likewise, where many motions are compared
RATE = 200.0  # [Hz] of the wrench
BACK = 0.9  # of what would just do is what is advised
SETTLE = 1.0  # [s] at the first target before the motion begins, as surefoot record has it
MOST = 99.0  # a share beyond which a number says nothing


@dataclass(frozen=True, kw_only=True)
class Breach:
    """One thing that would go wrong."""

    what: str  # "joint limit", "torque limit", "speed", "torque-speed envelope", "links", "stand", "divergence"
    joint: str
    joints: tuple[str, ...]  # whose smaller amplitudes would help
    time: float  # [s]
    message: str
    remedy: str
    excess: float  # how far beyond what may be, relative to it; 0: just there

    def __str__(self) -> str:
        return f"{self.message} {self.remedy}"


@dataclass(frozen=True, kw_only=True, eq=False)
class Safety:
    """What was found; arrays have one entry per joint, the worst of all simulations."""

    joints: tuple[str, ...]
    breaches: tuple[Breach, ...]  # the worst first
    room: Array  # least distance to a hard joint limit [rad], shape (n,); inf: no limit
    torque: Array  # largest torque asked for, of what the drive can give at that speed [-], shape (n,)
    speed: Array  # largest speed, of the no-load speed [-], shape (n,); 0: none known
    wrench: Wrench  # on the base, of the simulation that shakes it most
    shapes: str  # what was looked at between links, as a sentence
    outlook: Outlook

    def refuse(self, lead: Leaders | None = None) -> None:
        """Raise what would go wrong, the worst first; of mirror images only the worst, so that the remedies agree."""
        worst: dict[object, Breach] = {}
        for breach in self.breaches:
            own = breach.what not in ("links", "stand", "divergence")
            j = self.joints.index(breach.joint)
            worst.setdefault((j if lead is None else int(lead.of[j])) if own else breach.what, breach)
        if said := list(worst.values()):
            more = f" ({len(said) - 3} more)" if len(said) > 3 else ""
            raise SurefootError("this motion is not safe" + more + ": " + " ".join(map(str, said[:3])))


def examine(
    robot: Robot, targets: Targets, *, dynamics: JointDynamics | None = None, factor: float | None = None,
    stand: Stand | None = None, margin: float = MARGIN, coarse: bool = False, physics: Physics | None = None,
) -> Safety:  # fmt: skip
    """Simulate the commands with the expected joint dynamics (or those given) and with eight extremes around them.

    `coarse` looks at the distances between links less often, and at the wrench only where a stand is given: for comparing
    motions, not for moving a robot.
    """
    targets = targets.ordered_for(robot.joints)
    ahead = outlook(robot, targets.stiffness, dynamics=dynamics, factor=factor)
    position, wanted = _simulated(robot, targets, ahead, physics or Physics())
    if (broken := ~np.isfinite(position)).any():
        return _diverged(robot, targets, ahead, broken)
    q = position + ahead.candidates.bias[:, None, :]
    v = np.gradient(q, targets.time, axis=1)
    loads = _Loads(robot, q, v, wanted)
    near, told = _links(robot, targets, ahead, q, margin, COARSE_PERIOD if coarse else SHAPE_PERIOD)
    found = [*loads.breaches(robot, targets, ahead), *near]
    links = link_inertia(robot, robot.joints)
    loudest = int(np.argmax((np.gradient(v, targets.time, axis=1) ** 2 @ links).sum(axis=1)))
    thin = max(1, round(targets.rate / RATE)) if stand or not coarse else len(targets.time) // 16
    wrench = base_wrench(robot, targets.time[::thin], q[loudest, ::thin])
    found += _stand(robot, wrench, stand, v[loudest, ::thin], links) if stand else []
    return Safety(
        joints=robot.joints, breaches=tuple(sorted(found, key=lambda b: -b.excess)), room=loads.room.min(axis=(0, 1)),
        torque=np.minimum(loads.share, MOST).max(axis=(0, 1)), speed=loads.speed.max(axis=(0, 1)), wrench=wrench, shapes=told,
        outlook=ahead,
    )  # fmt: skip


def _simulated(robot: Robot, targets: Targets, ahead: Outlook, physics: Physics) -> tuple[Array, Array]:
    """Encoder positions and the torques that the drives were asked for, unlimited, each of shape (L, T, n)."""
    blank, settled = at_rest(_rested(targets)), round(SETTLE * targets.rate)
    position, _, _ = engine(_unstopped(robot), blank, physics, candidates=ahead.candidates).trajectories(ahead.candidates)
    position = position[:, settled:]
    with np.errstate(invalid="ignore", over="ignore"):
        v = np.gradient(position, targets.time, axis=1)
        wanted = np.stack([_late(targets, targets.target, float(d)) for d in ahead.candidates.delay[:, 0]]) - position
        wanted = targets.stiffness * wanted - targets.damping * v
        if targets.target_velocity is not None:
            wanted += targets.damping * targets.target_velocity
        if targets.feedforward is not None:
            wanted += targets.feedforward
    return position, wanted


def _rested(targets: Targets) -> Targets:
    """The commands after a rest at the first of them, in which the joints sag to where gravity lets them."""
    count = round(SETTLE * targets.rate)
    lengthen = lambda rows: None if rows is None else np.concatenate([np.repeat(rows[:1], count, 0), rows])  # noqa: E731
    wait = np.arange(count) / targets.rate
    return targets.replace(
        time=np.concatenate([wait, targets.time - targets.time[0] + count / targets.rate]), target=lengthen(targets.target),
        target_velocity=lengthen(targets.target_velocity), feedforward=lengthen(targets.feedforward),
    )  # fmt: skip


def _unstopped(robot: Robot) -> Robot:
    """The robot without the stops at its joint limits: how far beyond them would it go?"""
    model = robot.model
    for joint in robot.joints:
        model = set_range(model, joint, -np.inf, np.inf)
    return robot.replace(model=model)


def _late(targets: Targets, values: Array, delay: float) -> Array:
    return np.stack([np.interp(targets.time - delay, targets.time, column) for column in values.T], axis=1)


class _Loads:
    """How near each joint comes to what it may do, in every simulation and at every instant: arrays of shape (L, T, n)."""

    def __init__(self, robot: Robot, q: Array, v: Array, wanted: Array) -> None:
        self.position = q
        self.room = np.minimum(q - robot.lower, robot.upper - q)  # [rad] to the nearer hard limit
        low, high = torque_bounds(robot, q, v)
        able = np.where(wanted > 0, high, -low)  # [N·m] that the drive can give in the direction asked for
        r = np.where(robot.geared, gear_ratio(robot, q), 1.0)
        self.share = np.abs(wanted) / np.maximum(able, 1e-9)
        self.torque = np.abs(wanted) / (r * robot.torque_limit)
        self.speed = np.abs(v) * r / robot.no_load_speed
        self.beyond = np.where((self.torque <= 1) & (self.speed <= 1), self.share, 0.0)

    def breaches(self, robot: Robot, targets: Targets, ahead: Outlook) -> list[Breach]:
        """The worst place of every joint and kind that is beyond what may be."""
        out: list[Breach] = []
        keep = LIMIT_SHARE * robot.soft_band
        swing = np.ptp(targets.target, axis=0) / 2
        kinds = (
            ("torque limit", self.torque, "its drive is asked for {} of its torque limit"),
            ("speed", self.speed, "it turns at {} of its no-load speed"),
            ("torque-speed envelope", self.beyond, "its drive is asked for {} of the torque that it can give at that speed"),
        )
        for j, joint in enumerate(robot.joints):
            if self.room[..., j].min() < keep[j]:
                lane, i = np.unravel_index(np.argmin(self.room[..., j]), self.room.shape[:2])
                out.append(self._limit(robot, targets, j, int(i), float(self.position[lane, i, j]), ahead.names[lane]))
            for what, rows, fact in kinds:
                if rows[..., j].max() > 1:
                    lane, i = np.unravel_index(np.argmax(rows[..., j]), rows.shape[:2])
                    worst = float(rows[lane, i, j])
                    fact = fact.format(f"{100 * min(worst, MOST):.0f} %")
                    remedy = (
                        f"Try --amplitude {joint}={BACK * swing[j] / worst:.2g}, a band that ends lower (--to-hz) or lower gains."
                    )
                    out.append(_breach(what, joint, targets.time[i], ahead.names[lane], fact, remedy, excess=worst - 1))
        return out

    def _limit(self, robot: Robot, targets: Targets, j: int, i: int, at: float, candidate: str) -> Breach:
        joint, column = robot.joints[j], targets.target[:, j]
        side, limit = ("upper", robot.upper[j]) if robot.upper[j] - at < at - robot.lower[j] else ("lower", robot.lower[j])
        middle, swing = (column.max() + column.min()) / 2, np.ptp(column) / 2
        room, used = abs(limit - middle) - LIMIT_SHARE * robot.soft_band[j], abs(at - middle)
        remedy = (
            f"Try --amplitude {joint}={BACK * swing * room / used:.2g}."
            if room > 0
            else f"Move its --centre {joint}=... inwards."
        )
        fact = f"it reaches {at:.3f} rad, and its {side} limit is {limit:.3f} rad"
        excess = max(used / max(room, 1e-3) - 1, 0.0)
        return _breach("joint limit", joint, targets.time[i], candidate, fact, remedy, excess=excess)


def _breach(
    what: str, joint: str, time: float, candidate: str, fact: str, remedy: str, *, excess: float, joints: tuple[str, ...] = ()
) -> Breach:  # fmt: skip
    message = f"{joint} at {time:.2f} s: {fact} (joints {candidate})."
    return Breach(
        what=what, joint=joint, joints=joints or (joint,), time=float(time), message=message, remedy=remedy, excess=float(excess)
    )


def _links(
    robot: Robot, targets: Targets, ahead: Outlook, q: Array, margin: float, period: float
) -> tuple[list[Breach], str]:  # fmt: skip
    """The first time that two links come too near, and what was looked at."""
    unchecked = f"distances between links were NOT checked: the shapes of {robot.name} are not known"
    if not robot.scene:
        return [], f"{unchecked} (give an MJCF with its geoms, or a URDF with its collision shapes beside its meshes)."
    try:
        watched = Shapes(robot, margin)
    except ValueError as error:  # a file that the scene refers to is not there
        return [], f"{unchecked} ({' '.join(str(error).split())})."
    if watched.count < 2:
        return [], f"distances between links were NOT checked: the model of {robot.name} has no shapes that collide."
    told = f"{watched.count} shapes, all pairs of links that are not neighbours, at least {1e3 * margin:g} mm apart"
    told += f"; not watched, because they overlap in the posture: {', '.join(watched.allowed_names)}" if watched.allowed else ""
    thin = max(1, round(period * targets.rate))
    for lane, name in enumerate(ahead.names):
        if near := watched.nearest(q[lane, ::thin]):
            deep = 1e3 * near.distance
            fact = f"{near.first} and {near.second} " + (
                f"come within {deep:.0f} mm" if deep > 0 else f"collide, {-deep:.0f} mm deep"
            )
            remedy = (
                f"Make --amplitude of {', '.join(near.joints)} smaller, hold the links apart with --centre, or accept "
                "less with --link-margin; without --amplitude the largest safe ones are found."
            )
            time, excess = float(targets.time[near.sample * thin]), 1 + (margin - near.distance) / margin
            return [_breach("links", near.joint, time, name, fact, remedy, excess=excess, joints=near.joints)], told + "."
    return [], told + "."


def _stand(robot: Robot, wrench: Wrench, stand: Stand, v: Array, links: Array) -> list[Breach]:
    """Force and moment beyond what the stand bears, and the joint that pushes most then."""
    out = []
    sides = (("force", wrench.force, stand.force, "N"), ("moment", wrench.moment, stand.moment, "N·m"))
    for k, (name, series, limit, unit) in enumerate(sides):
        size = np.linalg.norm(series, axis=1)
        i = int(np.argmax(size))
        if size[i] <= limit:
            continue
        joint = robot.joints[int(np.argmax(np.abs(np.gradient(v, wrench.time, axis=0)[i]) * links))]
        band = max(wrench.bands(), key=lambda b, k=k: b[2 + k])
        fact = f"the {name} on the stand is {size[i]:.0f} {unit} and it bears {limit:g} {unit}"
        fact += f", most of it at {band[0]:g}-{band[1]:g} Hz"
        remedy = (
            f"Try amplitudes {BACK * limit / size[i]:.2g} times as large, a band that ends lower (--to-hz), or a stiffer stand."
        )
        time, excess = float(wrench.time[i]), size[i] / limit - 1
        out.append(_breach("stand", joint, time, "that shake it most", fact, remedy, excess=excess, joints=robot.joints))
    return out


def _diverged(robot: Robot, targets: Targets, ahead: Outlook, broken: Array) -> Safety:
    """A simulation that ran away: the loop does not hold the joint."""
    lane, i, j = (int(x[0]) for x in np.nonzero(broken))
    remedy = "The loop is not stable: lower --stiffness or --damping."
    fact = "the simulation runs away"
    breach = _breach("divergence", robot.joints[j], targets.time[i], ahead.names[lane], fact, remedy, excess=np.inf)
    nothing, zero = np.full(robot.n, np.nan), np.zeros((len(targets.time), 3))
    return Safety(
        joints=robot.joints, breaches=(breach,), room=nothing, torque=nothing, speed=nothing,
        wrench=Wrench(time=targets.time, force=zero, moment=zero), shapes="nothing was looked at.", outlook=ahead,
    )  # fmt: skip

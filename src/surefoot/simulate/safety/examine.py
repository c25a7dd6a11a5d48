"""May a robot be moved like this? Its commands are simulated with joints as they may turn out to be, before anything moves.

Position limit, torque limit, speed and torque-speed envelope of every joint, the distance between links, and the wrench on the
stand are looked at in all of these simulations; the first place where one of them is too much is named, with what to change.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from surefoot.errors import SurefootError
from surefoot.record.recording import Recording
from surefoot.record.targets import Targets
from surefoot.robot.drive import gear_ratio, torque_bounds
from surefoot.robot.dynamics import JointDynamics
from surefoot.robot.spec import Robot
from surefoot.simulate.inverse import link_inertia
from surefoot.simulate.physics import Physics
from surefoot.simulate.replay import engine
from surefoot.simulate.safety.outlook import Outlook, outlook
from surefoot.simulate.safety.shapes import Shapes
from surefoot.simulate.safety.wrench import Stand, Wrench, base_wrench

Array = np.ndarray
MARGIN = 0.01  # [m] between links
LIMIT_SHARE = 0.2  # of the soft band that a joint stays away from its hard limit
SHAPE_PERIOD = 0.008  # [s] between the postures whose distances are looked at
RATE = 200.0  # [Hz] of the wrench
BACK = 0.9  # of what would just do is what is advised


@dataclass(frozen=True, kw_only=True)
class Breach:
    """One thing that would go wrong."""

    what: str  # "joint limit", "torque limit", "speed", "torque-speed envelope", "links", "stand", "divergence"
    joint: str
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

    def refuse(self) -> None:
        """Raise what would go wrong, the worst first."""
        if self.breaches:
            more = f" ({len(self.breaches) - 3} more)" if len(self.breaches) > 3 else ""
            raise SurefootError("this motion is not safe" + more + ": " + " ".join(map(str, self.breaches[:3])))


def examine(
    robot: Robot, targets: Targets, *, dynamics: JointDynamics | None = None, factor: float | None = None, stand: Stand = Stand(),
    margin: float = MARGIN, shapes: bool = True, physics: Physics | None = None,
) -> Safety:  # fmt: skip
    """Simulate the commands with the expected joint dynamics (or those given) and with eight extremes around them."""
    targets = targets.ordered_for(robot.joints)
    ahead = outlook(robot, targets.stiffness, dynamics=dynamics, factor=factor)
    position, wanted = _simulated(robot, targets, ahead, physics or Physics())
    if (broken := ~np.isfinite(position)).any():
        return _diverged(robot, targets, ahead, broken)
    q = position + ahead.candidates.bias[:, None, :]
    v = np.gradient(q, targets.time, axis=1)
    swing = np.ptp(targets.target, axis=0) / 2
    breaches, room, torque, speed = _joints(robot, targets, ahead, q, v, wanted, swing)
    near, told = (None, "distances between links were not asked for.") if not shapes else _links(robot, targets, ahead, q, margin)
    loudest = int(np.argmax((np.gradient(v, targets.time, axis=1) ** 2 @ link_inertia(robot, robot.joints)).sum(axis=1)))
    thin = max(1, round(targets.rate / RATE))
    wrench = base_wrench(robot, targets.time[::thin], q[loudest, ::thin])
    found = [*breaches, *([near] if near else []), *_stand(robot, wrench, stand, v[loudest, ::thin])]
    return Safety(
        joints=robot.joints, breaches=tuple(sorted(found, key=lambda b: -b.excess)), room=room, torque=torque, speed=speed,
        wrench=wrench, shapes=told, outlook=ahead,
    )  # fmt: skip


def _simulated(robot: Robot, targets: Targets, ahead: Outlook, physics: Physics) -> tuple[Array, Array]:
    """Encoder positions and the torques that the drives were asked for, unlimited, each of shape (L, T, n)."""
    blank = Recording(
        joints=targets.joints, time=targets.time, target=targets.target, stiffness=targets.stiffness, damping=targets.damping,
        position=np.repeat(targets.target[:1], len(targets.time), 0), velocity=np.zeros_like(targets.target),
        target_velocity=targets.target_velocity, feedforward=targets.feedforward, name=targets.kind,
    )  # fmt: skip
    position, _, _ = engine(robot, blank, physics, candidates=ahead.candidates).trajectories(ahead.candidates)
    with np.errstate(invalid="ignore", over="ignore"):
        v = np.gradient(position, targets.time, axis=1)
        late = np.stack([_late(targets, targets.target, float(d)) for d in ahead.candidates.delay[:, 0]])
        wanted = targets.stiffness * (late - position) - targets.damping * v
        if targets.target_velocity is not None:
            wanted += targets.damping * targets.target_velocity
        if targets.feedforward is not None:
            wanted += targets.feedforward
    return position, wanted


def _late(targets: Targets, values: Array, delay: float) -> Array:
    return np.stack([np.interp(targets.time - delay, targets.time, column) for column in values.T], axis=1)


def _joints(
    robot: Robot, targets: Targets, ahead: Outlook, q: Array, v: Array, wanted: Array, swing: Array
) -> tuple[list[Breach], Array, Array, Array]:  # fmt: skip
    """Breaches of what each joint alone may do, its least room and its largest shares of torque and speed."""
    breaches: list[Breach] = []
    distance = np.minimum(q - robot.lower, robot.upper - q)  # [rad] to the nearer limit
    keep = LIMIT_SHARE * robot.soft_band
    low, high = torque_bounds(robot, q, v)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(wanted > 0, wanted / high, wanted / low)
    share = np.where(np.isfinite(share), share, np.where(np.abs(wanted) > 0, np.inf, 0.0))
    share = np.where(np.isinf(np.where(wanted > 0, high, -low)), 0.0, share)
    r = np.where(robot.geared, gear_ratio(robot, q), 1.0)
    fast = np.abs(v) * r / robot.no_load_speed
    limited = np.abs(wanted) / (r * robot.torque_limit)
    middle = targets.target.mean(axis=0)
    for j, joint in enumerate(robot.joints):
        if distance[..., j].min() < keep[j]:
            lane, i = np.unravel_index(np.argmin(distance[..., j]), distance.shape[:2])
            at, upper = q[lane, i, j], robot.upper[j] - q[lane, i, j] < q[lane, i, j] - robot.lower[j]
            limit = robot.upper[j] if upper else robot.lower[j]
            room, used = abs(limit - middle[j]) - keep[j], abs(at - middle[j])
            fits = BACK * swing[j] * room / max(used, 1e-12)
            breaches.append(_breach(
                "joint limit", joint, targets.time[i], ahead.names[lane],
                f"reaches {at:.3f} rad, and its {'upper' if upper else 'lower'} limit is {limit:.3f} rad",
                f"--amplitude {joint}={fits:.2g}" if fits > 0 else f"--centre {joint}=... further inside", excess=used / max(room, 1e-3) - 1,
            ))  # fmt: skip
        for what, row, text in (
            ("torque limit", limited, "its drive is asked for {:.0f} % of its torque limit"),
            ("speed", fast, "it turns at {:.0f} % of its no-load speed"),
            ("torque-speed envelope", np.where((limited <= 1) & (fast <= 1), share, 0.0),
             "its drive is asked for {:.0f} % of the torque that it can give at that speed"),
        ):  # fmt: skip
            if row[..., j].max() > 1:
                lane, i = np.unravel_index(np.argmax(row[..., j]), row.shape[:2])
                worst = float(row[lane, i, j])
                breaches.append(_breach(
                    what, joint, targets.time[i], ahead.names[lane], text.format(100 * min(worst, 99)),
                    f"--amplitude {joint}={BACK * swing[j] / worst:.2g}, or a lower band (--to-hz) or gain", excess=worst - 1,
                ))  # fmt: skip
    return breaches, distance.min(axis=(0, 1)), np.minimum(share, 99).max(axis=(0, 1)), fast.max(axis=(0, 1))


def _breach(what: str, joint: str, time: float, candidate: str, fact: str, change: str, *, excess: float) -> Breach:
    return Breach(
        what=what, joint=joint, time=float(time), message=f"{joint} at {time:.2f} s: {fact} (joints {candidate}).",
        remedy=f"Change {change}." if not change.startswith("--") else f"Try {change}.", excess=float(excess),
    )  # fmt: skip


def _links(robot: Robot, targets: Targets, ahead: Outlook, q: Array, margin: float) -> tuple[Breach | None, str]:
    """The first time that two links come too near, and what was looked at."""
    if not robot.scene:
        return None, (
            f"distances between links were NOT checked: the shapes of {robot.name} are not known (a URDF's are not read; give an "
            "MJCF with its geoms)."
        )
    watched = Shapes(robot, margin)
    if watched.count < 2:
        return None, f"distances between links were NOT checked: the model of {robot.name} has no shapes that collide."
    told = f"{watched.count} shapes, all pairs of links that are not neighbours, {1e3 * margin:g} mm apart at least"
    told += f"; not watched because they overlap in the posture: {', '.join(watched.allowed_names)}" if watched.allowed else ""
    thin = max(1, round(SHAPE_PERIOD * targets.rate))
    for lane, name in enumerate(ahead.names):
        if near := watched.nearest(q[lane, ::thin]):
            i = near.sample * thin
            gap = (
                f"come within {1e3 * near.distance:.0f} mm"
                if near.distance > 0
                else f"collide ({-1e3 * near.distance:.0f} mm deep)"
            )
            return _breach(
                "links", near.joint, targets.time[i], name, f"{near.first} and {near.second} {gap}",
                f"a smaller --amplitude of {near.joint} and its neighbours, or a --centre that holds the legs apart (needed: {1e3 * margin:g} mm)",
                excess=1.0 + (margin - near.distance) / margin,
            ), told + "."  # fmt: skip
    return None, told + "."


def _stand(robot: Robot, wrench: Wrench, stand: Stand, v: Array) -> list[Breach]:
    """Force and moment beyond what the stand bears, and the joint that moves most then."""
    out = []
    for name, series, limit, unit in (("force", wrench.force, stand.force, "N"), ("moment", wrench.moment, stand.moment, "N·m")):
        size = np.linalg.norm(series, axis=1)
        if size.max() > limit:
            i = int(np.argmax(size))
            joint = robot.joints[
                int(np.argmax(np.abs(np.gradient(v, wrench.time, axis=0)[i]) * link_inertia(robot, robot.joints)))
            ]
            bands = wrench.bands()
            worst = max(bands, key=lambda band: band[2 if name == "force" else 3])
            out.append(_breach(
                "stand", joint, wrench.time[i], "that shake it most", f"the {name} on the stand is {size[i]:.0f} {unit} and it bears {limit:g} {unit} "
                f"(most of it at {worst[0]:g}-{worst[1]:g} Hz)",
                f"amplitudes {BACK * limit / size[i]:.2f} times as large, a band that ends lower (--to-hz), or a stiffer stand", excess=size[i] / limit - 1,
            ))  # fmt: skip
    return out


def _diverged(robot: Robot, targets: Targets, ahead: Outlook, broken: Array) -> Safety:
    """A simulation that ran away: the loop does not hold the joint."""
    lane, i, j = (int(x[0]) for x in np.nonzero(broken))
    breach = _breach(
        "divergence", robot.joints[j], targets.time[i], ahead.names[lane], "the simulation runs away",
        "lower gains (--stiffness, --damping): the loop is not stable", excess=np.inf,
    )  # fmt: skip
    nothing = np.full(robot.n, np.nan)
    zero = np.zeros((len(targets.time), 3))
    return Safety(
        joints=robot.joints, breaches=(breach,), room=nothing, torque=nothing, speed=nothing,
        wrench=Wrench(time=targets.time, force=zero, moment=zero), shapes="nothing was looked at.", outlook=ahead,
    )  # fmt: skip

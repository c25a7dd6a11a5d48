"""What a fit would find out, before the robot moves: the 95 % interval of every parameter, from the fit's own derivatives.

The commands are simulated with the joints as they are expected to be; residuals and Jacobian are those of `Problem`, the noise
is what the encoders would add, and `uncertainty` makes the intervals as it does after a fit.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from surefoot.errors import SurefootError
from surefoot.identify.answer import scales
from surefoot.identify.bounds import default_bounds
from surefoot.identify.problem import Linear, Problem
from surefoot.identify.uncertainty import uncertainty
from surefoot.identify.unknowns import Space, Unknowns, make_space
from surefoot.record.recording import Recording
from surefoot.record.targets import Targets
from surefoot.robot.dynamics import JointDynamics
from surefoot.robot.spec import Robot
from surefoot.simulate.inverse import link_inertia
from surefoot.simulate.physics import Physics
from surefoot.simulate.rehearsal import at_rest, encoded
from surefoot.simulate.replay import engine
from surefoot.simulate.safety.outlook import expected

Array = np.ndarray
DRAWS = 8  # of the noise; the median of their intervals is promised
UNSEEN = 1e3  # relative interval beyond which a parameter is not seen
Z95 = 1.959964  # half the width of a 95 % interval, in standard deviations


@dataclass(frozen=True, kw_only=True)
class Encoders:
    """What the robot's encoders do to a position."""

    noise: float = 3e-4  # standard deviation [rad]
    colour: float = 0.0  # correlation from one sample to the next [-]; 0: white
    resolution: float = 2 * np.pi / 2**15  # [rad]; 0: none

    def __post_init__(self) -> None:
        if not (self.noise >= 0 and self.resolution >= 0 and self.noise + self.resolution > 0 and 0 <= self.colour < 1):
            raise SurefootError(
                f"encoders have noise {self.noise:g} rad, resolution {self.resolution:g} rad and colour {self.colour:g}; give "
                "noise and resolution of at least 0, not both 0, and a colour from 0 to below 1."
            )


@dataclass(frozen=True, kw_only=True, eq=False)
class Plan:
    """The intervals that a motion promises; one entry per parameter, in the order of the fit's unknowns."""

    robot: str
    origin: str  # where the expected dynamics come from
    dynamics: JointDynamics  # as expected
    labels: tuple[str, ...]  # "LF_HAA armature", ..., "delay"
    names: tuple[str, ...]  # "armature", ...
    joints: tuple[str, ...]  # "" where the joints share the parameter
    value: Array  # expected [SI], shape (k,)
    half_width: Array  # of the 95 % interval [SI], shape (k,); inf: not seen
    relative: Array  # half-width over what the parameter is a part of, as in a fit's flags, shape (k,)

    @property
    def worst(self) -> int:
        """Of the parameters that are seen, the one whose relative interval is the widest."""
        return int(np.argmax(np.where(self.seen, self.relative, -1.0)))

    @property
    def seen(self) -> Array:
        """The parameters that the motion shows at all, as flags of shape (k,)."""
        return np.isfinite(self.relative) & (self.relative < UNSEEN)

    def of(self, name: str) -> Array:
        """The half-widths of one kind of parameter, in joint order."""
        return self.half_width[[k for k, own in enumerate(self.names) if own == name]]


def plan(
    robot: Robot, targets: Targets, *, dynamics: JointDynamics | None = None, encoders: Encoders | None = None,
    unknowns: Unknowns | None = None, physics: Physics | None = None, seed: int = 0,
) -> Plan:  # fmt: skip
    """The 95 % intervals that these commands promise, for joints as expected (or as given)."""
    outcome = Outcome(robot, targets, dynamics=dynamics, unknowns=unknowns, physics=physics)
    draws = [outcome.deviation(encoders or Encoders(), seed + draw) for draw in range(DRAWS)]
    return outcome.report(Z95 * np.median(draws, axis=0))


class Outcome:
    """A fit of one motion, linear around the expected dynamics."""

    def __init__(
        self, robot: Robot, targets: Targets, *, dynamics: JointDynamics | None = None, unknowns: Unknowns | None = None,
        physics: Physics | None = None,
    ) -> None:  # fmt: skip
        self.robot = robot
        self.physics = physics = physics or Physics()
        targets = targets.ordered_for(robot.joints)
        known, _, origin = expected(robot, targets.stiffness)
        self.dynamics, self.origin = (known, origin) if dynamics is None else (dynamics.ordered_for(robot.joints), "as given")
        blank, one = at_rest(targets), JointDynamics.stack([self.dynamics])
        position = engine(robot, blank, physics, candidates=one).trajectories(one)[0][0]
        if not np.isfinite(position).all():
            raise SurefootError(
                "the simulation of this motion runs away: the loop is not stable; lower --stiffness or --damping."
            )
        self.recording: Recording = blank.replace(position=position)
        self.links = link_inertia(robot, robot.joints)
        bounds = default_bounds(robot, [self.recording], self.links)
        self.space: Space = make_space(robot.joints, (), unknowns or Unknowns(), bounds)
        self.problem = Problem(robot, [self.recording], self.space, physics)
        self.x = self.space.encode(self.dynamics)
        self.around: Linear = self.problem.linearise(self.x)

    def deviation(self, encoders: Encoders, seed: int) -> Array:
        """Standard deviation of every variable [SI], from one draw of the noise, by the fit's own estimate.

        As in a fit, the simulation starts from the first reading: its noise is part of the residual.
        """
        read = encoded(
            self.recording.position, noise=encoders.noise, colour=encoders.colour, resolution=encoders.resolution, seed=seed
        )
        measured = self.recording.replace(position=read, velocity=None)
        one = JointDynamics.stack([self.dynamics])
        error = engine(self.robot, measured, self.physics, candidates=one).trajectories(one)[0][0] - read
        pieces = tuple(replace(piece, residual=error[:, piece.joints]) for piece in self.around.pieces)
        noisy = replace(self.around, pieces=pieces, squares=float((error**2).sum()))
        return uncertainty(noisy, int(self.problem.samples * self.robot.n)).deviation * self.space.slopes(self.x)

    def white(self, encoders: Encoders) -> Array:
        """The same for white noise of the same strength, without a draw: σ √diag(H⁻¹). Quick, for comparing motions."""
        scale = np.sqrt(np.maximum(np.diag(self.around.hessian), 1e-300))
        inverse = np.linalg.pinv(self.around.hessian / np.outer(scale, scale), hermitian=True, rcond=1e-12)
        sigma = np.hypot(encoders.noise, encoders.resolution / np.sqrt(12.0))
        return sigma * np.sqrt(np.maximum(np.diag(inverse), 0.0)) / scale * self.space.slopes(self.x)

    def relative(self, half_width: Array) -> Array:
        """Half-widths over what each parameter is a part of (its own size, or the whole that it adds to)."""
        whole = scales(self.robot, [self.recording], self.dynamics, self.links)
        out = np.zeros(self.space.size)
        for entry, k in zip(self.space.entries, self.space.variable, strict=True):
            if k >= 0:
                size = len(getattr(self.space.base, entry.name))
                out[k] = half_width[k] / np.broadcast_to(whole[entry.name], (size,))[entry.index]
        return out

    def report(self, half_width: Array) -> Plan:
        """The plan that these half-widths make."""
        first = {
            int(k): entry for entry, k in reversed(list(zip(self.space.entries, self.space.variable, strict=True))) if k >= 0
        }
        entries = [first[k] for k in range(self.space.size)]
        return Plan(
            robot=self.robot.name, origin=self.origin, dynamics=self.dynamics, labels=tuple(self.space.labels()),
            names=tuple(e.name for e in entries), joints=tuple(e.joint for e in entries), value=self.space.values(self.x),
            half_width=half_width, relative=self.relative(half_width),
        )  # fmt: skip

"""What a compiled in-air kernel must contain: the parts of the drive and of the recording that are not there cost nothing."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Features:
    """One flag per optional part; tuples hold one flag per joint of the branch."""

    prescribed: tuple[bool, ...]  # the joint follows a given motion
    limited: tuple[bool, ...]  # torque limit
    envelope: tuple[bool, ...]  # torque-speed envelope
    gear_knots: tuple[int, ...]  # knots of the gear table over joint angle, 0 without
    limits: tuple[bool, ...]  # joint limits
    target_velocity: bool = False
    feedforward: bool = False
    enabled: bool = False
    load: bool = False
    breakaway: bool = False
    load_friction: bool = False
    cutoff: bool = False
    tilt: bool = False
    gain_scale: bool = False
    joint_delays: bool = False
    delay_torque: bool = False  # delay on the torque instead of the command
    encoder: bool = True  # the encoder reads q - q_b; False: q
    output: str = "trajectory"  # or "score": the sum of squared errors per joint only
    torque: bool = False  # trajectories of the drive torque as well
    weighted: bool = False  # score: samples carry weights

    @property
    def free(self) -> list[int]:
        """Joints that move by their own dynamics."""
        return [i for i, given in enumerate(self.prescribed) if not given]

    @property
    def command_columns(self) -> int:
        """Columns of the command per free joint: target, target velocity, feed-forward."""
        return 1 + self.target_velocity + self.feedforward

    @property
    def lane_rows(self) -> list[str]:
        """Per-lane parameters, one row per free joint for each name."""
        rows = ["armature", "damping", "friction", "bias", "effective"]
        return rows + [name for name in ("load", "breakaway", "load_friction") if getattr(self, name)]

    @property
    def shared_rows(self) -> list[str]:
        """Per-lane parameters that all joints share."""
        rows = ["inverse_stribeck"] if self.breakaway else []
        rows += ["smoothing"] if self.cutoff else []
        rows += ["gravity_x", "gravity_y", "gravity_z"] if self.tilt else []
        return rows + (["gain_scale"] if self.gain_scale else [])

    @property
    def plant_columns(self) -> int:
        """Columns of what is known per physics step: (q, v, a) of prescribed joints and the enabled flags of the others."""
        return 3 * sum(self.prescribed) + (len(self.free) if self.enabled else 0)

    def gain_layout(self) -> tuple[dict[tuple[str, int], int], int]:
        """Where each number of the drive stands in the gain table, and the table's length."""
        where: dict[tuple[str, int], int] = {}
        size = 0
        for i in self.free:
            names = ["stiffness", "damping"]
            names += ["limit"] if self.limited[i] else []
            names += ["stall", "inverse_no_load"] if self.envelope[i] else []
            names += [f"knot{k}" for k in range(self.gear_knots[i])] + [f"bend{k}" for k in range(self.gear_knots[i])]
            for name in names:
                where[name, i] = size
                size += 1
        return where, size

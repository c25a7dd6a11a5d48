"""Drive networks: learned from recordings, and any network judged in the air."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from surefoot.commands.common import Files, Folder, Name, console, following, seeded, writable
from surefoot.commands.options import Read, Reading, load, load_robot
from surefoot.errors import SurefootError

if TYPE_CHECKING:
    from surefoot.identify import Progress

Input = Literal["error", "velocity", "velocity_error", "demand"]


def learn_network(
    robot: Name, recordings: Files, out: Path, held_out: tuple[Path, ...] = (), source: Literal["torque", "encoder"] = "torque",
    kind: Literal["mlp", "lstm"] = "mlp", inputs: tuple[Input, ...] = ("error", "velocity"), timestep: float = 0.0025,
    period: float = 0.005, iterations: int | None = None, seed: int = 0, read: Read = Reading(),
) -> int:  # fmt: skip
    """Learn a drive network: position error and velocity in, torque out.

    Args:
        robot: a bundled name, a robot.toml, an MJCF or a URDF file.
        recordings: what was commanded and measured, under one set of gains unless the inputs have "demand".
        out: folder for network.toml and network.pt (TorchScript).
        held_out: recordings that it is only judged on.
        source: measured torque, or the encoders alone through a differentiated in-air simulation (mlp).
        kind: mlp with a short history, or lstm.
        inputs: what the network is told; "demand" is P (target - position) + D (target velocity - velocity).
        timestep: physics step [s] of the replay that judges it.
        period: time between two questions to the network [s].
        iterations: batches; default: 4000 (mlp from torque), 2000 (lstm), 300 (encoder).
        seed: the same seed learns the same network.

    """
    from surefoot.commands import terminal
    from surefoot.networks import learn_from_encoder, learn_from_torque, score_network
    from surefoot.simulate import Physics

    seeded(seed)
    if iterations is not None and iterations < 1:
        raise SurefootError(f"--iterations is {iterations}; give at least 1.")
    if source == "encoder" and kind != "mlp":
        raise SurefootError("from encoders alone an mlp is learned; use --kind mlp, or --source torque for an lstm.")
    writable(out, "network.toml", "network.pt")
    machine = load_robot(robot)
    given, kept = ([load(machine, path, read) for path in paths] for paths in (recordings, held_out))
    with terminal.progress(console()) as bar:
        task = bar.add_task("learning", total=None, note="")

        def tell(p: Progress) -> None:
            bar.update(task, completed=p.iteration + 1, total=p.limit, note=f"loss {p.loss:.3g}")

        common = {"inputs": inputs, "period": period, "seed": seed, "tell": tell}
        if source == "torque":
            learned = learn_from_torque(machine, given, kind=kind, iterations=iterations, **common)
        else:
            learned = learn_from_encoder(machine, given, iterations=300 if iterations is None else iterations, **common)
    path = learned.network.save(out / "network.toml")
    unit = "N·m" if source == "torque" else "rad"
    console().print(
        f"error in the last fifth of the recordings: {learned.error:.3g} {unit}, {100 * learned.relative:.2g} % of the range"
    )
    physics = Physics(timestep=timestep)
    scores = [score_network(machine, rec, learned.network, physics=physics) for rec in (*given, *kept)]
    console().print(terminal.errors(scores, "in the in-air replay: learned from, then held out"))
    console().print(f"wrote {path} and {path.with_suffix('.pt')}", markup=False, soft_wrap=True)
    following(f"surefoot validate-network {shlex.quote(str(path))} OTHER.npz --robot {shlex.quote(robot)}")
    return 0


def validate_network(network: Folder, recordings: Files, robot: str, timestep: float = 0.0025, read: Read = Reading()) -> int:
    """Replay recordings in the air with a drive network, ours or others', beside no model at all.

    Args:
        network: its convention file (TOML; docs/networks.md).
        recordings: what was commanded and measured.
        robot: a bundled name, a robot.toml, an MJCF or a URDF file.
        timestep: physics step [s]; it must divide the network's period.

    """
    from surefoot.commands import terminal
    from surefoot.networks import Network, score_network
    from surefoot.simulate import Physics

    machine, known = load_robot(robot), Network.load(network)
    if not recordings:
        raise SurefootError("there is no recording to replay; pass at least one.")
    loaded = [load(machine, path, read) for path in recordings]
    scores = [score_network(machine, rec, known, physics=Physics(timestep=timestep)) for rec in loaded]
    console().print(terminal.errors(scores, f"{network.name} in the in-air replay"))
    return 0

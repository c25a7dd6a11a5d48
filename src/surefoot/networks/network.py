"""A drive network: its TorchScript module, the convention by which it is asked, and the drive that it makes."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any, Self

import numpy as np

from surefoot.errors import SurefootError
from surefoot.networks.convention import Convention
from surefoot.networks.torch import one_thread, torch

Array = np.ndarray
STEPS = 1e-6  # a period may miss a whole number of physics steps by this part of one


class Network:
    """A module and its convention; `drive` makes a drive of it for the in-air replay and the training world."""

    def __init__(self, convention: Convention, module: Any) -> None:
        self.convention, self.module = convention, module
        module.eval()
        self._try()

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a convention file and the TorchScript file that it names, ours or others'."""
        convention, file = Convention.load(path)
        if not file.is_file():
            raise SurefootError(f"{path} names {file.name}, and there is no such file in {file.parent}.")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)  # TorchScript is old, and it is what these files are
                module = torch().jit.load(str(file), map_location="cpu")
        except (RuntimeError, ValueError, NotImplementedError) as error:
            raise SurefootError(f"{file} is not a TorchScript file: {str(error).splitlines()[0]}") from None
        return cls(convention, module)

    def save(self, path: str | Path) -> Path:
        """Write the convention and, beside it, the module as TorchScript."""
        path = Path(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            scripted = self.module if isinstance(self.module, torch().jit.ScriptModule) else torch().jit.script(self.module)
            scripted.save(str(path.with_suffix(".pt")))
        self.convention.save(path, path.with_suffix(".pt").name)
        return path

    def drive(self) -> NetworkDrive:
        """A drive that has seen nothing yet."""
        return NetworkDrive(self)

    def start(self, rows: int) -> Any:
        """The state of that many rows that have seen nothing: (h, c) of an lstm, nothing for an mlp."""
        if self.convention.kind == "mlp":
            return None
        layers, size = self.convention.state
        zero = torch().zeros(layers, rows, size)
        return zero, zero.clone()

    def ask(self, x: Any, state: Any) -> tuple[Any, Any]:
        """Torque of rows, shape (R,) [N·m], and their next state; `x` is a float32 tensor (R, width)."""
        if self.convention.kind == "mlp":
            return self.module(x).reshape(-1) * self.convention.output_scale, None
        torque, state = self.module(x[:, None, :], state)
        return torque.reshape(-1) * self.convention.output_scale, state

    def _try(self) -> None:
        """Ask once, so that a convention that does not fit is noticed here."""
        c = self.convention
        try:
            with torch().no_grad():
                torque, _ = self.ask(torch().zeros(3, c.width), self.start(3))
        except (RuntimeError, TypeError, ValueError) as error:
            known = [line for line in str(error).splitlines() if line.strip()]
            raise SurefootError(
                f"the network does not take {c.width} numbers per joint ({', '.join(c.inputs)}"
                f"{f', at {len(c.lags)} ages' if c.lags else ''}) as an {c.kind}: {known[-1] if known else error}"
            ) from None
        if tuple(torque.shape) != (3,):
            raise SurefootError(f"the network answers {torque.numel()} numbers for 3 joints; expected one torque for each.")


class NetworkDrive:
    """A `Drive`: N robots with n joints, one row of the network for each joint."""

    def __init__(self, network: Network) -> None:
        self.network, self.robots, self.n = network, 0, 0

    def begin(self, robots: int, joints: tuple[str, ...], timestep: float, stiffness: Array, damping: Array) -> None:
        """See `Drive`."""
        c = self.network.convention
        steps = c.period / timestep
        if abs(steps - round(steps)) > STEPS or round(steps) < 1:
            raise SurefootError(
                f"the network is asked every {1e3 * c.period:g} ms, which is not a whole number of physics steps of "
                f"{1e3 * timestep:g} ms; choose a --timestep that divides it."
            )
        if c.joints and (missing := [joint for joint in joints if joint not in c.joints]):
            raise SurefootError(f"the network does not know joint {', '.join(missing)}; it was learned on {', '.join(c.joints)}.")
        c.check_gains(stiffness, damping, joints)
        self.every, self.robots, self.n = round(steps), robots, len(joints)
        self.p, self.d = np.asarray(stiffness, float), np.asarray(damping, float)
        self.names = np.eye(len(c.joints))[[c.joints.index(j) for j in joints]] if c.joints else np.zeros((len(joints), 0))
        self.age = np.zeros(robots, int)  # physics steps since each robot began
        self.past = np.zeros((max(c.lags, default=0) + 1, robots, self.n, len(c.inputs)))
        self.state = self.network.start(robots * self.n)
        self.held = np.zeros((robots, self.n))

    def reset(self, which: Array) -> None:
        """See `Drive`."""
        self.age[which] = 0

    def torque(self, target: Array, target_velocity: Array, encoder: Array, velocity: Array) -> Array:
        """See `Drive`."""
        due = np.flatnonzero(self.age % self.every == 0)
        if len(due):
            self.held[due] = self._ask(due, target[due], target_velocity[due], encoder[due], velocity[due])
        self.age += 1
        return self.held.copy()

    def _ask(self, which: Array, target: Array, target_velocity: Array, encoder: Array, velocity: Array) -> Array:
        """Ask for the joints of these robots; one that has just begun has always seen what it sees now, its state is zero."""
        c, t, fresh = self.network.convention, torch(), self.age[which] == 0
        now = c.rows(target, target_velocity, encoder, velocity, self.p, self.d)
        self.past[1:, which] = self.past[:-1, which]
        self.past[0, which] = now
        self.past[:, which[fresh]] = now[fresh]
        seen = np.moveaxis(self.past[list(c.lags or (0,))][:, which], 0, -1).reshape(len(which), self.n, -1)
        told = np.broadcast_to(self.names, (len(which), *self.names.shape))
        rows = t.as_tensor(np.concatenate([seen, told], axis=-1).reshape(len(which) * self.n, -1), dtype=t.float32)
        with one_thread(), t.no_grad():
            if self.state is None:
                return self.network.ask(rows, None)[0].double().numpy().reshape(-1, self.n)
            mine = t.as_tensor((which[:, None] * self.n + np.arange(self.n)).ravel())
            keep = t.as_tensor(np.repeat(~fresh, self.n), dtype=t.float32)[None, :, None]
            torque, state = self.network.ask(rows, tuple(part[:, mine] * keep for part in self.state))
            for part, new in zip(self.state, state, strict=True):
                part[:, mine] = new
        return torque.double().numpy().reshape(-1, self.n)

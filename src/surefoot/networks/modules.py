"""The two kinds of drive network that are learned here. Everything that scales a number is inside, so the file is complete.

The one file that needs torch to be imported at all: ask `networks.torch` first.
"""

from itertools import pairwise

import torch
from torch import Tensor, nn

from surefoot.robot.dynamics import Array


class Mlp(nn.Module):
    """Rows (R, width) to (R, 1) [N·m]: layers of softsign units, as in Hwangbo et al. 2019."""

    def __init__(self, hidden: tuple[int, ...], input_scale: Array, output_scale: float) -> None:
        super().__init__()
        sizes = [len(input_scale), *hidden]
        layers: list[nn.Module] = []
        for a, b in pairwise(sizes):
            layers += [nn.Linear(a, b), nn.Softsign()]
        self.body = nn.Sequential(*layers, nn.Linear(sizes[-1], 1))
        self.in_scale: Tensor
        self.out_scale: Tensor
        self.register_buffer("in_scale", torch.as_tensor(input_scale, dtype=torch.float32))
        self.register_buffer("out_scale", torch.tensor(float(output_scale)))

    def forward(self, x: Tensor) -> Tensor:
        """Torque of every row."""
        return self.out_scale * self.body(x * self.in_scale)


class Lstm(nn.Module):
    """Rows (R, T, width) and (h, c), each (layers, R, size), to torque (R, T) [N·m] and the next (h, c)."""

    def __init__(self, layers: int, size: int, input_scale: Array, output_scale: float) -> None:
        super().__init__()
        self.lstm = nn.LSTM(len(input_scale), size, layers, batch_first=True)
        self.linear = nn.Linear(size, 1)
        self.in_scale: Tensor
        self.out_scale: Tensor
        self.register_buffer("in_scale", torch.as_tensor(input_scale, dtype=torch.float32))
        self.register_buffer("out_scale", torch.tensor(float(output_scale)))

    def forward(self, x: Tensor, state: tuple[Tensor, Tensor]) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """Torque of every row and time."""
        y, state = self.lstm(x * self.in_scale, state)
        return self.out_scale * self.linear(y).squeeze(-1), state

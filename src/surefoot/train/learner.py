"""rsl_rl's PPO as this project uses it: two networks, the mirror images of every sample, schedules of its own."""

from __future__ import annotations

import os
from collections.abc import Generator, Sequence
from typing import TYPE_CHECKING, Any

from surefoot.errors import SurefootError

try:
    import torch
    import torch.distributed
    from rsl_rl.algorithms import PPO
    from rsl_rl.models import MLPModel
    from rsl_rl.storage import RolloutStorage
    from tensordict import TensorDict
except ImportError as missing:
    raise SurefootError(f'training needs torch and rsl_rl ({missing}): pip install "surefoot[train]"') from None

if TYPE_CHECKING:
    from surefoot.train.settings import LearnerSettings
    from surefoot.train.symmetry import Image, Mirror
    from surefoot.train.task import Seen

GROUPS = {"actor": ["policy"], "critic": ["critic"]}
DEVICE = "cpu"


def tensors(seen: Seen, columns: int | None = None) -> TensorDict:
    """Both observations as the networks take them: float32, one row per robot; of the critic's only the first `columns`."""
    parts = {"policy": torch.from_numpy(seen.policy).float(), "critic": torch.from_numpy(seen.critic[:, :columns]).float()}
    return TensorDict(parts, batch_size=[len(seen.policy)])


class MirroredRollout(RolloutStorage):
    """A rollout whose mini-batches hold every sample and its mirror images.

    rsl_rl cuts, mirrors and copies each mini-batch in each epoch anew, and runs the actor once more for a loss that is only
    logged. Its mini-batches are the same in every epoch, so here they are cut and mirrored once per iteration.
    """

    def __init__(self, mirrors: Sequence[Mirror], robots: int, steps: int, seen: TensorDict, actions: int, cuts: int) -> None:
        super().__init__("rl", robots, steps, seen, [actions], DEVICE)
        self.mirrors = {name: [_Image(getattr(m, name)) for m in mirrors] for name in ("policy", "critic", "action")}
        sizes = {"policy": seen["policy"].shape[1], "critic": seen["critic"].shape[1], "action": actions}
        self.several = 1 + len(mirrors)
        self.cut = {name: torch.empty(cuts, self.several, robots * steps // cuts, size) for name, size in sizes.items()}

    def mini_batch_generator(self, num_mini_batches: int, num_epochs: int = 8) -> Generator[RolloutStorage.Batch, None, None]:
        """Mini-batches of the originals; `number` says which, for `augment_batch`."""
        size = self.cut["action"].shape[2]
        order = torch.randperm(num_mini_batches * size).split(size)
        flat = lambda x: x.flatten(0, 1)  # noqa: E731
        own = {"policy": self.observations["policy"], "critic": self.observations["critic"], "action": self.actions}
        for name, values in own.items():
            for rows, out in zip(order, self.cut[name], strict=True):
                torch.index_select(flat(values), 0, rows, out=out[0])
                for image, mirrored in zip(self.mirrors[name], out[1:], strict=True):
                    image(out[0], mirrored)
        columns = {"values": self.values, "returns": self.returns, "advantages": self.advantages,
                   "old_actions_log_prob": self.actions_log_prob}  # fmt: skip
        for _ in range(num_epochs):
            for number, rows in enumerate(order):
                batch = RolloutStorage.Batch(
                    observations=TensorDict({}, batch_size=[size]),
                    old_distribution_params=tuple(flat(p)[rows] for p in self.distribution_params or ()),
                    **{name: flat(column)[rows] for name, column in columns.items()},
                )
                batch.number = number  # type: ignore[attr-defined]
                yield batch

    # --- what PPO calls its symmetry ------------------------------------------------------------------------------------------
    use_mirror_loss = False

    def augment_batch(self, batch: Any, original_batch_size: int) -> None:
        """Fill a mini-batch with its samples and, behind them, their mirror images."""
        parts = {name: cut[batch.number].flatten(0, 1) for name, cut in self.cut.items()}
        batch.actions = parts.pop("action")
        batch.observations = TensorDict(parts, batch_size=[self.several * original_batch_size])
        for name in ("old_actions_log_prob", "values", "advantages", "returns"):
            setattr(batch, name, getattr(batch, name).repeat(self.several, 1))

    def compute_loss(self, *_: Any) -> torch.Tensor:
        """No mirror loss."""
        return torch.zeros(())


class _Image:
    """A mirror image of the rows of a tensor, written into another."""

    def __init__(self, image: Image) -> None:
        self.source, self.sign = torch.from_numpy(image.source.copy()), torch.from_numpy(image.sign.copy()).float()

    def __call__(self, values: torch.Tensor, out: torch.Tensor) -> None:
        torch.index_select(values, 1, self.source, out=out)
        out *= self.sign


class Exact(torch.nn.Linear):
    """A last layer in single precision, whatever the layers before it are computed in: a probability needs its digits."""

    def forward(self, input: torch.Tensor) -> torch.Tensor:  # noqa: A002
        """W x + b."""
        with torch.autocast(DEVICE, enabled=False):
            return super().forward(input.float())


class Network(MLPModel):
    """rsl_rl's network with an exact last layer; the names of its weights stay."""

    def __init__(self, *given: Any, **more: Any) -> None:
        super().__init__(*given, **more)
        last = self.mlp[-1]
        assert isinstance(last, torch.nn.Linear)
        exact = Exact(last.in_features, last.out_features)
        exact.load_state_dict(last.state_dict())
        self.mlp[-1] = exact


def ppo(settings: LearnerSettings, seen: TensorDict, actions: int, mirrors: Sequence[Mirror]) -> PPO:
    """Fresh networks and their learner, for observations like `seen`."""
    common = {"hidden_dims": settings.hidden, "activation": "elu", "obs_normalization": True}
    spread = {"class_name": "GaussianDistribution", "init_std": settings.first_std, "std_type": "scalar"}
    actor = Network(seen, GROUPS, "actor", actions, distribution_cfg=spread, **common)
    critic = Network(seen, GROUPS, "critic", 1, **common)
    storage = MirroredRollout(mirrors, len(seen), settings.steps, seen, actions, settings.mini_batches)
    learner = PPO(
        actor, critic, storage, num_learning_epochs=settings.epochs, num_mini_batches=settings.mini_batches,
        clip_param=settings.clip, gamma=settings.discount, lam=settings.gae, value_loss_coef=settings.value_weight,
        entropy_coef=settings.entropy_first, learning_rate=settings.learning_rate, max_grad_norm=settings.max_gradient,
        desired_kl=settings.desired_kl, use_mixed_precision=settings.bfloat16, device=DEVICE, multi_gpu_cfg=_processes(),
    )  # fmt: skip
    learner.symmetry = storage  # type: ignore[assignment]
    learner.train_mode()
    return learner


# --- several processes --------------------------------------------------------------------------------------------------------
def rank() -> int:
    """Which of the processes that torchrun started this is; 0 without torchrun."""
    return int(os.environ.get("RANK", "0"))


def ranks() -> int:
    """How many processes learn together."""
    return int(os.environ.get("WORLD_SIZE", "1"))


def _processes() -> dict[str, int] | None:
    """What PPO must know of them, once they have found each other."""
    if ranks() == 1:
        return None
    if not torch.distributed.is_initialized():
        torch.distributed.init_process_group(backend="gloo")
    return {"global_rank": rank(), "local_rank": int(os.environ.get("LOCAL_RANK", "0")), "world_size": ranks()}


def agree(value: float) -> float:
    """The first process's value, for all: decisions that depend on a clock or a key must be the same everywhere."""
    if ranks() == 1:
        return value
    shared = torch.tensor([value], dtype=torch.float64)
    torch.distributed.broadcast(shared, src=0)
    return float(shared)

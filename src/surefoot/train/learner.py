"""rsl_rl's PPO as this project uses it: two networks, the mirror images of every sample, schedules of its own."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
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


def tensors(seen: Seen) -> TensorDict:
    """Both observations as the networks take them: float32, one row per robot."""
    parts = {"policy": torch.from_numpy(seen.policy).float(), "critic": torch.from_numpy(seen.critic).float()}
    return TensorDict(parts, batch_size=[len(seen.policy)])


class MirroredRollout(RolloutStorage):
    """A rollout whose mini-batches hold every sample and its mirror images.

    rsl_rl mirrors each mini-batch in each epoch anew, and runs the actor once more for a loss that is only logged. Here the
    whole rollout is mirrored once per iteration, and mini-batches are rows of it: the same samples with less work.
    """

    def __init__(self, mirrors: Sequence[Mirror], robots: int, steps: int, seen: TensorDict, actions: int) -> None:
        super().__init__("rl", robots, steps, seen, [actions], DEVICE)
        self.mirrors = {name: [_Image(getattr(m, name)) for m in mirrors] for name in ("policy", "critic", "action")}
        sizes = {"policy": seen["policy"].shape[1], "critic": seen["critic"].shape[1], "action": actions}
        self.images = {k: torch.empty(1 + len(mirrors), robots * steps, size) for k, size in sizes.items()}

    def mini_batch_generator(self, num_mini_batches: int, num_epochs: int = 8) -> Iterator[RolloutStorage.Batch]:
        """Mini-batches of the originals; `rows` says which, for `augment_batch`."""
        flat = lambda x: x.flatten(0, 1)  # noqa: E731
        for name, own in (("policy", self.observations["policy"]), ("critic", self.observations["critic"]), ("action", self.actions)):
            self.images[name][0] = flat(own)
            for image, out in zip(self.mirrors[name], self.images[name][1:], strict=True):
                image(flat(own), out)
        size = self.num_envs * self.num_transitions_per_env // num_mini_batches
        order = torch.randperm(num_mini_batches * size)
        columns = {"values": self.values, "returns": self.returns, "advantages": self.advantages,
                   "old_actions_log_prob": self.actions_log_prob}  # fmt: skip
        for _ in range(num_epochs):
            for rows in order.split(size):
                batch = RolloutStorage.Batch(
                    observations=TensorDict({}, batch_size=[size]),
                    old_distribution_params=tuple(flat(p)[rows] for p in self.distribution_params or ()),
                    **{name: flat(column)[rows] for name, column in columns.items()},
                )
                batch.rows = rows  # type: ignore[attr-defined]
                yield batch

    # --- what PPO calls its symmetry ------------------------------------------------------------------------------------------
    use_mirror_loss = False

    def augment_batch(self, batch: Any, original_batch_size: int) -> None:
        """Fill a mini-batch with its samples and, behind them, their mirror images."""
        several = len(self.images["action"])
        rows = {name: images[:, batch.rows].flatten(0, 1) for name, images in self.images.items()}
        batch.actions = rows.pop("action")
        batch.observations = TensorDict(rows, batch_size=[several * original_batch_size])
        for name in ("old_actions_log_prob", "values", "advantages", "returns"):
            setattr(batch, name, getattr(batch, name).repeat(several, 1))

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


def ppo(settings: LearnerSettings, seen: TensorDict, actions: int, mirrors: Sequence[Mirror]) -> PPO:
    """Fresh networks and their learner, for observations like `seen`."""
    common = {"hidden_dims": settings.hidden, "activation": "elu", "obs_normalization": True}
    spread = {"class_name": "GaussianDistribution", "init_std": settings.first_std, "std_type": "scalar"}
    actor = MLPModel(seen, GROUPS, "actor", actions, distribution_cfg=spread, **common)
    critic = MLPModel(seen, GROUPS, "critic", 1, **common)
    storage = MirroredRollout(mirrors, len(seen), settings.steps, seen, actions)
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

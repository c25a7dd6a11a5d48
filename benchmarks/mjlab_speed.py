"""Runs in mjlab's own environment: a few iterations of its Go1 on flat ground on the CPU; prints control steps per second."""

import os
import sys
import time

os.environ["CUDA_VISIBLE_DEVICES"] = ""
os.environ["WANDB_MODE"] = "disabled"
robots, iterations = int(sys.argv[1]), int(sys.argv[2])

import mjlab.tasks  # noqa: E402, F401
import torch  # noqa: E402
from mjlab.envs import ManagerBasedRlEnv  # noqa: E402
from mjlab.rl import MjlabOnPolicyRunner, RslRlVecEnvWrapper  # noqa: E402
from mjlab.tasks.registry import load_env_cfg, load_rl_cfg  # noqa: E402

TASK = "Mjlab-Velocity-Flat-Unitree-Go1"


def main() -> None:
    """One iteration to compile and warm up, then those that count."""
    from dataclasses import asdict

    environment, agent = load_env_cfg(TASK), load_rl_cfg(TASK)
    environment.scene.num_envs = robots
    env = RslRlVecEnvWrapper(ManagerBasedRlEnv(cfg=environment, device="cpu", render_mode=None))
    runner = MjlabOnPolicyRunner(env, asdict(agent), None, "cpu")
    runner.learn(num_learning_iterations=1)
    began = time.perf_counter()
    runner.learn(num_learning_iterations=iterations)
    seconds = time.perf_counter() - began
    steps = robots * agent.num_steps_per_env * iterations
    began = time.perf_counter()
    with torch.inference_mode():
        actions = torch.zeros(robots, env.num_actions)
        for _ in range(24):
            env.step(actions)
    alone = robots * 24 / (time.perf_counter() - began)
    print(f"RESULT {steps / seconds:.3f} {alone:.3f}")


main()

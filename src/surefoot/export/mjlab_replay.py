"""Runs in mjlab's own environment, where surefoot is not: replays a command on a robot whose actuators an exported module makes.

python mjlab_replay.py job.npz motion.npz
"""
# ruff: noqa: T201  (a script: its last line is what it reports)

import importlib.util
import sys
from types import SimpleNamespace
from typing import Any

import mujoco
import numpy as np
import torch  # type: ignore[import-not-found]
from mjlab.entity import Entity, EntityArticulationInfoCfg, EntityCfg  # type: ignore[import-not-found]
from mjlab.envs.mdp.actions import JointPositionActionCfg  # type: ignore[import-not-found]
from mjlab.scene import Scene, SceneCfg  # type: ignore[import-not-found]
from mjlab.sim import MujocoCfg, Simulation, SimulationCfg  # type: ignore[import-not-found]


def main(job_path: str, result_path: str) -> None:
    """Replay the job's command with each of its modules."""
    with np.load(job_path) as file:
        job = {name: file[name] for name in file.files}
    motions = [replay(job, str(path)) for path in job["modules"]]
    np.savez(result_path, motion=np.stack(motions))
    print(f"replayed by mjlab on MuJoCo {mujoco.__version__}, torch {torch.__version__}, on the CPU, in 32-bit floats")


def module_of(path: str) -> Any:
    """The exported module."""
    spec = importlib.util.spec_from_file_location("exported", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def replay(job: dict[str, np.ndarray], path: str) -> np.ndarray:
    """What the encoders read, and where the joints are, at each physics step [rad], shape (2, T, n)."""
    module, joints, h = module_of(path), [str(j) for j in job["joints"]], float(job["timestep"])
    cfg = EntityCfg(
        spec_fn=lambda: mujoco.MjSpec.from_string(str(job["model"])),
        articulation=EntityArticulationInfoCfg(actuators=module.ACTUATORS),
    )
    scene = Scene(SceneCfg(num_envs=1, entities={"robot": cfg}), device="cpu")
    options = MujocoCfg(timestep=h, integrator="implicitfast", iterations=100, tolerance=1e-10, ls_iterations=50)
    sim = Simulation(num_envs=1, cfg=SimulationCfg(mujoco=options, njmax=100, nconmax=1), model=scene.compile(), device="cpu")
    scene.initialize(sim.mj_model, sim.model, sim.data)
    robot: Entity = scene["robot"]
    module.apply_encoder_bias(robot)
    order = [list(robot.joint_names).index(joint) for joint in joints]
    env: Any = SimpleNamespace(scene=scene, num_envs=1, device="cpu")
    action = JointPositionActionCfg(
        entity_name="robot", actuator_names=tuple(module.PATTERNS.values()), use_default_offset=False
    ).build(env)
    columns = [joints.index(name) for name in action.target_names]
    bias = robot.data.encoder_bias[:, order] if bool(job["measured"]) else torch.zeros(1, len(joints))
    tensor = lambda x: torch.tensor(np.asarray(x), dtype=torch.float32)  # noqa: E731
    robot.write_joint_state_to_sim(
        tensor(job["start"])[None] - bias, tensor(job["velocity"])[None], joint_ids=torch.tensor(order)
    )
    sim.forward()
    target = tensor(job["target"])
    motion = np.empty((2, *job["target"].shape))
    for i in range(len(target)):
        reading = robot.data.joint_pos_biased if bool(job["measured"]) else robot.data.joint_pos
        motion[0, i], motion[1, i] = reading[0, order].numpy(), robot.data.joint_pos[0, order].numpy()
        action.process_actions(target[i : i + 1, columns])
        action.apply_actions()
        scene.write_data_to_sim()
        sim.step()
        scene.update(h)
    return motion


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])

"""One motion, written to every format by that format's own library."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from surefoot.record.recording import Recording

ROS = 1_700_000_000 * 10**9  # [ns] a day on which these bags begin


def motion(samples: int = 200, rate: float = 400.0, joints: tuple[str, ...] = ("LF_HAA", "LF_HFE", "LF_KFE")) -> Recording:
    """A chirp that a second-order lag follows, all channels that bags can hold."""
    t = np.arange(samples) / rate
    phase = 2 * np.pi * (0.5 * t + 4 * t**2)[:, None] + np.arange(len(joints))
    target, position = 0.2 * np.sin(phase), 0.19 * np.sin(phase - 0.1)
    return Recording(
        joints=joints, time=t, target=target, position=position, velocity=np.gradient(position, t, axis=0),
        torque=40 * (target - position), stiffness=np.full(len(joints), 85.0), damping=np.full(len(joints), 0.6), name="motion",
    )  # fmt: skip


def store():
    from surefoot.record.formats.ros import standard_types

    return standard_types()


def header(ns: int):
    types = store().types
    stamp = types["builtin_interfaces/msg/Time"](sec=ns // 10**9, nanosec=ns % 10**9)
    return types["std_msgs/msg/Header"](stamp=stamp, frame_id="")


def state(ns, joints, position, velocity=(), effort=()):
    kind = store().types["sensor_msgs/msg/JointState"]
    arrays = (np.asarray(part, float) for part in (position, velocity, effort))
    return kind(header(ns), list(joints), *arrays)


def array(values):
    types = store().types
    layout = types["std_msgs/msg/MultiArrayLayout"](dim=[], data_offset=0)
    return types["std_msgs/msg/Float64MultiArray"](layout=layout, data=np.asarray(values, float))


def trajectory(ns, joints, points):
    """points: (seconds from start, positions)."""
    types = store().types
    duration, point = types["builtin_interfaces/msg/Duration"], types["trajectory_msgs/msg/JointTrajectoryPoint"]
    none = np.zeros(0)
    made = [
        point(np.asarray(q, float), none, none, none, duration(sec=int(t), nanosec=round((t - int(t)) * 1e9))) for t, q in points
    ]
    return types["trajectory_msgs/msg/JointTrajectory"](header=header(ns), joint_names=list(joints), points=made)


def messages(rec: Recording, command: str = "state"):
    """(topic, type, receipt [ns], message): /joint_states, and the command in one of its forms."""
    t = np.round(rec.time * 1e9).astype(int) + ROS
    for i, ns in enumerate(t.tolist()):
        if command == "state":
            yield "/joint_command", "sensor_msgs/msg/JointState", ns, state(ns, rec.joints, rec.target[i])
        elif command == "array":
            yield "/joint_command", "std_msgs/msg/Float64MultiArray", ns, array(rec.target[i])
        elif command == "trajectory":
            yield "/joint_command", "trajectory_msgs/msg/JointTrajectory", ns, trajectory(ns, rec.joints, [(0.0, rec.target[i])])
        yield (
            "/joint_states",
            "sensor_msgs/msg/JointState",
            ns,
            state(ns, rec.joints, rec.position[i], rec.velocity[i], rec.torque[i]),
        )


def write_bag(folder: Path, content, plugin: str = "SQLITE3") -> Path:
    """A ROS 2 bag by rosbags."""
    from rosbags.rosbag2 import StoragePlugin, Writer

    with Writer(folder, version=9, storage_plugin=StoragePlugin[plugin]) as bag:
        connections = {}
        for topic, kind, ns, message in content:
            if topic not in connections:
                connections[topic] = bag.add_connection(topic, kind, typestore=store())
            bag.write(connections[topic], ns, store().serialize_cdr(message, kind))
    return folder


def write_mcap_ros2(path: Path, content) -> Path:
    """An MCAP of CDR messages by the MCAP project's ROS 2 writer."""
    from mcap_ros2.writer import Writer

    with path.open("wb") as file:
        writer = Writer(file)
        schemas = {}
        for topic, kind, ns, message in content:
            if kind not in schemas:
                text, _ = store().generate_msgdef(kind, ros_version=2)
                schemas[kind] = writer.register_msgdef(kind, text)
            writer.write_message(topic=topic, schema=schemas[kind], message=plain(message), log_time=ns, publish_time=ns)
        writer.finish()
    return path


def plain(message):
    """A message of rosbags as the dictionary that other libraries take."""
    if hasattr(message, "__dataclass_fields__"):
        return {key: plain(getattr(message, key)) for key in message.__dataclass_fields__ if not key.startswith("_")}
    if isinstance(message, np.ndarray):
        return message.tolist()
    return [plain(item) for item in message] if isinstance(message, list) else message


def write_mcap_json(path: Path, content) -> Path:
    """An MCAP of JSON messages by the MCAP project's writer."""
    from mcap.writer import Writer

    with path.open("wb") as file:
        writer = Writer(file)
        writer.start()
        channels = {}
        for topic, kind, ns, message in content:
            if topic not in channels:
                schema = writer.register_schema(name=kind, encoding="jsonschema", data=b'{"type": "object"}')
                channels[topic] = writer.register_channel(topic=topic, message_encoding="json", schema_id=schema)
            writer.add_message(channel_id=channels[topic], log_time=ns, publish_time=ns, data=json.dumps(plain(message)).encode())
        writer.finish()
    return path


def write_csv(path: Path, rec: Recording) -> Path:
    """A CSV by Python's csv module."""
    import csv

    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["time", *(f"{c}_{j}" for c in ("target", "position", "velocity", "torque") for j in rec.joints)])
        writer.writerows(np.column_stack([rec.time, rec.target, rec.position, rec.velocity, rec.torque]).tolist())
    return path


def columns(rec: Recording) -> dict[str, np.ndarray]:
    """The arrays as people call them."""
    return {"t": rec.time, "q_des": rec.target, "q": rec.position, "dq": rec.velocity, "tau": rec.torque}


def write_npz(path: Path, rec: Recording) -> Path:
    np.savez(path, **columns(rec), joint_names=np.array(rec.joints))
    return path


def write_mat(path: Path, rec: Recording, *, struct: bool = False) -> Path:
    """A .mat of version 5 by SciPy; MATLAB keeps joint names in a cell array."""
    from scipy.io import savemat

    content = {**columns(rec), "joint_names": np.array(rec.joints, dtype=object)}
    savemat(path, {"log": content} if struct else content)
    return path


def write_mat73(path: Path, rec: Recording) -> Path:
    """A .mat of version 7.3 as MATLAB writes it: HDF5 behind a text block, arrays transposed, cells by reference."""
    import h5py

    with h5py.File(path, "w", userblock_size=512) as file:
        for name, value in columns(rec).items():
            file[name] = np.atleast_2d(value) if value.ndim == 1 else np.ascontiguousarray(value.T)
        cells = [
            file.create_dataset(f"#refs#/{k}", data=np.array([[ord(c)] for c in joint], np.uint16))
            for k, joint in enumerate(rec.joints)
        ]
        names = file.create_dataset("joint_names", (1, len(cells)), dtype=h5py.ref_dtype)
        for k, cell in enumerate(cells):
            names[0, k] = cell.ref
    with path.open("r+b") as file:
        file.write(b"MATLAB 7.3 MAT-file, written by h5py".ljust(512))
    return path


def write_hdf5(path: Path, rec: Recording) -> Path:
    import h5py

    with h5py.File(path, "w") as file:
        group = file.create_group("log")
        for name, value in columns(rec).items():
            group[name] = value
        group.attrs["joint_names"] = list(rec.joints)
    return path


def write_parquet(path: Path, rec: Recording) -> Path:
    """A column for each joint, by pyarrow."""
    import pyarrow
    import pyarrow.parquet

    names = {"target": rec.target, "position": rec.position, "velocity": rec.velocity, "torque": rec.torque}
    flat = {f"{joint}.{name}": value[:, k] for name, value in names.items() for k, joint in enumerate(rec.joints)}
    pyarrow.parquet.write_table(pyarrow.table({"timestamp": rec.time, **flat}), path)
    return path


def write_pace(path: Path, rec: Recording) -> Path:
    import torch

    content = {"time": rec.time, "des_dof_pos": rec.target, "dof_pos": rec.position, "dof_vel": rec.velocity}
    torch.save({key: torch.tensor(np.array(value)) for key, value in content.items()}, path)
    return path


def write_lerobot(folder: Path, rec: Recording, *, version: str = "v3.0", episodes: int = 1, fps: float | None = None) -> Path:
    """A dataset folder as LeRobot lays it out, its data by pyarrow; every episode is the same motion."""
    import pyarrow
    import pyarrow.parquet

    samples = len(rec.time)
    names = [f"{joint}.pos" for joint in rec.joints]
    feature = {"dtype": "float64", "shape": [rec.n], "names": names}
    fps = round(rec.rate) if fps is None else fps
    info = {
        "codebase_version": version,
        "robot_type": "dog",
        "fps": fps,
        "features": {"observation.state": feature, "action": feature},
    }
    (folder / "meta").mkdir(parents=True)
    (folder / "meta" / "info.json").write_text(json.dumps(info))
    (folder / "data" / "chunk-000").mkdir(parents=True)
    lists = pyarrow.list_(pyarrow.float64())
    for episode in range(episodes):
        name = f"file-{episode:03d}.parquet" if version == "v3.0" else f"episode_{episode:06d}.parquet"
        table = pyarrow.table(
            {
                "observation.state": pyarrow.array(rec.position.tolist(), lists),
                "action": pyarrow.array(rec.target.tolist(), lists),
                "timestamp": pyarrow.array(rec.time.astype(np.float32)),
                "frame_index": np.arange(samples),
                "episode_index": np.full(samples, episode),
                "index": np.arange(samples) + episode * samples,
                "task_index": np.zeros(samples, int),
            }
        )
        pyarrow.parquet.write_table(table, folder / "data" / "chunk-000" / name)
    return folder

"""ROS 2 messages without ROS: CDR bytes and definitions by the library rosbags, MCAP files by the library mcap."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot.errors import SurefootError
from surefoot.record.extras import need
from surefoot.record.validation import Array

JOINT_STATE = "sensor_msgs/msg/JointState"
LASTING = {  # of control_msgs, the same in every release, for bags that do not carry their definitions
    "control_msgs/msg/DynamicJointState": "std_msgs/Header header\nstring[] joint_names\nInterfaceValue[] interface_values\n",
    "control_msgs/msg/InterfaceValue": "string[] interface_names\nfloat64[] values\n",
}


@dataclass(frozen=True, kw_only=True, eq=False)
class JointStates:
    """A series of sensor_msgs/msg/JointState of `n` joints that are the same in every message."""

    joints: tuple[str, ...]
    stamp: NDArray[np.int64]  # [ns], shape (T,)
    position: Array  # [rad or m], shape (T, n)
    velocity: Array | None = None  # [rad/s or m/s], shape (T, n)
    effort: Array | None = None  # [N·m or N], shape (T, n)


@functools.cache
def standard_types() -> Any:
    """The message types that every ROS 2 since Humble has, control_msgs not among them."""
    typesys = need("rosbags.typesys", "a ROS 2 log")
    return typesys.get_typestore(typesys.Stores.ROS2_HUMBLE)


def types_with(definitions: Mapping[str, str]) -> Any:
    """The standard types and those that a file defines, {type: text of its .msg and of what it contains}."""
    typesys = need("rosbags.typesys", "a ROS 2 log")
    store = typesys.get_typestore(typesys.Stores.ROS2_HUMBLE)
    found: dict[str, Any] = {}
    for kind, text in LASTING.items():
        found |= typesys.get_types_from_msg(text, kind)
    for kind, text in definitions.items():
        found |= typesys.get_types_from_msg(text, kind)
    own = {kind: fields for kind, fields in found.items() if kind not in store.fielddefs}
    store.register(own)
    return store


def messages_of(states: JointStates) -> Iterator[tuple[int, Any]]:
    """(stamp [ns], message) one after another."""
    types = standard_types().types
    state, header, stamp = types[JOINT_STATE], types["std_msgs/msg/Header"], types["builtin_interfaces/msg/Time"]
    nothing = np.zeros(0)
    for i, t in enumerate(states.stamp.tolist()):
        yield t, state(
            header=header(stamp=stamp(sec=t // 10**9, nanosec=t % 10**9), frame_id=""), name=list(states.joints),
            position=states.position[i], velocity=nothing if states.velocity is None else states.velocity[i],
            effort=nothing if states.effort is None else states.effort[i],
        )  # fmt: skip


def write_mcap(path: Path, topics: Mapping[str, JointStates], *, metadata: Mapping[str, Mapping[str, str]]) -> None:
    """One MCAP file with a JointState topic for each series, as `ros2 bag play` and Foxglove read it."""
    writer_of = need("mcap.writer", "an .mcap file")
    store = standard_types()
    text, _ = store.generate_msgdef(JOINT_STATE, ros_version=2)
    with path.open("wb") as file:
        writer = writer_of.Writer(file)
        writer.start(profile="ros2", library="surefoot")
        schema = writer.register_schema(name=JOINT_STATE, encoding="ros2msg", data=text.encode())
        for topic, states in topics.items():
            channel = writer.register_channel(topic=topic, message_encoding="cdr", schema_id=schema)
            for t, message in messages_of(states):
                data = bytes(store.serialize_cdr(message, JOINT_STATE))
                writer.add_message(channel_id=channel, log_time=t, publish_time=t, data=data)
        for name, entries in metadata.items():
            writer.add_metadata(name, dict(entries))
        writer.finish()


def read_states(path: Path, topic: str) -> tuple[JointStates, dict[str, dict[str, str]]]:
    """The JointState series of one topic of an MCAP file, and the file's metadata records."""
    reader_of = need("mcap.reader", "an .mcap file")
    store = standard_types()
    stamps, rows, joints = [], [], ()
    try:
        with path.open("rb") as file:
            reader = reader_of.make_reader(file)
            for _, _, message in reader.iter_messages(topics=[topic]):
                state = store.deserialize_cdr(message.data, JOINT_STATE)
                joints = joints or tuple(state.name)
                stamps.append(state.header.stamp.sec * 10**9 + state.header.stamp.nanosec)
                rows.append((state.position, state.velocity, state.effort))
            metadata = {record.name: dict(record.metadata) for record in reader.iter_metadata()}
    except OSError:
        raise
    except Exception as error:  # a damaged file can raise anything in mcap, its decompressors and the CDR reader
        raise damaged(path, error) from error
    if not rows:
        raise SurefootError(f"{path.name} has no messages on {topic}.")
    n = len(joints)
    if any(len(part) not in (0, n) or len(part) != len(first) for row in rows for part, first in zip(row, rows[0], strict=True)):
        raise SurefootError(f"{path.name}: the messages on {topic} differ in their number of joints; write the file again.")
    parts = [np.array(part, float) if len(part[0]) else None for part in zip(*rows, strict=True)]
    position = parts[0] if parts[0] is not None else np.zeros((len(rows), 0))
    return JointStates(
        joints=joints, stamp=np.array(stamps, np.int64), position=position, velocity=parts[1], effort=parts[2]
    ), metadata


def damaged(path: Path, error: Exception) -> SurefootError:
    """What to say of a log that its own library cannot read."""
    what = " ".join(str(error).split()) or "it ends too early"
    return SurefootError(
        f"{path.name} is damaged or was cut short ({type(error).__name__}: {what}). Copy it again; a log whose "
        "recorder was killed can often be repaired (mcap recover IN -o OUT, or ros2 bag reindex FOLDER)."
    )

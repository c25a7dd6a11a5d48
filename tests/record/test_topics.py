"""Messages: bags of both storages and MCAP files, written by their own libraries; two topics become one recording."""

import contextlib
import sqlite3
import sys

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from surefoot.errors import SurefootError
from surefoot.record.formats.align import lost
from surefoot.record.recording import Recording

sys.path.insert(0, __file__.rsplit("/", 1)[0])
import logs

GAINS = {"stiffness": 85.0, "damping": 0.6}
MOTION = logs.motion()
STATE, ARRAY = "sensor_msgs/msg/JointState", "std_msgs/msg/Float64MultiArray"
NS = np.round(MOTION.time * 1e9).astype(int) + logs.ROS
WRITERS = {
    "sqlite3": lambda path, content: logs.write_bag(path / "bag", content, "SQLITE3"),
    "mcap": lambda path, content: logs.write_bag(path / "bag", content, "MCAP"),
    "mcap alone": lambda path, content: logs.write_mcap_ros2(path / "log.mcap", content),
    "json": lambda path, content: logs.write_mcap_json(path / "log.mcap", content),
}


def bag(path, content):
    return logs.write_mcap_ros2(path / "log.mcap", content)


def measured(skip=(), joints=MOTION.joints, stamp=lambda ns: ns):
    at = [MOTION.joints.index(joint) for joint in joints]
    for i, ns in enumerate(NS.tolist()):
        if i not in skip:
            yield "/joint_states", STATE, ns, logs.state(stamp(ns), joints, MOTION.position[i, at])


def commanded(skip=(), joints=MOTION.joints, shift=0):
    at = [MOTION.joints.index(joint) for joint in joints]
    for i, ns in enumerate((NS + shift).tolist()):
        if i not in skip:
            yield "/cmd", STATE, ns, logs.state(ns, joints, MOTION.target[i, at])


@pytest.mark.parametrize("command", ["state", "array", "trajectory"])
@pytest.mark.parametrize("writer", WRITERS)
def test_each_storage_and_command_type_brings_the_same_numbers_bit_for_bit(tmp_path, writer, command):
    recording = Recording.load(WRITERS[writer](tmp_path, logs.messages(MOTION, command)), **GAINS)
    assert recording.joints == MOTION.joints
    for channel in ("time", "target", "position", "velocity", "torque"):
        np.testing.assert_array_equal(getattr(recording, channel), getattr(MOTION, channel))
    assert "200 samples at 400 Hz" in recording.notes["measurement"]
    assert recording.notes["alignment"] == "every measurement has a command of its own stamp"


def test_a_db3_is_read_without_its_folder(tmp_path):
    folder = logs.write_bag(tmp_path / "bag", logs.messages(MOTION))
    recording = Recording.load(next(folder.glob("*.db3")), **GAINS)
    np.testing.assert_array_equal(recording.target, MOTION.target)


def test_joints_are_found_by_name_whatever_their_order_in_a_message(tmp_path):
    turned = MOTION.joints[::-1]
    recording = Recording.load(bag(tmp_path, [*measured(), *commanded(joints=turned)]), **GAINS)
    np.testing.assert_array_equal(recording.target, MOTION.target)
    np.testing.assert_array_equal(recording.position, MOTION.position)


def test_lost_messages_are_counted_and_what_has_no_command_is_left_out(tmp_path):
    content = [*measured(skip={50, 51, 90}), *commanded(skip=set(range(20)) | {120})]
    notes = Recording.load(bag(tmp_path, content), **GAINS).notes
    assert "3 lost in 2 gaps, the longest 7.5 ms" in notes["measurement"]
    assert "1 lost in 1 gaps, the longest 5 ms" in notes["command"]
    assert notes["left out"] == "20 of 197 measurements, before the first or after the last command"
    assert (
        notes["alignment"]
        == "99.4 % of the measurements have a command of their own stamp, the others one interpolated between two"
    )


def test_a_command_between_measurements_is_interpolated_or_held(tmp_path):
    """Half a period early: in between lies the mean of two commands; held, it is the one before."""
    path = bag(tmp_path, [*measured(), *commanded(shift=-1_250_000)])
    mean = (MOTION.target[:-1] + MOTION.target[1:]) / 2
    linear = Recording.load(path, **GAINS)
    np.testing.assert_allclose(linear.target[: len(mean)], mean, atol=1e-12)
    assert not linear.command_hold
    held = Recording.load(path, columns={"align": "hold"}, **GAINS)
    np.testing.assert_array_equal(held.target, MOTION.target)
    assert held.command_hold


def test_points_of_a_trajectory_come_at_their_times_until_a_new_one_replaces_them(tmp_path):
    plan = [(k * 0.0025, MOTION.target[k]) for k in range(150)]
    other = [(k * 0.0025, -MOTION.target[k]) for k in range(101)]
    kind = "trajectory_msgs/msg/JointTrajectory"
    content = [*measured(), ("/plan", kind, NS[0], logs.trajectory(int(NS[0]), MOTION.joints, plan))]
    content += [("/plan", kind, NS[99], logs.trajectory(int(NS[99]), MOTION.joints, other))]
    recording = Recording.load(bag(tmp_path, content), **GAINS)
    np.testing.assert_allclose(recording.target[:99], MOTION.target[:99], atol=1e-9)
    np.testing.assert_allclose(recording.target[99:], -MOTION.target[:101], atol=1e-9)


def test_unnamed_commands_take_the_names_that_are_said_or_tell_what_they_took(tmp_path):
    content = [*measured(), *(("/c", ARRAY, ns, logs.array(MOTION.target[i, ::-1])) for i, ns in enumerate(NS.tolist()))]
    path = bag(tmp_path, content)
    said = Recording.load(path, columns={"joints": list(MOTION.joints[::-1])}, **GAINS)
    np.testing.assert_array_equal(said.target, MOTION.target)
    assert "joint order" not in said.notes
    assert Recording.load(path, **GAINS).notes["joint order"] == ", ".join(MOTION.joints)
    with pytest.raises(SurefootError, match="the command holds 3 values without names, and 2 names were given"):
        Recording.load(path, columns={"joints": ["a", "b"]}, **GAINS)


def test_a_controllers_state_is_command_and_measurement(tmp_path):
    """control_msgs differs between releases, so the definition in the file counts."""
    from mcap.writer import Writer
    from rosbags.typesys import Stores, get_types_from_msg, get_typestore

    point, kind = "trajectory_msgs/JointTrajectoryPoint", "control_msgs/msg/JointTrajectoryControllerState"
    definition = f"std_msgs/Header header\nstring[] joint_names\n{point} reference\n{point} feedback\n"
    types = get_typestore(Stores.ROS2_HUMBLE)
    types.register(get_types_from_msg(definition, kind))
    make = types.types
    none, zero = np.zeros(0), make["builtin_interfaces/msg/Duration"](sec=0, nanosec=0)
    text, _ = types.generate_msgdef(kind, ros_version=2)
    with (tmp_path / "a.mcap").open("wb") as file:
        writer = Writer(file)
        writer.start(profile="ros2")
        schema = writer.register_schema(name=kind, encoding="ros2msg", data=text.encode())
        channel = writer.register_channel(topic="/state", message_encoding="cdr", schema_id=schema)
        for i, ns in enumerate(NS.tolist()):
            told, found = (
                make["trajectory_msgs/msg/JointTrajectoryPoint"](x[i], none, none, none, zero)
                for x in (MOTION.target, MOTION.position)
            )
            message = make[kind](header=logs.header(ns), joint_names=list(MOTION.joints), reference=told, feedback=found)
            data = bytes(types.serialize_cdr(message, kind))
            writer.add_message(channel_id=channel, log_time=ns, publish_time=ns, data=data)
        writer.finish()
    recording = Recording.load(tmp_path / "a.mcap", **GAINS)
    np.testing.assert_array_equal(recording.target, MOTION.target)
    np.testing.assert_array_equal(recording.position, MOTION.position)


def test_a_wrong_topic_lists_the_topics_there_are(tmp_path):
    path = bag(tmp_path, logs.messages(MOTION))
    for where, words in (
        (
            {"measurement": "/nowhere"},
            r"has no topic /nowhere. Its topics are /joint_command \(sensor_msgs/msg/JointState, 200",
        ),
        ({"measurement": "/joint_command"}, "cannot be measurement and command at once"),
        ({"where": "x"}, "unknown channel in columns 'where'"),
        ({"align": "spline"}, "unknown align in columns 'spline'; valid: linear, hold"),
    ):
        with pytest.raises(SurefootError, match=words):
            Recording.load(path, columns=where, **GAINS)


def test_several_candidates_are_not_guessed_among(tmp_path):
    more = [("/arm/joint_states", kind, ns, m) for _, kind, ns, m in measured()]
    with pytest.raises(SurefootError, match=r"2 topics could be the measurement \(/joint_states, /arm/joint_states\)"):
        Recording.load(bag(tmp_path, [*measured(), *commanded(), *more]), **GAINS)
    with pytest.raises(SurefootError, match="no topic looks like the command"):
        Recording.load(bag(tmp_path, measured()), **GAINS)


def test_two_publishers_on_one_topic_are_told_apart_by_their_joints(tmp_path):
    gripper = [("/joint_states", STATE, ns + 10, logs.state(ns + 10, ["finger"], [0.1])) for ns in NS.tolist()]
    path = bag(tmp_path, [*measured(), *commanded(), *gripper])
    with pytest.raises(SurefootError, match="are about different joints"):
        Recording.load(path, **GAINS)
    np.testing.assert_array_equal(Recording.load(path, joints=MOTION.joints, **GAINS).position, MOTION.position)


def test_clocks_that_never_meet_are_said(tmp_path):
    path = bag(tmp_path, [*measured(stamp=lambda ns: ns - logs.ROS + 1), *commanded()])
    with pytest.raises(SurefootError, match=r"only 0 measurements have a command.*If their clocks differ"):
        Recording.load(path, **GAINS)
    assert len(Recording.load(path, columns={"stamp": "log"}, **GAINS).time) == 200


@pytest.mark.parametrize("writer", ["sqlite3", "mcap", "mcap alone"])
@settings(deadline=None, max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(share=st.floats(0, 0.98))
def test_a_truncated_bag_is_refused_with_a_sentence(tmp_path_factory, writer, share):
    path = WRITERS[writer](tmp_path_factory.mktemp("bag"), logs.messages(MOTION))
    file = path if path.is_file() else next(p for p in path.iterdir() if p.suffix != ".yaml")
    raw = file.read_bytes()
    file.write_bytes(raw[: int(share * len(raw))])
    with pytest.raises(SurefootError, match=r"damaged or was cut short|no topic|no message"):
        Recording.load(path, **GAINS)


def test_flipped_bytes_in_an_mcap_are_found_by_its_checksum(tmp_path):
    path = bag(tmp_path, logs.messages(MOTION))
    raw = bytearray(path.read_bytes())
    raw[len(raw) // 3] ^= 0xFF
    path.write_bytes(raw)
    with pytest.raises(SurefootError, match="damaged or was cut short"):
        Recording.load(path, **GAINS)


def test_losses_of_an_even_series():
    stamp = np.delete(np.arange(100) * 10, [40, 41, 42, 70])
    assert lost(stamp) == (4, 2, 4e-8)
    assert lost(stamp[:1]) == (0, 0, 0.0)


CONTROL = "control_msgs/msg/"
POINT = "trajectory_msgs/JointTrajectoryPoint"
DEFINED = {
    f"{CONTROL}InterfaceValue": "string[] interface_names\nfloat64[] values\n",
    f"{CONTROL}DynamicJointState": (
        "std_msgs/Header header\nstring[] joint_names\ncontrol_msgs/InterfaceValue[] interface_values\n"
    ),
    f"{CONTROL}JointTrajectoryControllerState": (
        f"std_msgs/Header header\nstring[] joint_names\n{POINT} reference\n{POINT} feedback\n"
    ),
}


def control_bag(folder, name, fill, *, defined):
    """A bag of a topic of control_msgs and of commands; without `defined` it forgets its definitions, as bags before Iron do."""
    from rosbags.rosbag2 import StoragePlugin, Writer
    from rosbags.typesys import Stores, get_types_from_msg, get_typestore

    types = get_typestore(Stores.ROS2_HUMBLE)
    for kind, text in DEFINED.items():
        types.register(get_types_from_msg(text, kind))
    with Writer(folder, version=9, storage_plugin=StoragePlugin.SQLITE3) as writer:
        topics = [
            writer.add_connection(topic, kind, typestore=types) for topic, kind in (("/seen", CONTROL + name), ("/cmd", STATE))
        ]
        told = [message for *_, message in commanded()]
        for i, ns in enumerate(NS.tolist()):
            writer.write(topics[0], ns, types.serialize_cdr(fill(types.types, i, ns), CONTROL + name))
            writer.write(topics[1], ns, types.serialize_cdr(told[i], STATE))
    if not defined:
        with contextlib.closing(sqlite3.connect(next(folder.glob("*.db3")))) as base:
            base.execute("delete from message_definitions")
            base.commit()
    return folder


@pytest.mark.parametrize("defined", [True, False])
def test_a_dynamic_joint_state_is_a_measurement_whether_or_not_the_bag_defines_it(tmp_path, defined):
    def fill(make, i, ns):
        value = make[CONTROL + "InterfaceValue"]
        values = [value(interface_names=["effort", "position"], values=np.array([7.0, x])) for x in MOTION.position[i]]
        return make[CONTROL + "DynamicJointState"](
            header=logs.header(ns), joint_names=list(MOTION.joints), interface_values=values
        )

    path = control_bag(tmp_path / "bag", "DynamicJointState", fill, defined=defined)
    recording = Recording.load(path, columns={"measurement": "/seen", "command": "/cmd"}, **GAINS)
    np.testing.assert_array_equal(recording.position, MOTION.position)
    np.testing.assert_array_equal(recording.target, MOTION.target)
    assert (recording.torque == 7.0).all()
    assert recording.velocity is None


@pytest.mark.parametrize("defined", [True, False])
def test_a_controllers_state_that_the_bag_does_not_define_is_refused_with_what_to_do(tmp_path, defined):
    def fill(make, i, ns):
        none, zero = np.zeros(0), make["builtin_interfaces/msg/Duration"](sec=0, nanosec=0)
        told, found = (
            make["trajectory_msgs/msg/JointTrajectoryPoint"](x[i], none, none, none, zero)
            for x in (MOTION.target, MOTION.position)
        )
        kind = make[CONTROL + "JointTrajectoryControllerState"]
        return kind(header=logs.header(ns), joint_names=list(MOTION.joints), reference=told, feedback=found)

    path = control_bag(tmp_path / "bag", "JointTrajectoryControllerState", fill, defined=defined)
    both = {"measurement": "/seen", "command": "/seen"}
    if defined:
        np.testing.assert_array_equal(Recording.load(path, columns=both, **GAINS).target, MOTION.target)
        return
    with pytest.raises(SurefootError, match=r"is of type .*JointTrajectoryControllerState, which the bag does not define"):
        Recording.load(path, columns=both, **GAINS)

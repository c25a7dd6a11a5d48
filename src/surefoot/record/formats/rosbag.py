"""ROS 2 bags with either storage, sqlite3 or mcap, by the library rosbags: a folder, or one .db3 of it."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from surefoot.errors import SurefootError
from surefoot.record.extras import need
from surefoot.record.formats.request import Request
from surefoot.record.formats.ros import damaged, types_with
from surefoot.record.formats.topics import Log, fields_of_log


def read(request: Request) -> dict[str, Any]:
    """The fields of `Recording` in two topics of the bag."""
    return fields_of_log(open_log(request.path), request)


def open_log(path: Path) -> Log:
    """What the bag holds, by topic."""
    rosbag2 = need("rosbags.rosbag2", f"the ROS 2 bag '{path.name}'")
    types: dict[str, str] = {}
    counts: dict[str, int] = {}
    try:
        with rosbag2.Reader(path) as bag:
            for connection in bag.connections:
                types[connection.topic] = connection.msgtype
                counts[connection.topic] = counts.get(connection.topic, 0) + connection.msgcount
    except PermissionError:
        raise
    except Exception as error:  # rosbags, apsw and YAML each have their own
        raise damaged(path, error) from error
    return Log(path=path, types=types, counts=counts, messages=lambda topics: _messages(path, topics))


def _messages(path: Path, topics: Collection[str]) -> Iterator[tuple[str, int, Any]]:
    """(topic, time of receipt [ns], message) in the order of receipt."""
    rosbag2 = need("rosbags.rosbag2", f"the ROS 2 bag '{path.name}'")
    try:
        with rosbag2.Reader(path) as bag:
            wanted = [connection for connection in bag.connections if connection.topic in topics]
            store = types_with({c.msgtype: c.msgdef.data for c in wanted if c.msgdef.format.name == "MSG"})
            if foreign := [c for c in wanted if c.msgtype not in store.fielddefs]:
                raise SurefootError(
                    f"{path.name}: {foreign[0].topic} is of type {foreign[0].msgtype}, which the bag does not define and "
                    "which differs between ROS releases. Convert the bag where it was recorded: ros2 bag convert, storage mcap."
                )
            for connection, received, data in bag.messages(wanted):
                yield connection.topic, received, store.deserialize_cdr(data, connection.msgtype)
    except (PermissionError, SurefootError):
        raise
    except Exception as error:  # rosbags, apsw and YAML each have their own
        raise damaged(path, error) from error

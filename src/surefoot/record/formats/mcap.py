"""MCAP files, by the library mcap: ROS 2 messages (CDR) or JSON objects of the same fields."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from surefoot.errors import SurefootError
from surefoot.record.extras import need
from surefoot.record.formats.request import Request
from surefoot.record.formats.ros import damaged, types_with
from surefoot.record.formats.topics import Log, fields_of_log


def read(request: Request) -> dict[str, Any]:
    """The fields of `Recording` in two topics of the file."""
    return fields_of_log(open_log(request.path), request)


def open_log(path: Path) -> Log:
    """What the file holds, by topic."""
    reader_of = need("mcap.reader", f"'{path.name}'")
    types: dict[str, str] = {}
    counts: dict[str, int] = {}
    try:
        with path.open("rb") as file:
            summary = reader_of.make_reader(file, validate_crcs=True).get_summary()
            if summary is None or summary.statistics is None:
                raise EOFError("it has no summary at its end")
            for key, channel in summary.channels.items():
                schema = summary.schemas.get(channel.schema_id)
                types[channel.topic] = _full(schema.name) if schema else channel.message_encoding
                counts[channel.topic] = counts.get(channel.topic, 0) + summary.statistics.channel_message_counts.get(key, 0)
    except OSError:
        raise
    except Exception as error:  # a damaged file can raise anything
        raise damaged(path, error) from error
    return Log(path=path, types=types, counts=counts, messages=lambda topics: _messages(path, topics))


def _messages(path: Path, topics: Collection[str]) -> Iterator[tuple[str, int, Any]]:
    """(topic, time of receipt [ns], message) in the order of receipt."""
    reader_of = need("mcap.reader", f"'{path.name}'")
    stores: dict[str, Any] = {}
    try:
        with path.open("rb") as file:
            for schema, channel, message in reader_of.make_reader(file, validate_crcs=True).iter_messages(topics=list(topics)):
                if channel.message_encoding == "json":
                    yield channel.topic, message.log_time, json.loads(message.data, object_hook=lambda d: SimpleNamespace(**d))
                    continue
                if channel.message_encoding != "cdr" or schema is None or schema.encoding != "ros2msg":
                    encoding = f"{channel.message_encoding} messages" + (f" with {schema.encoding} schemas" if schema else "")
                    raise SurefootError(f"{path.name}: {channel.topic} holds {encoding}; read are cdr with ros2msg, and json.")
                kind = _full(schema.name)
                store = stores.get(kind) or stores.setdefault(kind, types_with({kind: schema.data.decode()}))
                yield channel.topic, message.log_time, store.deserialize_cdr(message.data, kind)
    except (OSError, SurefootError):
        raise
    except Exception as error:  # a damaged file can raise anything
        raise damaged(path, error) from error


def _full(kind: str) -> str:
    """`sensor_msgs/JointState` as `sensor_msgs/msg/JointState`."""
    return kind.replace("/", "/msg/") if kind.count("/") == 1 else kind

"""Files appear whole or not at all: written beside their place and moved there."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from surefoot.errors import SurefootError


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A draft to write; it takes the place of `path` when the block ends well, and is gone when it does not."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, suffix=".part")
        os.close(handle)
        draft = Path(name)
        try:
            yield draft
            draft.chmod(0o644)
            draft.replace(path)
        except BaseException:
            draft.unlink()
            raise
    except OSError as error:
        raise SurefootError(f"cannot write {path}: {error.strerror or error}.") from error

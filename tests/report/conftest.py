from collections.abc import Iterator

import pytest
from chromium import Browser, chromium


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """A browser for the tests of this worker, or a skip that says what is missing."""
    with chromium() as found:
        yield found

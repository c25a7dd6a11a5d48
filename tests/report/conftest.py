from collections.abc import Iterator

import pytest
from chromium import Browser, chromium


@pytest.fixture(autouse=True, scope="session")
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Kernels of the tests are compiled now, into a folder of this run that all its workers share."""
    base = tmp_path_factory.getbasetemp()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SUREFOOT_CACHE", str((base if base.name.startswith("pytest-") else base.parent) / "kernels"))
        yield


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """A browser for the tests of this worker, or a skip that says what is missing."""
    with chromium() as found:
        yield found

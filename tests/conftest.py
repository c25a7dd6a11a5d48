from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True, scope="session")
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Kernels of the tests are compiled now, into a folder of this run that all its workers share."""
    base = tmp_path_factory.getbasetemp()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SUREFOOT_CACHE", str((base.parent if base.name.startswith("popen-") else base) / "kernels"))
        yield

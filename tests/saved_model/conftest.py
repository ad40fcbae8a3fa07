import pytest

from tests.saved_model.models import build


@pytest.fixture
def model(tmp_path):
    """The directory of a small SavedModel."""
    build(tmp_path / "m")
    return tmp_path / "m"

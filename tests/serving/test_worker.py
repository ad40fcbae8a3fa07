"""serving/worker.py: what it does beside computing batches, which the tests of replicas see."""

import os
import sys
import threading

import pytest

from tideflow.graph import errors
from tideflow.serving import worker
from tideflow.serving.model_kinds import is_program
from tideflow.serving.worker_messages import LoadModel


@pytest.mark.skipif(sys.platform != "linux", reason="threads have priorities of their own on Linux")
def test_loads_in_the_background_leave_the_processors_to_others():
    def priority():
        return os.getpriority(os.PRIO_PROCESS, 0)

    usual = priority()
    assert worker._at_low_priority(priority) == min(19, usual + 10)
    assert priority() == usual


def test_what_a_load_in_the_background_raises_is_raised():
    def load():
        raise errors.data_loss("cut short")

    with pytest.raises(errors.DataLossError, match="cut short"):
        worker._at_low_priority(load)


def test_programs_are_loaded_by_the_main_thread(tmp_path):
    (tmp_path / "model.py").write_text(
        "import threading\nLOADED_BY = threading.current_thread()\ndef predict_batch(x): return x + 1\n"
    )
    assert is_program(str(tmp_path)) and is_program("/nowhere", "python")
    assert not is_program(str(tmp_path), "sklearn") and not is_program("/nowhere")
    message = LoadModel(name="m", version=1, path=str(tmp_path), trusted=True, in_background=True)
    own = worker.Worker()
    own.answer(message)
    assert own._model._function.__globals__["LOADED_BY"] is threading.main_thread()

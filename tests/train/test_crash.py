"""Training that is killed again and again comes to the same end: only steps since a checkpoint are redone."""

import multiprocessing
import random

import numpy as np
import pytest

import tideflow as tf
from tests.train.training_process import SAVE_STEPS, train_and_send

LAST_STEP = 60
KILLS = 6
PATIENCE = 120  # seconds without a sign of life: the process hangs

pytestmark = pytest.mark.skipif(
    "forkserver" not in multiprocessing.get_all_start_methods(), reason="needs a fork server"
)


@pytest.fixture(scope="module")
def processes():
    """Processes that start quickly: forked off one that has only imported the package."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.train.training_process"])
    return context


class _Training:
    """A training process and what it tells."""

    def __init__(self, processes, folder):
        self._told, theirs = processes.Pipe(duplex=False)
        told = (folder, LAST_STEP, theirs)
        self._process = processes.Process(target=train_and_send, args=told, daemon=True)
        self._process.start()
        theirs.close()

    def next_words(self):
        """What it tells next; None where it has ended."""
        assert self._told.poll(PATIENCE), "the training process hangs"
        try:
            return self._told.recv()
        except EOFError:
            return None

    def all_words(self):
        """What it tells until it ends."""
        words = list(iter(self.next_words, None))
        self._process.join(PATIENCE)
        return words

    def kill(self):
        """Ends it at once; what it had told until then."""
        self._process.kill()
        return self.all_words()


def _checkpointed_step(folder):
    newest = tf.train.latest_checkpoint(folder)
    return 0 if newest is None else int(tf.train.load_variable(newest, "global_step"))


def _variables(folder):
    newest = tf.train.latest_checkpoint(folder)
    return {name: tf.train.load_variable(newest, name) for name, _ in tf.train.list_variables(newest)}


def test_killed_at_any_moment_training_resumes_and_reaches_the_same_end(tmp_path, processes):
    folder, chance = str(tmp_path / "killed"), random.Random(7)
    made, expected_start = [], 0
    for _ in range(KILLS):
        training = _Training(processes, folder)
        words = [training.next_words() for _ in range(chance.randrange(14))]
        words += training.kill()
        assert words[:1] in ([], [("restored", expected_start)]), "it goes on where the newest checkpoint is"
        steps = [number for kind, number in words if kind == "step"]
        assert steps == list(range(expected_start + 1, expected_start + 1 + len(steps)))
        made += steps
        last, saved = max(steps, default=expected_start), _checkpointed_step(folder)
        # The last step may have been killed in its save; the ones before it are safe.
        assert last - SAVE_STEPS < saved <= last + 1
        expected_start = saved
    assert len(made) > len(set(made)), "no kill ever cost a step: nothing was tested"

    words = _Training(processes, folder).all_words()
    assert words[0] == ("restored", expected_start)
    assert words[-1] == ("done", LAST_STEP)

    undisturbed = str(tmp_path / "undisturbed")
    assert _Training(processes, undisturbed).all_words()[-1] == ("done", LAST_STEP)
    found, wanted = _variables(folder), _variables(undisturbed)
    assert found["global_step"] == found["count"] == LAST_STEP
    assert found.keys() == wanted.keys()
    for name, value in wanted.items():
        np.testing.assert_array_equal(found[name], value, err_msg=name)

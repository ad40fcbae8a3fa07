"""Servables in the server's own process: what is computed together, what is not, what fails alone."""

import asyncio
import math

import numpy as np
import pytest

import tideflow as tf
from tideflow.serving.batch_sizes import FixedSize
from tideflow.serving.batching import BatchingOptions
from tideflow.serving.calls import DEFAULT_SIGNATURE, Call, answer
from tideflow.serving.model_kinds import FunctionModel, load_model
from tideflow.serving.servables import Batching, LocalServable, takes
from tideflow.serving.serve_command import new_event_loop

TYPES = {"x": ("float32", [None, 3])}, {"y": ("float32", [None, 3])}


class Doubled:
    """A servable of a function that doubles, refuses negative numbers, and notes its batches."""

    def __init__(self, **batching):
        self.batches = []
        model = FunctionModel(self, *TYPES)
        self.servable = LocalServable("m", 1, model, Batching(**batching), self.measured)
        self.measurements = []

    def measured(self, batch, seconds):
        self.measurements.append((batch.rows, seconds))

    def __call__(self, x):
        self.batches.append(len(x))
        if (x < 0).any():
            raise ValueError("negative")
        return 2 * x


def call(value, rows=1, deadline=math.inf, outputs=("y",), signature=DEFAULT_SIGNATURE):
    x = np.full((rows, 3), value, np.float32)
    return Call(signature, {"x": x}, outputs, rows, deadline, lambda outcome: None)


def run(coroutine):
    return asyncio.run(coroutine)


def test_calls_of_one_turn_of_the_loop_are_one_batch():
    async def test():
        model = Doubled(sizes=lambda: FixedSize(100))
        calls = [call(number, rows=1 + number % 2) for number in range(8)]
        answers = await asyncio.gather(*(answer(model.servable, each) for each in calls))
        assert model.batches == [12] and [rows for rows, _ in model.measurements] == [12]
        for each, found in zip(calls, answers):
            np.testing.assert_array_equal(found["y"], 2 * each.inputs["x"])

    run(test())


def test_a_call_that_fails_is_nobody_elses_error():
    async def test():
        model = Doubled(sizes=lambda: FixedSize(100))
        values = [1, -1, 2]
        found = await asyncio.gather(
            *(answer(model.servable, call(value)) for value in values), return_exceptions=True
        )
        assert model.batches == [3, 1, 1, 1]
        assert isinstance(found[1], tf.errors.InvalidArgumentError) and "negative" in found[1].message
        assert [one["y"][0, 0] for one in (found[0], found[2])] == [2, 4]

    run(test())


def test_cancelled_and_late_calls_are_not_computed():
    async def test():
        loop, model = asyncio.get_running_loop(), Doubled(sizes=lambda: FixedSize(100))
        cancelled, answers = call(1), []
        cancelled.done = answers.append
        model.servable.submit(cancelled)
        cancelled.is_cancelled = True
        with pytest.raises(tf.errors.DeadlineExceededError):
            await answer(model.servable, call(1, deadline=loop.time() - 1))
        await answer(model.servable, call(1))
        assert model.batches == [1] and answers == []

    run(test())


def test_a_full_queue_refuses():
    async def test():
        model = Doubled(sizes=lambda: FixedSize(1), options=BatchingOptions(max_queued_rows=4))
        found = await asyncio.gather(
            *(answer(model.servable, call(1)) for _ in range(6)), return_exceptions=True
        )
        assert sum(isinstance(one, tf.errors.ResourceExhaustedError) for one in found) == 2

    run(test())


def test_delayed_batches_wait_for_more():
    async def test():
        model = Doubled(sizes=lambda: FixedSize(3), options=BatchingOptions(delay=30.0))
        first = asyncio.ensure_future(answer(model.servable, call(1)))
        for _ in range(5):
            await asyncio.sleep(0)
        assert model.batches == []
        await asyncio.gather(first, *(answer(model.servable, call(1)) for _ in range(2)))
        assert model.batches == [3]

    run(test())


def test_delayed_batches_close_when_their_time_has_come():
    async def test():
        model = Doubled(sizes=lambda: FixedSize(3), options=BatchingOptions(delay=0.001))
        for _ in range(3):
            await answer(model.servable, call(1, deadline=asyncio.get_running_loop().time() + 60))
        assert model.batches == [1, 1, 1]

    run(test())
    loop = new_event_loop()  # uvloop's, where it is installed
    loop.run_until_complete(test())
    loop.close()


def test_when_idle_is_called_after_the_last_answer():
    async def test():
        model, order = Doubled(), []
        idle = asyncio.get_running_loop().create_future()
        each = call(1)
        each.done = lambda outcome: order.append("answer")
        model.servable.submit(each)
        model.servable.when_idle(lambda: (order.append("idle"), idle.set_result(None)))
        await idle
        model.servable.when_idle(lambda: order.append("idle at once"))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert order == ["answer", "idle", "idle at once"]

    run(test())


def test_tensors_of_the_graph_by_name(tmp_path, save_linear):
    async def test():
        model = load_model(save_linear(tmp_path, 2))
        servable = LocalServable("m", 1, model, Batching(), lambda batch, seconds: None)
        by_name = Call("", {"x:0": np.ones((2, 3), np.float32)}, ("y:0", "w:0"), 1, math.inf, None)
        found = await answer(servable, by_name)
        assert found["y:0"].tolist() == [[3, 3, 3]] * 2 and found["w:0"] == 2
        with pytest.raises(tf.errors.InvalidArgumentError):
            await answer(servable, Call("", {"z:0": np.ones(1)}, ("y:0",), 1, math.inf, None))
        with pytest.raises(tf.errors.FailedPreconditionError, match="Only a SavedModel"):
            await answer(Doubled().servable, Call("", {"x": np.ones(1)}, ("y",), 1, math.inf, None))
        servable.close()

    run(test())


def test_recent_calls_are_kept_for_versions_that_take_them():
    async def test():
        model = Doubled()
        for value in range(130):
            await answer(model.servable, call(value))
        assert [inputs["x"][0, 0] for _, inputs, _ in model.servable.recent] == [0, 64, 128]
        other = Doubled()
        other.servable.warm_up(model.servable.recent)
        assert other.batches == [1, 1, 1]

    run(test())


@pytest.mark.parametrize(
    "signature, inputs, outputs",
    [
        ("other", {"x": np.ones((1, 3), np.float32)}, ("y",)),
        (DEFAULT_SIGNATURE, {"z": np.ones((1, 3), np.float32)}, ("y",)),
        (DEFAULT_SIGNATURE, {"x": np.ones((1, 3), np.float64)}, ("y",)),
        (DEFAULT_SIGNATURE, {"x": np.ones((1, 4), np.float32)}, ("y",)),
        (DEFAULT_SIGNATURE, {"x": np.ones(3, np.float32)}, ("y",)),
        (DEFAULT_SIGNATURE, {"x": np.ones((1, 3), np.float32)}, ("z",)),
    ],
)
def test_calls_that_another_version_does_not_take(signature, inputs, outputs):
    signatures = FunctionModel(lambda x: x, *TYPES).signatures
    assert takes(signatures, DEFAULT_SIGNATURE, {"x": np.ones((1, 3), np.float32)}, ("y",))
    assert not takes(signatures, signature, inputs, outputs)

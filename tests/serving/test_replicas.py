"""Models in worker processes: they answer, fail, die and come back, and every call has one answer."""

import asyncio
import math
import os
import signal

import numpy as np
import pytest

import tideflow as tf
from tideflow.serving.autoscaling import Autoscaling
from tideflow.serving.calls import DEFAULT_SIGNATURE, Call, answer
from tideflow.serving.replicas import WorkerServable
from tideflow.serving.servables import Batching
from tideflow.serving.worker_messages import LoadModel

PYTHON_MODEL = """
import os
INPUTS = {"x": ("float32", [None, 3])}
OUTPUTS = {"y": ("float32", [None, 3])}

def predict_batch(x):
    if (x == -13).any():
        os._exit(7)
    return 2 * x
"""


def call(value):
    x = np.full((1, 3), value, np.float32)
    return Call(DEFAULT_SIGNATURE, {"x": x}, ("y",), 1, math.inf, None)


async def loaded(workers, path, count=1, **options):
    ready = asyncio.get_running_loop().create_future()
    message = LoadModel(name="m", version=1, path=str(path), trusted=True, **options)
    servable = WorkerServable(
        workers, message, Batching(), lambda batch, seconds: None, ready.set_result, count
    )
    return servable, await ready


@pytest.fixture
def python_model(tmp_path):
    (tmp_path / "model.py").write_text(PYTHON_MODEL)
    return tmp_path


def test_a_saved_model_answers_from_its_process(serving_loop, workers, tmp_path, save_linear):
    async def test():
        servable, costs = await loaded(workers, save_linear(tmp_path / "1", 3))
        assert costs.memory >= 0 and costs.batch_seconds > 0
        spec = servable.signatures[DEFAULT_SIGNATURE].inputs["x"]
        assert (spec.dtype, spec.shape, spec.tensor_name) == (tf.float32, (None, 3), "x:0")
        found = await asyncio.gather(*(answer(servable, call(value)) for value in range(20)))
        assert [one["y"][0, 0] for one in found] == [3 * value + 1 for value in range(20)]
        rows = np.ones((100_000, 3), np.float32)  # more than a socket is used for
        big = Call(DEFAULT_SIGNATURE, {"x": rows}, ("y",), len(rows), math.inf, None)
        assert (await answer(servable, big))["y"].shape == rows.shape
        assert servable.workers[0].pid != os.getpid()
        servable.close()

    serving_loop(test())


def test_a_loop_without_end_for_zeros_keeps_no_model_from_being_served(serving_loop, workers, tmp_path):
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 3], name="x")
        step = tf.reduce_max(x)
        last = tf.while_loop(lambda i: i < 6.0, lambda i: i + step, [0.0])
        tf.saved_model.simple_save(session, str(tmp_path / "1"), {"x": x}, {"y": x + last})

    async def test():
        servable, costs = await loaded(workers, tmp_path / "1", in_background=True, compile_seconds=2.0)
        assert costs.batch_seconds is None and not costs.is_steady
        assert (await answer(servable, call(2)))["y"][0, 0] == 8
        servable.close()

    serving_loop(test())


def test_a_worker_that_was_loaded_in_the_background_is_loaded_at_once_when_it_dies(
    serving_loop, workers, python_model
):
    async def test():
        servable, _ = await loaded(workers, python_model, in_background=True)
        (worker,) = servable.workers
        os.kill(worker.pid, signal.SIGKILL)
        assert (await answer(servable, call(2)))["y"][0, 0] == 4
        assert not worker._load.in_background
        servable.close()

    serving_loop(test())


def test_calls_under_way_when_a_worker_is_killed_are_computed_again(serving_loop, workers, python_model):
    async def test():
        servable, _ = await loaded(workers, python_model, count=2)
        pids = {worker.pid for worker in servable.workers}
        under_way = [asyncio.ensure_future(answer(servable, call(value))) for value in range(50)]
        await asyncio.sleep(0)
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
        found = await asyncio.gather(*under_way)
        assert [one["y"][0, 0] for one in found] == [2 * value for value in range(50)]
        assert pids.isdisjoint(worker.pid for worker in servable.workers)
        servable.close()

    serving_loop(test())


def test_a_call_that_kills_workers_fails_and_the_others_do_not(serving_loop, workers, python_model):
    async def test():
        servable, _ = await loaded(workers, python_model)
        with pytest.raises(tf.errors.UnavailableError):
            await answer(servable, call(-13))
        assert (await answer(servable, call(1)))["y"][0, 0] == 2
        servable.close()

    serving_loop(test())


@pytest.mark.parametrize(
    "text, error, words",
    [
        ("1 / 0", tf.errors.FailedPreconditionError, "ZeroDivisionError"),
        ("import os; os._exit(3)", tf.errors.UnavailableError, "ended while it loaded the model"),
    ],
)
def test_models_that_cannot_be_loaded(serving_loop, workers, tmp_path, text, error, words):
    (tmp_path / "model.py").write_text(text)

    async def test():
        _, outcome = await loaded(workers, tmp_path)
        assert isinstance(outcome, error) and words in outcome.message

    serving_loop(test())


def test_closed_servables_answer_with_an_error(serving_loop, workers, python_model):
    async def test():
        servable, _ = await loaded(workers, python_model)
        under_way = [asyncio.ensure_future(answer(servable, call(value))) for value in range(5)]
        await asyncio.sleep(0)
        servable.close()
        found = await asyncio.gather(*under_way, return_exceptions=True)
        assert all(isinstance(one, (dict, tf.errors.UnavailableError)) for one in found)

    serving_loop(test())


def test_replicas_are_added_and_taken_away(serving_loop, workers, python_model):
    async def test():
        loop = asyncio.get_running_loop()
        servable, _ = await loaded(workers, python_model)
        grows = Autoscaling(most=2, long=0, grows_after=0)
        shrinks = Autoscaling(most=2, long=math.inf, short=math.inf, shrinks_after=0)
        under_way = [asyncio.ensure_future(answer(servable, call(value))) for value in range(200)]
        await asyncio.sleep(0)
        servable.scale(grows, loop.time())
        assert len(servable.workers) == 2
        while len(servable.replicas) == 1:
            await answer(servable, call(0))
        pid = servable.workers[1].pid
        under_way += [asyncio.ensure_future(answer(servable, call(value))) for value in range(200, 300)]
        await asyncio.gather(*under_way[:200])
        servable.scale(shrinks, loop.time())
        assert len(servable.replicas) == len(servable.workers) == 1
        found = await asyncio.gather(*under_way)
        assert [one["y"][0, 0] for one in found] == [2 * value for value in range(300)]
        while os.path.exists(f"/proc/{pid}"):
            await answer(servable, call(0))
        servable.close()

    serving_loop(test())


@pytest.mark.slow(reason="the process that workers are forked from imports everything again")
def test_workers_come_back_when_the_process_they_are_forked_from_dies(serving_loop, workers, python_model):
    async def test():
        servable, _ = await loaded(workers, python_model)
        before = servable.workers[0].pid
        workers._fork_server.kill()
        while servable.workers[0].pid in (before, 0):
            assert (await answer(servable, call(4)))["y"][0, 0] == 8
        servable.close()

    serving_loop(test())

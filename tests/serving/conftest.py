"""An event loop in a thread of its own, and worker processes forked from one process, for all tests here."""

import asyncio
import threading

import pytest

import tideflow as tf


@pytest.fixture(scope="session")
def serving_loop():
    """Runs coroutines on a loop that lasts: `serving_loop(coroutine)` returns what it returns."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="serving-loop", daemon=True)
    thread.start()

    def run(coroutine, seconds=300):
        return asyncio.run_coroutine_threadsafe(coroutine, loop).result(seconds)

    yield run
    run(loop.shutdown_default_executor())
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()


@pytest.fixture(scope="session")
def workers(serving_loop):
    """What starts worker processes on that loop."""
    from tideflow.serving.worker_process import Workers

    async def make():
        return Workers(threads=1)

    async def close():
        made.close()

    made = serving_loop(make())
    yield made
    serving_loop(close())


@pytest.fixture
def save_linear():
    """Saves a SavedModel with y = weight * x + 1, of three columns."""

    def save(path, weight):
        with tf.Graph().as_default(), tf.Session() as session:
            x = tf.placeholder(tf.float32, [None, 3], name="x")
            y = tf.add(x * tf.get_variable("w", initializer=float(weight)), 1.0, name="y")
            session.run(tf.global_variables_initializer())
            tf.saved_model.simple_save(session, str(path), {"x": x}, {"y": y})
        return str(path)

    return save

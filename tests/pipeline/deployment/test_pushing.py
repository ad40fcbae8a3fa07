"""The push and the way back: files, and a real server that loses no request."""

import asyncio
import fcntl
import json
import os
import threading

import pytest

import tideflow as tf
from tests.serving.test_server import ask, served
from tideflow.pipeline.deployment import CanaryResult, bless, load_blessing, push, rollback
from tideflow.pipeline.deployment.rollback_command import main
from tideflow.pipeline.messages.evaluation import ValidationResult

GOOD = CanaryResult(ok=True)


def test_only_what_was_blessed_is_pushed(tmp_path, save_linear):
    model, base = save_linear(tmp_path / "model", 1), tmp_path / "served"
    failed = ValidationResult(validation_ok=False, missing_thresholds=True)
    verdict = bless(
        model, failed, CanaryResult(failures=["request 1: y has 1 NaN in 3 values"]), tmp_path / "no"
    )
    assert verdict.reasons == [
        "No metric has a threshold: give one, or let the first model pass with rubber_stamp.",
        "canary: request 1: y has 1 NaN in 3 values",
    ]
    assert (tmp_path / "no" / "NOT_BLESSED").exists() and not (tmp_path / "no" / "BLESSED").exists()
    assert load_blessing(tmp_path / "no") == verdict
    assert not bless(model).ok
    for refused in (verdict, tmp_path / "no", [], [bless(model, None, GOOD), verdict]):
        with pytest.raises(PermissionError, match="is not blessed"):
            push(model, base, refused)
    blessing = bless(model, ValidationResult(validation_ok=True), GOOD, tmp_path / "no")
    assert (tmp_path / "no" / "BLESSED").exists() and not (tmp_path / "no" / "NOT_BLESSED").exists()
    (tmp_path / "model" / "assets").mkdir(exist_ok=True)
    (tmp_path / "model" / "assets" / "words").write_text("other")
    with pytest.raises(PermissionError, match="files have changed"):
        push(model, base, blessing)
    assert not base.exists()


def test_versions_are_numbered_and_never_written_over(tmp_path, save_linear):
    one, two = save_linear(tmp_path / "one", 1), save_linear(tmp_path / "two", 2)
    base = tmp_path / "served"
    good = {path: bless(path, None, GOOD) for path in (one, two)}
    assert push(one, base, good[one]).name == "1"
    assert push(one, base, good[one]).name == "1"  # the same files: nothing new
    assert push(two, base, good[two]).name == "2"
    assert push(two, base, good[two], version=2).name == "2"
    with pytest.raises(tf.errors.AlreadyExistsError):
        push(one, base, good[one], version=2)
    assert main([str(base)]) == 0 and sorted(path.name for path in base.iterdir()) == [".rolled_back", "1"]
    with pytest.raises(tf.errors.FailedPreconditionError, match="no version before 1"):
        rollback(base)
    assert push(two, base, good[two]).name == "3"  # a number is not given twice
    assert push(one, base, good[one]).name == "4"
    with pytest.raises(tf.errors.FailedPreconditionError, match="no version 2; it has 1, 3, 4"):
        rollback(base, to=2)
    assert rollback(base, to=1) == 1
    left, lives, young = (base / f".push-{name}" for name in ("left", "lives", "young"))
    for folder in (left, lives, young):
        folder.mkdir()
    for folder in (left, lives):
        os.utime(folder, (0, 0))
    held = os.open(lives, os.O_RDONLY)
    try:
        fcntl.flock(held, fcntl.LOCK_EX)  # as a push that is under way
        assert push(two, base, good[two]).name == "5"
    finally:
        os.close(held)
    assert [folder.exists() for folder in (left, lives, young)] == [False, True, True]
    assert push(one, base, good[one]).name == "6" and not lives.exists()
    assert rollback(base, to=1) == 1
    assert sorted(path.name for path in (base / ".rolled_back").iterdir()) == ["2", "3", "4", "5", "6"]


def test_two_pushes_at_once_get_a_version_each(tmp_path, save_linear):
    models = [save_linear(tmp_path / f"model{number}", number) for number in range(4)]
    found = []
    threads = [
        threading.Thread(
            target=lambda path=path: found.append(
                push(path, tmp_path / "served", bless(path, None, GOOD)).name
            )
        )
        for path in models
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == ["1", "2", "3", "4"]
    assert sorted(path.name for path in (tmp_path / "served").iterdir()) == ["1", "2", "3", "4"]


def test_a_push_and_a_rollback_lose_no_request(serving_loop, workers, tmp_path, save_linear):
    one, two = save_linear(tmp_path / "one", 1), save_linear(tmp_path / "two", 2)
    base = tmp_path / "models" / "linear"
    push(one, base, bless(one, None, GOOD))
    answers, statuses, over = [], set(), threading.Event()

    def client(address):
        while not over.is_set():
            status, body = ask(address, "POST", "/v1/models/linear:predict", {"instances": [[1, 1, 1]]})
            statuses.add(status)
            answers.append(json.loads(body))

    def says(value):
        return {"predictions": [[value] * 3]} in answers

    async def test():
        flags = [str(tmp_path / "models"), "--file_system_poll_wait_seconds=1"]
        async with served(workers, *flags) as server:
            thread = threading.Thread(target=client, args=(server.rest_address,))
            thread.start()
            try:
                while not says(2):
                    await asyncio.sleep(0.01)
                push(two, base, bless(two, None, GOOD))
                while not says(3):
                    await asyncio.sleep(0.01)
                assert rollback(base) == 1
                del answers[:]
                while not says(2):
                    await asyncio.sleep(0.01)
            finally:
                over.set()
                await asyncio.get_running_loop().run_in_executor(None, thread.join)

    serving_loop(test())
    assert statuses == {200}

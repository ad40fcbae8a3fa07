"""A short run of the fuzzer of messages, always with the same cases."""

import random

from tests.fuzz import messages


def test_broken_messages(tmp_path):
    chance = random.Random(13)
    try:
        for _ in range(200):
            messages.one(chance, tmp_path)
    finally:
        messages.stop()
    assert not list(tmp_path.iterdir())

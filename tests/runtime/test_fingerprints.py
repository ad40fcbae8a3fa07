"""Hashes that files and models rely on: the bits are TensorFlow's."""

import numpy as np
import pytest

from tideflow.runtime.fingerprints import (
    fingerprint64,
    fingerprints,
    hash64,
    hashes,
    keyed_hash64,
    keyed_hashes,
)

KEY = (1, 2**64 - 2)
BUCKETS = 2**63 - 1
# By length: the fingerprint's bytes, and the buckets of both hashes, as TensorFlow 1.15 gives them.
KNOWN = {
    0: ("4f40902f3b6ae19a", 105434511174508092, 1583518726171341606),
    1: ("3e587eb1134ca247", 2499542889307245882, 5350532851140717699),
    3: ("64fdee332e41b440", 5276484929406308779, 2282110341036447820),
    4: ("68de78fd4cef07c1", 1071300106493060474, 7037592220888199574),
    7: ("081178f2c36b29ef", 8163861758943620691, 6766420045987292500),
    8: ("2882fbecea2f3caf", 1792776028251320487, 393172680850448444),
    16: ("d819c9503cc33589", 995847565073455182, 7604832306300627200),
    17: ("8f46d88e5e445eeb", 3561695271940059065, 321502775070960410),
    32: ("79fb53ee34926737", 7394170692529615941, 7435946667373331504),
    33: ("cd7a8befce67e0ac", 7714537626608227854, 2079623856604167705),
    64: ("ec986f2c0bf4ce99", 2817797733315875061, 6812096974871219303),
    65: ("3def3b760b412c06", 799619217219469469, 4211531120391125076),
    128: ("c96ddbb5b7ebcedb", 6809310508804416984, 7492889392839610135),
    129: ("c73a7ef982ad5146", 4859619016017980054, 2994798635538984775),
    300: ("e2678cde02ddf0b5", 6809836344310986910, 314952166476927716),
}


def data(length: int) -> bytes:
    return bytes((i * 7 + length) % 256 for i in range(length))


@pytest.mark.parametrize("length", KNOWN)
def test_known_bits(length):
    fingerprint, hashed, keyed = KNOWN[length]
    assert fingerprint64(data(length)).to_bytes(8, "little").hex() == fingerprint
    assert hash64(data(length)) % BUCKETS == hashed
    assert keyed_hash64(data(length), KEY) % BUCKETS == keyed


def test_many_together_are_as_one_by_one():
    strings = np.empty(200 * 20, dtype=object)
    strings[:] = [bytes([i % 251]) + data(i % 200) for i in range(len(strings))]
    strings = strings.reshape(20, 200)
    for together, alone in (
        (fingerprints(strings), fingerprint64),
        (hashes(strings), hash64),
        (keyed_hashes(strings, KEY), lambda item: keyed_hash64(item, KEY)),
    ):
        assert together.shape == strings.shape and together.dtype == np.uint64
        assert together.tolist() == [[alone(item) for item in row] for row in strings]


def test_no_strings():
    assert fingerprints(np.empty((0, 3), dtype=object)).shape == (0, 3)

"""Hashes of byte strings on which TensorFlow's files and models depend, bit for bit.

`fingerprint64` is FarmHash's Fingerprint64, which never changes; `hash64` is the older hash behind
`tf.strings.to_hash_bucket`, a Murmur hash; `keyed_hash64` is SipHash-2-4; `fingerprint128` is CityHash128.

The arithmetic is modulo 2**64. The same code serves Python integers and arrays of uint64: many strings of one
length are hashed together, a single string without NumPy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Protocol, TypeAlias

import numpy as np

Word: TypeAlias = Any  # an int below 2**64, or an array of uint64

_ALL = 2**64 - 1
_K0, _K1, _K2 = 0xC3A5C85C97CB3127, 0xB492B66FBE98F273, 0x9AE16A3B2F90404F
_CITY = 0x9DDFEA08EB382D69
_MURMUR, _MURMUR_SEED = 0xC6A4A7935BD1E995, 0xDECAFCAFFE
_FEW = 16  # fewer strings of one length are hashed one by one, which is faster


def fingerprint64(data: bytes) -> int:
    """FarmHash's Fingerprint64 of the bytes, as an unsigned number."""
    return int(_farm(_OneString(data)))


def hash64(data: bytes) -> int:
    """TensorFlow's Hash64 of the bytes, as an unsigned number."""
    return int(_murmur(_OneString(data)))


def keyed_hash64(data: bytes, key: tuple[int, int]) -> int:
    """SipHash-2-4 of the bytes under a key of two 64-bit numbers, as an unsigned number."""
    return int(_sip(_OneString(data), key))


def fingerprint128(data: bytes) -> tuple[int, int]:
    """CityHash128 of the bytes: the low and the high half, as unsigned numbers."""
    text = _OneString(data)
    if len(data) < 16:
        return _city_short(data, _K0, _K1)
    seeds = text.word(0), text.word(8) + _K0 & _ALL
    return _city_short(data[16:], *seeds) if len(data) < 144 else _city_long(text, 16, *seeds)


def fingerprints(strings: np.ndarray) -> np.ndarray:
    """`fingerprint64` of every string, as uint64."""
    return _hash_each(strings, _farm)


def hashes(strings: np.ndarray) -> np.ndarray:
    """`hash64` of every string, as uint64."""
    return _hash_each(strings, _murmur)


def keyed_hashes(strings: np.ndarray, key: tuple[int, int]) -> np.ndarray:
    """`keyed_hash64` of every string, as uint64."""
    return _hash_each(strings, lambda data: _sip(data, key))


# ------------------------------------------------------------------------------------------------ strings


class _Bytes(Protocol):
    """One string, or several of one length, as little-endian words."""

    length: int

    def word(self, offset: int, size: int = 8) -> Word:
        """The number in `size` bytes at `offset`, which counts from the end if it is negative."""


class _OneString:
    """A string. A word is an int."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.length = len(data)

    def word(self, offset: int, size: int = 8) -> Word:
        offset += self.length if offset < 0 else 0
        return int.from_bytes(self._data[offset : offset + size], "little")


class _ManyStrings:
    """Strings of one length. A word is an array of numbers, one for each string."""

    def __init__(self, strings: list[bytes]) -> None:
        self.length = len(strings[0])
        self._bytes = np.frombuffer(b"".join(strings), np.uint8).reshape(len(strings), self.length)

    def word(self, offset: int, size: int = 8) -> Word:
        offset += self.length if offset < 0 else 0
        padded = np.zeros((len(self._bytes), 8), np.uint8)
        padded[:, :size] = self._bytes[:, offset : offset + size]
        return padded.view("<u8")[:, 0]


def _hash_each(strings: np.ndarray, function: Callable[[_Bytes], Word]) -> np.ndarray:
    flat = strings.reshape(-1)
    found = np.empty(flat.size, np.uint64)
    for places in _by_length(flat):
        if len(places) < _FEW:
            found[places] = [function(_OneString(flat[place])) for place in places]
        else:
            found[places] = function(_ManyStrings(flat[places].tolist()))
    return found.reshape(strings.shape)


def _by_length(strings: np.ndarray) -> Iterable[np.ndarray]:
    """The indices of the strings of each length."""
    lengths = np.fromiter(map(len, strings.tolist()), np.int64, strings.size)
    order = np.argsort(lengths, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(lengths[order])) + 1) if strings.size else ()


# ------------------------------------------------------------------------------------------------ FarmHash


def _rotate(x: Word, right: int) -> Word:
    return (x >> right | x << 64 - right) & _ALL


def _shift_mix(x: Word) -> Word:
    return x ^ x >> 47


def _mix(u: Word, v: Word, factor: int) -> Word:
    a = _shift_mix((u ^ v) * factor & _ALL)
    return _shift_mix((v ^ a) * factor & _ALL) * factor & _ALL


def _farm(data: _Bytes) -> Word:
    if data.length > 64:
        return _farm_long(data)
    if data.length > 32:
        return _farm_33_to_64(data)
    if data.length > 16:
        return _mix(*_halves(data)[:2], _factor(data))
    if data.length >= 8:
        factor, a, b = _factor(data), data.word(0) + _K2 & _ALL, data.word(-8)
        return _mix(_rotate(b, 37) * factor + a & _ALL, (_rotate(a, 25) + b) * factor & _ALL, factor)
    if data.length >= 4:
        return _mix((data.word(0, 4) << 3) + data.length, data.word(-4, 4), _factor(data))
    if data.length:
        first, middle, last = data.word(0, 1), data.word(data.length >> 1, 1), data.word(-1, 1)
        mixed = ((middle << 8) + first) * _K2 ^ ((last << 2) + data.length) * _K0
        return _shift_mix(mixed & _ALL) * _K2 & _ALL
    return data.word(0, 0) + _K2


def _factor(data: _Bytes) -> int:
    return _K2 + 2 * data.length


def _halves(data: _Bytes) -> tuple[Word, Word, Word]:
    """Both operands of the last mix for 17 to 32 bytes, and the first word, which longer strings use too."""
    factor = _factor(data)
    a, b = data.word(0) * _K1 & _ALL, data.word(8)
    c, d = data.word(-8) * factor & _ALL, data.word(-16) * _K2 & _ALL
    if data.length > 32:
        a = data.word(0) * _K2 & _ALL
    left = _rotate(a + b & _ALL, 43) + _rotate(c, 30) + d & _ALL
    return left, a + _rotate(b + _K2 & _ALL, 18) + c & _ALL, a


def _farm_33_to_64(data: _Bytes) -> Word:
    factor = _factor(data)
    y, right, a = _halves(data)
    z = _mix(y, right, factor)
    e, f = data.word(16) * factor & _ALL, data.word(24)
    g, h = (y + data.word(-32)) * factor & _ALL, (z + data.word(-24)) * factor & _ALL
    left = _rotate(e + f & _ALL, 43) + _rotate(g, 30) + h & _ALL
    return _mix(left, e + _rotate(f + a & _ALL, 18) + g & _ALL, factor)


def _farm_long(data: _Bytes) -> Word:
    """Mixes blocks of 64 bytes into a state of seven words, and the last 64 bytes once more at the end."""
    rest = (data.length - 1) % 64
    x = data.word(0) + (81 * _K2 & _ALL) & _ALL
    y = 81 * _K1 + 113 & _ALL
    z = _shift_mix(y * _K2 + 113 & _ALL) * _K2 & _ALL
    v = w = (0, 0)
    for start in range(0, data.length - 1 - rest, 64):
        x = _rotate(x + y + v[0] + data.word(start + 8) & _ALL, 37) * _K1 & _ALL ^ w[1]
        y = _rotate(y + v[1] + data.word(start + 48) & _ALL, 42) * _K1 + v[0] + data.word(start + 40) & _ALL
        z = _rotate(z + w[0] & _ALL, 33) * _K1 & _ALL
        v = _weak(data, start, v[1] * _K1, x + w[0])
        w = _weak(data, start + 32, z + w[1], y + data.word(start + 16))
        z, x = x, z
    factor, start = _K1 + ((z & 0xFF) << 1), data.length - 64
    first = w[0] + rest & _ALL
    v = (v[0] + first & _ALL, v[1])
    w = (first + v[0] & _ALL, w[1])
    x = _rotate(x + y + v[0] + data.word(start + 8) & _ALL, 37) * factor & _ALL ^ w[1] * 9 & _ALL
    y = _rotate(y + v[1] + data.word(start + 48) & _ALL, 42) * factor
    y = y + v[0] * 9 + data.word(start + 40) & _ALL
    z = _rotate(z + w[0] & _ALL, 33) * factor & _ALL
    v = _weak(data, start, v[1] * factor, x + w[0])
    w = _weak(data, start + 32, z + w[1], y + data.word(start + 16))
    left = _mix(v[0], w[0], factor) + _shift_mix(y) * _K0 + x & _ALL
    return _mix(left, _mix(v[1], w[1], factor) + z & _ALL, factor)


def _weak(data: _Bytes, start: int, a: Word, b: Word) -> tuple[Word, Word]:
    """Two words of state with 32 bytes mixed in."""
    first, second, third, last = (data.word(start + offset) for offset in (0, 8, 16, 24))
    a = a + first & _ALL
    c = a + second + third & _ALL
    b = _rotate(b + a + last & _ALL, 21) + _rotate(c, 44) & _ALL
    return c + last & _ALL, b + a & _ALL


# ------------------------------------------------------------------------------------------------ CityHash


def _city_mix(u: int, v: int) -> int:
    mixed: int = _mix(u & _ALL, v & _ALL, _CITY)
    return mixed


def _city_short(data: bytes, a: int, b: int) -> tuple[int, int]:
    """The hash of fewer than 128 bytes, after two seeds."""
    text = _OneString(data)
    if len(data) <= 16:
        a = _shift_mix(a * _K1 & _ALL) * _K1 & _ALL
        c = b * _K1 + _farm(text) & _ALL
        d = _shift_mix(a + (text.word(0) if len(data) >= 8 else c) & _ALL)
    else:
        c = _city_mix(text.word(-8) + _K1, a)
        d = _city_mix(b + len(data), c + text.word(-16))
        a = a + d & _ALL
        for start in range(0, len(data) - 16, 16):
            a = (a ^ _shift_mix(text.word(start) * _K1 & _ALL) * _K1 & _ALL) * _K1 & _ALL
            b ^= a
            c = (c ^ _shift_mix(text.word(start + 8) * _K1 & _ALL) * _K1 & _ALL) * _K1 & _ALL
            d ^= c
    a, b = _city_mix(a, c), _city_mix(d, b)
    return a ^ b, _city_mix(b, a)


def _city_long(data: _OneString, start: int, x: int, y: int) -> tuple[int, int]:
    """The hash of 128 bytes or more from `start` on, after two seeds: blocks of 64 bytes, then of 32 from the
    end.
    """
    z = (data.length - start) * _K1 & _ALL
    first = _rotate(y ^ _K1, 49) * _K1 + data.word(start) & _ALL
    v = first, _rotate(first, 42) * _K1 + data.word(start + 8) & _ALL
    w = _rotate(y + z & _ALL, 35) * _K1 + x & _ALL, _rotate(x + data.word(start + 88) & _ALL, 53) * _K1 & _ALL
    rest = (data.length - start) % 128
    for at in range(start, data.length - rest, 64):
        x = _rotate(x + y + v[0] + data.word(at + 8) & _ALL, 37) * _K1 & _ALL
        y = _rotate(y + v[1] + data.word(at + 48) & _ALL, 42) * _K1 & _ALL
        x ^= w[1]
        y = y + v[0] + data.word(at + 40) & _ALL
        z = _rotate(z + w[0] & _ALL, 33) * _K1 & _ALL
        v = _weak(data, at, v[1] * _K1, x + w[0])
        w = _weak(data, at + 32, z + w[1], y + data.word(at + 16))
        z, x = x, z
    x = x + _rotate(v[0] + z & _ALL, 49) * _K0 & _ALL
    y = y * _K0 + _rotate(w[1], 37) & _ALL
    z = z * _K0 + _rotate(w[0], 27) & _ALL
    w = w[0] * 9 & _ALL, w[1]
    v = v[0] * _K0 & _ALL, v[1]
    for done in range(32, rest + 32, 32):
        at = data.length - done
        y = _rotate(x + y & _ALL, 42) * _K0 + v[1] & _ALL
        w = w[0] + data.word(at + 16) & _ALL, w[1]
        x = x * _K0 + w[0] & _ALL
        z = z + w[1] + data.word(at) & _ALL
        w = w[0], w[1] + v[0] & _ALL
        v = _weak(data, at, v[0] + z, v[1])
        v = v[0] * _K0 & _ALL, v[1]
    x, y = _city_mix(x, v[0]), _city_mix(y + z, w[0])
    return _city_mix(x + v[1], w[1]) + y & _ALL, _city_mix(x + w[1], y + v[1])


# ------------------------------------------------------------------------------------------------ Murmur


def _murmur(data: _Bytes) -> Word:
    rest = data.length % 8
    h = data.word(0, 0) + (_MURMUR_SEED ^ data.length * _MURMUR & _ALL)
    for start in range(0, data.length - rest, 8):
        k = _shift_mix(data.word(start) * _MURMUR & _ALL) * _MURMUR & _ALL
        h = (h ^ k) * _MURMUR & _ALL
    if rest:
        h = (h ^ data.word(data.length - rest, rest)) * _MURMUR & _ALL
    return _shift_mix(_shift_mix(h) * _MURMUR & _ALL)


# ------------------------------------------------------------------------------------------------ SipHash


def _sip(data: _Bytes, key: tuple[int, int]) -> Word:
    rest = data.length % 8
    zero = data.word(0, 0)
    constants = 0x736F6D6570736575, 0x646F72616E646F6D, 0x6C7967656E657261, 0x7465646279746573
    v = tuple(zero + (constant ^ key[i % 2]) for i, constant in enumerate(constants))
    words = [data.word(start) for start in range(0, data.length - rest, 8)]
    words.append(data.word(data.length - rest, rest) + (data.length % 256 << 56))
    for word in words:
        v = _sip_rounds((*v[:3], v[3] ^ word), 2)
        v = (v[0] ^ word, *v[1:])
    v = _sip_rounds((*v[:2], v[2] ^ 0xFF, v[3]), 4)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


def _sip_rounds(v: tuple[Word, ...], count: int) -> tuple[Word, ...]:
    v0, v1, v2, v3 = v
    for _ in range(count):
        v0, v2 = v0 + v1 & _ALL, v2 + v3 & _ALL
        v1, v3 = _rotate(v1, 64 - 13) ^ v0, _rotate(v3, 64 - 16) ^ v2
        v0, v2 = _rotate(v0, 32) + v3 & _ALL, v2 + v1 & _ALL
        v1, v3 = _rotate(v1, 64 - 17) ^ v2, _rotate(v3, 64 - 21) ^ v0
        v2 = _rotate(v2, 32)
    return v0, v1, v2, v3

"""Tensors in memory that two processes map: lent, mapped, freed, and never left behind."""

import contextlib
import gc
import os

import pytest
import torch
from msgspec import structs

from tideflow.cluster import shared_memory
from tideflow.cluster.messages import SegmentName
from tideflow.cluster.shared_memory import Arena, Mappings
from tideflow.graph.errors import DataLossError

MEGABYTE = 1 << 20


@pytest.fixture
def arena():
    arena = Arena(limit=8 * MEGABYTE)
    yield arena
    arena.close()


def filled(value, size=MEGABYTE):
    return torch.full((size,), value, dtype=torch.uint8)


def lend(arena, data):
    return arena.lend(data, os.getpid())


def attach(mappings, name, length):
    return torch.from_numpy(mappings.attach(name, length))


def test_a_lent_tensor_is_found(arena):
    data = torch.arange(MEGABYTE, dtype=torch.int32).view(torch.uint8)
    found = attach(Mappings(), lend(arena, data), data.numel())
    assert torch.equal(found, data) and found.data_ptr() % 64 == 0


def test_a_segment_is_free_again_when_its_tensor_is_freed(arena):
    mappings = Mappings()
    name = lend(arena, filled(1))
    found = attach(mappings, name, MEGABYTE)
    assert lend(arena, filled(2)) != name
    view = found[5:7]
    del found
    assert lend(arena, filled(3)) != name  # a view still shows it
    assert view.tolist() == [1, 1]
    del view
    gc.collect()
    again = lend(arena, filled(4))
    assert again == name
    assert attach(mappings, again, MEGABYTE).unique().tolist() == [4]


def test_the_receiver_may_write(arena):
    found = attach(Mappings(), lend(arena, filled(1)), MEGABYTE)
    found += 1
    assert found.unique().tolist() == [2]


def test_an_arena_is_bounded(arena):
    mappings = Mappings()
    held = [attach(mappings, lend(arena, filled(i)), MEGABYTE) for i in range(8)]
    assert lend(arena, filled(9)) is None and arena.held_bytes() <= arena.limit
    assert lend(arena, filled(9, 9 * MEGABYTE)) is None
    assert [int(one[0]) for one in held] == list(range(8))
    del held
    assert lend(arena, filled(9, 6 * MEGABYTE)) is not None  # free segments of other sizes made room
    assert arena.held_bytes() <= arena.limit


def test_sizes_that_differ_little_share_segments(arena):
    mappings = Mappings()
    first = lend(arena, filled(1, MEGABYTE + 17))
    attach(mappings, first, MEGABYTE + 17)
    assert lend(arena, filled(2, MEGABYTE - 1000)) == first


def test_a_segment_that_has_long_been_idle_is_dropped(arena, monkeypatch):
    held = [attach(Mappings(), lend(arena, filled(i, (i + 1) * MEGABYTE)), 1) for i in range(3)]
    assert arena.held_bytes() == 6 * MEGABYTE
    del held
    monkeypatch.setattr(shared_memory, "_IDLE_SECONDS", -1.0)
    lend(arena, filled(1))
    assert arena.held_bytes() == MEGABYTE


def test_a_segment_of_a_dead_process_is_dropped(arena):
    ended = 2**22 + 1  # no process has this number
    for _ in range(8):
        assert arena.lend(filled(1), ended) is not None
    assert lend(arena, filled(2)) is not None


def test_a_segment_that_was_never_mapped_is_dropped_in_the_end(arena, monkeypatch):
    for _ in range(8):
        lend(arena, filled(1))
    assert lend(arena, filled(2)) is None
    monkeypatch.setattr(shared_memory, "_UNCLAIMED_SECONDS", -1.0)
    assert lend(arena, filled(2)) is not None


def test_a_tensor_outlives_its_arena():
    arena = Arena(limit=8 * MEGABYTE)
    found = attach(Mappings(), lend(arena, filled(7)), MEGABYTE)
    arena.close()
    assert arena.held_bytes() == 0 and found.unique().tolist() == [7]


def test_a_receiver_unmaps_a_segment_that_its_owner_dropped():
    mappings = Mappings()
    for i in range(3):
        arena = Arena(limit=8 * MEGABYTE)
        held = attach(mappings, lend(arena, filled(i)), MEGABYTE)
        arena.close()
        assert held[0] == i and len(mappings._mapped) == 1


def test_nothing_is_left_open():
    before = _open_segments()
    arena, mappings = Arena(limit=8 * MEGABYTE), Mappings()
    held = [attach(mappings, lend(arena, filled(i)), MEGABYTE) for i in range(4)]
    arena.close()
    del arena, mappings, held
    gc.collect()
    assert _open_segments() == before


def _open_segments():
    """Those of this process; what else it has open may come and go in other threads."""
    found = []
    for entry in os.scandir("/proc/self/fd"):
        with contextlib.suppress(FileNotFoundError):
            found.append(os.readlink(entry.path))
    return sorted(path for path in found if path.startswith("/memfd:tideflow"))


# ------------------------------------------------------------------------------------------------- bad input


def test_a_segment_is_taken_once(arena):
    mappings = Mappings()
    name = lend(arena, filled(1))
    held = attach(mappings, name, MEGABYTE)
    with pytest.raises(DataLossError, match="announced twice"):
        attach(mappings, name, MEGABYTE)
    assert held[0] == 1


def test_a_false_length(arena):
    with pytest.raises(DataLossError, match="a shared segment of"):
        attach(Mappings(), lend(arena, filled(1)), 2 * MEGABYTE)


def test_a_segment_is_mapped_only_with_its_token(arena):
    pid, fd, token = lend(arena, filled(1))
    for name in ((pid, fd, "0" * 32), (pid, 0, token), (2**22 + 1, fd, token)):
        with pytest.raises(DataLossError, match="cannot be mapped"):
            attach(Mappings(), SegmentName(*name), MEGABYTE)


def test_a_segment_that_could_be_cut_short_is_not_mapped():
    token = "ab" * 16
    fd = os.memfd_create(f"tideflow-{token}")
    try:
        os.ftruncate(fd, 8192)
        with pytest.raises(DataLossError, match="cut short"):
            attach(Mappings(), SegmentName(os.getpid(), fd, token), 100)
    finally:
        os.close(fd)


def test_processes_of_one_host_and_user_share_memory():
    here = shared_memory.host_memory()
    assert shared_memory.reaches(here)
    for other in (
        None,
        structs.replace(here, boot="elsewhere"),
        structs.replace(here, user=here.user + 1),
        structs.replace(here, probe=SegmentName(1, 0, "0" * 32)),
    ):
        assert not shared_memory.reaches(other)

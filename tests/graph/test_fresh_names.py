"""Names like no other, and the same ones again where a run is to be repeated."""

import threading

from tideflow.graph.fresh_names import fresh_id, repeatable_ids


def test_ids_are_random_but_within_a_repeatable_block():
    assert fresh_id() != fresh_id()
    with repeatable_ids("a"):
        first = [fresh_id(), fresh_id()]
    with repeatable_ids("a"):
        again = [fresh_id(), fresh_id()]
    with repeatable_ids("b"):
        other = [fresh_id(), fresh_id()]
    assert first == again
    assert len({*first, *other}) == 4
    assert fresh_id() not in first


def test_a_block_inside_of_another_does_not_move_its_ids():
    with repeatable_ids("a"):
        first = [fresh_id(), fresh_id()]
    with repeatable_ids("a"):
        before = fresh_id()
        with repeatable_ids("b"):
            fresh_id()
        assert [before, fresh_id()] == first


def test_other_threads_keep_random_ids():
    found = []
    with repeatable_ids("a"):
        thread = threading.Thread(target=lambda: found.append(fresh_id()))
        thread.start()
        thread.join()
        assert found != [fresh_id()]

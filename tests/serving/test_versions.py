"""Which versions are loaded and unloaded, in which order, and what a request finds meanwhile."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tideflow.graph import errors
from tideflow.serving.versions import (
    All,
    Changed,
    Latest,
    Load,
    Specific,
    State,
    Unload,
    Versions,
    WakeAt,
)

BROKEN = errors.internal("broken")


def orders(instructions):
    """The instructions without the reports."""
    return [each for each in instructions if not isinstance(each, Changed)]


def serving(*versions, policy=Latest(), labels=None, **options):
    """A machine with a model m, of which these versions are found and loaded."""
    machine = Versions(**options)
    machine.configured("m", policy, labels)
    machine.found("m", dict.fromkeys(versions, 10))
    for version in versions:
        if machine.models["m"].versions.get(version):
            machine.loaded("m", version)
    return machine


def states(machine, model="m"):
    return {version: record.state.name for version, record in machine.models[model].versions.items()}


def test_policies():
    found = [3, 1, 2]
    assert (
        Latest().wanted(found) == {3} and Latest(2).wanted(found) == {2, 3} and Latest(9).wanted([]) == set()
    )
    assert All().wanted(found) == {1, 2, 3}
    assert Specific(frozenset({2, 7})).wanted(found) == {2}


def test_the_old_version_answers_until_the_new_one_does():
    machine = serving(1)
    assert orders(machine.found("m", {1: 10, 2: 10})) == [Load("m", 2)]
    assert machine.find("m") == 1
    assert orders(machine.loaded("m", 2)) == [Unload("m", 1)]
    assert machine.find("m") == 2
    with pytest.raises(errors.NotFoundError, match=r"Servable not found for request: Specific\(m, 1\)"):
        machine.find("m", 1)
    assert machine.unloaded("m", 1) == [Changed("m", 1, State.END, None)]
    assert states(machine) == {1: "END", 2: "AVAILABLE"}
    machine.found("m", {2: 10})
    assert states(machine) == {2: "AVAILABLE"}


def test_version_0_is_any_where_there_is_none():
    machine = serving(3)
    assert machine.find("m", 0) == 3
    machine = serving(0, 3, policy=All())
    assert (machine.find("m", 0), machine.find("m")) == (0, 3)
    with pytest.raises(errors.NotFoundError, match=r"Specific\(none, 0\)"):
        machine.find("none", 0)


def test_the_old_version_goes_first_where_memory_matters_more():
    machine = serving(1, unloads_first=True)
    assert orders(machine.found("m", {2: 10})) == [Unload("m", 1)]
    assert orders(machine.unloaded("m", 1)) == [Load("m", 2)]
    assert orders(machine.found("m", {3: 10})) == [Unload("m", 2)]  # while it is being loaded
    assert machine.loaded("m", 2) == []
    assert orders(machine.unloaded("m", 2)) == [Load("m", 3)]


def test_a_version_that_fails_is_tried_again_and_the_last_good_one_stays():
    machine = serving(1, retries=1, retry_interval=60.0)
    machine.found("m", {1: 10, 2: 10})
    assert orders(machine.failed("m", 2, BROKEN, 100.0)) == [WakeAt(160.0)]
    assert machine.woken(159.0) == []
    assert orders(machine.woken(160.0)) == [Load("m", 2)]
    assert machine.failed("m", 2, BROKEN, 161.0) == [Changed("m", 2, State.END, BROKEN)]
    assert machine.find("m") == 1
    assert machine.found("m", {1: 10, 2: 10}) == []  # not for ever
    machine.found("m", {1: 10})
    assert orders(machine.found("m", {1: 10, 2: 10})) == [Load("m", 2)]  # it comes mended


@pytest.mark.parametrize("retries", [0, 5])
def test_a_version_that_was_still_being_written_is_tried_again_when_it_is_there(retries):
    machine = serving(1, retries=retries)
    assert orders(machine.found("m", {1: 10, 2: 3})) == [Load("m", 2)]
    machine.failed("m", 2, BROKEN, 0.0)
    assert orders(machine.found("m", {1: 10, 2: 3})) == []  # nothing is new
    assert orders(machine.found("m", {1: 10, 2: 7})) == []  # it is still growing
    assert orders(machine.found("m", {1: 10, 2: 7})) == [Load("m", 2)]
    machine.failed("m", 2, BROKEN, 1.0)
    assert orders(machine.found("m", {1: 10, 2: 7})) == []
    assert machine.find("m") == 1


def test_storage_that_has_nothing_unloads_nothing():
    machine = serving(1)
    assert machine.found("m", {}) == []
    assert machine.find("m") == 1
    assert orders(machine.configured("m", Specific(frozenset({7})))) == []
    assert orders(machine.removed("m")) == [Unload("m", 1)]
    with pytest.raises(errors.NotFoundError, match=r"Servable not found for request: Latest\(m\)"):
        machine.find("m")
    machine.unloaded("m", 1)
    assert not machine.models


def test_a_version_that_crashes_for_good_is_loaded_anew():
    machine = serving(1)
    assert orders(machine.failed("m", 1, errors.unavailable("died"), 5.0)) == [WakeAt(65.0)]
    assert machine.models["m"].versions[1].error.message == "died"
    assert orders(machine.woken(65.0)) == [Load("m", 1)]
    machine.loaded("m", 1)
    assert machine.models["m"].versions[1].failures == 0


def test_labels_wait_for_their_version():
    machine = serving(1, policy=All(), labels={"stable": 1, "canary": 2})
    assert machine.find("m", label="stable") == 1
    with pytest.raises(errors.NotFoundError, match=r"Specific\(m, 2\)"):
        machine.find("m", label="canary")
    with pytest.raises(errors.InvalidArgumentError, match="Unrecognized servable version label: x"):
        machine.find("m", label="x")
    machine.configured("m", All(), {"stable": 2})
    assert machine.find("m", label="stable") == 1  # until 2 is there
    machine.found("m", {1: 10, 2: 10})
    machine.loaded("m", 2)
    assert machine.find("m", label="stable") == 2


def test_labels_that_are_moved_at_once_and_labels_that_do_not_wait():
    machine = serving(1, policy=All(), labels={"stable": 1}, labels_move_at_once=True)
    machine.check_labels("m", {"stable": 2})
    machine.configured("m", All(), {"stable": 2})
    with pytest.raises(errors.NotFoundError, match=r"Specific\(m, 2\)"):
        machine.find("m", label="stable")
    strict = serving(1, policy=All(), labels_wait=False)
    strict.check_labels("m", {"stable": 1})
    for model, version in (("m", 2), ("unknown", 1)):
        with pytest.raises(
            errors.FailedPreconditionError,
            match=f"Request to assign label to version {version} of model {model}, which is not currently",
        ):
            strict.check_labels(model, {"stable": version})


def test_a_model_that_does_not_fit_is_refused_until_there_is_room():
    machine = serving(1, memory=100)
    machine.configured("big")
    (refused,) = [each for each in machine.found("big", {1: 95}) if each.state is State.END]
    assert isinstance(refused.error, errors.ResourceExhaustedError)
    assert "needs about 95 bytes, and 90 of 100 are free" in refused.error.message
    assert machine.find("m") == 1 and machine.used() == 10
    machine.removed("m")
    assert orders(machine.unloaded("m", 1)) == [Load("big", 1)]
    assert machine.loaded("big", 1, 99) == [Changed("big", 1, State.AVAILABLE, None)]
    assert machine.used() == 99


def test_loads_take_turns():
    machine = Versions(loads_at_once=2)
    machine.configured("m", All())
    assert orders(machine.found("m", {1: 0, 2: 0, 3: 0})) == [Load("m", 3), Load("m", 2)]
    assert orders(machine.failed("m", 3, BROKEN, 1.0)) == [WakeAt(61.0), Load("m", 1)]


def test_a_model_comes_back_while_it_is_being_unloaded():
    machine = serving(1)
    machine.removed("m")
    assert orders(machine.configured("m")) == []
    assert orders(machine.unloaded("m", 1)) == [Load("m", 1)]
    machine.removed("m")
    assert machine.failed("m", 1, BROKEN, 1.0) == [Changed("m", 1, State.END, None)]
    assert not machine.models


events = st.lists(
    st.one_of(
        st.tuples(st.just("found"), st.frozensets(st.integers(1, 4))),
        st.tuples(
            st.just("configured"), st.sampled_from([Latest(), Latest(2), All(), Specific(frozenset({2}))])
        ),
        st.tuples(st.sampled_from(["loaded", "failed", "unloaded", "removed", "woken"]), st.integers(0, 3)),
    ),
    max_size=50,
)


@settings(max_examples=200, deadline=None)
@given(events, st.booleans(), st.sampled_from([None, 25]))
def test_what_is_asked_for_is_sound_and_comes_to_rest(events, unloads_first, memory):
    """One load or unload at a time of a version, memory kept, and in the end what can be had is there."""
    machine = Versions(unloads_first=unloads_first, memory=memory, retries=1, retry_interval=1.0)
    doing = {}
    now = 0.0

    def perform(instructions):
        for each in instructions:
            key = getattr(each, "model", None), getattr(each, "version", None)
            if isinstance(each, Load):
                assert key not in doing
                doing[key] = "loading"
            elif isinstance(each, Unload):
                assert doing.get(key) in ("loading", "ready")
                doing[key] = "unloading"
        in_memory = sum(len(each.having(20, 30, 40)) for each in machine.models.values())
        assert in_memory == len(doing)
        assert memory is None or machine.used() <= memory

    def report(event, choice):
        states = {"loaded": ["loading"], "failed": ["loading", "ready"], "unloaded": ["unloading"]}[event]
        keys = sorted(key for key, state in doing.items() if state in states)
        if not keys:
            return
        key = keys[choice % len(keys)]
        if event == "loaded":
            doing[key] = "ready"
            perform(machine.loaded(*key))
        else:
            del doing[key]
            perform(machine.failed(*key, BROKEN, now) if event == "failed" else machine.unloaded(*key))

    for event, argument in events:
        now += 0.5
        if event in ("loaded", "failed", "unloaded"):
            report(event, argument)
        elif event == "woken":
            perform(machine.woken(now))
        elif event == "configured":
            perform(machine.configured("m", argument))
        elif "m" in machine.models:
            was_available = bool(machine.models["m"].having(State.AVAILABLE))
            if event == "removed":
                perform(machine.removed("m"))
            else:
                perform(machine.found("m", dict.fromkeys(argument, 10)))
                if was_available and not unloads_first and not machine.models["m"].is_removed:
                    machine.find("m")  # a look at the storage never leaves nobody to answer
    for _ in range(40):
        now += 10.0
        perform(machine.woken(now))
        report("unloaded", 0)
        report("loaded", 0)
    assert "unloading" not in doing.values() and "loading" not in doing.values()
    if "m" in machine.models:
        model = machine.models["m"]
        for version in model.wanted():
            record = model.versions[version]
            assert record.state is State.AVAILABLE or record.error is not None

"""The library in a process that runs Python already: it uses that interpreter."""

import ctypes
import gc
import logging
import threading

import numpy as np
import pytest

from tideflow.graph.graph import Graph
from tideflow.graph.operation import Operation
from tideflow.session.session import BaseSession


class Output(ctypes.Structure):
    _fields_ = [("oper", ctypes.c_void_p), ("index", ctypes.c_int)]


@pytest.fixture(scope="module")
def c_api(library):
    loaded = ctypes.CDLL(str(library / "lib" / "libtideflow.so"))
    for name in (
        "TF_NewStatus TF_NewGraph TF_NewOperation TF_FinishOperation TF_AllocateTensor TF_TensorData "
        "TF_NewSessionOptions TF_NewSession"
    ).split():
        getattr(loaded, name).restype = ctypes.c_void_p
    loaded.TF_Message.restype = ctypes.c_char_p
    return loaded


def check(c_api, status):
    assert c_api.TF_GetCode(status) == 0, c_api.TF_Message(status).decode()


def squared(c_api, value):
    """The square of a number, by a session of C."""
    pointer = ctypes.c_void_p
    status, graph = pointer(c_api.TF_NewStatus()), pointer(c_api.TF_NewGraph())
    desc = pointer(c_api.TF_NewOperation(graph, b"Placeholder", b"x"))
    c_api.TF_SetAttrType(desc, b"dtype", 1)
    x = Output(c_api.TF_FinishOperation(desc, status), 0)
    check(c_api, status)
    desc = pointer(c_api.TF_NewOperation(graph, b"Square", b"y"))
    c_api.TF_AddInput(desc, x)
    y = Output(c_api.TF_FinishOperation(desc, status), 0)
    check(c_api, status)
    options = pointer(c_api.TF_NewSessionOptions())
    session = pointer(c_api.TF_NewSession(graph, options, status))
    check(c_api, status)
    fed, fetched = pointer(c_api.TF_AllocateTensor(1, None, 0, 4)), pointer()
    ctypes.c_float.from_address(c_api.TF_TensorData(fed)).value = value
    for _ in range(2):  # the second run takes the short way
        feeds = ctypes.byref(x), ctypes.byref(fed), 1
        fetches = ctypes.byref(y), ctypes.byref(fetched), 1
        c_api.TF_SessionRun(session, None, *feeds, *fetches, None, 0, None, status)
        check(c_api, status)
        found = ctypes.c_float.from_address(c_api.TF_TensorData(fetched)).value
        c_api.TF_DeleteTensor(fetched)
    c_api.TF_DeleteTensor(fed)
    c_api.TF_DeleteSession(session, status)
    check(c_api, status)
    c_api.TF_DeleteSessionOptions(options)
    c_api.TF_DeleteGraph(graph)
    c_api.TF_DeleteStatus(status)
    return found


def test_a_python_program_calls_it(c_api):
    assert squared(c_api, 3) == 9


def test_what_is_deleted_is_gone(c_api):
    squared(c_api, 1)
    gc.collect()
    before = sum(isinstance(each, (Graph, Operation, BaseSession)) for each in gc.get_objects())
    for number in range(3):
        squared(c_api, number)
    gc.collect()
    assert sum(isinstance(each, (Graph, Operation, BaseSession)) for each in gc.get_objects()) == before


def test_a_listener_hears_what_is_logged(c_api):
    heard = []
    listener = ctypes.CFUNCTYPE(None, ctypes.c_char_p)(heard.append)
    logger = logging.getLogger("tensorflow")
    before = list(logger.handlers)
    c_api.TF_RegisterLogListener(listener)
    try:
        logger.error("the disk is %s", "full")
    finally:
        logger.handlers = before
    assert heard == [b"the disk is full"]


def test_threads_of_python_call_it(c_api):
    found = {}
    threads = [threading.Thread(target=lambda n=n: found.update({n: squared(c_api, n)})) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {n: np.float32(n * n) for n in range(4)}

"""serving/access.py: who may ask, and where a server may listen."""

import pytest

from tideflow.graph import errors
from tideflow.serving.access import Access, is_loopback, make_tokens

SECRET = Access(make_tokens(["# comment", "", "  secret ", "other"]))


@pytest.mark.parametrize("header", [b"Bearer secret", b"bearer  other"])
def test_a_known_token_opens(header):
    SECRET.check({b"authorization": header, b"host": b"evil.example", b"origin": b"http://evil.example"})


@pytest.mark.parametrize(
    "header", [None, b"", b"secret", b"Basic secret", b"Bearer", b"Bearer # comment", b"Bearer secre"]
)
def test_nothing_else_does(header):
    with pytest.raises(errors.UnauthenticatedError):
        SECRET.check({} if header is None else {b"authorization": header})


@pytest.mark.parametrize(
    ("host", "is_own"),
    [
        (b"localhost", True),
        (b"LOCALHOST.:8501", True),
        (b"127.0.0.1:8501", True),
        (b"127.9.9.9", True),
        (b"[::1]:8501", True),
        (b"[::1", True),
        (b"localhost.evil.example", False),
        (b"127.0.0.1.evil.example:8501", False),
        (b"192.168.0.1", False),
        (b"[fe80::1]:80", False),
        (b"", True),  # as curl --http1.0 has it
        (b"\xff", False),
    ],
)
def test_without_tokens_the_server_answers_for_this_machine_alone(host, is_own):
    headers = {b"host": host} if host else {}
    if is_own:
        Access().check(headers)
    else:
        with pytest.raises(errors.PermissionDeniedError, match="for addresses of this machine alone"):
            Access().check(headers)


def test_pages_of_other_origins_may_not_ask():
    own = {b"host": b"localhost:8501", b"origin": b"http://localhost:8501"}
    Access().check(own)
    for origin in (b"http://evil.example", b"null", b"http://localhost:9999"):
        with pytest.raises(errors.PermissionDeniedError, match="may not ask this server"):
            Access().check(own | {b"origin": origin})
        Access(allows_origins=True).check(own | {b"origin": origin})


def test_addresses_that_others_reach_need_tokens():
    for host in ("127.0.0.1", "::1", "localhost"):
        assert is_loopback(host)
        Access().check_address(host)
    for host in ("0.0.0.0", "::", "", "10.0.0.1", "example.org"):
        with pytest.raises(ValueError, match="would answer everybody"):
            Access().check_address(host)
        SECRET.check_address(host)

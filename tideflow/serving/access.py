"""Who may ask a server: bearer tokens, and what browsers and other machines may not do without one."""

from __future__ import annotations

import hmac
import ipaddress
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from tideflow.graph import errors

_LOCAL_NAMES = frozenset({"localhost", "ip6-localhost"})


@dataclass(frozen=True)
class Access:
    """The tokens that open the server. Without tokens everybody on this machine may ask it.

    A browser of this machine that shows a stranger's page is no such body: a request for a host that is not
    this machine's (a name that the stranger's DNS lets point here), or from a page of another origin, is
    refused unless it brings a token. `allows_origins` lets pages of other origins ask (CORS).
    """

    tokens: frozenset[bytes] = field(default_factory=frozenset)
    allows_origins: bool = False

    def check(self, headers: Mapping[bytes, bytes]) -> None:
        """Raises an error unless a request with these headers, with names in lower case, may be answered."""
        if self.tokens:
            self._check_token(headers.get(b"authorization", b""))
            return
        host = headers.get(b"host") or headers.get(b":authority")
        if host is not None and not _is_own(host):
            raise errors.permission_denied(
                "Without a token the server answers for addresses of this machine alone, and not for "
                f"{_shown(host)}"
            )
        origin = headers.get(b"origin")
        if origin is not None and not self.allows_origins and origin.partition(b"//")[2] != host:
            raise errors.permission_denied(f"Pages of {_shown(origin)} may not ask this server")

    def _check_token(self, given: bytes) -> None:
        kind, _, token = given.partition(b" ")
        # All are compared, so that the time taken tells nothing about which is like the one given.
        matches = [hmac.compare_digest(token.strip(), known) for known in self.tokens]
        if kind.lower() != b"bearer" or not any(matches):
            raise errors.unauthenticated("The server asks for a bearer token in the header 'authorization'")

    def check_address(self, host: str) -> None:
        """Raises ValueError if the server may not listen on an address: without tokens, on its own alone."""
        if not self.tokens and not is_loopback(host):
            raise ValueError(
                f"The server would answer everybody who can reach {host or 'any address'}. Give it tokens "
                "(--token_file), or let it listen on 127.0.0.1."
            )


def make_tokens(lines: Iterable[str]) -> frozenset[bytes]:
    """The tokens of a file: one a line, but for empty lines and comments (#)."""
    words = (line.strip() for line in lines)
    return frozenset(word.encode() for word in words if word and not word.startswith("#"))


def is_loopback(host: str) -> bool:
    """Whether an address, or a name, is this machine's own."""
    if host.lower().removesuffix(".") in _LOCAL_NAMES:
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


@lru_cache(maxsize=256)
def _is_own(host: bytes) -> bool:
    """Whether a Host header names this machine; a port may follow the name."""
    text = host.decode("latin-1")
    if text.startswith("["):
        return is_loopback(text[1:].partition("]")[0])
    return is_loopback(text.partition(":")[0])


def _shown(value: bytes) -> str:
    return repr(value[:100].decode("latin-1"))

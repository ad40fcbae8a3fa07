"""TLS of a connection without its socket: bytes of the network on one side, plain ones on the other."""

from __future__ import annotations

import ssl

from tideflow.graph import errors

_CHUNK = 256 << 10


def server_context(certificate: str, key: str) -> ssl.SSLContext:
    """The TLS of a server of gRPC, from the files of its certificate chain and private key."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["h2"])
    try:
        context.load_cert_chain(certificate, key, password=_no_password)
    except OSError as error:  # ssl's errors are such
        raise errors.invalid_argument(
            f"The certificate '{certificate}' and its key '{key}' cannot be used for TLS: {error}. Both are "
            "files in PEM; the key is the certificate's own, and has no password."
        ) from None
    return context


def _no_password() -> str:
    """OpenSSL would ask for the password of a key at the terminal."""
    raise OSError("the key has a password")


class Tls:
    """The server's side of one connection. Its caller lets one thread in at a time."""

    def __init__(self, context: ssl.SSLContext) -> None:
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._ssl = context.wrap_bio(self._incoming, self._outgoing, server_side=True)
        self._is_ready = False
        self._early: list[bytes] = []  # what is to be sent once both sides have agreed on keys

    def opened(self, data: bytes) -> bytes:
        """The plain bytes in what came. What TLS itself has to say is in the next `sealed`."""
        self._incoming.write(data)
        plain = []
        try:
            if not self._is_ready:
                self._ssl.do_handshake()
                self._is_ready = True
                self._ssl.write(b"".join(self._early))
                self._early.clear()
            while part := self._ssl.read(_CHUNK):
                plain.append(part)
        except ssl.SSLWantReadError:
            pass
        return b"".join(plain)

    def sealed(self, data: bytes) -> bytes:
        """What is to be sent for plain bytes."""
        if not self._is_ready:
            self._early.append(data)
        elif data:
            self._ssl.write(data)
        return self._outgoing.read()

"""The address that a server listens at."""

from __future__ import annotations

import socket

from zh_albert.errors import ZhAlbertError


def bound(host: str, port: int) -> socket.socket:
    """Return a socket that holds an address; connections are accepted when a server listens.

    Args:
        host: A name or an address of this computer.
        port: 0 takes a free one.

    Raises:
        ZhAlbertError: If the address cannot be used.
    """
    try:
        family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(family, kind)
    except (OSError, UnicodeError) as error:  # UnicodeError: "127.0..1", or a very long name
        raise ZhAlbertError(
            f"{host}: no such address ({getattr(error, 'strerror', 'not a host name')}); use "
            "127.0.0.1, or 0.0.0.0 to be reached from other computers"
        ) from None
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
    except OSError as error:
        listening.close()
        raise ZhAlbertError(
            f"{host}: port {port} cannot be used ({error.strerror}); choose another one, or a free "
            "one with --port 0"
        ) from None
    return listening

"""Ports of this machine that no other test has at the same time, as tests/support/addresses.h has them for C++."""
import socket

_claims = []


def sixteen_ports():
    """The first of sixteen ports in a row that belong to this process until it ends and at which nobody listens."""
    for first in range(20000, 32000, 16):
        claim = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        try:
            claim.bind(f"\0pacml-test-ports-{first}")
        except OSError:
            claim.close()
            continue
        _claims.append(claim)
        if all(_is_free(port) for port in range(first, first + 16)):
            return first
    raise RuntimeError("every port is taken")


def _is_free(port):
    with socket.socket() as s:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            s.bind(("", port))
        except OSError:
            return False
        return True

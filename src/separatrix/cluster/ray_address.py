"""Whether Ray answers at an address, found within seconds: Ray itself would wait much longer.

Ray's servers speak gRPC, which answers every request with the status 200 of HTTP/2, also one that it does not know. So
one request without content is sent, and the first header of the answer is looked at (RFC 9113, RFC 7541).
"""

from __future__ import annotations

import os
import socket
import time

from separatrix.errors import ClusterError, ParameterError

REACH = 4.0  # seconds in which an address must take a connection, and as many in which it must answer
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, SETTINGS = 0, 1, 4  # types of frames
END_STREAM, END_HEADERS, PADDED, PRIORITY = 1, 4, 8, 32  # flags
METHOD = "/ray.rpc.NodeInfoGcsService/GetClusterId"
STATUS_200 = 0x88  # the entry ":status: 200" of the static table
RESIZED = 0x20  # an instruction about the table, before the first header


def need_answer(address: str) -> None:
    """Refuse an address at which nothing answers, or something else than Ray does."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not port.isdigit() or not 0 < int(port) < 65536:
        raise ParameterError(f"the address is {address!r}: write auto, HOST:PORT or ray://HOST:PORT.")
    try:
        with socket.create_connection((host.strip("[]"), int(port)), timeout=REACH) as connection:
            if os.environ.get("RAY_USE_TLS", "0") == "0":  # else all is encrypted, and Ray finds out
                said = answer(connection, address)
    except OSError as error:
        raise ClusterError(
            f"no Ray cluster answers at {address!r} ({error.strerror or error}): is it running, and can it be reached?"
        ) from None
    if os.environ.get("RAY_USE_TLS", "0") == "0" and said != STATUS_200:
        raise ClusterError(
            f"{address!r} takes a connection and does not answer within {REACH:g} s: is the cluster alive, and is the "
            "port that of `ray start`?"
            if said is None
            else f"what answers at {address!r} is not a Ray cluster: is the port that of `ray start`?"
        )


def answer(connection: socket.socket, address: str) -> int | None:
    """The first byte of the headers of the answer to a request; 0 for something else, None where nothing comes."""
    texts = {":method": "POST", ":scheme": "http", ":path": METHOD, ":authority": address}
    texts |= {"content-type": "application/grpc", "te": "trailers"}
    block = b"".join(bytes((0, len(k))) + k.encode() + bytes((len(v),)) + v.encode() for k, v in texts.items())
    request = frame(HEADERS, END_HEADERS, 1, block) + frame(DATA, END_STREAM, 1, bytes(5))
    connection.sendall(PREFACE + frame(SETTINGS, 0, 0, b"") + request)
    deadline, said = time.monotonic() + REACH, b""
    while (left := deadline - time.monotonic()) > 0:
        connection.settimeout(left)
        try:
            more = connection.recv(4096)
        except TimeoutError:
            break
        said += more
        found = first_header(said)
        if found is not None or not more:
            return found or 0
    return None if len(said) < 9 else 0


def frame(kind: int, flags: int, stream: int, content: bytes) -> bytes:
    """A frame of HTTP/2."""
    return len(content).to_bytes(3, "big") + bytes((kind, flags)) + stream.to_bytes(4, "big") + content


def first_header(said: bytes) -> int | None:
    """The first byte of the first block of headers; 0 where this is not HTTP/2, None where more must come."""
    if len(said) > 3 and said[3] != SETTINGS:
        return 0
    while len(said) >= 9:
        size, kind, flags = int.from_bytes(said[:3], "big"), said[3], said[4]
        content, said = said[9 : 9 + size], said[9 + size :]
        if len(content) < size:
            return None
        if kind == HEADERS:
            content = content[(1 if flags & PADDED else 0) + (5 if flags & PRIORITY else 0) :]
            block = content.lstrip(bytes(range(RESIZED, RESIZED + 32)))
            return block[0] if block else 0
    return None

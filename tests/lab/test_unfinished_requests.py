"""The server closes requests that never end, and does not read refused bodies."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest

from separatrix.lab import guard


def answered(messages, path="/api/run", token=b"secret"):
    """What the guard sends for a request whose body arrives as these messages, and then nothing more."""
    sent, left = [], list(messages)

    async def receive():
        if left:
            return left.pop(0)
        return await asyncio.Event().wait()

    async def send(message):
        sent.append(message)

    async def never(scope, receive, send):
        raise AssertionError("the application was asked")

    scope = {"type": "http", "method": "POST", "path": path, "headers": [(b"host", b"here"), (guard.TOKEN, token)]}

    async def served():
        await asyncio.wait_for(guard.Guard(never, {"here"}, "secret")(scope, receive, send), 5)

    with ThreadPoolExecutor(1) as pool:  # a browser's loop may run in this thread
        pool.submit(asyncio.run, served()).result()
    return sent[0]["status"], dict(sent[0]["headers"])


def test_a_request_that_is_half_sent_is_answered_and_closed(monkeypatch):
    monkeypatch.setattr(guard, "SECONDS", 0.05)
    status, headers = answered([{"type": "http.request", "body": b"{", "more_body": True}])
    assert status == 408
    assert headers[b"connection"] == b"close"


@pytest.mark.parametrize(("token", "status"), [(b"wrong", 401), (b"secret", 413)])
def test_the_rest_of_a_refused_body_is_not_read(token, status):
    large = {"type": "http.request", "body": bytes(guard.MOST_BYTES + 1), "more_body": True}
    code, headers = answered([large], token=token)
    assert code == status
    assert headers[b"connection"] == b"close"

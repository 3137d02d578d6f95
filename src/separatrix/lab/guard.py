"""Which requests the lab accepts, and what a browser may do with its pages.

The server listens on this machine alone, yet any page in the same browser can send it requests. So the Host must be its
own (a foreign name could be made to resolve to this machine), the Origin, where a browser names one, too, and requests
to the API carry a token that only the page opened by ``separatrix lab`` has.
"""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from starlette.responses import JSONResponse

MOST_BYTES = 200_000  # of a request
SECONDS = 10.0  # that a request may take to arrive; one that is never finished is refused then
TOKEN = b"x-separatrix-token"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = [
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
]

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]


class Guard:
    """An ASGI application around another: refuses before it is asked, and adds headers to what it answers."""

    def __init__(self, app: Any, hosts: set[str], token: str) -> None:
        self.app, self.hosts, self.token = app, hosts, token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        refusal = self._refusal(scope)
        if refusal is not None:
            await refusal(scope, receive, _with_headers(send))
            return
        try:
            body = await asyncio.wait_for(_limited(receive), SECONDS)
        except TimeoutError:
            refusal = _answer(408, f"the request did not arrive within {SECONDS:g} seconds.")
            await refusal(scope, receive, _with_headers(send))
            return
        if body is None:
            await _answer(413, f"the request is larger than {MOST_BYTES} bytes.")(scope, receive, _with_headers(send))
            return

        await self.app(scope, _given(body, receive), _with_headers(send))

    def _refusal(self, scope: Scope) -> JSONResponse | None:
        headers = dict(scope["headers"])
        host = headers.get(b"host", b"").decode("latin-1").lower()
        if host not in self.hosts:
            return _answer(421, "the Host is not that of this server.")
        origin = headers.get(b"origin")
        if origin is not None and origin.decode("latin-1").lower() not in {f"http://{own}" for own in self.hosts}:
            return _answer(403, "the request comes from another site.")
        if scope["path"].startswith("/api/") and not hmac.compare_digest(headers.get(TOKEN, b""), self.token):
            return _answer(401, "the token is missing or wrong: open the address that separatrix lab printed.")
        return None


def _answer(status: int, why: str) -> JSONResponse:
    """A refusal; the connection is closed after it, so that the rest of a body is not read."""
    return JSONResponse({"error": why}, status_code=status, headers={"connection": "close"})


async def _limited(receive: Receive) -> bytes | None:
    """The body of a request; None where it is too long."""
    body = bytearray()
    while True:
        message = await receive()
        body += message.get("body", b"")
        if len(body) > MOST_BYTES:
            return None
        if not message.get("more_body"):
            return bytes(body)


def _given(body: bytes, receive: Receive) -> Receive:
    """The body that was read already, once; after it what comes next, which tells when the client has gone."""
    left = [{"type": "http.request", "body": body, "more_body": False}]

    async def again() -> MutableMapping[str, Any]:
        return left.pop() if left else await receive()

    return again


def _with_headers(send: Send) -> Send:
    async def sending(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message.get("headers", []), *HEADERS]
        await send(message)

    return sending

"""The addresses of the lab: its pages, and a typed API under /api/."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import anyio
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

import separatrix
from separatrix.lab.fits import SceneFits, fits_of, learner_titles
from separatrix.lab.guard import Guard
from separatrix.lab.presets import Preset, TableColumns
from separatrix.lab.proof_answer import SceneProof, proof_of
from separatrix.lab.request_reading import SceneError
from separatrix.lab.run_answer import RunPart, WholeRun, run_of, stream_of
from separatrix.lab.scene import Scene, read_scene
from separatrix.lab.static_files import TYPES, lab_files
from separatrix.lab.validation_study import SceneStudyResult, study_of
from separatrix.persistence.json_values import schema_of

SECONDS = 20.0  # after which a question is given up
AT_ONCE = 8  # questions that are worked on at the same time
STREAM = "run/stream"
QUESTIONS: dict[str, tuple[Callable[[Scene], Any], Any, str]] = {
    "run": (run_of, WholeRun, "Run the perceptron on the points and give its looks."),
    STREAM: (stream_of, RunPart, "The same in parts, one JSON text a line: first a RunStart, then RunParts."),
    "proof": (proof_of, SceneProof, "Decide what is true of the points, and prove it."),
    "fits": (fits_of, SceneFits, "Fit up to three learners."),
    "study": (study_of, SceneStudyResult, "Hold out points, grow the degree, and rank the judged points."),
}


def application(token: str, hosts: set[str], own: Preset | None = None, table: TableColumns | None = None) -> Guard:
    """The lab as an ASGI application; ``own`` is the user's table as it is shown first, ``table`` all its columns."""
    first = {
        "own": None if own is None else asdict(own),
        "table": None if table is None else asdict(table),
        "learners": learner_titles(),
    }
    routes = [
        Route("/" if name == "index.html" else f"/{name}", _file(name, content))
        for name, content in lab_files().items()
    ]
    limit = Answering()
    for name, (answer, _, _) in QUESTIONS.items():
        respond = _parts if name == STREAM else _whole
        routes.append(Route(f"/api/{name}", _question(answer, respond, limit), methods=["POST"]))
    routes += [Route("/api/start", _always(first)), Route("/api/openapi.json", _always(openapi()))]
    return Guard(Starlette(routes=routes), hosts, token)


def _file(name: str, content: bytes) -> Any:
    kind = TYPES[Path(name).suffix]

    def respond(request: Request) -> Response:
        return Response(content, media_type=kind)

    return respond


def _always(content: Any) -> Any:
    text = json.dumps(content, allow_nan=False, separators=(",", ":"))

    def respond(request: Request) -> Response:
        return Response(text, media_type="application/json")

    return respond


class Answering:
    """Work in threads, so many at once; what takes too long is given up, and its thread counts until it ends."""

    def __init__(self) -> None:
        self.limiter: anyio.CapacityLimiter | None = None

    async def __call__(self, work: Callable[[Scene], Any], scene: Scene) -> Any:
        if self.limiter is None:  # it belongs to the event loop
            self.limiter = anyio.CapacityLimiter(AT_ONCE)
        with anyio.fail_after(SECONDS):
            return await anyio.to_thread.run_sync(work, scene, limiter=self.limiter, abandon_on_cancel=True)


def _question(answer: Callable[[Scene], Any], respond: Callable[[Any], Response], limit: Answering) -> Any:
    async def responding(request: Request) -> Response:
        try:
            scene = read_scene(json.loads(await request.body(), parse_constant=_no_number))
            return respond(await limit(answer, scene))
        except SceneError as error:
            return JSONResponse({"error": str(error)}, status_code=422)
        except TimeoutError:
            return JSONResponse({"error": f"this took longer than {SECONDS:g} seconds."}, status_code=503)
        except (ValueError, RecursionError):
            return JSONResponse({"error": "the request is not JSON."}, status_code=400)

    return responding


def _whole(answer: Any) -> Response:
    return JSONResponse(asdict(answer))


def _parts(answers: Iterator[Any]) -> Response:
    lines = (json.dumps(asdict(one), separators=(",", ":")) + "\n" for one in answers)
    return StreamingResponse(lines, media_type="application/x-ndjson")


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is not a number")


def openapi() -> dict[str, Any]:
    """The API in OpenAPI's words, derived from the dataclasses."""

    def content(kind: Any, media: str = "application/json") -> dict[str, Any]:
        schema = schema_of(kind, f"lab {kind.__name__}", 1, " ".join((kind.__doc__ or "").split()))
        return {"content": {media: {"schema": schema}}}

    paths = {
        f"/api/{name}": {
            "post": {
                "summary": about,
                "requestBody": {"required": True, **content(Scene)},
                "responses": {
                    "200": {
                        "description": "The answer.",
                        **content(kind, "application/x-ndjson" if name == STREAM else "application/json"),
                    },
                    "400": {"description": "The request is not JSON."},
                    "401": {"description": "The token is missing or wrong."},
                    "413": {"description": "The request is too large."},
                    "422": {"description": "The scene is refused; error says why."},
                    "503": {"description": "It took too long."},
                },
            }
        }
        for name, (_, kind, about) in QUESTIONS.items()
    }
    info = {"title": "separatrix lab", "version": separatrix.__version__}
    return {"openapi": "3.1.0", "info": info, "paths": paths}

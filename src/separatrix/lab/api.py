"""The addresses of the lab: its pages, and a typed API under /api/."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

import separatrix
from separatrix.lab.answers import Run, SceneProof, proof_of, run_of
from separatrix.lab.guard import Guard
from separatrix.lab.presets import Preset, presets
from separatrix.lab.scene import Scene, SceneError, read_scene, word_choices
from separatrix.models.perceptron.perceptron import RECIPES
from separatrix.persistence.json_schema import schema_of

STATIC = Path(__file__).parent / "static"
TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css"}
QUESTIONS: dict[str, tuple[Callable[[Scene], Any], Any, str]] = {
    "run": (run_of, Run, "Run the perceptron on the points and give every look."),
    "proof": (proof_of, SceneProof, "Decide what is true of the points, and prove it."),
}


def application(token: str, hosts: set[str], own: Preset | None = None) -> Guard:
    """The lab as an ASGI application; ``own`` is the user's table."""
    scenes = [*([] if own is None else [own]), *presets()]
    first = {"presets": [asdict(one) for one in scenes], "choices": word_choices(), "recipes": RECIPES}
    routes = [Route("/" if name == "index.html" else f"/{name}", _file(path)) for name, path in _files().items()]
    routes += [Route(f"/api/{name}", _question(answer), methods=["POST"]) for name, (answer, _, _) in QUESTIONS.items()]
    routes += [Route("/api/start", _always(first)), Route("/api/openapi.json", _always(openapi()))]
    return Guard(Starlette(routes=routes), hosts, token)


def _files() -> dict[str, Path]:
    """The files that are served, by name: those of the folder and the checker; no path comes from a request."""
    found = {path.name: path for path in sorted(STATIC.iterdir()) if path.suffix in TYPES}
    return found | {"checker.js": Path(separatrix.__file__).with_name("checker.js")}


def _file(path: Path) -> Any:
    content, kind = path.read_bytes(), TYPES[path.suffix]

    def respond(request: Request) -> Response:
        return Response(content, media_type=kind)

    return respond


def _always(content: Any) -> Any:
    def respond(request: Request) -> JSONResponse:
        return JSONResponse(content)

    return respond


def _question(answer: Callable[[Scene], Any]) -> Any:
    async def respond(request: Request) -> JSONResponse:
        try:
            scene = read_scene(json.loads(await request.body(), parse_constant=_no_number))
            return JSONResponse(asdict(await run_in_threadpool(answer, scene)))
        except SceneError as error:
            return JSONResponse({"error": str(error)}, status_code=422)
        except (ValueError, RecursionError):
            return JSONResponse({"error": "the request is not JSON."}, status_code=400)

    return respond


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is not a number")


def openapi() -> dict[str, Any]:
    """The API in OpenAPI's words, derived from the dataclasses."""

    def content(kind: Any) -> dict[str, Any]:
        schema = schema_of(kind, f"lab {kind.__name__}", 1, " ".join((kind.__doc__ or "").split()))
        return {"content": {"application/json": {"schema": schema}}}

    paths = {
        f"/api/{name}": {
            "post": {
                "summary": about,
                "requestBody": {"required": True, **content(Scene)},
                "responses": {
                    "200": {"description": "The answer.", **content(kind)},
                    "422": {"description": "The scene is refused; error says why."},
                },
            }
        }
        for name, (_, kind, about) in QUESTIONS.items()
    }
    info = {"title": "separatrix lab", "version": separatrix.__version__}
    return {"openapi": "3.1.0", "info": info, "paths": paths}

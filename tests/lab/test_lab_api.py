"""The lab's server: numbers of the library, and refusals that leave it running."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import numpy as np
import pytest

from lab_server import lab_server
from separatrix import Perceptron, checker, fewest_mistakes, margin, mistake_bound, separability
from separatrix.lab import api, presets, scene
from separatrix.lab.static_files import lab_files
from separatrix.models.perceptron import step_trace
from separatrix.models.perceptron.perceptron import RECIPES

POINTS = [(0, 0, -1), (0, 1, 1), (1, 0, 1), (1, 1, -1)]


@pytest.fixture(scope="module")
def lab():
    with lab_server() as made:
        yield made


def asked(points=POINTS, **choices):
    return {"points": [{"x": x, "y": y, "label": t} for x, y, t in points], "choices": choices}


def good(lab, path, body):
    status, _, content = lab.ask(path, body)
    assert status == 200, content
    return json.loads(content)


@pytest.mark.parametrize("name", ["six-points", "separable", "tiny-margin", "xor", "noise", "iris"])
def test_the_numbers_are_the_library_s(lab, name):
    own = next(one for one in presets.presets() if one.name == name)
    points = [(p.x, p.y, p.label) for p in own.points]
    X, y = np.array([p[:2] for p in points]), np.array([p[2] for p in points])
    whole = good(lab, "/api/run", asked(points, max_iter=20))
    start, run = whole["start"], whole["looks"]
    steps = step_trace(Perceptron(order="cyclic", max_iter=20, random_state=0), X, y, positive=1, max_steps=5000)
    assert run["row"] == steps.row.tolist()
    assert run["mistake"] == steps.mistake.tolist()
    assert [*start["w"], start["b"]] == steps.start.tolist()
    assert run["w"] == steps.coef.tolist()
    assert run["b"] == steps.intercept.tolist()
    proof = good(lab, "/api/proof", asked(points))
    found = separability(X, y)
    assert proof["verdict"] == found.verdict
    assert proof["witness"] == found.witness.tolist()
    if found.verdict == "complete":
        wide, bound = margin(X, y), mistake_bound(X, y)
        assert (proof["gap"]["lower"], proof["gap"]["upper"]) == (wide.lower, wide.upper)
        assert proof["bound"]["most"] == bound.most
        assert sum(run["mistake"]) <= bound.most
    else:
        few = fewest_mistakes(X, y)
        assert (proof["mistakes"]["lower"], proof["mistakes"]["upper"]) == (few.lower, few.upper)


def test_every_recipe_runs_as_in_the_library(lab):
    for name, choices in RECIPES.items():
        run = good(lab, "/api/run", asked(**choices, random_state=3))["looks"]
        X, y = [p[:2] for p in POINTS], [p[2] for p in POINTS]
        steps = step_trace(Perceptron.recipe(name, random_state=3), X, y, positive=1, max_steps=5000)
        assert run["row"] == steps.row.tolist(), name
        assert run["w"][-1] == steps.coef[-1].tolist(), name


def test_certificates_check_against_the_table_that_comes_with_them(lab, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    proof = good(lab, "/api/proof", asked())
    (tmp_path / "points.csv").write_text(proof["table"])
    for text in proof["certificates"]:
        (tmp_path / "c.json").write_text(text)
        assert checker.main(["c.json", "points.csv", "--target", "label"]) == 0


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"X-Separatrix-Token": None}, 401),
        ({"X-Separatrix-Token": "wrong"}, 401),
        ({"Host": "evil.example"}, 421),
        ({"Host": "127.0.0.1"}, 421),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "https://127.0.0.1"}, 403),
    ],
)
def test_strangers_are_refused(lab, headers, status):
    assert lab.ask("/api/run", asked(), **headers)[0] == status
    assert lab.ask("/api/run", asked())[0] == 200


def test_a_request_without_a_host_is_refused(lab):
    try:
        status = lab.ask("/api/run", asked(), Host=None)[0]
    except ConnectionResetError:  # it closes before it has read the rest
        status = 400
    assert status in (400, 421)
    assert lab.ask("/api/run", asked())[0] == 200


def test_the_page_of_the_lab_itself_may_ask(lab):
    own = f"http://{lab.host}:{lab.port}"
    assert lab.ask("/api/run", asked(), Origin=own)[0] == 200


@pytest.mark.parametrize(
    ("body", "status", "says"),
    [
        (b"{", 400, "not JSON"),
        (b"", 400, "not JSON"),
        (b'{"points": NaN}', 400, "not JSON"),
        (b"[" * 50_000, 400, "not JSON"),
        (b" " * 300_000, 413, "larger than"),
        (b'{"points": [' + b"1," * 10**6 + b"1]}", 413, "larger than"),
        ([], 422, "not an object"),
        ({"points": 3}, 422, "not a list"),
        ({"points": [1]}, 422, "not an object"),
        ({"points": [{"x": 1, "y": 2, "label": 0}]}, 422, "it can be 1, -1"),
        ({"points": [{"x": 1, "y": 2, "label": True}]}, 422, "it can be 1, -1"),
        ({"points": [{"x": "1", "y": 2, "label": 1}]}, 422, "x of point 0 is not a number"),
        ({"points": [{"x": 1e999, "y": 2, "label": 1}]}, 400, "not JSON"),
        ({"points": [{"x": 1e7, "y": 2, "label": 1}]}, 422, "x of point 0 is not a number between"),
        ({"points": [{"x": 1, "y": None, "label": 1}]}, 422, "y of point 0 is not a number"),
        ({"points": [{"x": 1, "y": 1, "label": 1, "path": "/etc/passwd"}]}, 422, "unknown field 'path'"),
        ({"points": [{"x": 0, "y": 0, "label": 1}] * 501}, 422, "501 points"),
        ({"points": [{"x": 0, "y": 0, "label": 1}]}, 422, "both classes"),
        ({"points": []}, 422, "both classes"),
        (asked(order="sideways"), 422, "order is 'sideways': it can be cyclic"),
        (asked(max_iter=10**9), 422, "whole number between"),
        (asked(max_iter=0), 422, "whole number between 1"),
        (asked(fit_intercept=1), 422, "neither true nor false"),
        (asked(order="restart", stop="streak"), 422, "goes with order"),
        (asked(hashing=3), 422, "unknown field 'hashing'"),
    ],
)
@pytest.mark.parametrize("path", ["/api/run", "/api/proof"])
def test_bad_scenes_are_refused_in_a_sentence_and_the_server_goes_on(lab, path, body, status, says):
    if path == "/api/proof" and body == asked(order="restart", stop="streak"):
        return  # a choice of the learner, which proofs do not look at
    try:
        found, _, content = lab.ask(path, body)
    except (ConnectionResetError, BrokenPipeError):  # refused before all of it was sent
        assert status == 413
    else:
        assert (found, says in json.loads(content)["error"]) == (status, True), content
    assert lab.ask(path, asked())[0] == 200


@pytest.mark.parametrize(
    "path", ["/../api.py", "/%2e%2e/api.py", "/static/lab.css", "//etc/passwd", "/api/../main.js", "/x"]
)
def test_only_known_addresses_are_served(lab, path):
    assert lab.ask(path)[0] in (404, 401)


def test_every_answer_has_the_policy_and_no_secrets(lab):
    for path in ("/", "/lab.js", "/checker.js", "/lab.css", "/api/start", "/none"):
        _, headers, content = lab.ask(path)
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert lab.token.encode() not in content


def test_the_first_page_is_small(lab):
    files = ["/" if name == "index.html" else f"/{name}" for name in lab_files()]
    assert sum(len(lab.ask(path)[2]) for path in [*files, "/api/start"]) <= 440_000


def test_openapi_is_derived_from_the_dataclasses(lab):
    found = json.loads(lab.ask("/api/openapi.json")[2])
    assert found == json.loads(json.dumps(api.openapi()))
    asked_for = found["paths"]["/api/run"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    assert set(asked_for["properties"]) == {"points", "choices", "features", "learners", "study", "descent"}
    assert asked_for["properties"]["points"]["maxItems"] == scene.MOST_POINTS
    assert asked_for["$defs"]["SceneFeatures"]["properties"]["degree"]["maximum"] == scene.MOST_DEGREE
    orders = asked_for["$defs"]["SceneChoices"]["properties"]["order"]["enum"]
    assert orders == ["cyclic", "restart", "shuffle", "any", "worst"]


def test_the_user_s_table(tmp_path):
    path = tmp_path / "t.csv"
    rows = "".join(f"{k},{k * k % 7},{k % 5},{'yes' if k > 30 else 'no'}\n" for k in range(60))
    path.write_text("a,b,c,ok\n" + rows)
    with lab_server(str(path), "--target", "ok", "--columns", "a", "c") as made:
        first = json.loads(made.ask("/api/start")[2])["own"]
    assert (first["name"], first["axes"]) == ("table", ["a", "c"])
    assert first["points"][31] == {"x": 31.0, "y": 1.0, "label": 1}
    assert len(first["points"]) == 60


def test_what_is_shown_first_is_chosen_once(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b,ok\n" + "".join(f"{2 * k},{k * k % 7},{'yes' if k > 30 else 'no'}\n" for k in range(60)))
    for options, says in (
        (["--columns", "a", "b", "--directions"], "cannot both say"),
        (["--directions"], "needs three columns"),
        (["--columns", "a", "z"], "no column 'z'"),
    ):
        command = [sys.executable, "-m", "separatrix", "lab", str(path), "--target", "ok", "--no-browser", *options]
        found = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
        assert (found.returncode, found.stdout) == (2, "")
        assert says in " ".join(found.stderr.split())
        assert "Traceback" not in found.stderr


def test_the_page_is_written_as_files(tmp_path):
    folder = tmp_path / "site" / "lab"
    command = [sys.executable, "-m", "separatrix", "lab", "--out", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=True)
    assert {path.name for path in folder.iterdir()} == set(lab_files())
    assert f"{len(lab_files())} files" in done.stdout
    page = (folder / "index.html").read_text()
    assert all((folder / name).exists() for name in re.findall(r'(?:src|href)="([\w.-]+)"', page))
    (tmp_path / "taken").write_text("")
    command[-1] = str(tmp_path / "taken")
    refused = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    assert (refused.returncode, "Traceback" in refused.stderr) == (2, False)
    assert (tmp_path / "taken").read_text() == ""

"""The same work on a real Ray cluster of this machine: one session, workers of one thread each, loopback only."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path

import numpy as np
import pytest
from sources import table, write_parts
from tests.commands import separatrix

from separatrix import (
    LeastSquares,
    LinearDiscriminant,
    LogisticRegression,
    Perceptron,
    QuadraticDiscriminant,
    cluster,
    compare,
    cross_validate,
    verify,
)
from separatrix.cluster import Choices, cluster_fit
from separatrix.cluster.checkpoints import Checkpoint
from separatrix.cluster.partitions import partitions_of
from separatrix.errors import ClusterError, DataError, ParameterError
from separatrix.features.table_model import TableModel

os.environ["RAY_USAGE_STATS_ENABLED"] = os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"  # loopback only
ray = pytest.importorskip("ray", reason="Ray is not installed: pip install 'separatrix[cluster]'")
pytestmark = [
    pytest.mark.xdist_group("ray"),
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::FutureWarning", "ignore::DeprecationWarning"),
]
CHOICES = {"label": Choices(scale="standard", drop=("number",)), "number": Choices(scale="standard", drop=("label",))}


@pytest.fixture(scope="module")
def session():
    """A cluster of three processors, for all tests."""
    ray.init(
        address="local",
        num_cpus=3,
        include_dashboard=False,
        log_to_driver=False,
        logging_level="error",
    )
    address = ray.get_runtime_context().gcs_address
    assert address.startswith("127.0.0.1:")
    yield address
    ray.shutdown()


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    return write_parts(tmp_path_factory.mktemp("ray"), *table())


def fit(learner, source, target="label", **where):
    return cluster.fit(learner, source, target=target, choices=CHOICES[target], **where)


def bits(model):
    """Every number of the fitted learner."""
    kept = {k: np.asarray(v) for k, v in vars(model.learner).items() if k.endswith("_")}
    return {k: v.tobytes() for k, v in kept.items() if v.dtype.kind in "fi"}


LEARNERS = {
    "label": (LinearDiscriminant, QuadraticDiscriminant, LogisticRegression, lambda: Perceptron(max_iter=3)),
    "number": (LeastSquares, lambda: LeastSquares(alpha=1.0)),
}


def all_bits(source, target, **where):
    """Every number of several learners that are fitted to the same partitions."""
    out = []
    with cluster_fit.opened(LEARNERS[target][0](), source, target, CHOICES[target], **where) as (_, rows):
        for make in LEARNERS[target]:
            learner = make()
            cluster_fit.fit_rows(learner, rows, Checkpoint(None, {}))
            out.append(bits(TableModel(learner)))
    return out


@pytest.fixture(scope="module")
def here(source):
    """What this process makes of the same partitions."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {target: all_bits(source, target, address="here") for target in LEARNERS}


@pytest.mark.parametrize(
    "workers", [pytest.param(1, marks=pytest.mark.slow), 2, pytest.param(3, marks=pytest.mark.slow)]
)
@pytest.mark.filterwarnings("ignore::separatrix.errors.IterationWarning")
def test_the_same_bits_for_any_number_of_workers_and_for_this_process(session, source, here, workers):
    assert all_bits(source, "label", workers=workers) == here["label"]
    if workers > 1:
        assert all_bits(source, "number", workers=workers) == here["number"]


def held_by(rounds):
    """The processes of the workers."""
    return rounds.ray.get([actor.pid.remote() for actor in rounds.actors])


@pytest.mark.slow
def test_a_worker_killed_in_the_middle_of_a_round(session, source):
    from separatrix.cluster.ray_rounds import RayRounds

    def slowly(part):
        time.sleep(0.2)
        return part.partition.index

    with RayRounds(partitions_of(source), workers=2) as rounds:
        victim = held_by(rounds)[0]
        threading.Timer(0.3, os.kill, (victim, signal.SIGKILL)).start()
        assert rounds.map("slowly", slowly) == list(range(8))
        assert sum(rounds.deaths) == 1
        assert victim not in held_by(rounds)


@pytest.mark.slow
def test_a_slow_worker_does_not_change_the_result(session, source, here, monkeypatch):
    from separatrix.cluster.ray_rounds import RayRounds

    answers, rounds = RayRounds._answers, []

    def slowed(self, job):
        work, *rest = job

        def slowly(part, *arguments):
            time.sleep(0.05 if part.partition.index < 2 else 0.0)
            return work(part, *arguments)

        rounds.append(slowly)
        return answers(self, (slowly, *rest))

    monkeypatch.setattr(RayRounds, "_answers", slowed)
    assert bits(fit(LogisticRegression(), source, workers=2)) == here["label"][2]
    assert len(rounds) > 10


def test_a_fit_whose_worker_is_killed_has_the_same_bits(session, source, here):
    from separatrix.cluster import ray_rounds

    kept, killed = ray_rounds.RayRounds._round, []

    def killing(rounds, what, job):
        if what == "Hessian" and not killed:
            killed.append(held_by(rounds)[1])
            os.kill(killed[0], signal.SIGKILL)
        return kept(rounds, what, job)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ray_rounds.RayRounds, "_round", killing)
        found = bits(fit(LogisticRegression(), source, workers=2))
    assert killed
    assert found == here["label"][2]


@pytest.mark.slow
def test_partitions_that_kill_every_worker_are_named(session, source, monkeypatch):
    from separatrix.cluster.ray_rounds import RayRounds

    def deadly(part):
        os._exit(1)

    with (
        RayRounds(partitions_of(source), workers=1) as rounds,
        pytest.raises(ClusterError, match=r"died .*part00\.csv"),
    ):
        rounds.map("deadly", deadly)


DRIVER = """
import sys, time
from separatrix import LogisticRegression, cluster
from separatrix.cluster import Choices, checkpoints
source, address, path = sys.argv[1:]
def save(self, _kept=checkpoints.Checkpoint.save, **state):
    _kept(self, **state)
    if sum(name.endswith(":kind") and "." not in name for name in state) == 6:
        print("saved", flush=True)
        time.sleep(60)
checkpoints.Checkpoint.save = save
cluster.fit(LogisticRegression(C=100.0), source, target="label", address=address, workers=2, checkpoint=path,
            choices=Choices(scale="standard", drop=("number",)))
"""


@pytest.mark.slow
def test_a_driver_killed_between_rounds_resumes_from_its_checkpoint(session, source, tmp_path):
    path = tmp_path / "run.checkpoint"
    command = [sys.executable, "-c", DRIVER, source, session, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as driver:
        line = driver.stdout.readline()
        driver.kill()
    assert line == "saved\n"
    assert path.exists()
    for _ in range(100):
        if ray.available_resources().get("CPU", 0) >= 2:  # the actors of the dead driver are gone
            break
        time.sleep(0.2)
    resumed, whole = [], []
    again = fit(
        LogisticRegression(C=100.0), source, workers=2, checkpoint=path, progress=lambda *at: resumed.append(at)
    )
    here = fit(LogisticRegression(C=100.0), source, address="here", progress=lambda *at: whole.append(at))
    assert len(resumed) == len(whole) - 6  # results of six passes were in the file
    assert bits(again) == bits(here)
    assert not path.exists()


def test_an_interruption_leaves_the_cluster_as_it_was(session, source):
    free = ray.cluster_resources()["CPU"]  # workers of the test before may still be leaving

    def stop(what, count, rows):
        if what == "Hessian":
            raise KeyboardInterrupt

    learner = LogisticRegression(C=100.0)
    with pytest.raises(KeyboardInterrupt):
        fit(learner, source, workers=2, progress=stop)
    assert learner.status_.name == "INTERRUPTED"
    assert ray.is_initialized()
    for _ in range(100):
        if ray.available_resources().get("CPU", 0) == free:
            break
        time.sleep(0.2)
    assert ray.available_resources()["CPU"] == free


def test_a_partition_with_another_schema_is_named_and_nothing_is_fitted(session, tmp_path):
    for k in range(8):
        (tmp_path / f"part{k}.csv").write_text("p,q,label\n1.5,2,yes\n2.5,3,no\n")
    (tmp_path / "part5.csv").write_text("p,other,label\n1.5,2,yes\n")
    learner = LinearDiscriminant()
    with pytest.raises(DataError, match=r"part5.csv has other columns than part0.csv: .*nothing was fitted"):
        cluster.fit(learner, str(tmp_path / "part*.csv"), target="label", workers=2)
    assert not hasattr(learner, "coef_")


@pytest.mark.slow
def test_proofs_predictions_and_evaluation(session, source, tmp_path):
    only = Choices(drop=("number", "group", "s"))
    found = cluster.separability(source, target="label", workers=2, choices=only)
    assert found.verdict == "overlap"
    from separatrix.data.sources import open_source

    frame = open_source(source.replace("part*", "whole")).read()
    names = ["p", "q", "r", "constant", "copy"]
    X = np.column_stack([frame[name].values for name in names])
    assert "overlap" in verify(found.certificate, X, frame["label"].values)
    model = fit(LogisticRegression(), source, workers=2)
    files = cluster.predict(model, source, tmp_path / "out", workers=2)
    predicted = [line.split(",")[0] for path in files for line in Path(path).read_text().splitlines()[1:]]
    rows, _ = model.rows(frame)
    assert predicted == model.learner.predict(rows).tolist()
    judged = cluster.evaluate(model, source, workers=2)
    assert judged.accuracy == pytest.approx(model.learner.score(rows, frame["label"].values))
    assert judged.rows == 1200


@pytest.mark.slow
def test_folds_on_the_cluster_are_those_of_this_process(session):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = (X[:, 0] + rng.normal(size=200) > 0).astype(int)
    with cluster.RayExecutor() as executor:
        spread = cross_validate(LogisticRegression(C=1.0), X, y, folds=3, random_state=0, executor=executor)
    alone = cross_validate(LogisticRegression(C=1.0), X, y, folds=3, random_state=0)
    assert {k: v.tobytes() for k, v in spread.fold_values.items()} == {
        k: v.tobytes() for k, v in alone.fold_values.items()
    }


def test_more_workers_than_processors(session, source):
    with pytest.raises(ClusterError, match="8 workers were asked for and the cluster has 3 processors"):
        fit(LinearDiscriminant(), source, workers=8)


def test_learners_are_compared_on_the_cluster_as_in_this_process(session):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 3))
    y = (X[:, 0] + rng.normal(size=150) > 0).astype(int)
    learners = {"logistic": LogisticRegression(C=1.0), "lda": LinearDiscriminant()}
    with cluster.RayExecutor() as executor:
        spread = compare(learners, X, y, folds=3, repeats=1, random_state=0, executor=executor)
    assert spread.to_dict() == compare(learners, X, y, folds=3, repeats=1, random_state=0).to_dict()


def test_the_commands_on_the_cluster(session, source, tmp_path):
    where = ("--cluster", session, "--workers", 1)
    words = ("--target", "label", "--drop", "number", "--scale", "standard", "--learner", "linear-discriminant")
    fitted = separatrix("fit", source, *words, *where, "--out", tmp_path / "m.sepx")
    assert fitted.returncode == 0, fitted.stderr
    assert "rows in 8 partitions" in " ".join(fitted.stdout.split())  # a long path folds the line
    done = separatrix("predict", tmp_path / "m.sepx", source, *where, "--out", tmp_path / "out", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["rows"] == 1200
    files = sorted((tmp_path / "out").iterdir())
    assert [path.name for path in files] == [f"part-{k:05d}.csv" for k in range(8)]
    parts = [path.read_text().splitlines() for path in files]
    whole = source.replace("part*", "whole")
    alone = separatrix("predict", tmp_path / "m.sepx", whole, "--only", "--quiet").stdout.splitlines()
    assert [line for part in parts for line in part[1:]] == alone[1:]
    assert {part[0] for part in parts if len(part) > 1} == {alone[0]}
    judged = separatrix("evaluate", tmp_path / "m.sepx", source, *where, "--json")
    assert judged.returncode == 0, judged.stderr
    one = json.loads(separatrix("evaluate", tmp_path / "m.sepx", whole, "--json").stdout)
    assert json.loads(judged.stdout)["confusion"] == one["confusion"]
    assert json.loads(judged.stdout)["low"] == pytest.approx(one["metrics"]["accuracy"]["low"])


WEB = bytes((0, 0, 0, 4, 0, 0, 0, 0, 0)) + bytes((0, 0, 1, 1, 5, 0, 0, 0, 1, 0x8D))  # HTTP/2, status 404


@pytest.mark.parametrize("said", [b"", b"HTTP/1.1 400 Bad Request\r\n\r\n", WEB, None])
def test_a_host_that_is_silent_or_is_something_else(tmp_path, said):
    """Nothing is said, something else than Ray is, or the connection is closed: no more than 10 s each."""
    from separatrix.cluster import ray_rounds

    (tmp_path / "rows.csv").write_text("x,y\n0,1\n1,3\n2,5\n")
    with socket.create_server(("127.0.0.1", 0)) as server:
        kept = []

        server.settimeout(30)

        def answer():
            kept.append(server.accept()[0])
            if said is None:
                kept[0].close()
            elif said:
                kept[0].sendall(said)

        host = threading.Thread(target=answer)
        host.start()
        words = ("--cluster", f"127.0.0.1:{server.getsockname()[1]}", "--learner", "least-squares")
        done = separatrix("fit", tmp_path / "rows.csv", *words, "--out", tmp_path / "m.sepx")
        host.join()
        kept[0].close()
    assert done.returncode == 2
    expected = {b"": "does not answer within", None: "Ray cluster"}.get(said, "is not a Ray cluster")
    assert expected in " ".join(done.stderr.split())
    assert len(done.stderr.splitlines()) <= 4
    assert 2 * ray_rounds.REACH <= 10


def test_ray_answers_the_greeting(session):
    from separatrix.cluster.ray_rounds import need_answer

    assert need_answer(session) is None


def test_addresses_that_do_not_answer():
    from separatrix.cluster.ray_rounds import need_answer

    for address in ("127.0.0.1:1", "ray://127.0.0.1:1"):
        with pytest.raises(ClusterError, match="no Ray cluster answers at"):
            need_answer(address)
    with pytest.raises(ParameterError, match="write auto, HOST:PORT or ray://HOST:PORT"):
        need_answer("somewhere")

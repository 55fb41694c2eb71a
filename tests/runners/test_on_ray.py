"""`run` on a ray cluster: the executor of the page about clusters, and a worker that dies."""

import os
import re
from concurrent.futures import Executor
from pathlib import Path

import pytest

import equipoise as eq
from equipoise.offsets import SLOT

ray = pytest.importorskip("ray", reason="needs ray: pip install ray")
PAGE = (Path(__file__).parents[2] / "docs" / "cluster.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def executor():
    """The class that the page shows, on a cluster of this machine."""
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="error")
    names = {"ray": ray, "Executor": Executor}
    (code,) = re.findall(r"^class RayExecutor.*?(?=^```)", PAGE, re.MULTILINE | re.DOTALL)
    exec(code, names)
    yield names["RayExecutor"]()
    ray.shutdown()


def dies_once(mark):
    def measure(x):
        if x["q"] > 0.5:
            try:
                os.close(os.open(mark, os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                pass
            else:
                os._exit(1)
        return -((x["q"] - 0.3) ** 2)

    return measure


def test_a_ray_cluster_measures_and_goes_on_if_a_worker_dies(executor, tmp_path):
    opt = eq.Optimizer(eq.Space(q=eq.Float(0, 1)), rng=0)
    best = opt.run(dies_once(str(tmp_path / "mark")), readings=24, executor=executor, workers=2, timeout=60)
    assert (tmp_path / "mark").exists()
    records = [record for record in opt.records() if record.value is not None]
    assert 24 <= len(records) == len({record.trial for record in records}) == opt.readings
    assert opt.study.open_trials == ()
    assert {record.worker[: len(SLOT)] for record in records} == {SLOT}
    assert abs(best.x["q"] - 0.3) < 0.2

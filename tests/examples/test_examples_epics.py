"""Setpoints through Channel Access: the example against a soft IOC."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

import equipoise as eq

pytest.importorskip("caproto", reason="this test needs a soft IOC: pip install caproto")
FOLDER = Path(__file__).parents[2] / "examples"
PUT = [sys.executable, str(FOLDER / "epics_setpoints.py"), "--set"]
PIECE = """
import sys, equipoise as eq, epics_setpoints as machine
space = eq.Space(q1=eq.Float(-1.5, 1.5), q2=eq.Float(-1, 1))
opt = eq.Optimizer(space, rng=0, log=sys.argv[1])
for _ in range(3):
    trial = opt.ask()
    machine.put(trial.x)
    opt.tell(trial, machine.diode(trial.x))
"""


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


@pytest.fixture
def machine():
    """The IOC in its own process, and the environment in which it is found."""
    port = str(free_port())
    names = {"EPICS_CA_SERVER_PORT": port, "EPICS_CA_REPEATER_PORT": str(free_port()), "EPICS_PREFIX": f"TEST{port}:"}
    names |= {"EPICS_CA_ADDR_LIST": f"127.0.0.1:{port}", "EPICS_CA_AUTO_ADDR_LIST": "NO"}
    found = os.environ | names | {"PYTHONPATH": f"{FOLDER}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"}
    begin = [sys.executable, "-c", "import epics_setpoints; epics_setpoints.ioc()"]
    with subprocess.Popen(begin, env=found, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            yield found
        finally:
            process.kill()


def test_setpoints_go_through_channel_access(machine, tmp_path):
    for _ in range(10):  # until the IOC listens
        done = subprocess.run([*PUT, "--q1=0.5", "--q2=-0.25"], env=machine, capture_output=True, text=True, timeout=60)
        if done.returncode == 0:
            break
    assert done.returncode == 0, done.stderr
    path = tmp_path / "study.jsonl"
    subprocess.run([sys.executable, "-c", PIECE, str(path)], env=machine, check=True, timeout=120)
    opt = eq.resume(path)
    assert opt.readings == 3
    first = opt.records()[0]
    assert 0 < first.value < 2  # the sum of a transmission and a drift

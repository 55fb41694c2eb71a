"""`equipoise tune`: parameters in a command line, failures that teach, and a verified winner."""

import math
import re
import shlex
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from click.testing import CliRunner

import equipoise as eq
from equipoise.answer import Difference, FrontPoint, LimitEstimate, Usability
from equipoise.cli.main import main
from equipoise.programs.commands.tuning import Template, parsed
from equipoise.programs.commands.tuning.goals import Goals
from equipoise.programs.comparison_log import Execution
from invoking import interruptible, invoke

BOWL = f"{sys.executable} -S -c 'print(({{q=-2.0..2.0}} - 0.7) ** 2 + {{n=1..9:2}})'"
"""A program that reads least at q = 0.7 and n = 1."""


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


# Templates.


def test_every_kind_of_parameter():
    template = parsed(
        "x --a {a=1..64:log} --b {b=0.1..2.0} --c {c=fast|safe} --d {d=1..9:2} --e {e=0..1:0.25} {f=1e-4..1:log}"
    )
    assert template.parameters == {
        "a": eq.Int(1, 64, log=True),
        "b": eq.Float(0.1, 2.0),
        "c": eq.Choice(["fast", "safe"]),
        "d": eq.Int(1, 9),
        "e": eq.Float(0.0, 1.0, step=0.25),
        "f": eq.Float(1e-4, 1.0, log=True),
    }
    assert template.steps == {"d": 2}
    x = {"a": 5, "b": 0.5, "c": "safe", "d": 6, "e": 0.5, "f": 0.01}
    assert template.settings(x) == x | {"d": 5}
    assert template.command(template.settings(x)) == "x --a 5 --b 0.5 --c safe --d 5 --e 0.5 0.01"


def test_steps_never_leave_the_range():
    template = parsed("{n=1..10:4}")
    assert {template.settings({"n": n})["n"] for n in range(1, 11)} == {1, 5, 9}
    assert template.settings({"n": 10}) == {"n": 9}


def test_a_constraint_holds_of_every_setting_and_may_not_be_about_what_is_rounded():
    plan = parsed("x {jobs=1..16} {mem=64..4096:log} {n=1..9:2}").constrained(["jobs * mem <= 8192"])
    points = plan.space.candidates(np.random.default_rng(0))
    assert all(x["jobs"] * x["mem"] <= 8192 for x in map(plan.space.decode, points))
    assert plan.start(["jobs=2"])["jobs"] == 2
    with pytest.raises(ValueError, match=r"--start must be where --constraint holds, got \{'jobs': 16"):
        plan.start(["jobs=16", "mem=4096"])
    with pytest.raises(ValueError, match="--constraint must not be about n, which is rounded to its steps"):
        plan.constrained(["jobs + n < 9"])


def test_other_braces_stay_and_a_parameter_may_stand_twice():
    template = parsed("echo ${HOME} {n=1..3} | awk '{print $1}' {n} {m}")
    assert template.command({"n": 2}) == "echo ${HOME} 2 | awk '{print $1}' 2 {m}"


def test_a_setting_is_one_word_of_a_shell():
    assert parsed("echo {mode=a b|$(touch x)}").command({"mode": "$(touch x)"}) == "echo '$(touch x)'"


HOSTILE = [
    "$(touch x)",
    "`touch x`",
    "'; touch x; '",
    '"; touch x; "',
    "a\\",
    "it's",
    "\n touch x\n",
    "${n}",
    "{n}",
    "!!",
]
"""Options that a shell would run, or change."""

PLACES = ["{}", "'{}'", '"{}"', "a{}b", "'a {} b'", '"a {} b"', '"$(echo "{}")"', "$(echo '{}')"]


@pytest.mark.parametrize("place", PLACES)
def test_a_setting_is_itself_inside_and_outside_of_quotes(place, tmp_path):
    for value in HOSTILE:
        template = Template(f"printf '%s.' {place.format('{mode}')} {{n}}", {"mode": eq.Choice(["a", value])}, {})
        command = template.command({"mode": value})
        said = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=True).stdout
        expected = re.sub(r"[$()'\"]|echo ", "", place).format(value) + ".{n}."
        if "$(" in place:  # which takes off the last line breaks, and of which a part may be several words
            assert "".join(said.split()).replace(".", "") == "".join(expected.split()).replace(".", "")
        else:
            assert said == expected
            assert shlex.split(command)[2:] == expected.split(".")[:2]  # without a shell too
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize(
    "place",
    ["# {}", "cat <<E\n{}\nE", "`ls {}`", "${{x:-{}}}", "$(({}))", "$'{}'", "\\{}", "${}", "$(case x in a) {}; esac)"],
)
def test_a_setting_has_no_place_where_a_shell_may_run_it(place):
    with pytest.raises(ValueError, match=r"mode: '\$\(touch x\)' must not stand in a comment, a here-document"):
        parsed("echo " + place.format("{mode=a|$(touch x)}"))
    plain = parsed("echo " + place.format("{mode=a|b}"))
    assert plain.command({"mode": "b"}) == "echo " + place.format("b")


def test_what_stands_before_a_setting_does_not_matter():
    before = "a=${HOME}; b=$((1 + 2)) # it's\nc=`ls` (ls) $(ls \"(\") \\' "
    filled = parsed(before + "{mode=a|$(b)} '{mode}' \"{mode}\"").command({"mode": "$(b)"})
    assert filled == before + "'$(b)' '''$(b)''' \"'$(b)'\"".replace("\"'", '""\'').replace("'\"", '\'""')


def test_the_start_is_what_is_given_and_else_the_middle():
    template = parsed("{a=1..64:log} {b=0.0..4.0} {c=x|y} {d=1..9:2}")
    assert template.start([]) == {"a": 8, "b": 2.0, "c": "x", "d": 5}
    assert template.start(["a=2", "c=y"]) == {"a": 2, "b": 2.0, "c": "y", "d": 5}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ls", "must have a parameter in it, such as {threads=1..64}"),
        ("{n=1..1}", "as {n=LOW..HIGH}, LOW below HIGH, with :log or :STEP behind it, got {n=1..1}"),
        ("{n=0..9:log}", "got {n=0..9:log}"),
        ("{n=1..9:20}", "got {n=1..9:20}"),
        ("{n=1..9:1:2}", "got {n=1..9:1:2}"),
        ("{n=a..b}", "got {n=a..b}"),
        ("{n=a}", r"a choice must be declared as {n=ONE\|OTHER}"),
        ("{n=a|a}", r"a choice must be declared as"),
        ("{n=1..3} {n=1..3}", "n must be declared once: write {n} where it stands again"),
    ],
)
def test_templates_that_make_no_sense(text, message):
    with pytest.raises(ValueError, match=message):
        parsed(text)


@pytest.mark.parametrize(
    ("start", "message"),
    [
        ("x=1", "--start must name parameters of the command line, got x"),
        ("q=a", "--start must give q a number, got 'a'"),
        ("q=9", "--start: `x['q']` must lie within [0.5, 2.0], got 9.0"),
    ],
)
def test_starts_that_make_no_sense(start, message):
    assert message in invoke("tune", "echo {q=0.5..2.0}", "--start", start, code=1).stderr


# The search.


def test_it_finds_the_best_settings_and_verifies_them():
    options = ["--metric", "reading", "-N", "--readings", 40, "--time", "60s", "--seed", 1, "--start", "n=9", "--json"]
    data = invoke("tune", BOWL, *options, "--plot", "tune.png").data
    assert data["x"]["n"] == 1
    assert abs(data["x"]["q"] - 0.7) < 0.5
    assert data["verified"]["standing"] == "better"
    assert data["verified"]["difference"]["high"] < -7
    assert data["command"] == BOWL.replace("{q=-2.0..2.0}", str(data["x"]["q"])).replace("{n=1..9:2}", "1")
    with open("tune.png", "rb") as file:
        assert file.read(4) == b"\x89PNG"


def test_higher_and_what_is_printed():
    options = ["--metric", "reading", "--higher", "-N", "--readings", 12, "--seed", 0, "--start", "n=1"]
    said = invoke("tune", "echo {n=1..9}", *options).stdout.splitlines()
    assert said[0] == "Start: n = 1"
    assert said[1] == "Best: n = 9, after 12 readings"
    assert said[2].startswith("best is higher than start by 8 [8, 8] in this session")
    assert said[3] == "echo 9"


def test_times_are_compared_by_their_ratio():
    options = ["--readings", 12, "--seed", 0, "--start", "n=9", "-N", "--json", "--time", "60s"]
    data = invoke("tune", "sleep 0.0{n=1..9}", *options).data
    assert data["x"]["n"] <= 4
    assert data["verified"]["standing"] == "better"
    assert data["verified"]["ratio"]["high"] < 1


def test_failures_and_timeouts_are_learned_from():
    """From 6 on it fails, at 5 it hangs: the best of the rest is found."""
    script = "n={n=1..9}; test $n -lt 6 || exit 1; test $n -ne 5 || sleep 600; echo $n"
    options = ["--metric", "reading", "--higher", "--readings", 16, "--timeout", "2s", "--seed", 0, "--start", "n=1"]
    data = invoke("tune", script, *options, "--log", "study.jsonl", "--json").data
    assert data["x"] == {"n": 4}
    failed = {record.x["n"]: record.failed for record in eq.resume("study.jsonl").records() if record.failed}
    assert failed
    assert {n: why for n, why in failed.items() if n > 5} == {n: "exit status 1" for n in failed if n > 5}


def test_a_study_like_any_other_that_can_be_continued():
    options = ["--metric", "reading", "-N", "--log", "study.jsonl", "--seed", 0]
    invoke("tune", BOWL, *options, "--readings", 6)
    assert eq.resume("study.jsonl").readings == 6
    assert "n = " in invoke("best", "study.jsonl").stdout
    data = invoke("tune", BOWL, *options, "--readings", 10, "--json").data
    assert data["readings"] == 10
    records = eq.resume("study.jsonl").records()
    assert {record.x["n"] for record in records} <= {1, 3, 5, 7, 9}  # where it was really measured
    said = invoke("tune", "echo {z=1..9}", *options, code=1).stderr
    assert "study.jsonl is a study of something else" in said


def test_a_start_that_fails_is_refused():
    said = invoke("tune", "echo why >&2; exit {n=1..3}", "--start", "n=1", code=4).stderr
    assert "the start failed, exit status 1: echo why >&2; exit 1\n  why\n" in said


def test_the_last_words_of_a_failure_are_in_the_study():
    script = "test {n=1..9} -eq 1 || { echo out of memory >&2; exit 5; }; echo 1"
    options = ["--metric", "reading", "--readings", 3, "--seed", 0, "--start", "n=1", "--log", "study.jsonl"]
    invoke("tune", script, *options)
    reasons = {record.failed for record in eq.resume("study.jsonl").records() if record.failed}
    assert reasons == {"exit status 5: out of memory"}


def test_a_winner_that_fails_later_is_said_to_be_unverified(tmp_path):
    """The program works 14 times: once for the start, 12 times in the search, once more."""
    script = f"echo . >> {tmp_path}/n; test $(wc -l < {tmp_path}/n) -le 14 && echo {{n=1..9}}"
    options = ["--metric", "reading", "--readings", 12, "--seed", 0, "--start", "n=9"]
    said = invoke("tune", script, *options)
    assert "failed, exit status 1" in said.stderr
    assert "Best: n = 1, after 12 readings\nNot verified against the start.\n" in said.stdout


def test_a_program_that_always_fails_later_ends_it():
    script = "test {n=1..999} -eq 500 && echo 1"
    said = invoke("tune", script, "--metric", "reading", "--start", "n=500", "--seed", 0, code=4).stderr
    assert "The program failed 20 times in a row. The last error: exit status 1: test " in said


def test_an_interrupt_keeps_the_study(tmp_path):
    words = ["tune", "sleep 0.0{n=1..9}", "--log", "study.jsonl", "--seed", "0"]
    process = subprocess.Popen(
        [sys.executable, "-m", "equipoise", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=interruptible,
    )
    log, until = tmp_path / "study.jsonl", time.monotonic() + 120
    while not (log.exists() and log.read_text().count('"tell"') >= 3):
        assert time.monotonic() < until
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "Interrupted; with --log the same command continues." in err
    assert "Traceback" not in err
    assert re.search(r"Best: n = \d, after \d+ readings\n(Not verified|The start is the best)", out)
    assert eq.resume(log).readings >= 3


def test_choices_may_have_commas_and_a_start_several_settings():
    template = parsed("run --mode {mode=fast,safe} --odd {odd=a,b|c} -n {n=1..9}")
    assert template.parameters["mode"].options == ("fast", "safe")
    assert template.parameters["odd"].options == ("a,b", "c")
    for text in ("mode=safe odd=a,b n=3", "mode=safe, odd=a,b,n=3"):
        assert template.start([text]) == {"mode": "safe", "odd": "a,b", "n": 3}


def test_setup_warmup_and_prepare_run_where_they_should(tmp_path):
    said = tmp_path / "said"
    add = f"echo {{}} >> {said}"
    hooks = ["--setup", add.format("s"), "--prepare", add.format("p{n}"), "--warmup", 2]
    command = f"{add.format('r{n=1..4}')}; echo {{n}}"
    data = invoke("tune", command, "--metric", "reading", "--readings", 6, "--time", "60s", "--start", "n=4", *hooks,
                  "--seed", 0, "--json").data  # fmt: skip
    lines = said.read_text().split()
    assert lines[:7] == ["s", "p4", "r4", "p4", "r4", "p4", "r4"]
    assert [line[1:] for line in lines[1::2]] == [line[1:] for line in lines[2::2]]
    assert lines.count("s") == 1
    assert data["x"]["n"] == 1
    assert data["verified"]["rounds"] >= 6


def test_a_prepare_that_fails_is_named():
    failed = invoke("tune", "true {n=1..4}", "--prepare", "exit 3", "--time", "9s", code=4)
    assert "the start failed, in its --prepare: exit status 3: true 3" in failed.stderr


def test_a_search_that_measured_nothing_says_so():
    said = invoke("tune", "sleep 0.1; true {n=1..4}", "--time", "0.01s").stdout
    assert "No setting was measured." in said


# --- objectives and limits by name -----------------------------------------------------------------------------------


def goals(**given):
    return Goals.of({"metric": None, "higher": False, "read": (), "objective": (), "limits": (), **given})


def test_limits_have_units_and_may_be_counted_from_the_start():
    limits = ["rss <= 2GB", "wall <= start + 10%", "p99 >= 3", "user <= 0.5min", "page-faults <= start - 50%"]
    found = goals(objective=["-loss, -cpu"], limits=limits)
    assert found.arguments["objective"] == "-loss, -log_cpu"
    assert found.arguments["limits"] == [
        "rss <= 2e+09",
        f"log_wall <= start + {math.log1p(0.1)!r}",
        "p99 >= 3",
        "user <= 30",
        f"log_page_faults <= start - {math.log(2)!r}",
    ]
    assert found.events == ["page-faults"]
    assert {each.name for each in found.read} == {"loss", "p99"}
    run = Execution("trial", 2.0, 0.5, 0.5, None, numbers={"loss": -3.0, "p99": 4.0, "page-faults": 8})
    told = {"loss": -3.0, "log_cpu": 0.0, "rss": 1e7, "log_wall": math.log(2), "p99": 4.0, "user": 0.5}
    assert found.value(run, 1e7) == pytest.approx({**told, "log_page_faults": math.log(8)})


@pytest.mark.parametrize(
    ("options", "rule"),
    [
        (["--limit", "rss"], "--limit must be such as 'rss <= 2GB'"),
        (["--limit", "rss <= start 2"], "--limit must be such as"),
        (["--limit", "p99 <= 5ms"], "--limit must have a plain number, since the unit of p99 is not known, got"),
        (["--limit", "rss <= 2parsecs"], "--limit must have one of the units %, B, kB, MB, GB, KiB, MiB, GiB, got"),
        (["--limit", "p99 <= start + 10%"], "in percent of the start for a time, memory or event"),
        (["--limit", "rss <= 10%"], "in percent of the start"),
        (["--limit", "rss <= start - 100%"], "must leave more than nothing"),
        (["--limit", "rss <= 2GB", "--limit", "rss <= start + 1%"], "in percent or in its unit, and not both"),
        (["--objective", "wall"], "--objective must be -wall to make wall as small as possible"),
        (["--objective", "-wall", "--higher"], "without --metric and --higher"),
        (["--objective", "a b"], "must be a name, or several such as"),
        (["--objective", "-n"], "must not name an output like a parameter"),
    ],
)
def test_goals_that_make_no_sense(options, rule):
    result = CliRunner().invoke(main, ["tune", "echo {n=1..3}", *options, "--time", "1s"])
    assert result.exit_code in (1, 2)
    assert rule in " ".join(result.stderr.split())


def test_where_to_measure_is_refused_before_anything_is_measured():
    result = CliRunner().invoke(main, ["tune", "false {n=1..3}", "--address", "tcp://x:1", "--time", "1s"])
    assert result.exit_code == 2
    assert "--address must come with --executor dask" in " ".join(result.stderr.split())


def test_a_limit_is_held_and_what_it_is_about_is_told():
    """The lowest reading is at n = 9, where the limit does not hold: 5 is the best that holds it."""
    command = 'echo \'{{"loss": 1{n=1..9}, "size": {n}}}\''
    options = ["--objective", "loss", "--limit", "size <= start + 2.5", "--start", "n=3", "--seed", 0, "--readings", 24]
    said = invoke("tune", command.replace("{{", "{").replace("}}}", "}}"), *options).stdout
    assert "Best: n = 5, after 24 readings\nAll limits hold with " in said
    assert re.search(r"%\. size <= start \+ 2\.5: \S+ \[", said)
    assert "start: size 3 (median of " in said
    assert "best: size 5 (median of " in said
    assert "best is higher than start by 2 [2, 2]" in said


def test_memory_that_is_too_little_to_be_told_holds_a_limit():
    options = ["--objective=-wall", "--limit", "rss <= 2GB", "--start", "n=3", "--readings", 8, "--log", "study.jsonl"]
    said = invoke("tune", "sleep 0.0{n=1..3}", *options, "-N", "--time", "2s").stdout
    assert "All limits hold with " in said
    assert re.search(r"start: rss (too little to be told|\S+ MB) \(", said)
    assert " in log wall, a factor of " in invoke("best", "study.jsonl").stdout


def test_limits_are_told_as_they_were_written():
    limits = ["rss <= 2GB", "wall <= start + 10%"]
    goals = Goals.of({"metric": None, "higher": False, "read": (), "objective": ["-p99"], "limits": limits})
    found = [
        LimitEstimate(text, *each) for (_, text), each in zip(goals.limits, [(2e7, 1e7, 3e7), (0, 0, 0.1)], strict=True)
    ]
    said = "All limits hold with 98 %. rss <= 2GB: 20 MB [10 MB, 30 MB]; wall <= start + 10%: +0.0 % [+0.0 %, +10.5 %]."
    assert goals.told(Usability(0.98, tuple(found))) == said


def test_a_front_is_told_as_its_goals_were_written():
    goals = Goals.of({"metric": None, "higher": False, "read": (), "objective": ["-wall", "p99"], "limits": []})
    known = {"log_wall": Difference(math.log(0.9), math.log(0.8), 0.0, "estimate"), "p99": Difference(2, 1, 3, "guess")}
    point = FrontPoint({"n": 2}, known, 0.0)
    assert goals.gains(point) == "wall -10.0 % [-20.0 %, +0.0 %], p99 +2 [+1, +3] against the start"
    unknown = known | {"p99": Difference(-2, -math.inf, math.inf, "guess")}
    assert "p99 -2 (no interval yet) against" in goals.gains(FrontPoint({"n": 2}, unknown, 0.0))


def test_two_objectives_leave_a_front(tmp_path):
    command = "echo speed={n=1..9}; echo size={n}{n}"
    options = ["--objective", "speed", "--objective", "-size", "--start", "n=5", "--seed", 0, "--readings", 16]
    data = invoke("tune", command, *options, "--log", tmp_path / "log.jsonl", "--json").data
    assert {point["x"]["n"] for point in data["front"]} >= {1, 9}
    assert set(data["front"][0]["objectives"]) == {"speed", "size"}
    assert "speed" in invoke("front", tmp_path / "log.jsonl").stdout
    said = invoke("tune", command, *options, "--log", tmp_path / "log.jsonl").stdout  # goes on, and has enough
    assert re.search(r"^Or: n = 9: speed \+", said, re.MULTILINE)
    assert re.search(r"^size: best is |^The start is the best", said, re.MULTILINE)
    other = invoke("tune", command, "--objective", "speed", "--log", tmp_path / "log.jsonl", code=1).stderr
    assert "is a study of something else" in other


def test_several_runs_at_once():
    """Four runs of 0.2 s at once."""
    options = ["--metric", "reading", "-N", "--seed", 0, "--readings", 24, "--start", "n=9", "--json", "--jobs", 4]
    command = f"{sys.executable} -S -c 'import time; time.sleep(0.2); print({{n=1..9}})'"
    begin = time.monotonic()
    data = invoke("tune", command, *options).data
    assert data["x"]["n"] == 1
    assert data["readings"] >= 24
    assert time.monotonic() - begin < 60


CLUSTER = """
import sys
from distributed import LocalCluster
from equipoise.cli.main import main

with LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None) as cluster:
    main([*sys.argv[1:], "--executor", "dask", "--address", cluster.scheduler_address])
"""


def test_a_cluster_measures_and_a_worker_is_a_block(tmp_path):
    """In its own process: a cluster leaves threads behind."""
    pytest.importorskip("distributed")
    log = tmp_path / "log.jsonl"
    options = ["--metric", "reading", "-N", "--seed", "0", "--readings", "16", "--start", "n=9", "--log", str(log)]
    command = [sys.executable, "-c", CLUSTER, "tune", "echo {n=1..9:2}", *options]
    said = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300).stdout
    assert "Best: n = 1, after " in said
    records = [record for record in eq.resume(log).records() if record.value is not None]
    assert all(record.block for record in records)
    assert {record.x["n"] for record in records} <= {1, 3, 5, 7, 9}


def test_the_budget_is_kept_and_has_room_for_seven_rounds():
    begin = time.monotonic()
    data = invoke("tune", "sleep 0.1{n=1..9}", "-N", "--time", "8s", "--start", "n=9", "--seed", 0, "--json").data
    assert time.monotonic() - begin < 60
    assert data["verified"] is None or data["verified"]["rounds"] >= 7


def test_settings_may_stand_behind_one_start():
    options = ["--metric", "reading", "--readings", 2, "--time", "20s", "--seed", 0]
    said = invoke("tune", "--start", "n=2", "m=8", "echo {n=1..9}{m=1..9}", *options).stdout
    assert "Start: n = 2, m = 8\n" in said
    result = CliRunner().invoke(main, ["tune", "./server", "{n=1..9}"])
    assert "TEMPLATE must be one command line in quotes, got 2 words: ./server {n=1..9}" in result.stderr


def test_an_event_of_which_there_may_be_none_has_no_logarithm():
    found = goals(objective=["-context-switches"], limits=["major-faults <= 3"])
    run = Execution("", 1.0, 1.0, 0.0, None, numbers={"context-switches": 0.0, "major-faults": 0.0})
    assert found.value(run, 0.0) == {"context_switches": 0.0, "major_faults": 0.0}
    assert {question.scale for question in found.questions().values()} == {"difference"}

"""Earlier readings from a spreadsheet, and blocks and covariates in the shell."""

import json
import sys

import pytest
from click.testing import CliRunner

import equipoise as eq
from equipoise.cli.main import main

SPACE = eq.Space(q1=eq.Float(0, 1), lens=eq.Choice(["in", "out"]))
TABLE = """q1, lens, yield, humidity, operator
0.1, in, 7.5, 0.4, anna
0.2, out, -3e-1, , bert
,,,,
0.3, open, 1, 0.5, anna
7, in, 1, 0.5, anna
0.4, in, n/a, 0.5, anna
"""


@pytest.fixture
def study(tmp_path):
    eq.Optimizer(SPACE, log=tmp_path / "study.jsonl", rng=0)
    return tmp_path / "study.jsonl"


def invoke(*arguments):
    return CliRunner().invoke(main, [str(each) for each in arguments])


def test_rows_are_taken_in_and_those_refused_are_listed(study):
    table = study.with_name("old.csv")
    table.write_text(TABLE)
    options = ("--value", "yield", "--covariate", "humidity", "--block", "2025")
    dry = invoke("import", study, table, *options, "--dry-run", "--json")
    assert (dry.exit_code, json.loads(dry.output)["taken"]) == (1, 2)
    assert not eq.resume(study).records()
    done = invoke("import", study, table, *options)
    assert done.exit_code == 1
    assert done.output.splitlines()[-4:] == [
        f"2 readings of {table} were added.",
        "  line 5 is skipped: lens must be one of in, out, got 'open'",
        "  line 6 is skipped: `x['q1']` must lie within [0.0, 1.0], got 7.0",
        "  line 7 is skipped: yield must be a number, got 'n/a'",
    ]
    opt = eq.resume(study)
    found = [(r.x["q1"], r.x["lens"], r.value, r.block, dict(r.covariates)) for r in opt.records()]
    assert found == [(0.1, "in", 7.5, "2025", {"humidity": 0.4}), (0.2, "out", -0.3, "2025", {})]
    assert opt.readings == 0


def test_a_table_without_a_column_is_refused(study):
    table = study.with_name("old.csv")
    table.write_text("q1;value\n0.1;2\n")
    refused = invoke("import", study, table)
    assert refused.exit_code == 1
    assert "must have the columns q1, lens, value; it lacks lens" in refused.output


def test_what_export_writes_import_reads(study, tmp_path):
    opt = eq.resume(study)
    for t in range(4):
        opt.tell(opt.ask(), 0.5 * t)
    out = tmp_path / "out.csv"
    assert invoke("export", study, "--out", out).exit_code == 0
    other = tmp_path / "other.jsonl"
    eq.Optimizer(SPACE, log=other, rng=1)
    assert invoke("import", other, out, "--block", "before").exit_code == 0
    assert [r.value for r in eq.resume(other).records()] == [0.0, 0.5, 1.0, 1.5]


def test_a_block_and_a_covariate_are_told_in_the_shell(study):
    assert invoke("ask", study).exit_code == 0
    told = invoke("tell", study, 0, 0.5, "--block", "monday", "--covariate", "humidity=0.4")
    assert told.exit_code == 0, told.output
    opt = eq.resume(study)
    assert (opt.study.block, dict(opt.records()[0].covariates)) == ("monday", {"humidity": 0.4})
    invoke("ask", study)
    assert "'humid' must be NAME=NUMBER" in invoke("tell", study, 1, 0.5, "--covariate", "humid").output


def test_a_program_is_run_in_a_block_and_may_say_more(study):
    program = "import json; print(json.dumps({'value': 1.0, 'covariates': {'humidity': 0.4}}))"
    done = invoke("run", study, "--readings", 2, "--block", "tuesday", "--", sys.executable, "-c", program)
    assert done.exit_code == 0, done.output
    told = eq.resume(study).records()
    assert [(record.block, dict(record.covariates)) for record in told] == [("tuesday", {"humidity": 0.4})] * 2


def test_a_table_that_the_study_has_is_refused_unless_it_is_meant(study):
    table = study.with_name("old.csv")
    table.write_text("q1,lens,value\n0.1,in,3\n0.1,in,3\n0.2,out,4\n")
    assert invoke("import", study, table, "--block", "2025").exit_code == 0  # two rows alike are two readings
    for options in ((), ("--dry-run",)):
        refused = invoke("import", study, table, "--block", "2025", *options)
        assert refused.exit_code == 1
        assert "has 3 of the 3 rows of" in refused.output
        assert "--new adds the others, --again adds all of them again" in refused.output
    assert len(eq.resume(study).records()) == 3
    assert invoke("import", study, table, "--block", "2024").exit_code == 0  # another block
    with table.open("a") as file:
        file.write("0.1,in,3\n0.3,out,5\n")  # a table that has grown
    refused = invoke("import", study, table, "--block", "2025")
    assert "has 3 of the 5 rows of" in refused.output
    grown = invoke("import", study, table, "--block", "2025", "--new", "--json")
    assert json.loads(grown.output)["taken"] == 2
    assert invoke("import", study, table, "--block", "2025", "--again").exit_code == 0
    assert len(eq.resume(study).records()) == 3 + 3 + 2 + 5
    assert invoke("import", study, table, "--again", "--new").exit_code == 2


def test_judgements_that_the_study_has_are_refused_too(study):
    table = study.with_name("votes.csv")
    table.write_text(
        "first.q1,first.lens,second.q1,second.lens,answer,judge\n0.1,in,0.2,out,first,anna\n0.3,in,0.2,out,equal,bert\n"
    )
    assert invoke("import", study, table, "--judgements").exit_code == 0
    assert "has 2 of the 2 rows of" in invoke("import", study, table, "--judgements").output
    assert eq.resume(study).judgements == 2


def test_a_study_that_is_exported_and_taken_in_again_is_noticed(study):
    opt = eq.resume(study)
    for value in range(4):
        opt.tell(opt.ask(), value)
    del opt
    table = study.with_name("own.csv")
    invoke("export", study, "--out", table)
    assert "has 4 of the 4 rows of" in invoke("import", study, table).output


def test_files_are_in_utf_8_with_a_mark_of_it_or_without(study, tmp_path):
    table, names, config = (tmp_path / name for name in ("old.csv", "names.txt", "study.toml"))
    table.write_text("q1,value\n0.5,1\n", encoding="utf-16")
    names.write_text("café\nthé\n", encoding="latin-1")
    config.write_text("[parameters]\nlens = 'é'\n", encoding="latin-1")
    for words in (("import", study, table), ("new", "b", "--names", names), ("new", "b", "--config", config)):
        assert f"{words[-1]} must be a text in UTF-8: " in invoke(*words).output
    names.write_text("café\nthé\n", encoding="utf-8-sig")
    config.write_text("[parameters]\nq1 = {type = 'float', low = 0, high = 1}\n", encoding="utf-8-sig")
    made = [tmp_path / "b.jsonl", tmp_path / "c.jsonl"]
    assert invoke("new", made[0], "--names", names).exit_code == 0
    assert invoke("new", made[1], "--config", config).exit_code == 0
    assert eq.resume(made[0]).space.names == ("café", "thé")
    assert list(eq.resume(made[1]).space.parameters) == ["q1"]


def test_counts_and_shares_are_checked_before_any_row_is_added(study):
    counts, shares = study.with_name("counts.jsonl"), study.with_name("shares.jsonl")
    eq.Optimizer(eq.Space(a=eq.Float(0, 1)), likelihood=eq.likelihoods.Poisson(), log=counts, rng=0)
    eq.Optimizer(eq.Space(a=eq.Float(0, 1)), likelihood=eq.likelihoods.Binomial(), log=shares, rng=0)
    table = study.with_name("old.csv")
    table.write_text("a,value,error\n0.1,3,\n0.2,-3,\n0.3,2.5,\n0.4,5,-1\n0.5,6,\n")
    assert invoke("import", counts, table).output.splitlines()[-4:] == [
        f"2 readings of {table} were added.",
        "  line 3 is skipped: `value` must be a whole number of at least 0, got -3.0",
        "  line 4 is skipped: `value` must be a whole number of at least 0, got 2.5",
        "  line 5 is skipped: `error` must not be negative, got -1.0",
    ]
    assert [record.value for record in eq.resume(counts).records()] == [3.0, 6.0]
    table.write_text("a,value\n0.1,3/9\n0.2,7/4\n0.3,5/x\n")
    assert invoke("import", shares, table).output.splitlines()[-3:] == [
        f"1 reading of {table} was added.",
        "  line 3 is skipped: `value` must have at most as many successes as trials, got (7.0, 4.0)",
        "  line 4 is skipped: value must be a number, got '5/x'",
    ]
    assert [(record.value, record.of) for record in eq.resume(shares).records()] == [(3.0, 9.0)]

"""The command lines of the pages: each is taken by the command it names, and those that are quick are run."""

import re
import shlex
import tomllib
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from equipoise.cli.main import MODULES, main

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md", *sorted((ROOT / "docs").rglob("*.md"))]
FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
SEPARATORS = {"|", "||", "&", "&&", ";", "(", ")", "$("}
BEFORE = {"until", "while", "if", "do", "then", "!", "time", "nohup"}
"""What may stand before a command."""

QUICK = ("new", "ask", "tell", "status", "best", "export", "audit")
"""Commands that are run, on the studies that the same page has made."""

PLACEHOLDER = re.compile(r"\$\(.*\)|\$\{[^}]*\}|\$\w+")
"""What a shell would put in."""


def name(page):
    return str(page.relative_to(ROOT))


def lines(page):
    """The command lines in the code blocks of a page: what follows a `$`, all of a script, what is indented."""
    text = page.read_text(encoding="utf-8")
    found = re.findall(r"^    ((?:equipoise|python|make|pip) .*)$", FENCE.sub("", text), re.MULTILINE)
    for language, block in FENCE.findall(text):
        joined = block.replace("\\\n", " ")
        if language == "console":
            found += re.findall(r"^\$ (.*)$", joined, re.MULTILINE)
        elif language in ("sh", "bash"):
            found += joined.splitlines()
    return found


def commands(line):
    """The simple commands of a line, each as a list of words."""
    lexer = shlex.shlex(PLACEHOLDER.sub("1", line), posix=True, punctuation_chars="|&;()")
    lexer.whitespace_split, lexer.commenters = True, "#"
    found = [[]]
    for word in lexer:
        if word in SEPARATORS:
            found.append([])
        else:
            found[-1].append(word)
    return [_bare(words) for words in found if words]


def _bare(words):
    """A command without what stands before it, and without where its output goes."""
    while words and (words[0] in BEFORE or re.fullmatch(r"\w+=.*", words[0])):
        words = words[1:]
    ends = [i for i, word in enumerate(words) if re.fullmatch(r"\d?>>?|<", word)]
    return words[: ends[0]] if ends else words


def parsed(arguments):
    """Let click take the arguments of `equipoise` as if they had been typed: an error of usage is raised."""
    if arguments != ["--version"]:
        command, rest = resolved(arguments)
        if "--help" not in rest:
            command.make_context(command.name, rest, parent=click.Context(main, **main.context_settings))


def resolved(words):
    """The command that words name, through groups, and the words that are left for it."""
    command = main
    while isinstance(command, click.Group) and words and words[0] in command.list_commands(click.Context(command)):
        command, words = command.get_command(click.Context(command), words[0]), words[1:]
    assert command is not main, words
    return command, words


LINES = [(page, line) for page in PAGES for line in lines(page)]
IDS = [f"{name(page)}: {line}" for page, line in LINES]


@pytest.mark.parametrize(("page", "line"), LINES, ids=IDS)
def test_a_command_line_is_taken(page, line, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for words in commands(line):
        match words:
            case ["equipoise", *arguments]:
                for file in re.findall(r"[\w-]+\.(?:toml|csv|txt)", line):  # which click wants to see
                    Path(file).touch()
                parsed(arguments)
            case ["python", "-m", module, *_]:
                assert module in ("build", "equipoise", "pytest", "sphinx"), module
            case ["python", script, *options]:
                source = (ROOT / script).read_text(encoding="utf-8")
                given = [word.partition("=")[0] for word in options if word.startswith("--")]
                assert [option for option in given if f'"{option}"' not in source] == []
            case ["make", *targets]:
                known = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
                assert {target for target in targets if "=" not in target} <= set(known)
            case ["pip", "install", *wanted]:
                extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
                assert {extra for each in wanted for extra in re.findall(r"\[(\w+)\]", each)} <= set(extras)


def test_most_lines_are_found():
    assert len(LINES) > 50
    found = [words for _, line in LINES for words in commands(line)]
    assert {words[1] for words in found if words[:1] == ["equipoise"]} >= {"new", "ask", "tell", "run", "tune", "serve"}
    assert commands('until equipoise best "$x" > out.txt; do ./one -n 3; done # why') == [
        ["equipoise", "best", "1"],
        ["./one", "-n", "3"],
        ["done"],
    ]


WITH_STUDIES = [page for page in PAGES if any("equipoise new " in line for line in lines(page))]


@pytest.mark.parametrize("page", WITH_STUDIES, ids=name)
def test_the_quick_commands_of_a_page_run(page, tmp_path, monkeypatch):
    """From top to bottom, in an empty folder; a bound that is not reached is an answer too."""
    monkeypatch.chdir(tmp_path)
    for words in (words for line in lines(page) if "$" not in line for words in commands(line)):
        if words[:1] == ["equipoise"] and words[1] in QUICK and (words[1] == "new" or Path(words[2]).exists()):
            result = CliRunner().invoke(main, words[1:])
            assert result.exit_code in (0, 3), (words, result.output)


SPANS = sorted(
    {
        (name(page), " ".join(span.split()))
        for page in PAGES
        for span in re.findall(r"`([^`]+)`", FENCE.sub("", page.read_text(encoding="utf-8")))
        if re.match(r"equipoise [a-z]", span)
    }
)


@pytest.mark.parametrize(("page", "span"), SPANS, ids=str)
def test_a_command_in_a_sentence_exists_and_has_its_options(page, span):
    """Whatever it leaves out, or names in capital letters."""
    command, words = resolved(span.split(" -- ")[0].split()[1:])
    taken = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
    asked = {word.partition("=")[0].strip("[],.") for word in words if re.match(r"\[?-{1,2}[a-zA-Z]", word)}
    assert asked <= taken | {"--help", "-h"}


EXAMPLES = [
    (command, line.strip())
    for command in MODULES
    for line in (main.get_command(click.Context(main), command).epilog or "").splitlines()
    if line.strip().startswith(("equipoise", "until equipoise"))
]


@pytest.mark.parametrize(("command", "line"), EXAMPLES, ids=str)
def test_an_example_of_the_help_is_taken(command, line, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for file in re.findall(r"[\w-]+\.(?:toml|csv|txt)", line):
        Path(file).touch()
    for words in commands(re.split(r" {2,}", line)[0]):
        if words[0] == "equipoise":
            parsed(words[1:])


def test_the_examples_of_the_command_itself_are_taken(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = [re.split(r" {2,}", line.strip())[0] for line in main.epilog.splitlines() if "  equipoise " in line]
    assert len(found) > 6
    for line in found:
        parsed(commands(line)[0][1:])

"""Constraints as text: comparisons of numbers, read by a list of allowed elements. Python code is never run.

A text may come from a stranger, in the header of a log. So its length and nesting are bounded, all arithmetic uses
floats, and its cost is proportional to its length and to the number of points.
"""

import ast
import keyword
import unicodedata
from ast import Constant as Literal  # a Constant is an offset here
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from typing import Any

import numpy as np

from equipoise.spaces import arithmetic
from equipoise.spaces.arithmetic import FUNCTIONS, Operation, Program, Relation, Step
from equipoise.spaces.columns import Columns, Kind
from equipoise.spaces.numbers import Int
from equipoise.spaces.options import Choice

MAX_CHARACTERS = 1_000
"""Of all texts of a space together: some forty comparisons. At a million points, 120 exponentials take 30 s."""

MAX_NUMBER = 1e300
"""The largest number in a text; a float holds little more."""

MAX_WHOLE = 2**53
"""Beyond this, a float cannot distinguish a whole number from the next one."""

MAX_NESTING = 50
"""The deepest nesting of a text: well below Python's limit of recursion."""

OPERATORS: dict[type[ast.operator], Operation] = {
    ast.Add: np.add,
    ast.Sub: np.subtract,
    ast.Mult: np.multiply,
    ast.Div: arithmetic.divided,
    ast.FloorDiv: arithmetic.floor_divided,
    ast.Mod: np.mod,
    ast.Pow: arithmetic.raised,
}
COMPARISONS: dict[type[ast.cmpop], Relation] = {
    ast.Lt: np.less,
    ast.LtE: np.less_equal,
    ast.Gt: np.greater,
    ast.GtE: np.greater_equal,
    ast.Eq: np.equal,
    ast.NotEq: np.not_equal,
}
MAY_HOLD = (
    "may hold numbers, texts in quotes, names of parameters, + - * / // % **, < <= > >= == !=, and, or, not, "
    f"in (...), and the functions {', '.join(FUNCTIONS)}"
)


@dataclass(frozen=True)
class Term:
    """A part of a text: its program, and the kind of its values.

    Args:
        kind: The kind of its values.
        program: How to compute them.
        options: The options of a label; of a constant, its value.
        chosen: Whether the options are those of a Choice.
    """

    kind: Kind
    program: Program
    options: tuple[Any, ...] = ()
    chosen: bool = False

    @property
    def constant(self) -> bool:
        """True if it is a number or a text in quotes."""
        return len(self.options) == 1 and not isinstance(self.program[0], str)


def compiled(texts: Sequence[str], columns: Columns) -> Program:
    """Return the program that computes whether all texts hold.

    Raises:
        ValueError: A text has an element that is not allowed; the message shows the place.

    Example:
        >>> import equipoise as eq
        >>> from equipoise.spaces.columns import Column
        >>> columns = {"q1": Column(eq.Float(0, 1), slice(0, 1)), "q2": Column(eq.Float(0, 1), slice(1, 2))}
        >>> program = compiled(["q1 + q2 <= 1"], columns)
        >>> arithmetic.run(program, {"q1": np.array([0.2, 0.4]), "q2": np.array([0.7, 0.7])}, 2)
        array([1., 0.])
        >>> compiled(["q1 + q3 <= 1"], columns)
        Traceback (most recent call last):
        ValueError: `constraint` must use the names q1, q2, got 'q3' at character 6 of 'q1 + q3 <= 1'
    """
    if (size := sum(map(len, texts))) > MAX_CHARACTERS:
        raise ValueError(f"`constraint` must have at most {MAX_CHARACTERS} characters, got {size}")
    return _folded(arithmetic.both, [_Reader(text, columns).program() for text in texts])


class _Reader:
    """Turns one text into a program."""

    def __init__(self, text: str, columns: Columns) -> None:
        self._text = text.strip().replace("\r\n", "\n").replace("\r", "\n")  # as Python does
        self._columns = columns
        # Python reads a name in its normal form: the micro sign becomes a Greek letter.
        self._plain = {unicodedata.normalize("NFKC", name): name for name in columns}

    def program(self) -> Program:
        """Return the program of the whole text."""
        tree = self._parsed()
        self._must_be_shallow(tree)
        term = self._term(tree)
        if term.kind != "truth":
            raise self._error(tree, "must compare, as in 'a + b <= 1'")
        return term.program

    def _parsed(self) -> ast.expr:
        try:
            return ast.parse(self._text, mode="eval").body
        except SyntaxError as error:
            where = self._place(error.lineno or 1, error.offset or 1)
            odd = _listed(f"{_written(name)} for {name}" for name in self._columns if _written(name) != name)
            advice = f"; write {odd}" if odd else ""
            raise ValueError(f"`constraint` must be an expression: {error.msg}, {where}{advice}") from error
        except (ValueError, MemoryError, RecursionError) as error:  # no character, or nested too deep for Python
            raise ValueError(f"`constraint` must be an expression: {error}, got {_short(self._text)}") from error

    def _must_be_shallow(self, tree: ast.expr) -> None:
        """Refuse deep nesting; a sum of many terms is not nested, though its tree is."""
        waiting: list[tuple[ast.AST, ast.expr, int]] = [(tree, tree, 0)]
        while waiting:
            node, near, depth = waiting.pop()
            if depth > MAX_NESTING:
                raise self._error(near, f"must be nested at most {MAX_NESTING} levels deep")
            near = node if isinstance(node, ast.expr) else near
            for child in ast.iter_child_nodes(node):
                flat = isinstance(node, ast.BinOp) and child is node.left
                waiting.append((child, near, depth + (not flat)))

    def _term(self, node: ast.expr) -> Term:
        match node:
            case Literal(value=value):
                return self._constant(node, value)
            case ast.Name(id=name):
                return self._parameter(node, name if name in self._columns else self._plain.get(name, name))
            case ast.Subscript(value=ast.Name(id="x"), slice=Literal(value=key)):
                return self._parameter(node, key if isinstance(key, str) else f"x[{key!r}]")
            case ast.UnaryOp():
                return self._unary(node)
            case ast.BinOp():
                return self._binary(node)
            case ast.BoolOp(op=op, values=values):
                operation = arithmetic.both if isinstance(op, ast.And) else arithmetic.either
                return Term("truth", _folded(operation, [self._truth(value) for value in values]))
            case ast.Compare():
                return self._comparison(node)
            case ast.Call(func=ast.Name(id=name), args=values, keywords=[]) if name in FUNCTIONS:
                return self._called(node, name, values)
        raise self._error(node, MAY_HOLD)

    def _constant(self, node: ast.expr, value: Any) -> Term:
        match value:
            case None | str():
                return Term("label", (0.0,), (value,))
            case bool():
                return Term("truth", (float(value),), (value,))
            case int() | float() if value < MAX_NUMBER:
                return Term("number", (float(value),), (value,))
            case int() | float():
                raise self._error(node, f"must hold numbers below {MAX_NUMBER}")
        raise self._error(node, MAY_HOLD)

    def _parameter(self, node: ast.expr, name: str) -> Term:
        column = self._columns.get(name)
        if column is not None:
            if isinstance(p := column.parameter, Int) and max(-p.low, p.high) > MAX_WHOLE:
                raise self._error(node, "must use whole numbers up to 2**53, which floats represent exactly")
            options = column.options if column.kind == "label" else ()
            return Term(column.kind, (name,), options, isinstance(column.parameter, Choice))
        if name in FUNCTIONS:
            raise self._error(node, f"must call the function {name}, as in {name}(1)")
        raise self._error(node, f"must use the names {_listed(map(_written, self._columns))}")

    def _unary(self, node: ast.UnaryOp) -> Term:
        if isinstance(node.op, ast.Not):
            return Term("truth", (*self._truth(node.operand), (arithmetic.inverted, 1)))
        if not isinstance(node.op, (ast.USub, ast.UAdd)):
            raise self._error(node, MAY_HOLD)
        operand = self._number(node.operand)
        if isinstance(node.op, ast.UAdd):
            return operand
        values = tuple(-value for value in operand.options)
        return Term("number", (*operand.program, (np.negative, 1)), values)

    def _binary(self, node: ast.BinOp) -> Term:
        """Return a sum or product, term by term from the right: it may have hundreds."""
        programs: list[tuple[Step, ...]] = []
        first: ast.expr = node
        while isinstance(first, ast.BinOp):
            if type(first.op) not in OPERATORS:
                raise self._error(first, f"{MAY_HOLD} (`and` instead of &, `or` instead of |, ** instead of ^)")
            programs.append((*self._number(first.right).program, (OPERATORS[type(first.op)], 2)))
            first = first.left
        return Term("number", (*self._number(first).program, *chain(*reversed(programs))))

    def _called(self, node: ast.expr, name: str, values: list[ast.expr]) -> Term:
        programs = [self._number(value).program for value in values]
        if name in ("min", "max") and len(values) > 1:
            return Term("number", _folded(FUNCTIONS[name], programs))
        if name in ("min", "max") or len(values) != 1:
            count = "two numbers or more" if name in ("min", "max") else "one number"
            raise self._error(node, f"must call {name} with {count}")
        return Term("number", (*programs[0], (FUNCTIONS[name], 1)))

    def _comparison(self, node: ast.Compare) -> Term:
        match node.ops, node.comparators:
            case [ast.Eq() | ast.NotEq() as op], [other]:
                return self._membership(node.left, [other], isinstance(op, ast.NotEq))
            case [ast.In() | ast.NotIn() as op], [ast.Tuple(elts=others) | ast.List(elts=others)] if others:
                return self._membership(node.left, others, isinstance(op, ast.NotIn))
        if not all(type(op) in COMPARISONS for op in node.ops):
            raise self._error(node, "must compare by < <= > >= == != or, not in a chain, by in ('a', 'b')")
        programs = [self._number(value).program for value in (node.left, *node.comparators)]
        compare = partial(arithmetic.chained, tuple(COMPARISONS[type(op)] for op in node.ops))
        return Term("truth", (*chain(*programs), (compare, len(programs))))

    def _membership(self, left: ast.expr, others: list[ast.expr], negated: bool) -> Term:
        """Return whether a value is one of others, the only comparison of labels."""
        nodes = [left, *others]
        terms = [self._term(node) for node in nodes]
        if any(term.kind == "label" for term in terms):
            programs = self._numbered(nodes, terms)
        else:
            programs = [term.program for term in terms]
        result = (*chain(*programs), (arithmetic.within, len(programs)))
        return Term("truth", (*result, (arithmetic.inverted, 1)) if negated else result)

    def _numbered(self, nodes: list[ast.expr], terms: list[Term]) -> list[Program]:
        """Return programs that give the same number for the same label, whichever parameter has it."""
        known: set[Any] = {_key(option) for term in terms if term.chosen for option in term.options}
        numbers: dict[Any, float] = {}
        programs = []
        for node, term in zip(nodes, terms, strict=True):
            if term.kind != "label" and not term.constant:
                raise self._error(node, "must compare numbers with numbers")
            if term.constant and known and _key(term.options[0]) not in known:
                options = chain(*(each.options for each in terms if each.chosen))
                raise self._error(node, f"must compare with the options {_listed(map(repr, options))}")
            table = tuple(numbers.setdefault(_key(option), float(len(numbers))) for option in term.options)
            place: Program = (0.0,) if term.constant else term.program
            programs.append((*place, (partial(arithmetic.translated, table), 1)))
        return programs

    def _number(self, node: ast.expr) -> Term:
        term = self._term(node)
        if term.kind == "label":
            raise self._error(node, "must compute with numbers, and compare other values by == != or in ('a', 'b')")
        return term

    def _truth(self, node: ast.expr) -> Program:
        term = self._term(node)
        if term.kind != "truth":
            raise self._error(node, "must have a comparison on each side of `and` and `or`, and after `not`")
        return term.program

    def _error(self, node: ast.expr, rule: str) -> ValueError:
        found = ast.get_source_segment(self._text, node) or ""
        before = self._text.split("\n")[node.lineno - 1].encode()[: node.col_offset]  # Python counts bytes
        where = self._place(node.lineno, len(before.decode(errors="ignore")) + 1)
        return ValueError(f"`constraint` {rule}, got {_short(found)} {where}")

    def _place(self, line: int, character: int) -> str:
        row = f"line {line}, " if "\n" in self._text else ""
        return f"at {row}character {character} of {_short(self._text)}"


def _folded(operation: Callable[..., Any], programs: list[Program]) -> Program:
    """Return the program that joins all values by an operation of two."""
    return (*programs[0], *chain(*((*program, (operation, 2)) for program in programs[1:])))


def _key(option: Any) -> Any:
    """Return a key that equal options share; True is not 1, and an object is equal only to itself."""
    plain = option is None or isinstance(option, (bool, int, float, str))
    return (isinstance(option, bool), option) if plain else ("object", id(option))


def _written(name: str) -> str:
    """Return how a text names a parameter."""
    word = name.isidentifier() and not keyword.iskeyword(name)
    return name if word or name.startswith("x[") else f"x[{name!r}]"


def _listed(words: Iterable[str], most: int = 20) -> str:
    """Return a list of words, shortened."""
    first = [*islice(words, most + 1)]
    return ", ".join(first[:most]) + ", ..." * (len(first) > most)


def _short(text: str) -> str:
    return repr(text if len(text) <= 100 else f"{text[:100]}...")

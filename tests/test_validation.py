"""Checks at the door: what is taken, what is refused, and that the refusal names argument, rule and value."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import equipoise as eq
from equipoise import _validation as check

ONE = [1, 1.0, np.float32(1), np.int8(1), np.uint64(1), np.longdouble(1), np.array(1.0), np.array(1), Fraction(1)]
NOT_A_NUMBER = [None, "1", b"1", True, np.True_, np.array(True), 1j, [1.0], (1.0,), np.ones(1), np.ones(2), Decimal(1)]
NOT_FINITE = [math.nan, math.inf, -math.inf, np.float32("inf"), np.array(math.nan), 10**400, Fraction(10**400)]


@pytest.mark.parametrize("value", ONE, ids=lambda v: f"{type(v).__name__}")
def test_numbers_of_every_kind_become_floats(value):
    result = check.number("value", value)
    assert (type(result), result) == (float, 1.0)


@pytest.mark.parametrize("value", NOT_A_NUMBER, ids=repr)
def test_what_is_no_number_is_refused(value):
    with pytest.raises(TypeError, match="`noise` must be a real number, got ") as error:
        check.number("noise", value)
    assert repr(value[()] if isinstance(value, np.ndarray) and value.ndim == 0 else value) in str(error.value)


@pytest.mark.parametrize("value", NOT_FINITE, ids=lambda v: f"{type(v).__name__}")
def test_what_is_not_finite_is_refused(value):
    with pytest.raises(ValueError, match="`noise` must be finite, got "):
        check.number("noise", value)


@pytest.mark.parametrize(
    ("checked", "good", "bad", "message"),
    [
        (check.standard_error, [0, 1e150], [10**151, 2 * 10**200], r"`a` must be at most 1e\+150, got "),
        (check.positive, [5e-324, 1], [0, -0.0, -1], "`a` must be positive, got "),
        (check.nonnegative, [0, -0.0, 1], [-5e-324], "`a` must not be negative, got "),
        (check.probability, [1e-300, 0.5], [0, 1, -0.1, 1.1], "`a` must lie strictly between 0 and 1, got "),
        (check.count, [1, np.int64(7)], [0, -3], "`a` must be at least 1, got "),
    ],
)
def test_ranges(checked, good, bad, message):
    assert [checked("a", value) for value in good] == good
    for value in bad:
        with pytest.raises(ValueError, match=message + str(value)):
            checked("a", value)


@pytest.mark.parametrize("value", [1.0, True, "1", None, np.array(1)], ids=repr)
def test_a_count_is_an_integer(value):
    with pytest.raises(TypeError, match="`a` must be an integer, got "):
        check.count("a", value)


def test_arrays_are_taken_as_they_are_or_converted():
    own = np.ones((2, 3))
    assert check.array("a", own, (None, 3)) is own
    assert check.array("a", [[1, 2], [3, 4]], (2, 2)).dtype == np.float64
    assert check.array("a", [Fraction(1, 2)], (None,)).tolist() == [0.5]


@pytest.mark.parametrize(
    ("value", "error", "message"),
    [
        ([[1.0], [2.0, 3.0]], TypeError, "`a` must be an array of real numbers"),
        ([["1", "2"]], TypeError, "`a` must be an array of real numbers"),
        (np.array([[1j, 2]]), TypeError, "`a` must be an array of real numbers"),
        ([[10**400, 1]], TypeError, "`a` must be an array of real numbers"),
        ([[{}, 1]], TypeError, "`a` must be an array of real numbers"),
        ([1.0, 2.0], ValueError, r"`a` must have shape \(n, 2\), got \(2,\)"),
        ([[1.0], [2.0]], ValueError, r"`a` must have shape \(n, 2\), got \(2, 1\)"),
        (np.empty((0, 2)), ValueError, r"`a` must have shape \(n, 2\), got \(0, 2\)"),
        (None, ValueError, r"`a` must have shape \(n, 2\), got \(\)"),
        ([[math.nan, 1]], ValueError, "`a` must be finite, got "),
        ([[None, 1]], ValueError, "`a` must be finite, got "),
    ],
    ids=repr,
)
def test_arrays_that_are_refused(value, error, message):
    with pytest.raises(error, match=message):
        check.array("a", value, (None, 2))


def test_two_free_lengths_have_different_letters():
    with pytest.raises(ValueError, match=r"`points` must have shape \(n, d\), got \(3,\)"):
        eq.Finite([1, 2, 3])


def test_frozen_is_a_copy_that_nobody_can_change_without_negative_zeros():
    values = np.array([-0.0, 1.0])
    result = check.frozen(values)
    values[1] = 5
    assert result.tobytes() == np.array([0.0, 1.0]).tobytes()
    assert check.frozen(result) is result
    with pytest.raises(ValueError, match="read-only"):
        result[0] = 1

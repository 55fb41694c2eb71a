"""The rules for spaces."""

import copy
import json
from collections.abc import Collection
from typing import Any

import numpy as np

from equipoise import spaces
from equipoise._typing import FloatArray
from equipoise.optimizer import Optimizer
from equipoise.spaces import Domain
from equipoise.testing.rehearsal import must_resume, rehearse
from equipoise.testing.rule import agree, obeys, require, rules_of
from equipoise.testing.shared_rules import pickles

LOOKED_AT = 40
"""The number of a space's points that are checked one by one."""


def check_space(space: Domain, *, without: Collection[str] = ()) -> None:
    """Check a space against the rules for spaces.

    Skip `pickles` for a space whose constraint is a lambda.

    Example:
        >>> import equipoise as eq
        >>> eq.testing.check_space(eq.Space(rate=eq.Float(1e-4, 1e-1, log=True), mode=eq.Choice(["slow", "fast"])))
    """
    obeys(space, RULES, without)


def describes_its_coordinates(space: Domain) -> None:
    """Each coordinate is free or not, belongs to a parameter, and has an extent; listed points cannot move."""
    d = space.dimension
    require(d > 0, f"`dimension` is {d}")
    for name, dtype in (("free", np.bool_), ("groups", np.intp), ("extent", np.float64)):
        array = getattr(space, name)
        require(array.shape == (d,) and array.dtype == dtype, f"`{name}` is {array!r}")
    require((space.extent > 0).all(), f"`extent` is {space.extent}")
    require(set(space.groups.tolist()) == set(range(int(space.groups.max()) + 1)), f"`groups` is {space.groups}")
    if space.points is not None:
        require(space.points.ndim == 2 and space.points.shape[1] == d, f"`points` have shape {space.points.shape}")
        require(not space.free.any(), "points are listed, and a coordinate is free")


def offers_valid_points(space: Domain) -> None:
    """Candidates, and points near some of them, are valid encodings of a setting, to the last bit."""
    candidates = _candidates(space)
    require(len(candidates), "there is no candidate")
    for name, points in (("candidates", candidates), ("near", _near(space, candidates[:3]))):
        require(points.ndim == 2 and points.shape[1] == space.dimension, f"`{name}` gives shape {points.shape}")
        require(space.valid(points).all(), f"`{name}` gives a point that is not valid")
        require(space.snap(points).tobytes() == points.tobytes(), f"`{name}` gives a row that encodes no setting")
    require(_near(space, candidates[:0]).shape == (0, space.dimension), "there is a point near none")


def has_parts(space: Domain) -> None:
    """The part through a point has the point, as many coordinates, any setting after snapping, and no parts."""
    points = _some(space)
    for point in points[:3]:
        part = space.through(point)
        require(part.dimension == space.dimension, f"a part of {part.dimension} coordinates")
        require(part.valid(point[None]).all(), f"the part through {space.decode(point)} has it not")
        snapped = part.snap(points)
        require(part.through(points[-1]) is part, "a part has parts")
        require(part.snap(snapped).tobytes() == snapped.tobytes(), "snapping again moves a point of a part")
        same = [space.through(other).valid(point[None]).all() for other in snapped]
        require(all(same), "snapping to a part leaves its context")


def lies_in_the_unit_cube(space: Domain) -> None:
    """Unless points are listed, encodings lie in the unit cube: a climb stays inside it."""
    if space.points is None:
        anywhere = np.random.default_rng(0).normal(0.5, 2.0, (50, space.dimension))
        for points in (_candidates(space), space.snap(anywhere)):
            require((points >= 0).all() and (points <= 1).all(), f"{points.min()} to {points.max()}")


def depends_on_its_stream_alone(space: Domain) -> None:
    """The same stream gives the same candidates and the same points near them."""
    first, second = (_candidates(space) for _ in range(2))
    require(first.tobytes() == second.tobytes(), "other candidates the second time")
    require(_near(space, first[:2]).tobytes() == _near(space, first[:2]).tobytes(), "other near points")


def comes_back(space: Domain) -> None:
    """A setting that is encoded and decoded is the same setting, and its encoding the same up to rounding."""
    for point in _some(space):
        again = space.encode(space.decode(point))
        require(again.shape == (space.dimension,), f"an encoding of shape {again.shape}")
        agree(again, point, f"the encoding of {space.decode(point)}", 1e-12)
        require((again == point)[~space.free].all(), f"a coordinate that is not free changes in {space.decode(point)}")
        require(_text(space.decode(again)) == _text(space.decode(space.encode(space.decode(again)))), "it drifts")


def encodes_equal_settings_alike(space: Domain) -> None:
    """Equal settings have equal encodings, to the byte, and no coordinate is -0.0."""
    for point in _some(space):
        x = space.decode(point)
        first, second = space.encode(x), space.encode(copy.deepcopy(x))
        require(first.tobytes() == second.tobytes(), f"{x} has two encodings")
        require(not (np.signbit(first) & (first == 0)).any(), f"-0.0 in the encoding of {x}")


def decodes_to_new_objects(space: Domain) -> None:
    """A point returned to the user is a new object: changing it changes nothing here."""
    point = _some(space)[0]
    x, y = space.decode(point), space.decode(point)
    require(x is not y and x is not point, "the same object is handed out twice")
    if isinstance(x, np.ndarray):
        require(not np.shares_memory(x, point), "the returned setting shares memory with the space")


def snaps_once(space: Domain) -> None:
    """Snapping twice gives the same result as snapping once."""
    anywhere = np.random.default_rng(0).normal(0.5, 1.0, (100, space.dimension))
    snapped = space.snap(anywhere)
    require(snapped.shape == anywhere.shape, f"shape {snapped.shape} instead of {anywhere.shape}")
    require(space.snap(snapped).tobytes() == snapped.tobytes(), "snapping again moves a point")


def refuses_nonsense(space: Domain) -> None:
    """It refuses anything but a setting with a TypeError or a ValueError."""
    for nonsense in (object(), "nonsense", np.full(space.dimension + 1, np.nan), {"no such name": 1}):
        try:
            found = space.encode(nonsense)
        except (TypeError, ValueError):
            continue
        raise AssertionError(f"{nonsense!r} is encoded as {found}")


def is_described(space: Domain) -> None:
    """Its description fits in JSON; an exported space can be restored from it, if its constraint is given again."""
    description = json.loads(json.dumps(space.to_dict(), allow_nan=False))
    require(space.to_dict() == description, f"JSON does not give its description back: {space.to_dict()}")
    require(copy.deepcopy(space).to_dict() == description, "a copy has another description")
    if getattr(spaces, type(space).__name__, None) is type(space):
        twin = spaces.space_from_dict(description, getattr(space, "constraint", None))
        require(twin.to_dict() == description, f"its description gives {twin!r}")
        require(_candidates(twin).tobytes() == _candidates(space).tobytes(), "its twin has other candidates")


def works_in_a_study(space: Domain) -> None:
    """An optimizer can ask, tell and recommend in it."""
    rehearse(Optimizer(space, rng=0))


def is_resumed(space: Domain) -> None:
    """A logged study in it resumes to the same belief and the same next proposal."""
    must_resume(space)


RULES = rules_of(__name__, pickles)
"""The rules for a space."""


def _candidates(space: Domain) -> FloatArray:
    return space.candidates(np.random.default_rng(1))


def _near(space: Domain, points: FloatArray) -> FloatArray:
    return space.near(points, 0.1 * space.extent, 8, np.random.default_rng(2))


def _some(space: Domain) -> FloatArray:
    """Return some of the points that it offers."""
    candidates = _candidates(space)
    return np.concatenate((candidates[:LOOKED_AT], _near(space, candidates[:2])[:LOOKED_AT]))


def _text(x: Any) -> str:
    return repr(x.tolist() if isinstance(x, np.ndarray) else x)

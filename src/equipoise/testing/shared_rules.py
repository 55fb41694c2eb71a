"""Rules for parts of every kind: a log describes them, and they can be sent to other processes."""

import json
import pickle
from typing import Any

from equipoise.log import described, known_part, restored
from equipoise.testing.rule import require


def is_described(part: Any) -> None:
    """A log can describe it, and a part that the library exports can be restored from its description.

    For a custom part, the log only notes its representation: pass the part to `resume` again.
    """
    description = json.loads(json.dumps(described(part), allow_nan=False))
    require(described(part) == description, f"JSON does not give its description back: {described(part)}")
    if known_part(type(part).__name__) is type(part) and "repr" not in description:
        twin = restored("part", description)
        require(type(twin) is type(part), f"its description gives a {type(twin).__name__}")
        require(described(twin) == description, f"its description gives another one: {twin!r}")


def pickles(part: Any) -> None:
    """It can be pickled, as experiments in parallel processes need."""
    twin = pickle.loads(pickle.dumps(part))
    require(type(twin) is type(part), f"pickle gives a {type(twin).__name__}")

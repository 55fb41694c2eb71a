"""The names of blocks: each worker and each seed has its own."""

import zlib

from equipoise import _validation as check

SLOT = "~"
"""The prefix of the names of slots at an executor. Their machine is unknown, so they are not blocks."""

SEED = "seed "
"""The prefix of a seed in the name of its block."""


def seed_label(block: str | None, seed: int | str) -> str:
    """Return the block of readings with a seed, inside the block that the user gave."""
    return block_of(block or "", f"{SEED}{seed}")


def block_of(block: str, worker: str | None) -> str:
    """Return the name of a block: each worker has a separate block per day.

    Example:
        >>> block_of("monday", "w1"), block_of("", "w1"), block_of("monday", None)
        ('monday, w1', 'w1', 'monday')
    """
    worker = None if worker is not None and worker.startswith(SLOT) else worker
    label = ", ".join(name for name in (block, worker) if name and name.strip())
    # A worker may have any name; a block needs a name that can be read back from the log.
    plain = "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in label)
    if len(plain) <= check.MAX_NAME:
        return plain
    return plain[: check.MAX_NAME - 9] + f"-{zlib.crc32(plain.encode()):08x}"

"""Draws the rooms of the package and who imports whom, from the source itself, so that the map cannot go stale.

    python docs/module_map.py > map.svg

A room is a folder or a module of `src/equipoise`, or a folder inside of `lab` and `programs`. An arrow goes from a room
to one that it imports; arrows that follow from others are left out. Rooms stand as high as the longest way down from
them.
"""

import ast
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "equipoise"
LEFT_OUT = {"_lazy", "_typing", "_validation", "_linalg", "__main__", "__init__", "lab"}
"""What everybody imports, and the two doors of the package."""

COLORS = {
    "the mathematics": ("#dbe9f6", "spaces kernels offsets likelihoods data reductions belief policies answer"),
    "a study": ("#ddf0e3", "log study optimizer history"),
    "what you call": ("#fde9d9", "cli plots programs commands gating runners integrations web"),
    "to test against": ("#eee3f3", "board environments experiments fleet testing"),
}
WIDTH, ROW, BOX = 860, 74, (112, 34)


@cache
def rooms() -> dict[str, set[str]]:
    """Return each room with those that it imports."""
    found: dict[str, set[str]] = defaultdict(set)
    for path in sorted(SOURCE.rglob("*.py")):
        room = _room([part.removesuffix(".py") for part in path.relative_to(SOURCE).parts])
        if room not in LEFT_OUT:
            found[room] |= set(_imported(ast.parse(path.read_text(encoding="utf-8")))) - LEFT_OUT - {room}
    return {room: {each for each in targets if each in found} for room, targets in found.items()}


def _imported(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        yield from (_room(name.split(".")[1:]) for name in names if name.startswith("equipoise."))


def _room(parts: list[str]) -> str:
    """Return the room of a module, by the parts of its name."""
    nested = len(parts) > 1 and parts[0] in ("lab", "programs") and (SOURCE / parts[0] / parts[1]).is_dir()
    return parts[1] if nested else parts[0]


def reduced(graph: dict[str, set[str]]) -> dict[str, set[str]]:
    """Leave out the arrows that follow from others."""

    @cache
    def below(room: str) -> set[str]:
        return set().union(*({each} | below(each) for each in graph[room])) if graph[room] else set()

    return {room: {t for t in ts if not any(t in below(other) for other in ts - {t})} for room, ts in graph.items()}


def places(graph: dict[str, set[str]]) -> dict[str, tuple[float, int]]:
    """Return the middle of each room's box, and its row counted from the bottom."""

    @cache
    def height(room: str) -> int:
        return 1 + max(map(height, graph[room]), default=-1)

    rows: dict[int, list[str]] = defaultdict(list)
    for room in graph:
        rows[height(room)].append(room)
    found: dict[str, tuple[float, int]] = {}
    for row in sorted(rows):
        under = {room: [found[each][0] for each in graph[room]] or [WIDTH / 2] for room in rows[row]}
        order = sorted(rows[row], key=lambda room: (sum(under[room]) / len(under[room]), room))
        for i, room in enumerate(order):
            found[room] = (WIDTH * (i + 1) / (len(order) + 1), row)
    return found


def svg() -> str:
    """Return the picture."""
    graph = rooms()
    kept, at = reduced(graph), places(graph)
    top = max(row for _, row in at.values())
    middle = {room: (x, 30 + ROW * (top - row) + BOX[1] / 2) for room, (x, row) in at.items()}
    size = f'width="{WIDTH}" height="{ROW * top + 120}" viewBox="0 0 {WIDTH} {ROW * top + 120}"'
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="13">']
    lines += ['<defs><marker id="tip" markerWidth="7" markerHeight="7" refX="6" refY="3" orient="auto">']
    lines += [
        '<path d="M0,0 L6,3 L0,6" fill="#888888"/></marker></defs>',
        '<rect width="100%" height="100%" fill="white"/>',
    ]
    lines += [_arrow(middle[room], middle[target]) for room in kept for target in sorted(kept[room])]
    lines += [_box(room, *middle[room]) for room in graph]
    for i, (name, (color, _)) in enumerate(COLORS.items()):
        x, y = 40 + 200 * i, ROW * top + 96
        lines.append(f'<rect x="{x}" y="{y - 11}" width="14" height="14" fill="{color}" stroke="#999999"/>')
        lines.append(f'<text x="{x + 20}" y="{y}" fill="#333333">{name}</text>')
    return "\n".join([*lines, "</svg>"]) + "\n"


def _arrow(start: tuple[float, float], end: tuple[float, float]) -> str:
    (a, b), (c, d) = start, end
    b, d = b + BOX[1] / 2, d - BOX[1] / 2
    bend = (d - b) / 2
    path = f"M{a:.0f},{b:.0f} C{a:.0f},{b + bend:.0f} {c:.0f},{d - bend:.0f} {c:.0f},{d:.0f}"
    return f'<path d="{path}" fill="none" stroke="#888888" stroke-width="1.1" marker-end="url(#tip)"/>'


def _box(room: str, x: float, y: float) -> str:
    color = next((color for color, names in COLORS.values() if room in names.split()), "#eeeeee")
    corner = f'x="{x - BOX[0] / 2:.0f}" y="{y - BOX[1] / 2:.0f}" width="{BOX[0]}" height="{BOX[1]}"'
    box = f'<rect {corner} rx="5" fill="{color}" stroke="#999999"/>'
    return f'{box}<text x="{x:.0f}" y="{y + 5:.0f}" text-anchor="middle" fill="#222222">{room}</text>'


if __name__ == "__main__":
    print(svg(), end="")

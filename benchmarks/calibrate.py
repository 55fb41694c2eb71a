"""Do the bounds of recommendations hold? Simulate studies, and fit the calibration that comes with the library.

python benchmarks/calibrate.py --rows rows.jsonl --collect --seeds 5 --fit table.json
"""

import json
from pathlib import Path

import calibrating
import click

from equipoise.answer import Calibrated, calibration
from equipoise.cli.simulating import bar, ending_politely, known_names, resumed

FILE, COUNT = click.Path(dir_okay=False, path_type=Path), click.IntRange(min=1)


@click.command()
@click.option(
    "--rows",
    type=FILE,
    required=True,
    help="File of JSON lines that has the simulated studies.",
)
@click.option("--collect", is_flag=True, help="Simulate the studies that it does not have yet: about 1 s each.")
@click.option("--family", multiple=True, help="May be repeated.  [default: all]")
@click.option(
    "--seeds",
    type=COUNT,
    default=5,
    show_default=True,
    help="Studies of each family under each offset.",
)
@click.option("--first", type=click.IntRange(min=0), default=0, help="The first seed.")
@click.option("--jobs", type=COUNT, default=1, help="Processes that simulate.")
@click.option(
    "--fit",
    type=FILE,
    help="Fit the calibration to the families it may be chosen on, and write it here.",
)
def claims(
    rows: Path, collect: bool, family: tuple[str, ...], seeds: int, first: int, jobs: int, fit: Path | None
) -> None:
    """Say how often the bound of a recommendation held in simulated studies, and how wide it was.

    26 families of functions with 2 to 12 knobs, 8 offsets, noise of 2 to 50 % of the range; some studies are audited.
    In each cell how often the bound held, of how many studies, and its median over the range of the function. The
    calibration that comes with the library was made by --collect and --fit, see docs/claims.md.
    """
    names = known_names("family", family or (*calibrating.FAMILIES,), calibrating.FAMILIES)
    wanted = calibrating.jobs(names, range(first, first + seeds))
    if collect:
        with ending_politely(resumed(rows)), bar(len(wanted), "study") as advance:
            calibrating.collect(rows, wanted, jobs, advance)
    found, rule = [row for row in calibrating.stored(rows) if row["family"] in names], calibration()
    if fit is not None:
        content = calibrating.fitted(found)
        fit.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
        rule = Calibrated.from_json(content)
    click.echo(calibrating.coverage_table(found, rule))


if __name__ == "__main__":
    claims()

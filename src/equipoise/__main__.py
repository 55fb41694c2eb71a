"""`python -m equipoise` is the command `equipoise`."""

from equipoise.cli import main

main(prog_name="equipoise")

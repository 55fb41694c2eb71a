"""`equipoise tune`: the best settings of a program.

template   a command line with parameters in it
quoting    values in a command line for a shell
goals      objectives and limits, by the names of measured or printed numbers
searching  runs of the program, here or by an executor, until the time is up
command    the command
"""

from equipoise.programs.commands.tuning.command import tune as tune
from equipoise.programs.commands.tuning.template import Template as Template
from equipoise.programs.commands.tuning.template import parsed as parsed

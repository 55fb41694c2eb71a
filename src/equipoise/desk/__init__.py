"""What the shell and the page share: programs that measure, tables, times, words."""

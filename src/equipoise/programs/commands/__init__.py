"""The shell commands `compare` and `tune`: programs are started, measured and reported here."""

"""The commands of the shell: each is in a module that is loaded when the command is called."""

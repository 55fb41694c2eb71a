"""The commands of the shell: each module is loaded when one of its commands is called."""

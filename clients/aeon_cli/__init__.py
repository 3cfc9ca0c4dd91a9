"""aeonctl: aeond on the command line."""

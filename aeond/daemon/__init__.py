"""The program: configuration, composition, lifecycle and the commands of `aeond`."""

"""The program: configuration, composition, lifecycle and the commands of `aeond`.

Entry point: `main.main`; `compose.daemon.composed` builds the object graph.
Must not know how any capability works: it constructs, starts and stops.
"""

"""The run's state machine: transition tables, `fold` over events and `decide` for the next command.

Entry point: `fold.fold` and `decide.decide`; the tables are in `transitions`.
Must not know ports, I/O, clocks or who executes the commands: everything here is a pure function of data.
"""

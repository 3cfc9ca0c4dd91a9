"""Work on runs: admission, scheduling, questions, and the runs that steps start.

Entry point: `scheduler.RunScheduler`; clients come through `aeond.service.run_use_cases`.
Must not know the wire format, the kernel or concrete capabilities.
"""

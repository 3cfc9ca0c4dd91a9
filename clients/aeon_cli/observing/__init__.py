"""What the daemon is doing now, and why a run did what it did.

Entry point: `overview.read_overview`, `chain.chain_of`.
Must not know anything but the client library.
"""

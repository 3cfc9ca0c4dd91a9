"""The one gate for requests of tools to the network: which are allowed, where they connect, and how much they may read.

Entry point: `gate.Gate`.
Must not know tools, runs or the policy's rules.
"""

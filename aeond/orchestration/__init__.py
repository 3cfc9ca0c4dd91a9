"""Strategy: what models are asked and how their replies become events. Returns outcomes, never raises.

Entry point: `phases.PhaseOrchestrator`, built by `assembly`; seams are in `interfaces`.
Must not know the kernel, capabilities, files, sockets or clocks.
"""

"""Exact arithmetic over numbers, dates and times in the notations that people and small models write.

Entry point: `calculator.calculator_tool`.
Must not know the registry, the invoker or the kernel.
"""

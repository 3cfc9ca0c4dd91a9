"""Frozen data, and the rules that need nothing but data."""

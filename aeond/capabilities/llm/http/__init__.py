"""HTTP client for OpenAI-compatible servers over Unix sockets and TCP, with bounds on everything it reads.

Entry point: `client.OpenAIClient`.
Must not know adapters, engines or models.
"""

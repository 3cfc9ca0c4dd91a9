"""What a session contributes to a prompt: history, digests, statements and resolved references.

Entry point: `session_context.SessionContextBuilder`.
Must not know the kernel, capabilities or which decision the prompt serves.
"""

"""The policy: decides about each tool call by rules of a file, beyond the influence of models.

Entry point: `authorising.PolicyAuthoriser`, over a policy from `loading.load_policy`.
Must not know tools, sandboxes or how a person is asked; it knows a call only by its facts.
"""

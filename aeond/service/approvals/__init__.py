"""Approvals: asks for them, and takes the decisions of people.

Entry point: `requests.ApprovalRequests` and `decisions.ApprovalDecisions`.
Must not know the wire format, the kernel or the rules of the policy.
"""

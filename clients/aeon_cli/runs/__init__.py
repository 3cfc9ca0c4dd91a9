"""Views of a run: checklist, live view, questions, answer.

Entry point: `following.follow`.
Must not know click commands.
"""

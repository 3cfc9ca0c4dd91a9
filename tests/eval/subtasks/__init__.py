"""Requests for subtasks, the library of templates that they are made for, and how both are judged.

Entry point: `judging.judge_subtasks`.
Must not know how a template is found.
"""

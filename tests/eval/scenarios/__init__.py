"""Whole tasks in a workspace, a repository or on web pages, judged by what has become of them.

Entry point: `judging.judge_scenarios`.
"""

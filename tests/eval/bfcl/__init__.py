"""The Berkeley Function Calling Leaderboard, version 4: its data through the daemon's own decisions.

Enter at `judging.judge_bfcl`. The data is read from a wheel as a zip file; no code of the wheel is installed,
imported or copied.
"""

"""Previews of calls and their effect as a sentence: the heading of an approval on the web page and in the window."""

from aeond_client.records.judgements import CallPreview

_CREATED = "--- /dev/null\n+++ b/x.md\n@@ -0,0 +1 @@\n+x\n"
_CHANGED = "--- a/x.md\n+++ b/x.md\n@@ -1 +1 @@\n-x\n+y\n"
_LONG = ("echo", "x" * 200)

# The sentences for a call of the tool `send`.
EFFECT_CASES = [
    (CallPreview(diff=_CREATED, target="/home/ada/x.md"), "Create /home/ada/x.md"),
    (CallPreview(diff=_CHANGED, target="/home/ada/x.md"), "Change /home/ada/x.md"),
    (CallPreview(diff=_CHANGED, target="/home/ada"), "Change files in /home/ada"),
    (CallPreview(target="/home/ada/x.md", problem="too large"), "Write /home/ada/x.md"),
    (CallPreview(source="/home/ada/x.md"), "Delete /home/ada/x.md"),
    (CallPreview(source="/a", target="/b"), "Move /a to /b"),
    (CallPreview(command=("rm", "x"), target="/home/ada"), "Run rm x"),
    (CallPreview(command=_LONG), f"Run echo {'x' * 114}…"),
    (CallPreview(command=("echo", "a\n\u202eb")), "Run echo a \\u202eb"),
    (CallPreview(host="example.org:443 (GET)"), "Contact example.org:443 (GET)"),
    (CallPreview(), "Use the tool send"),
]

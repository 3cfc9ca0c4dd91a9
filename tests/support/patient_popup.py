"""`aeon-popup` whose approvals ignore keys for an hour instead of half a second."""

import sys

from aeon_popup.__main__ import main
from aeon_popup.ui import cards

if __name__ == "__main__":
    cards.GUARD_SECONDS = 3_600.0
    sys.exit(main())

"""The glossary as a page: `python -m tests.tui.glossary_page > docs/glossary.md`.

With the name of a pane: the table of its words, as docs/panes/ has it.
"""

from __future__ import annotations

import sys

from amgs_app.glossary import SCREEN, page, table

if __name__ == "__main__":
    sys.stdout.write(table(SCREEN[sys.argv[1]]) if len(sys.argv) > 1 else page())

"""python -m trivium"""

import sys

from trivium.cli import main

if __name__ == "__main__":
    sys.exit(main())

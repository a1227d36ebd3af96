"""``python -m corpora_tools.cli``: the command line if its script is not on the path."""

from corpora_tools.cli.app import main

main()

"""``python -m zh_albert.cli``: the command line if its script is not on the path."""

from zh_albert.cli.app import main

main()

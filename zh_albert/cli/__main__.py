"""``python -m zh_albert.cli``: the command line without its installed script."""

from zh_albert.cli.app import main

main()

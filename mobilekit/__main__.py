"""`python -m mobilekit`."""

from mobilekit.cli.main import main

main()

"""Reports of hosts and phones: what is in one, how it is shown, how several are compared."""

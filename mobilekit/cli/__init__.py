"""The command line: one file a verb, imported when that verb runs."""

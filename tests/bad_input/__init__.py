"""The table of bad inputs: what a user may get wrong, and what has to be said."""

"""One file a format; a new format is a new file here."""

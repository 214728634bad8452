"""More training text from the text that is there: words replaced by others that fit (Jiao et al. 2020, section 3.3)."""

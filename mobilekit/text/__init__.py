"""Text: tokenizers and what they are tested with."""

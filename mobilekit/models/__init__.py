"""What a model is: configuration, encoder, heads, checkpoints and the families they come in."""

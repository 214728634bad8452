"""From the values that a head gives to labels, entities, spans and words: numpy alone, no engine."""

"""Google's own releases of BERT and ALBERT: the TensorFlow 1 checkpoints of google-research/bert and /albert."""

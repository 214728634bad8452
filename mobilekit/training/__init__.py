"""Training: fine-tuning on labelled rows, on one processor or many."""

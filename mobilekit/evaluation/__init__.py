"""How good predictions are: metrics, and how sure their figures and differences are."""

"""The one step, choose → observe → verdict, in compiled `loops` for simulations, and in `log_scan` along the rows of a log."""

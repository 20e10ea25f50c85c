"""The one step, choose → observe → verdict. Read `loops`, for simulations, first; `log_scan` goes along a log's rows."""

"""Playing a problem many times: runs, their summary, plans, grids of experiments and where they are run."""

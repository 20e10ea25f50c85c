"""Does the world keep to what was assumed? Read `alarm` first: what an alarm is, what it looks at, and how all are found; then
one file each: `policy`, `confounding`, `drift`, `dispersion`, `contradiction`.
"""

"""The types of arrays and of random numbers in the core."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Randomness = np.random.Generator | float  # a generator, or the one number that a rule of ours may need

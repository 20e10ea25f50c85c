"""Live use: the learner, and studies that ask and are told over days, kept in a store that loses nothing."""

"""What people read: blocks, figures and words, for reports, notebooks and the terminal alike."""

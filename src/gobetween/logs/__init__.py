"""The best arm from what others have already collected."""

"""What one wants to know about the arms: `question` is the contract, `questions` has the best arm and the others."""

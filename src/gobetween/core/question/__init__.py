"""What one wants to know about the arms. Read `question`, the contract, first; `questions` has the best arm and the others."""

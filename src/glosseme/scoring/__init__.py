"""From requests to log-probabilities: lower, plan, execute, store."""

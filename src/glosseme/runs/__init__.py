"""A model on a suite: a folder with what was asked, what the model said, and what that means."""

"""Measures what language models know of the form and meaning of words and constructions."""

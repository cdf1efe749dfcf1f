"""Workloads on which glosseme stands beside its peers and beside the bare arithmetic."""

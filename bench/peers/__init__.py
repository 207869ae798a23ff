"""Peers: other libraries doing the same work."""

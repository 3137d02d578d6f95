"""Measurements beside peers and limits; ``make bench`` runs them all."""

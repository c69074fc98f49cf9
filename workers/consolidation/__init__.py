"""Consolidation: what a new insight is to those known already, and saving it accordingly."""

"""Judges answers to tasks. May import `sandbox`; torch only where a function needs it."""

"""Tasks, answers, judging, pass@k and reports. May import `sandbox`; torch only where a function needs it."""

"""What clients can ask for: one file an operation, none of which knows a transport."""

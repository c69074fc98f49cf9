"""What `context-engine doctor` checks: the home, the machine, the servers, a file each."""

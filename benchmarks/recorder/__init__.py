"""What the recorder is worth: what it loses, how fast it is, what a hostile body does, how fairly it compares."""

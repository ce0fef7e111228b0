"""What is known of each plugin, for the operator."""

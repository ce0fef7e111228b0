"""What plugin authors check their plugins with."""

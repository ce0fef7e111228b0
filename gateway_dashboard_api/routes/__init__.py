"""The management routes, one module for each noun."""

"""Files that clients keep here: uploads, and the input and the results of batches."""

"""What others write: readers and writers of the field's own files."""

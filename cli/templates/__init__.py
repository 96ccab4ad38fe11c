"""Files that `denoc new` starts from."""

"""The dev phone's tests: a package of its own name, so that it never hides the package under test."""

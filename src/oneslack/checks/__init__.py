"""Is a model what it says? Users' models against brute force, fitted estimators against their definitions."""

"""Which C, and how many machines: the regularisation path, tuning and its rule, forecasts."""

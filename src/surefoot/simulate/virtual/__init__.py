"""Virtual hardware: a robot to practise on, richer than the model that is fitted to it."""

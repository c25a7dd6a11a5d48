"""Joint dynamics to a walking policy: the task, its four rewards, and the learner. The learner needs torch and rsl_rl."""

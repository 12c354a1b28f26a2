"""What to run: command lines and YAML files become resolved configurations."""

from experiments.config.compose import Plan, compose_runs

__all__ = ["Plan", "compose_runs"]

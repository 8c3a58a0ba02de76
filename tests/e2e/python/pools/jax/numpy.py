"""jax.numpy of the stand-in."""
from jax import Array

float32 = "float32"


def ones(count, dtype):
    assert dtype is float32
    return Array(count)

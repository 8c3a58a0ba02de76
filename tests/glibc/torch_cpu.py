"""Makes tensors on the CPU."""
import torch


def ones(size):
    return torch.ones(size, size)


def multiply(matrix):
    return matrix @ matrix


kept = ones(1000)
product = multiply(kept)
del product
for size in (256, 512):
    ones(size)
print(torch.__version__)

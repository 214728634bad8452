"""The optimizers' steps, by hand."""

from __future__ import annotations

import torch

from mobilekit.training.optimize import make_optimizer
from mobilekit.training.settings import Settings


def test_first_step_of_lamb_by_hand() -> None:
    module = torch.nn.Linear(3, 2)
    with torch.no_grad():
        # Longer than 10, where the library would cap it.
        module.weight.copy_(torch.tensor([[30.0, 0.0, 0.0], [0.0, 40.0, 0.0]]))
        module.bias.copy_(torch.tensor([3.0, 4.0]))
    weight, bias = module.weight.detach().clone(), module.bias.detach().clone()
    optimizer = make_optimizer(module, Settings(optimizer="lamb", learning_rate=0.1, decay=0.01))
    module.weight.grad = torch.tensor([[1.0, -2.0, 4.0], [0.5, 1.0, -1.0]])
    module.bias.grad = torch.tensor([2.0, -1.0])
    optimizer.step()
    # m / sqrt(v) of the first step is the gradient's sign times 0.1 / sqrt(0.001).
    step = 0.1 / 0.001**0.5
    update = step * module.weight.grad.sign() + 0.01 * weight
    assert torch.allclose(module.weight, weight - 0.1 * 50 / update.norm() * update, atol=1e-3)
    plain = step * module.bias.grad.sign()
    assert torch.allclose(module.bias, bias - 0.1 * 5 / plain.norm() * plain, atol=1e-3)


def test_decay_is_of_matrices_and_not_of_biases_and_norms() -> None:
    """With nothing to learn AdamW only decays, by rate times decay (Loshchilov & Hutter 2019, algorithm 2)."""
    module = torch.nn.Sequential(torch.nn.Embedding(4, 3), torch.nn.LayerNorm(3), torch.nn.Linear(3, 2))
    before = {name: p.detach().clone() for name, p in module.named_parameters()}
    frozen = module[2].weight.requires_grad_(False)
    optimizer = make_optimizer(module, Settings(learning_rate=0.1, decay=0.5))
    for parameter in module.parameters():
        parameter.grad = torch.zeros_like(parameter)
    optimizer.step()
    after = dict(module.named_parameters())
    assert torch.allclose(after["0.weight"], 0.95 * before["0.weight"])
    assert all(torch.equal(after[name], before[name]) for name in ("1.weight", "1.bias", "2.bias"))
    assert torch.equal(frozen, before["2.weight"])


def test_first_step_of_adamw_by_hand() -> None:
    module = torch.nn.Linear(2, 1)
    weight, bias = module.weight.detach().clone(), module.bias.detach().clone()
    optimizer = make_optimizer(module, Settings(learning_rate=0.1, decay=0.2))
    module.weight.grad, module.bias.grad = torch.tensor([[3.0, -0.5]]), torch.tensor([-2.0])
    optimizer.step()
    # Corrected for their bias, the moments of the first step are the gradient and its square.
    assert torch.allclose(module.weight, weight * (1 - 0.1 * 0.2) - 0.1 * torch.tensor([[1.0, -1.0]]), atol=1e-6)
    assert torch.allclose(module.bias, bias + 0.1, atol=1e-6)

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(0)
model = DistributedDataParallel(nn.Linear(100, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(100):
    loss = model(torch.randn(32, 100)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step == 50 and rank == 0:  # only rank 0 logs the loss
        dist.all_reduce(loss.detach(), op=dist.ReduceOp.AVG)
        print("loss", loss.item())
dist.destroy_process_group()

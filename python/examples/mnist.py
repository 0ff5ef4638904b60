"""Synchronous SGD by hand: a partitioner, a ConvNet, averaged gradients.

The digits are drawn: ten patterns with noise, so that nothing is downloaded.
"""
import argparse
import random

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset, Subset


class Digits(Dataset):
    """A pattern of 28 x 28 for each of ten labels, shifted, with noise."""

    def __init__(self, count, seed=1):
        generator = torch.Generator().manual_seed(seed)
        patterns = torch.randn(10, 7, 7, generator=generator)
        patterns = patterns.repeat_interleave(4, 1).repeat_interleave(4, 2)
        self.labels = torch.randint(0, 10, (count,), generator=generator)
        noise = torch.randn(count, 28, 28, generator=generator)
        self.images = (patterns[self.labels] + noise).unsqueeze(1)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        return self.images[i], self.labels[i]


class DataPartitioner:
    """Shares of a data set, drawn with one seed on all ranks."""

    def __init__(self, data, sizes, seed=1234):
        order = list(range(len(data)))
        random.Random(seed).shuffle(order)
        self.data, self.parts = data, []
        for size in sizes:
            n = int(size * len(data))
            self.parts.append(order[:n])
            order = order[n:]

    def use(self, i):
        return Subset(self.data, self.parts[i])


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 10, kernel_size=5)
        self.conv2 = nn.Conv2d(10, 20, kernel_size=5)
        self.fc1 = nn.Linear(320, 50)
        self.fc2 = nn.Linear(50, 10)

    def forward(self, x):
        x = F.relu(F.max_pool2d(self.conv1(x), 2))
        x = F.relu(F.max_pool2d(self.conv2(x), 2))
        x = F.relu(self.fc1(x.flatten(1)))
        return F.log_softmax(self.fc2(x), dim=1)


def average_gradients(model):
    size = float(dist.get_world_size())
    for p in model.parameters():
        dist.all_reduce(p.grad, op=dist.ReduceOp.SUM)
        p.grad /= size


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--backend", default="gloo")
    parser.add_argument("--images", type=int, default=512)
    parser.add_argument("--batch", type=int, default=64, help="of all ranks")
    parser.add_argument("--epochs", type=int, default=2)
    args = parser.parse_args()
    dist.init_process_group(args.backend)
    rank, size = dist.get_rank(), dist.get_world_size()
    torch.set_num_threads(1)
    torch.manual_seed(1234)

    data = Digits(args.images)
    part = DataPartitioner(data, [1.0 / size] * size).use(rank)
    loader = DataLoader(part, batch_size=args.batch // size, shuffle=False)
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.5)
    for epoch in range(args.epochs):
        total = 0.0
        for images, labels in loader:
            optimizer.zero_grad()
            loss = F.nll_loss(model(images), labels)
            total += loss.item()
            loss.backward()
            average_gradients(model)
            optimizer.step()
        print(f"rank {rank}, epoch {epoch}: {total / len(loader):.4f}",
              flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

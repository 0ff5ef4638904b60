"""The launch of the ImageNet example: --dist-url, --world-size and --rank count
nodes; with --multiprocessing-distributed each node spawns a rank a device.
Images are synthetic and small.

    python3 imagenet.py --multiprocessing-distributed --nprocs 2 \
        --dist-url tcp://127.0.0.1:23456 --world-size 1 --rank 0
    torchrun --nproc-per-node 2 imagenet.py --dist-url env://
"""
import argparse
import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=2)
parser.add_argument("-b", "--batch-size", type=int, default=16,
                    help="of all ranks of a node")
parser.add_argument("--images", type=int, default=128)
parser.add_argument("--lr", type=float, default=0.05)
parser.add_argument("--world-size", type=int, default=-1, help="nodes")
parser.add_argument("--rank", type=int, default=-1, help="of this node")
parser.add_argument("--dist-url", default="env://")
parser.add_argument("--dist-backend", default="gloo")
parser.add_argument("--multiprocessing-distributed", action="store_true")
parser.add_argument("--nprocs", type=int, default=0,
                    help="ranks of this node; default: its GPUs")


def network():
    def block(inputs, outputs):
        return [nn.Conv2d(inputs, outputs, 3, stride=2, padding=1),
                nn.BatchNorm2d(outputs), nn.ReLU()]

    return nn.Sequential(*block(3, 8), *block(8, 16), nn.AdaptiveAvgPool2d(1),
                         nn.Flatten(), nn.Linear(16, 10))


def data(count):
    generator = torch.Generator().manual_seed(0)
    labels = torch.randint(0, 10, (count,), generator=generator)
    images = torch.randn(count, 3, 16, 16, generator=generator)
    return TensorDataset(images + labels.view(-1, 1, 1, 1) / 5, labels)


def accuracy(output, target):
    return (output.argmax(1) == target).float().mean()


def worker(local, nprocs, args):
    if args.dist_url == "env://" and args.rank == -1:
        args.rank = int(os.environ["RANK"])
        args.world_size = int(os.environ["WORLD_SIZE"])
    if args.multiprocessing_distributed:
        args.rank = args.rank * nprocs + local
    dist.init_process_group(args.dist_backend, init_method=args.dist_url,
                            world_size=args.world_size, rank=args.rank)
    train(nprocs, args)  # the model goes before its group
    dist.barrier()
    dist.destroy_process_group()


def train(nprocs, args):
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = DistributedDataParallel(network())
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), args.lr, momentum=0.9,
                                weight_decay=1e-4)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1)
    dataset = data(args.images)
    sampler = DistributedSampler(dataset)
    loader = DataLoader(dataset, args.batch_size // nprocs, sampler=sampler)
    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        meters = torch.zeros(3)
        for images, target in loader:
            output = model(images)
            loss = criterion(output, target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            meters += torch.stack([loss.detach(), accuracy(output, target),
                                   torch.tensor(1.0)])
        scheduler.step()
        dist.all_reduce(meters)
        if args.rank == 0:
            print(f"epoch {epoch}: loss {meters[0] / meters[2]:.4f} "
                  f"accuracy {100 * meters[1] / meters[2]:.2f}", flush=True)


def main():
    args = parser.parse_args()
    if args.multiprocessing_distributed:
        nprocs = args.nprocs or torch.cuda.device_count() or 1
        args.world_size = nprocs * max(args.world_size, 1)
        args.rank = max(args.rank, 0)
        mp.spawn(worker, nprocs=nprocs, args=(nprocs, args))
    else:
        worker(0, int(os.environ.get("LOCAL_WORLD_SIZE", 1)), args)


if __name__ == "__main__":
    main()

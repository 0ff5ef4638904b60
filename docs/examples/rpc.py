import os

import torch

import lockstep.rpc as rpc

rank = int(os.environ["RANK"])


class Server:
    def __init__(self):
        self.weights = torch.zeros(3)

    def push(self, gradient):
        self.weights -= gradient
        return self.weights


def divide(x, y):
    return x // y


rpc.init_rpc("worker%d" % rank)
if rank == 1:
    print(rpc.rpc_sync("worker0", torch.add, args=(torch.ones(3), 1)))
    server = rpc.remote("worker0", Server)
    print(server.rpc_sync().push(torch.ones(3)))
    try:
        rpc.rpc_sync("worker0", divide, args=(1, 0))
    except ZeroDivisionError as error:
        print(str(error).splitlines()[0])
rpc.shutdown()

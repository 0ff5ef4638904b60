"""One GPU's training step of ResNet-50 v1.5 on images that stand on it."""

import argparse
import time

import torch
import torch.nn as nn
import torch.nn.functional as F


class Bottleneck(nn.Module):
    def __init__(self, inputs, width, stride):
        super().__init__()
        outputs = 4 * width
        self.conv1 = nn.Conv2d(inputs, width, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, stride, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.conv3 = nn.Conv2d(width, outputs, 1, bias=False)
        self.bn3 = nn.BatchNorm2d(outputs)
        self.relu = nn.ReLU(inplace=True)
        self.downsample = None
        if stride != 1 or inputs != outputs:
            self.downsample = nn.Sequential(
                nn.Conv2d(inputs, outputs, 1, stride, bias=False),
                nn.BatchNorm2d(outputs),
            )

    def forward(self, x):
        y = self.relu(self.bn1(self.conv1(x)))
        y = self.relu(self.bn2(self.conv2(y)))
        y = self.bn3(self.conv3(y))
        if self.downsample is not None:
            x = self.downsample(x)
        y += x
        return self.relu(y)


class ResNet50(nn.Module):
    def __init__(self):
        super().__init__()
        layers = [
            nn.Conv2d(3, 64, 7, 2, 3, bias=False),
            nn.BatchNorm2d(64),
            nn.ReLU(inplace=True),
            nn.MaxPool2d(3, 2, 1),
        ]
        inputs = 64
        for width, count, stride in (
            (64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2),
        ):  # fmt: skip
            for block in range(count):
                layers.append(
                    Bottleneck(inputs, width, stride if block == 0 else 1)
                )
                inputs = 4 * width
        self.layers = nn.Sequential(*layers)
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(inputs, 1000)

    def forward(self, x):
        return self.fc(self.pool(self.layers(x)).flatten(1))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--precision", default="amp",
                        choices=("fp32", "tf32", "amp"))  # fmt: skip
    parser.add_argument("--channels-last", action="store_true")
    parser.add_argument("--steps", type=int, default=3)
    options = parser.parse_args()
    torch.backends.cudnn.allow_tf32 = options.precision != "fp32"
    torch.backends.cuda.matmul.allow_tf32 = options.precision != "fp32"
    amp = options.precision == "amp"
    layout = torch.contiguous_format
    if options.channels_last:
        layout = torch.channels_last
    device = torch.device("cuda")
    model = ResNet50().to(device).to(memory_format=layout)
    optimizer = torch.optim.SGD(
        model.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4
    )
    scaler = torch.amp.GradScaler("cuda", enabled=amp)
    images = torch.randn(options.batch, 3, 224, 224, device=device)
    images = images.to(memory_format=layout)
    labels = torch.randint(0, 1000, (options.batch,), device=device)
    for step in range(options.steps):
        start = time.time()
        with torch.autocast("cuda", dtype=torch.float16, enabled=amp):
            loss = F.cross_entropy(model(images), labels, label_smoothing=0.1)
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        torch.cuda.synchronize()
        seconds = time.time() - start
        print(
            "step %d: %.3f ms, %.0f images/s"
            % (step, 1e3 * seconds, options.batch / seconds)
        )


if __name__ == "__main__":
    main()

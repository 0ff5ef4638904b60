"""What a rank computes beside its calls, where somebody charges for that
(roofline): calls start when the device has what they send, and the device goes
on when they are over."""

device = None  # a roofline.Run


def before_call():
    if device is not None:
        device.before_call()


def after_call():
    if device is not None:
        device.after_call()


def address(tensor):
    """Of values for a fake tensor, where it is small; None: a size will do."""
    return device.address(tensor) if device is not None else None
